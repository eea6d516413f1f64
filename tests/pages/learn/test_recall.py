"""The steps of recall that end every lesson: what they ask, and the summary that their answers make up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.case import Case
from pages.learn.lesson import Lesson, Option, Recall, RecallStep, recalled
from pages.learn.lessons import LESSONS

Open = Callable[..., AppTest]
CASE = Case("embedded/bert", "Birds sing.")


def made(n: int) -> tuple[Recall, ...]:
    options = (Option("yes", "It is.", True), Option("no", "It is not."))
    return tuple(Recall(f"Question {place}?", options, f"Point {place}.") for place in range(1, n + 1))


def test_each_question_is_a_step_of_its_own() -> None:
    steps = recalled("heads", *made(3))
    assert [step.title for step in steps] == ["Recall 1 of 3", "Recall 2 of 3", "Recall 3 of 3"]
    assert [step(CASE).ask().question for step in steps] == ["Question 1?", "Question 2?", "Question 3?"]
    assert [step(CASE).why() for step in steps] == ["Point 1.", "Point 2.", "Point 3."]
    assert all(step.at == "heads" and not len(step(CASE).numbers()) for step in steps)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_every_lesson_begins_with_aims_and_ends_with_three_questions(lesson: Lesson) -> None:
    assert 3 <= len(lesson.aims) <= 4
    for aim in lesson.aims:
        assert aim[0].islower()
        assert not aim.endswith(".")
    recall = [step for step in lesson.steps if issubclass(step, RecallStep)]
    assert list(lesson.steps[-3:]) == recall
    points = [step.questions[step.place].point for step in recall]
    assert len(set(points)) == 3
    assert all(point.endswith(".") for point in points)
    assert lesson.terms


def test_the_summary_grows_with_every_answer(open_page: Open) -> None:
    lesson = LESSONS["head"]
    first = len(lesson.steps) - 2
    points = [recall.point for recall in lesson.steps[-1].questions]  # type: ignore[attr-defined]
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


def test_aims_are_at_the_first_step_alone(open_page: Open) -> None:
    for step, visible in ((1, True), (2, False)):
        app = open_page("pages/learn/page.py", lesson="head", step=str(step))
        assert any(markdown.value.startswith("**After this lesson you can**") for markdown in app.markdown) == visible
