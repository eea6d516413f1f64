"""The loop that draws every lesson: what it is about, the map, one step of it, and the way on."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from classroom.widgets import teacher_menu
from jobs.tuning import LessonTraining
from model_zoo.errors import InvalidInput
from pages.learn import course, fields, keeper, model_map, quiz, teaching, worksheet
from pages.learn.case import Case
from pages.learn.fields import ANSWERS, LESSON, STEP
from pages.learn.lesson import Lesson, RecallStep, Step, fitting
from pages.learn.lessons import LESSONS
from pages.learn.walk import FOLLOWED
from training.finetuning.results import Tuned
from ui import (
    Example,
    Examples,
    address,
    as_text,
    browser,
    failures_as_messages,
    glossary,
    is_dark,
    notes,
    save,
    size_card,
    widgets,
)
from ui.appearance import PRESENT
from ui.glossary import link_terms, quote
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT
from web.background import desk

_STYLE = (Path(__file__).parent / "learn.css").read_text(encoding="utf-8")
_SLIDES = (Path(__file__).parent / "slides.css").read_text(encoding="utf-8")

_WRONG = {False: "#B42318", True: "#FF9B8F"}  # at least 4.5:1 on light and dark backgrounds

_OPENED = "lesson_opened"


def draw() -> None:
    """The course, or one step of the lesson that is chosen."""
    slides = _SLIDES if LESSON.value and PRESENT.value else ""
    st.html(f"<style>:root {{ --wrong: {_WRONG[is_dark()]}; }}{_STYLE}{slides}</style>")
    teaching.begin()
    if teaching.follows():
        teaching.draw_waiting()
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
    """The way on comes first, though it stands last: one can go on while a model is still asked."""
    STEP.value = min(STEP.value, len(lesson.steps))
    step = lesson.steps[STEP.value - 1]
    body, links = st.container(), st.container()
    _way(lesson)
    case = None
    with body, failures_as_messages():
        choices, here = st.container(), st.container()
        parts = _parts(step)
        case = (
            _room_case(lesson, choices) if teaching.follows() else _choose_case(lesson, step, choices, parts["figure"])
        )
        teaching.show()
        with here:
            model_map.draw(step.at, case.info.n_layers)
        _draw(lesson, *fitting(lesson, step, case), parts)
    if not teaching.follows():
        with links:
            _link(lesson, case)


def _parts(step: type[Step]) -> dict[str, DeltaGenerator]:
    """Where the parts of a step are drawn, empty still, see learn.css; a picture of the whole model is given most of
    the width.
    """
    kind = "recall" if issubclass(step, RecallStep) else "even" if step.stage is None else "wide"
    with st.container(key=f"step-{kind}"):
        return {name: st.container(key=f"step-{name}") for name in ("title", "text", "figure", "ask")}


def _choose_case(lesson: Lesson, step: type[Step], choices: DeltaGenerator, figure: DeltaGenerator) -> Case:
    """The sentence, the model, and what of them the lesson follows, which is chosen right above the picture."""
    _open_with_an_example(lesson)
    with choices, widgets.input_line():
        text, pair = widgets.texts(lesson.paired)
        model = widgets.model()
        widgets.try_example(_examples(lesson))
        teacher_menu()
    case = Case(model, text, pair, tuned=_tuned())
    if not lesson.controls:
        return case
    n_heads = case.info.n_heads
    if issubclass(step, RecallStep):  # nothing is looked at, and what was chosen before is kept
        layer, head = min(LAYER.value, case.info.n_layers) - 1, min(HEAD.value, n_heads or 1) - 1
        return replace(case, token=FOLLOWED.value, layer=layer, head=head)
    token, layer, head = None, 0, 0
    with figure, widgets.controls():
        if "token" in lesson.controls:
            with suppress(InvalidInput):  # of a text without a word, which the step does not use either
                token = _token(case)
        if "layer" in lesson.controls:
            layer = widgets.stepper("layer", case.info.n_layers)
        if "head" in lesson.controls and n_heads:
            head = widgets.stepper("head", n_heads)
    return replace(case, token=token, layer=layer, head=head)


def _room_case(lesson: Lesson, choices: DeltaGenerator) -> Case:
    """The same as the room shows it, with nothing to change."""
    pair = PAIR.value if lesson.paired and PAIR.value.strip() else None
    case = Case(MODEL.value, TEXT.value, pair, tuned=_tuned())
    followed = [as_text(widgets.model_label(MODEL.value))]
    if "token" in lesson.controls and FOLLOWED.value is not None:
        case = replace(case, token=FOLLOWED.value)
        followed.append(f"token {FOLLOWED.value + 1}")
    if "layer" in lesson.controls:
        case = replace(case, layer=LAYER.value - 1)
        followed.append(f"layer {LAYER.value}")
    if "head" in lesson.controls:
        case = replace(case, head=HEAD.value - 1)
        followed.append(f"head {HEAD.value}")
    texts = " – ".join(quote(text) for text in (TEXT.value, pair) if text)
    with choices, st.container(key="followed"):
        st.markdown(f"{texts} :small[{' · '.join(followed)}]")
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


def _draw(lesson: Lesson, step: Step, instead: str, parts: dict[str, DeltaGenerator]) -> None:
    """What is looked at, the question, and once it is answered what the model says; above it, what the step is about
    ``instead`` of what was asked.
    """
    revealed = teaching.revealed(lesson.name, STEP.value)
    with parts["title"]:
        st.header(f"{STEP.value}. {step.title}", anchor=False)
        if step.terms:
            st.markdown(f'<span class="terms">{glossary.list_terms(step.terms)}</span>', unsafe_allow_html=True)
    with parts["text"]:
        if instead:
            with st.container(key="instead"):
                _say(instead)
        with suppress(InvalidInput):  # of a text without a word, which a step from memory does without
            notes.warn_of_reading(step.case.encoding, step.case.model)
        _say(step.text())
    with parts["ask"], failures_as_messages():
        quiz.draw(lesson.name, STEP.value, step.ask())
        if revealed:
            _why(lesson, step)
        elif STEP.value == 1:
            with st.container(key="aims"):
                _say("**After this lesson you can**\n" + "".join(f"\n- {aim}" for aim in lesson.aims))
    with parts["figure"]:
        with failures_as_messages():
            (step.reveal if revealed else step.look)()
        if lesson.sizes:
            with st.expander("BERT base, BERT large and the bundled models", icon=":material/straighten:"):
                size_card.draw(step.case.model, "of the lesson")


def _why(lesson: Lesson, step: Step) -> None:
    with st.container(key="step-why"):
        _say(f"**Why?** {step.why()}")
        if len(step.numbers()):
            save.table("Numbers", step.numbers, f"learn-{lesson.name}-{STEP.value}")
        if step.sources:
            st.caption("Sources: " + as_text("; ".join(map(str, step.sources))) + ".")


def _say(text: str) -> None:
    st.markdown(link_terms(text), unsafe_allow_html=True)


def _way(lesson: Lesson) -> None:
    """Back, the answer, and on: to the next step, or from the last one to the next lesson. It stays at the bottom of
    the window, each button at its place whether the answer is seen or not. Who follows a room is led.
    """
    order = [(name, step) for name, entry in LESSONS.items() for step in range(1, len(entry.steps) + 1)]
    at = order.index((lesson.name, STEP.value))
    back, on = order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None
    here = (
        f"Lesson {list(LESSONS).index(lesson.name) + 1} of {len(LESSONS)}: **{lesson.title}** · step {STEP.value} of "
        f"{len(lesson.steps)}"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="way"):
        st.markdown(here)
        if teaching.follows():
            return
        st.button(
            "All lessons", key="step-out", icon=":material/apps:", type="tertiary", on_click=fields.go, args=("",)
        )
        browser.slides(PRESENT.value, f"{lesson.name} {STEP.value}", _present)
        st.button(
            "Back",
            key="step-back",
            icon=":material/arrow_back:",
            disabled=back is None,
            on_click=fields.go,
            args=back or (lesson.name,),
        )
        _show(lesson.name, STEP.value)
        st.button(
            "Next" if on is None or on[0] == lesson.name else "Next lesson",
            key="step-on",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=on is None,
            on_click=fields.go,
            args=on or (lesson.name,),
        )


def _show(lesson: str, step: int) -> None:
    """Show the answer to a step, or where one teaches hide it again."""
    revealed = teaching.revealed(lesson, step)
    if revealed and teaching.teaches():
        st.button(
            "Ask again",
            key="ask-again",
            icon=":material/visibility_off:",
            help="Hide the answer and count again.",
            on_click=teaching.ask_again,
            args=(lesson, step),
        )
        return
    st.button(
        "Show the answer",
        key="show-me",
        icon=":material/visibility:",
        disabled=revealed,
        on_click=teaching.answer,
        args=(lesson, step, fields.SHOWN),
    )


def _present(on: object) -> None:
    PRESENT.value = bool(on)


def _link(lesson: Lesson, case: Case | None) -> None:
    """Two links: one that restores what is on the screen with the answers so far, one for a class, without them; and
    the lesson on paper.
    """
    query = address.shared_query()
    with st.container(horizontal=True, vertical_alignment="center", key="learn-link"):
        browser.copy_link({name: value for name, value in query.items() if name != ANSWERS.name})
        complete = address.publish()
        about = "A link to this step with this sentence, without your answers; this page’s address includes them."
        st.caption(about if complete else "The text is too long for a link: the link opens the step without it.")
        if case is not None:
            sheet = [worksheet.section(lesson, case, own_sentence=True)]
            name = f"learn-{lesson.name}-worksheet"
            save.button("Worksheet (HTML)", lambda: worksheet.html(lesson.title, sheet), name, "html")
