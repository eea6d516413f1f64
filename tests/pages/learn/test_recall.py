"""The steps of recall that end every lesson: what they ask, and the summary that their answers make up."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from pages.learn.case import Case
from pages.learn.lesson import RecallStep
from pages.learn.lessons import LESSONS

Open = Callable[..., AppTest]
CASE = Case("embedded/bert", "Birds sing.")


def test_every_lesson_begins_with_aims_and_ends_with_three_questions() -> None:
    for lesson in LESSONS.values():
        assert 3 <= len(lesson.aims) <= 4
        assert all(aim[0].islower() and not aim.endswith(".") for aim in lesson.aims)
        recall = [step for step in lesson.steps if issubclass(step, RecallStep)]
        assert list(lesson.steps[-3:]) == recall
        points = [step.questions[step.place].point for step in recall]
        assert len(set(points)) == 3
        assert all(point.endswith(".") for point in points)
        assert lesson.terms


def test_the_summary_grows_with_every_answer_and_aims_are_at_the_first_step(open_page: Open) -> None:
    lesson = LESSONS["head"]
    first = len(lesson.steps) - 2
    points = [recall.point for recall in lesson.steps[-1].questions]  # type: ignore[attr-defined]
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
