"""Worksheets, read as a browser reads them: what is asked, what is answered and where, what visitors typed."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from on_screen import Open

from model_zoo.errors import InvalidInput
from pages.learn import worksheet
from pages.learn.case import Case
from pages.learn.lesson import Choice, Lesson, Option, RecallStep, Sketch, Step
from pages.learn.lessons import LESSONS
from pages.learn.plans import PLANS, Meeting, Plan, Row, prepared
from pages.learn.worksheet import Section, html, section
from tests.pages.learn.sentences import SENTENCES, cases
from ui.sources import Source

CAT = SENTENCES[0]
NASTY = "a <b>*bold*</b> [[word]] [x](javascript:alert(1)) <script>alert(1)</script> & `c` “q” it."
VOID = {"meta", "link", "br", "line", "rect", "img"}
pytestmark = pytest.mark.usefixtures("app")


class Read(HTMLParser):
    """A page's elements as (tag, attributes, classes around it, text); what is not closed is an error."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []  # the classes around it, and what is read
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = tag, {name: value or "" for name, value in attrs}
        self.tags.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((" ".join(attributes.get("class", "") for _, attributes in self.open), data))

    def text(self, of: str = "", *, but: str = "solutions") -> str:
        """What is read in elements of a class, and in none of another."""
        return " ".join(text for around, text in self.texts if of in around and (not but or but not in around.split()))


def option(text: str, reply: str, right: bool = False) -> Option:
    return Option(text, reply, right)


def lesson_of(*steps: type[Step]) -> Lesson:
    return Lesson(
        name="pieces", title="Made up", question="Why?", aims=("Say why",), steps=steps, examples=((CAT, ""),)
    )


def step(question: Choice | Sketch | Exception, table: pd.DataFrame | None = None) -> type[Step]:
    class MadeUp(Step):
        title = "A step"
        at = "text"
        sources = (Source("Wu et al.", 2016, "A <title>"),)

        def text(self) -> str:
            return f"A [[token]] of **{worksheet.quote(self.case.text)}**."

        def ask(self) -> Choice | Sketch:
            if isinstance(question, Exception):
                raise question
            return question

        def reveal(self) -> None:
            pass

        def why(self) -> str:
            return "SECRET because."

        def numbers(self) -> pd.DataFrame:
            return pd.DataFrame({"secret": ["SECRET"]}) if table is None else table

    return MadeUp


CHOICE = Choice("Which?", (option("one", "SECRET no"), option("two", "SECRET yes", True)))


def sheet(*steps: type[Step], text: str = CAT) -> Read:
    return Read(
        html("A sheet", [Section(lesson_of(*steps), Case("embedded/bert", text), tuple(range(1, len(steps) + 1)))])
    )


@pytest.mark.slow
def test_answers_stand_in_the_solutions_alone() -> None:
    page = sheet(step(CHOICE), step(Sketch("Draw.", ("a", "b"), (0.25, 1.0), lambda _: "SECRET")))
    questions, solved = page.text(), page.text("solutions", but="")
    assert "SECRET" not in questions
    assert "Wu et al." not in questions
    assert re.search(r"one\s+two", questions)
    assert "Lesson 1: Made up" in questions
    assert f"“{CAT}”" in questions
    assert "SECRET yes" in solved
    assert "SECRET no" not in solved
    assert "SECRET because." in solved
    assert re.search(r"two\s+– SECRET yes", solved)
    assert "Wu et al. 2016, “A <title>”" in solved
    assert "revision " in solved
    bars = [attributes for tag, attributes in page.tags if tag == "rect"]
    assert [float(bar["height"]) for bar in bars] == [42.5, 170]  # of 170, in the solutions: none to draw over
    assert len([tag for tag, _ in page.tags if tag == "svg"]) == 2
    assert page.text("options").split() == ["one", "two"]

    lesson = LESSONS["head"]
    whole_lesson = section(lesson, Case("embedded/bert", CAT), own_sentence=True)
    page = Read(html(lesson.title, [whole_lesson]))
    questions, solved = (re.sub(r"\s+", " ", text) for text in (page.text(), page.text("solutions", but="")))
    assert all(questions.index(aim) < questions.index(lesson.steps[0].title) for aim in lesson.aims)
    recall = [of_recall for of_recall in lesson.steps if issubclass(of_recall, RecallStep)]
    assert len(recall) == 3
    for of_recall in recall:
        assert of_recall.points[-1] in solved
        assert of_recall.points[-1] not in questions
    assert "After this lesson" not in Read(html(lesson.title, [replace(whole_lesson, steps=(2, 3))])).text()


