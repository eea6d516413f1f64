"""The loop that draws every lesson: what it is about, the map, one step of it, and the way on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from analysis.export import table_to_csv
from jobs.tuning import LessonTraining
from pages.learn import course, fields, keeper, model_map, quiz, teaching, worksheet
from pages.learn.case import Case
from pages.learn.fields import ANSWERS, LESSON, STEP
from pages.learn.lesson import Lesson, Step
from pages.learn.lessons import LESSONS
from pages.learn.walk import FOLLOWED
from training.finetuning.results import Tuned
from ui import (
    Example,
    Examples,
    address,
    as_text,
    browser,
    caption,
    failures_as_messages,
    glossary,
    room,
    save,
    size_card,
    widgets,
)
from ui.appearance import PRESENT
from ui.glossary import quoted, worded
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT
from web.background import desk

_STYLE = (Path(__file__).parent / "learn.css").read_text(encoding="utf-8")
_SLIDES = (Path(__file__).parent / "slides.css").read_text(encoding="utf-8")

_OPENED = "lesson that was opened last"


def draw() -> None:
    """The course, or one step of the lesson that is chosen."""
    st.html(f"<style>{_STYLE}{_SLIDES if LESSON.value and PRESENT.value else ''}</style>")
    teaching.begin()
    if teaching.follows():
        teaching.following()
        if LESSON.value:
            _lesson(LESSONS[LESSON.value])
        return
    keeper.begin()
    if LESSON.value:
        _lesson(LESSONS[LESSON.value])
    else:
        teaching.show()
        course.draw()
    if not teaching.teaches():  # then the answers from before are put aside, and nothing may be kept over them
        keeper.keep()


def _lesson(lesson: Lesson) -> None:
    STEP.value = min(STEP.value, len(lesson.steps))
    step = lesson.steps[STEP.value - 1]
    case = None
    with failures_as_messages():
        case = _followed(lesson) if teaching.follows() else _asked(lesson)
        teaching.show()
        model_map.draw(step.at, case.info.n_layers)
        _draw(lesson, step(case))
    _way(lesson)
    if not teaching.follows():
        _link(lesson, case)


def _asked(lesson: Lesson) -> Case:
    """The sentence, the model, and what of them the lesson follows."""
    _open_with_an_example(lesson)
    with widgets.asked():
        text, pair = widgets.texts(lesson.paired)
        model = widgets.model()
        widgets.try_example(_examples(lesson))
        room.draw()
    case = Case(model, text, pair, tuned=_tuned())
    if not lesson.controls and not PRESENT.value:
        return case
    token, layer, head = None, 0, 0
    with widgets.controls():
        if "token" in lesson.controls:
            token = _token(case)
        if "layer" in lesson.controls:
            layer = widgets.stepper("layer", case.info.n_layers)
        if "head" in lesson.controls and case.info.n_heads:
            head = widgets.stepper("head", case.info.n_heads)
        if PRESENT.value:  # where the line of what is asked is hidden
            caption(" – ".join(filter(None, (text, pair))))
    return replace(case, token=token, layer=layer, head=head)


def _followed(lesson: Lesson) -> Case:
    """The same as the room shows it, with nothing to change."""
    pair = PAIR.value if lesson.paired and PAIR.value.strip() else None
    case = Case(MODEL.value, TEXT.value, pair, tuned=_tuned())
    said = [as_text(widgets.model_label(MODEL.value))]
    if "token" in lesson.controls and FOLLOWED.value is not None:
        case = replace(case, token=FOLLOWED.value)
        said.append(f"token {FOLLOWED.value + 1}")
    if "layer" in lesson.controls:
        case = replace(case, layer=LAYER.value - 1)
        said.append(f"layer {LAYER.value}")
    if "head" in lesson.controls:
        case = replace(case, head=HEAD.value - 1)
        said.append(f"head {HEAD.value}")
    texts = " – ".join(quoted(text) for text in (TEXT.value, pair) if text)
    with st.container(key="followed"):
        st.markdown(f"{texts} :small[{' · '.join(said)}]")
    return case


def _tuned() -> Tuned | None:
    """What the visitor has trained, if anything: the model whose files are kept."""
    trained = desk().current(LessonTraining)
    return None if trained is None else next((run.tuned for run in trained.runs if run.candidate.keep), None)


def _open_with_an_example(lesson: Lesson) -> None:
    """Who has typed nothing yet finds the lesson's own sentences, when the lesson is opened and not again."""
    if st.session_state.get(_OPENED) == lesson.name:
        return
    st.session_state[_OPENED] = lesson.name
    typed = fields.own_sentence() or {TEXT.name, PAIR.name} & set(st.query_params)
    if not typed and (TEXT.value, PAIR.value) not in lesson.examples:
        text, pair = lesson.examples[0]
        address.put({TEXT: text, PAIR: pair})


