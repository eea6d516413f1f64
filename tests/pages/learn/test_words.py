"""The words of lessons: how a file is read, what is wrong with one, how names are filled, which answer is right."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from pages.learn.case import Case
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Step, read_lesson
from pages.learn.lessons import LESSONS
from pages.learn.lessons.family import Which
from ui.glossary import TERMS
from ui.sources import SOURCES
from viz.sketch import LEVELS

FILE = (Path(__file__).parent / "made_up_lesson.txt").read_text(encoding="utf-8")
VALUES = {"n": 1234, "same": 1234, "limit": 100, "is_odd": False, "is_even": True}


class Length(Step):
    name = "cat"
    share = 0.0012
    change = 0.5
    nothing = ""

    def reveal(self) -> None: ...

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame()


def read(folder: Path, words: str) -> Lesson:
    (folder / "long.md").write_text(words, encoding="utf-8")
    return read_lesson(str(folder / "long.py"), Length)


def test_a_lesson_is_read_and_its_names_are_filled(tmp_path: Path) -> None:
    lesson = read(tmp_path, FILE)
    assert (lesson.name, lesson.title, lesson.question, lesson.aims) == ("long", "A title", "Why?", ("read",))
    assert lesson.examples == (("One.", "Two."),)
    step = lesson.steps[0](Case("embedded/bert", "One."))
    assert (step.title, step.terms, step.sources, step.minutes) == (
        "How long?",
        ("token", "vector"),
        (SOURCES["devlin"],),
        2.5,
    )
    assert step.say("text", n=1234) == "“cat” of 1,234 at 0.12%, +0.50. Again cat.\nA second line."
    assert step.why() == "So."
    (recall,) = lesson.steps[1:]
    assert recall(step.case).why() == "A point."


@pytest.mark.parametrize(
    ("name", "n", "options"),
    [
        ("ask", 1234, [("3", "Less.", False), ("12", "That.", False), ("1,234", "This.", True)]),
        ("ask range", 5, [("Below", "Right.", True), ("Within", "High.", False), ("Above", "High.", False)]),
        ("ask range", 50, [("Below", "Low.", False), ("Within", "Right.", True), ("Above", "High.", False)]),
        ("ask range", 500, [("Below", "Low.", False), ("Within", "Low.", False), ("Above", "Right.", True)]),
        ("ask marked", 1, [("Odd", "Even it is.", False), ("Even", "Even it is.", True)]),
    ],
)
def test_answers_as_their_marks_say(name: str, n: int, options: list[tuple[str, str, bool]], tmp_path: Path) -> None:
    step = read(tmp_path, FILE).steps[0](Case("embedded/bert", ""))
    question = step.choice(name, **(VALUES | {"n": n, "same": f"{n:,}"}))
    assert [(option.text, option.reply, option.right) for option in question.options] == options


@pytest.mark.parametrize(
    ("written", "instead", "line"),
    [
        ("# A title\n", "", "long.md:1:"),
        ("why: So.", "So.", "long.md:31:"),
        ("again: Again", "text: Again", "long.md:18:"),
        ("- [x] Yes -> Right.", "- [x] Yes", "long.md:35:"),
        ("## Length", "## Width", "long.md"),
        ("## Recall", "## Other: step\n## Recall", "long.md:33:"),
        ("sources: devlin", "sources: nobody", "long.md:14:"),
        ("place: text", "place: nowhere", "long.md:3:"),
        ("point: A point.", "", "long.md:33:"),
        ("question: Why?\n", "", "long.md:1:"),
    ],
)
def test_what_is_wrong_with_a_file_names_its_line(written: str, instead: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{line}"):
        read(tmp_path, FILE.replace(written, instead))


def test_a_name_that_nothing_fills_is_an_error_and_every_source_is_cited(tmp_path: Path) -> None:
    step = read(tmp_path, FILE).steps[0](Case("embedded/bert", ""))
    with pytest.raises(ValueError, match=r"^long\.md: .*“n”"):
        step.text()
    with pytest.raises(ValueError, match=r"^long\.md:12: "):
        step.say("reply")
    for is_odd, is_even in ((True, True), (False, False)):
        with pytest.raises(ValueError, match="answers are right"):
            step.choice("ask marked", is_odd=is_odd, is_even=is_even)
    # A key that is no source is refused where it is read.
    cited = {source for lesson in LESSONS.values() for step in lesson.steps for source in step.sources}
    cited |= {term.source for term in TERMS.values() if term.source is not None} | {SOURCES["nangia"]}
    named = set(Which(Case("embedded/bert", "")).numbers()["source"])
    unused = [key for key, source in SOURCES.items() if source not in cited]
    assert [key for key in unused if f"{SOURCES[key].authors} {SOURCES[key].year}" not in named] == []


def _script_of_a_question(question: object, answers: tuple[str, ...], drawn: object) -> None:
    import streamlit as st

    from pages.learn import fields, quiz

    fields.ANSWERS.value = answers
    if drawn is not None:
        quiz._drawn("pieces", 1, question, drawn)  # type: ignore[arg-type]
    quiz.draw("pieces", 1, question)  # type: ignore[arg-type]
    st.text(fields.answers().get(("pieces", 1), "none"))


TO_DRAW = Sketch("How long?", ("a", "b"), (0.5, 4.0), lambda heights: f"In all {sum(heights):g}.", top=7, unit="cm")
TO_CHOOSE = Choice("How many?", (Option("one", "Too few."), Option("two", "Yes.", True), Option("three", "Too many.")))


def ask(*answers: str, question: Sketch | Choice = TO_DRAW, drawn: Any = None) -> AppTest:
    app = AppTest.from_function(_script_of_a_question, args=(question, answers, drawn), default_timeout=PATIENCE).run()
    assert not app.exception
    return app


def payload_of(app: AppTest) -> dict[str, Any]:
    (element,) = app.get("bidi_component")
    payload: dict[str, Any] = json.loads(element.proto.json)
    return payload


def test_a_drawing_is_kept_in_its_levels_and_replied_to() -> None:
    app = ask()
    payload = payload_of(app)
    assert (payload["labels"], payload["top"], payload["unit"], payload["kind"]) == (["a", "b"], 7, "cm", "bars")
    assert payload["drawn"] is payload["truth"] is None
    assert not app.button
    app = ask(drawn=[0.49, 3.48])  # the levels are 0.2 apart
    assert app.text[0].value == "d2h"
    assert payload_of(app)["drawn"] == pytest.approx([2 / LEVELS * 7, 17 / LEVELS * 7])
    assert payload_of(app)["truth"] == [0.5, 4]
    assert [markdown.value for markdown in app.markdown] == ["**How long?**", "In all 3.8."]
    assert not app.button

    assert ask(drawn=[-1, 99]).text[0].value == "d0z"

    assert looks(ask(question=TO_CHOOSE)) == [("one", "", "secondary"), ("two", "", "secondary"), OTHER]


def test_what_is_no_drawing_is_not_kept() -> None:
    """And an answer that is none of this text, in a link whose text was another one, shows the truth alone."""
    for drawn in ([1], [1, 2, 3], "12", [1, "2"], [1, None], [1, float("nan")], {"0": 1}, 3):
        assert ask(drawn=drawn).text[0].value == "none"
    for answer in ("x", "3", "d5", "d555"):
        app = ask(f"pieces.1.{answer}")
        assert payload_of(app)["drawn"] is None
        assert payload_of(app)["truth"] == [0.5, 4]
        assert [markdown.value for markdown in app.markdown] == ["**How long?**"]


WRONG, RIGHT, OTHER = ":material/cancel:", ":material/check_circle:", ("three", "", "secondary")


def test_the_right_answer_is_the_strongest_and_a_wrong_one_looks_wrong() -> None:
    mine, right = ("one · **your answer, wrong**", WRONG, "tertiary"), (RIGHT, "primary")
    plain = ("one", "", "secondary")
    for answer, buttons, announced in (
        ("1", [mine, ("two · **right**", *right), OTHER], "answer is: two"),
        ("2", [plain, ("two · **your answer, right**", *right), OTHER], "Right."),
        ("x", [plain, ("two · **right**", *right), OTHER], "The right answer is: two"),
    ):
        app = ask(f"pieces.1.{answer}", question=TO_CHOOSE)
        assert looks(app) == buttons
        (alert,) = (element.value for element in app.markdown if 'role="alert"' in element.value)
        assert announced in alert


def looks(app: AppTest) -> list[tuple[str, str, str]]:
    return [(button.label, button.icon, button.proto.type) for button in app.button]