def test_what_was_typed_is_shown_as_it_is() -> None:
    page = sheet(step(CHOICE), text=NASTY)
    assert f"“{NASTY}”" in page.text()
    assert not {"script", "b", "a"} & {tag for tag, _ in page.tags}
    strong = page.text("step")
    assert "[[token]]" not in strong
    assert "A token of" in strong
    about = sheet(step(CHOICE), text="The \u202ecat \ud800\0 sat.\r\n\n\tOn\u2029 it.").text("about")
    assert "“The ⟨U+202E⟩cat ⟨U+D800⟩⟨U+0000⟩ sat. On it.”" in about  # else it turns the line around
    assert about.encode()
    page = html("A sheet", [Section(lesson_of(step(CHOICE)), Case("embedded/bert", "word " * 20_000), (1,))])
    assert len(page) < 20_000, "a long text is named by its beginning"


def test_the_page_asks_nothing_of_a_network_and_says_what_cannot_be_worked_out() -> None:
    page = sheet(step(CHOICE))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert ("meta", {"http-equiv": "Content-Security-Policy", "content": policy}) in page.tags
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert not [attributes for _, attributes in page.tags if {"src", "href"} & set(attributes)]

    page = sheet(step(InvalidInput("Type a *longer* sentence.")), step(CHOICE))
    assert page.text("step").count("Type a *longer* sentence.") == 1
    assert page.text("solution", but="").count("Type a *longer* sentence.") == 1
    assert "SECRET yes" in page.text("solutions", but="")


def test_numbers_are_rounded_and_cut() -> None:
    many = pd.DataFrame({f"c{place}": np.arange(15) for place in range(10)})
    solved = sheet(step(CHOICE, many)).text("solutions", but="")
    assert "Left out: 3 more rows and 2 more columns" in solved
    assert "c8" not in solved
    assert "11" in solved
    assert " 12 " not in solved
    few = pd.DataFrame(
        {
            "share": [0.123456, -0.5, np.nan],
            "place": [1, -2, 3],
            "large": [12345.678, 1.0, 0.04],
            "tiny": [1.234e-9, 0.0, 0.0],
            "word": ["<i>", "w" * 60, None],
            "flag": [True, False, True],
        }
    )
    page = sheet(step(CHOICE, few))
    cells = page.text("solutions", but="")
    for written in ("0.1235", "−0.5000", "–", "−2", "12346", "1.23e−09", "<i>", "w" * 39 + "…", "True"):
        assert written in cells, written
    assert "Left out" not in cells


def test_a_chart_has_a_place_for_every_label() -> None:
    for n in (1, 3, 40):
        labels = tuple(f"label {place} <&>" for place in range(n))
        page = sheet(step(Sketch("Draw.", labels, (0.5,) * n, lambda _: "", unit="%")))
        written = page.text("step")
        assert all(text in written for text in (*labels, "0%", "50%", "100%"))
        lines = [attributes for tag, attributes in page.tags if tag == "line"]
        assert all(0 <= float(line["x1"]) <= 640 and 0 <= float(line["y2"]) <= 178 for line in lines)