def _examples(lesson: Lesson) -> Examples:
    return Examples(
        (TEXT, PAIR),
        tuple(
            Example(as_text(" – ".join(filter(None, (text, pair)))), {TEXT: text, PAIR: pair})
            for text, pair in lesson.examples
        ),
    )


def _token(case: Case) -> int:
    """The token that is followed through the model, from 0."""
    tokens = case.encoding.tokens
    if FOLLOWED.value is None or FOLLOWED.value >= len(tokens):
        FOLLOWED.value = case.followed
    labels = {place: f"{place + 1} · {token}" for place, token in enumerate(tokens)}
    return int(st.selectbox("Follow", **FOLLOWED.offering(labels), width=260))


def _draw(lesson: Lesson, step: Step) -> None:
    """What is looked at, the question, and once it is answered what the model says."""
    revealed = teaching.revealed(lesson.name, STEP.value)
    with st.container(key=f"step-{'even' if step.stage is None else 'wide'}"):
        with st.container(key="step-text"):
            st.header(f"{STEP.value}. {step.title}", anchor=False)
            if step.terms:
                st.markdown(f'<span class="terms">{glossary.listed(step.terms)}</span>', unsafe_allow_html=True)
            if STEP.value == 1:
                with st.container(key="aims"):
                    _say("**After this lesson you can**\n" + "".join(f"\n- {aim}" for aim in lesson.aims))
            _say(step.text())
            if lesson.sizes:
                with st.expander("BERT base, BERT large and the bundled models", icon=":material/straighten:"):
                    size_card.draw(step.case.model, "of the lesson")
        figure = st.container(key="step-figure")
        with st.container(key="step-ask"), failures_as_messages():
            quiz.draw(lesson.name, STEP.value, step.ask())
            if revealed:
                _say(f"**Why?** {step.why()}")
                if len(step.numbers()):
                    save.file(
                        "Numbers (CSV)",
                        lambda: table_to_csv(step.numbers()),
                        f"learn-{lesson.name}-{STEP.value}",
                        "csv",
                        "The numbers on the screen, as a table.",
                    )
                if step.sources:
                    st.caption("Sources: " + as_text("; ".join(map(str, step.sources))) + ".")
        with figure, failures_as_messages():
            (step.reveal if revealed else step.figure)()


def _say(text: str) -> None:
    st.markdown(worded(text), unsafe_allow_html=True)


def _way(lesson: Lesson) -> None:
    """Back, the steps, and on: to the next step, or from the last one to the next lesson. Who follows a room is led."""
    order = [(name, step) for name, each in LESSONS.items() for step in range(1, len(each.steps) + 1)]
    at = order.index((lesson.name, STEP.value))
    back, on = order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None
    here = (
        f"Lesson {list(LESSONS).index(lesson.name) + 1} of {len(LESSONS)}: **{lesson.title}** · step {STEP.value} of "
        f"{len(lesson.steps)}"
    )
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center", key="way"):
        if teaching.follows():
            st.markdown(here, width="content")
            return
        st.button(
            "Back",
            key="step back",
            icon=":material/arrow_back:",
            disabled=back is None,
            on_click=fields.go,
            args=back or (lesson.name,),
        )
        st.markdown(here, width="content")
        st.button(
            "Next" if on is None or on[0] == lesson.name else f"Next: {LESSONS[on[0]].title}",
            key="step on",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=on is None,
            on_click=fields.go,
            args=on or (lesson.name,),
        )
        st.button(
            "All lessons", key="step out", icon=":material/apps:", type="tertiary", on_click=fields.go, args=("",)
        )
        browser.slides(PRESENT.value, f"{lesson.name} {STEP.value}", _present)


def _present(on: bool) -> None:
    PRESENT.value = on


def _link(lesson: Lesson, case: Case | None) -> None:
    """Two links: one that restores what is on the screen with the answers so far, one for a class, without them; and
    the lesson on paper.
    """
    query = address.query()
    with st.container(horizontal=True, vertical_alignment="center", key="learn-link"):
        browser.copy_link({name: value for name, value in query.items() if name not in (ANSWERS.name, room.ROOM.name)})
        whole = address.publish()
        about = "A link to this step with this sentence, without your answers; this page’s address includes them."
        st.caption(about if whole else "The text is too long for a link: the link opens the step without it.")
        if case is not None:
            sheet = [worksheet.section(lesson, case, own=True)]
            save.html("Worksheet", lambda: worksheet.html(lesson.title, sheet), f"learn-{lesson.name}-worksheet")
