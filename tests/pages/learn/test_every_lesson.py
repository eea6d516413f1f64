"""What holds for every step of every lesson, on three sentences and on the lesson's own."""

import numpy as np
import pandas as pd
import pytest
from on_screen import Open

from pages import PAGES
from pages.learn import fields
from pages.learn.case import Case
from pages.learn.lesson import Choice, Lesson, RecallStep, Step, fitting
from pages.learn.lessons import LESSONS
from tests.pages.learn.sentences import cases
from ui.glossary import TERMS, strip_terms, terms

pytestmark = pytest.mark.slow

STEPS = [(lesson, place) for lesson in LESSONS.values() for place in range(len(lesson.steps))]
SHOWN = [(lesson, place) for lesson, place in STEPS if not issubclass(lesson.steps[place], RecallStep)]
LONG = ("The old sailor walked along the harbour and thought of the ships that he had seen. " * 9).strip()
NASTY = ("", "…", "a <b>*bold*</b> [[word]] $x$ `c`", "one", "[MASK] [SEP]", LONG, "猫はマットに座った。")


def for_steps(steps: list[tuple[Lesson, int]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("lesson", "place"), steps, ids=[f"{lesson.name}-{at + 1}" for lesson, at in steps])


def spoken(step: Step) -> list[str]:
    """All that a step says, with its marks."""
    question = step.ask()
    texts = [step.text(), step.why(), question.question]
    if isinstance(question, Choice):
        return [*texts, *(text for option in question.options for text in (option.text, option.reply))]
    flat, full = [0.0] * len(question.labels), [question.top] * len(question.labels)
    return [*texts, *(question.reply(drawn) for drawn in (flat, full, question.truth))]


@pytest.mark.usefixtures("app")
@for_steps(STEPS)
def test_a_step_says_something_of_every_sentence(lesson: Lesson, place: int) -> None:
    for number, case in enumerate(cases(lesson)):
        step, instead = fitting(lesson, lesson.steps[place], case)
        check(step)
        assert not (instead and number == 0)  # of its own example


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(
    ("lesson", "place", "text", "model"),
    [(*step, NASTY[n % len(NASTY)], ("embedded/bert", "embedded/bilstm")[n % 2]) for n, step in enumerate(SHOWN)],
    ids=[f"{lesson.name}-{at + 1}" for lesson, at in SHOWN],
)
def test_a_step_is_about_something_whatever_is_asked(lesson: Lesson, place: int, text: str, model: str) -> None:
    """Without a second text, with a model without attention: about an example, or of another model, and says so."""
    requested = Case(model, text)
    step, instead = fitting(lesson, lesson.steps[place], requested)
    check(step)
    same_text = (step.case.text, step.case.pair) == (text, None)
    assert ("this step is about an example: “" in instead) is not same_text
    assert ("answers here" in instead) == (step.case.model != model)
    assert same_text or (step.case.text, step.case.pair or "") == lesson.examples[0]


def check(step: Step) -> None:
    """All that a step says can be said; a Choice without exactly one right answer raises ValueError."""
    texts, numbers, question = spoken(step), step.numbers(), step.ask()
    assert all(text.strip() for text in texts)
    assert all(term in TERMS for text in texts for term in terms(text))
    assert not any("[[" in strip_terms(text) or "nan" in strip_terms(text).lower().split() for text in texts)
    assert isinstance(numbers, pd.DataFrame)
    assert len(numbers) or isinstance(step, RecallStep)
    if not isinstance(question, Choice):
        assert np.isfinite(question.truth).all()
        assert min(question.truth) >= 0
        assert max(question.truth) <= question.top * (1 + 1e-6)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_every_step_opens_and_reveals(lesson: Lesson, open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson=lesson.name)
    for place in range(len(lesson.steps)):
        assert app.header[0].value.startswith(f"{place + 1}. ")
        app.button(key="show-me").click().run()
        assert not [*app.error, *app.warning], place
        assert any(markdown.value.startswith("**Why?**") for markdown in app.markdown)
        assert f"{lesson.name}.{place + 1}.{fields.SHOWN}" in app.session_state[fields.ANSWERS.key]
        assert app.button(key="show-me").disabled
        if place + 1 < len(lesson.steps):
            app.button(key="step-on").click().run()
            assert not [*app.error, *app.warning], place


@pytest.mark.parametrize(("lesson", "text"), [(name, NASTY[n % len(NASTY)]) for n, name in enumerate(LESSONS)])
def test_the_page_stands_any_text_and_a_model_without_attention(lesson: str, text: str, open_page: Open) -> None:
    step = 1 + list(LESSONS).index(lesson) % 4
    app = open_page(
        "pages/learn/page.py",
        lesson=lesson,
        step=str(step),
        text=text,
        model="embedded/bilstm",
        answers=f"{lesson}.{step}.{fields.SHOWN}",
    )
    assert not app.error
    assert not app.warning
    assert not any("<b>" in markdown.value for markdown in app.markdown)
    assert any(markdown.value.startswith("**Why?**") for markdown in app.markdown)


@pytest.mark.usefixtures("app")
def test_terms_are_met_and_nothing_is_drawn_before_an_answer() -> None:
    """Beside the title of a view or a step, or marked in what a step says."""
    met = {name.lower() for page in PAGES for mention in page.mentions() for name in mention.terms}
    assert met <= set(TERMS)
    for lesson in LESSONS.values():
        for step in lesson.steps:
            met.update(term for text in spoken(step(cases(lesson)[0])) for term in terms(text))
    assert met == set(TERMS)

    going_on = [lesson.steps[place] for lesson, place in STEPS if lesson.steps[place].after is not None]
    assert going_on
    for step in going_on:
        assert step.look is Step.look, step.title
        assert step.stage is None

    assert fields.heights(fields.drawn([0, 0.5, 1], 1), 1) == pytest.approx([0, 18 / 35, 1])


CASE = Case("embedded/bert", "Birds sing.")


def test_every_lesson_begins_with_aims_and_ends_with_three_questions() -> None:
    for lesson in LESSONS.values():
        assert 3 <= len(lesson.aims) <= 4
        assert all(aim[0].islower() and not aim.endswith(".") for aim in lesson.aims)
        recall = [step for step in lesson.steps if issubclass(step, RecallStep)]
        assert list(lesson.steps[-3:]) == recall
        points = [step.points[-1] for step in recall]
        assert len(set(points)) == 3
        assert all(point.endswith(".") for point in points)
        assert lesson.terms


def test_the_summary_grows_with_every_answer_and_aims_are_at_the_first_step(open_page: Open) -> None:
    lesson = LESSONS["head"]
    first = len(lesson.steps) - 2
    points = lesson.steps[-1].points  # type: ignore[attr-defined]
    aims = "**After this lesson you can**"
    app = open_page("pages/learn/page.py", lesson=lesson.name)
    assert any(markdown.value.startswith(aims) for markdown in app.markdown)
    for place in range(3):
        app = open_page("pages/learn/page.py", lesson=lesson.name, step=str(first + place))
        for n in (place, place + 1):
            summary = "".join(markdown.value for markdown in app.markdown if markdown.value.startswith("**Summary**"))
            assert [point in summary for point in points] == [at < n for at in range(3)]
            if n == place:
                app.button(key="show-me").click().run()
        assert not app.get("download_button") or "CSV" not in " ".join(
            button.label for button in app.get("download_button")
        )
        assert not any(markdown.value.startswith(aims) for markdown in app.markdown)


WORDS_A_MINUTE = 150  # of a text one learns from
LOOKING = {Choice: 1.25, RecallStep: 0.1}  # minutes beside reading: the figure, the answer, the figure again
DRAWING = 1.5


def measured(step: Step) -> float:
    """Minutes for a step: its texts, the options or the drawing, the reply to the right answer, and why."""
    question = step.ask()
    read = [question.question]
    if isinstance(step, RecallStep):
        looking = LOOKING[RecallStep]
    else:
        read += [step.text(), step.why()]
        looking = LOOKING[Choice] if isinstance(question, Choice) else DRAWING
    if isinstance(question, Choice):
        read += [option.text for option in question.options] + [question.options[question.right].reply]
    else:
        read.append(question.reply(question.truth))
    return sum(len(strip_terms(text).split()) for text in read) / WORDS_A_MINUTE + looking


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_lesson_takes_as_long_as_it_says(lesson: Lesson) -> None:
    case = cases(lesson)[0]
    minutes_of_steps = [measured(step(case)) for step in lesson.steps]
    for step, minutes in zip(lesson.steps, minutes_of_steps, strict=True):
        assert step.minutes == pytest.approx(minutes, abs=0.75), step.title
    assert lesson.minutes == pytest.approx(sum(minutes_of_steps), rel=0.2)