def test_a_lesson_takes_the_classs_sentence_or_its_own() -> None:
    alone, paired = LESSONS["pieces"], LESSONS["following"]
    case = Case("embedded/bert", "Mine.", token=2)
    assert section(alone, case, own_sentence=True).case == case
    assert section(alone, case, own_sentence=False).case == Case("embedded/bert", alone.examples[0][0])
    text, pair = paired.examples[0]
    assert section(paired, case, own_sentence=True).case == Case("embedded/bert", text, pair)
    two = Case("embedded/bert", "Mine.", "Yours.")
    assert section(paired, two, own_sentence=True).case == two
    assert section(alone, two, own_sentence=True).case.pair is None
    assert section(alone, case, own_sentence=True, steps=(2,)).steps == (2,)
    assert section(alone, case, own_sentence=True).steps == tuple(range(1, len(alone.steps) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_on_paper(name: str) -> None:
    """Of its own example; what steps say of other sentences is checked for all lessons."""
    lesson = LESSONS[name]
    case = cases(lesson)[0]
    page = Read(html(lesson.title, [section(lesson, case, own_sentence=True)]))
    questions, solved = (re.sub(r"\s+", " ", text) for text in (page.text(), page.text("solutions", but="")))
    assert all(step_of_lesson.title in questions for step_of_lesson in lesson.steps)
    assert "[[" not in page.text(but="")
    assert "**" not in page.text(but="")
    assert "Why?" not in questions
    for question in (step_of_lesson(case).ask() for step_of_lesson in lesson.steps):
        if isinstance(question, Choice):
            reply = question.options[question.right].reply
            plain = re.sub(r"\s+", " ", " ".join(text for _, text in Read(worksheet._block(reply)).texts)).strip()
            assert plain in solved
            assert plain not in questions


def test_a_plan_stands_before_its_worksheet() -> None:
    rows = Row(3, "Say **this**.", "Listens.", (("pieces", 1),)), Row(None, "Go.", "Goes.")
    plan = Plan("x", "A <plan>", "About.", (Meeting("First", 12, rows),))
    parts = [
        section(LESSONS[name], Case("embedded/bert", CAT), own_sentence=True, steps=steps)
        for name, steps in plan.steps().items()
    ]
    page = Read(html(plan.title, parts, plan))
    text = re.sub(r"\s+", " ", page.text())
    assert text.index("A <plan>") < text.index("Lesson 1:")
    assert "0–5 Say this . Listens. 1.1 Words and pieces 5–12 Go. Goes." in text
    assert "1.2 " not in text


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_a_plan_fills_its_time_with_steps_there_are(plan: Plan) -> None:
    for meeting in plan.meetings:
        *_, (_, end, _) = meeting.timed()
        assert end == meeting.minutes
        assert sum(row.talk is None for row in meeting.rows) == 1
        (rest,) = (row for row in meeting.rows if row.talk is None)
        assert meeting.left >= rest.at_least + 2, f"{meeting.title}: {meeting.left} minutes are left for {rest.teacher}"
    for lesson, steps in plan.steps().items():
        assert max(steps) <= len(LESSONS[lesson].steps)
    order = [list(LESSONS).index(lesson) for lesson in plan.steps()]
    assert order == sorted(order)
    opened = [page.name for meeting in plan.meetings for row in meeting.rows for page, _ in prepared(row)]
    if plan.name == "90":
        assert opened == ["attention", "masked_words", "cause", "train"]


@pytest.mark.slow
def test_paper_and_plans_are_on_the_page(open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="pieces")
    assert "Worksheet (HTML)" in [button.label for button in app.get("download_button")]
    app = open_page("pages/learn/page.py")
    labels = [button.label for button in app.get("download_button")]
    assert labels == ["Worksheets of all lessons (HTML)", "Plan and worksheet (HTML)"]
    assert "each lesson’s own example" in " ".join(markdown.value for markdown in app.markdown)
    app.button_group(key="learn_plan").set_value("90").run()
    markdown = " ".join(element.value for element in app.markdown)
    (row,) = (
        row
        for row in PLANS[1].meetings[0].rows
        if row.pages == (("cause", "a-head-that-matters-and-heads-that-do-not"),)
    )
    ((_, link),) = prepared(row)
    assert link.question in markdown
    assert f"**{link.title}**" in [element.proto.label for element in app.get("page_link")]
    assert f"Cause: {link.title}. " in Read(html("Plan", [], PLANS[1])).text().replace("\n", " ")
    app.button_group(key="learn_plan").set_value("45").run()
    app.button(key="plan 45 1 16 head 2").click().run()
    assert app.header[0].value.startswith("2. ")
    mine = open_page("pages/learn/page.py", text="Mine.")
    assert "use your sentence" in " ".join(markdown.value for markdown in mine.markdown)
