"""The lessons in a browser: a whole one by keyboard alone, answers that outlast a visit, slides and their keys."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from journeys import step
from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

from benchmarks import steps
from pages.learn import fields
from pages.learn.case import Case
from pages.learn.lesson import Choice, RecallStep
from pages.learn.lessons import LESSONS

NAME = "head"  # a lesson with a question to choose from and one to draw
KEPT = "localStorage.getItem('inside-bert:lessons')"
FULL = "document.fullscreenElement !== null"


def parameters(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def expect_step(here: Any, lesson: str, place: int) -> None:
    """A step from 1 is on the screen, and the address says so."""
    page: Page = here.page
    title = f"{place}. {LESSONS[lesson].steps[place - 1].title}"
    expect(page.get_by_role("heading", level=2).first).to_have_text(title)
    wait_for(
        page,
        "([lesson, step]) => { const at = new URLSearchParams(location.search);"
        " return at.get('lesson') === lesson && (at.get('step') ?? '1') === step; }",
        arg=[lesson, str(place)],
    )


def come_to(page: Page, name: str, role: str = "button") -> None:
    """Press Tab until something of this role and name has the focus, however many stops are on the way."""
    target = page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    expect(target).to_be_visible()
    for _ in range(150):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element.getRootNode().activeElement === element"):
            return
    raise AssertionError(f"no way by Tab to “{name}”")


def press(here: Any, name: str, seen: Callable[[], object], key: str = "Enter") -> None:
    with step(here):
        come_to(here.page, name)
        here.page.keyboard.press(key)
        seen()


def case_of(lesson: str) -> Case:
    text, pair = LESSONS[lesson].examples[0]
    return Case("embedded/bert", text, pair or None)


def answer(here: Any, lesson: str, place: int) -> str:
    """Answer a step by keyboard; returns what the address is to say of it."""
    page: Page = here.page
    question = LESSONS[lesson].steps[place - 1](case_of(lesson)).ask()
    if isinstance(question, Choice):
        wrong = (question.right + 1) % len(question.options)
        option = page.locator(f".st-key-option-{wrong + 1} button")
        press(here, option.inner_text(), lambda: expect(page.locator(".st-key-reply")).to_contain_text("Not quite."))
        return str(wrong + 1)
    levels = [0] * len(question.labels)
    compare = page.get_by_role("button", name="Compare with the model")
    expect(compare).to_be_disabled()
    with step(here):
        come_to(page, question.labels[0], "slider")
        page.keyboard.press("End")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("PageDown")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowUp")
        levels[:2] = 29, 1
        expect(page.get_by_role("slider").first).to_have_attribute("aria-valuenow", str(29 / 35 * question.top))
        expect(compare).to_be_enabled()
        come_to(page, "Compare with the model")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Draw again")).to_be_focused()
    expect(page.locator(".sketch .legend")).to_have_text("you the model")
    expect(page.locator(".st-key-reply")).not_to_contain_text("Not quite")
    return fields.drawn([level / 35 * question.top for level in levels], question.top)


@pytest.mark.usefixtures("app")
def test_a_whole_lesson_by_keyboard_alone(visit: StartVisit, app_url: str) -> None:
    lesson = LESSONS[NAME]
    here = visit(height=720)
    page: Page = here.open(f"{app_url}/learn")
    number = list(LESSONS).index(NAME) + 1
    press(here, f"{number} · {lesson.title}", lambda: expect_step(here, NAME, 1))
    guesses = {}
    for place in range(1, len(lesson.steps) + 1):
        expect_step(here, NAME, place)
        expect(page.get_by_text("Why?")).to_have_count(0)
        guesses[NAME, place] = answer(here, NAME, place)
        expect(page.get_by_text("Why?")).to_be_visible()
        recall = issubclass(lesson.steps[place - 1], RecallStep)
        expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0 if recall else 1)
        written = ",".join(f"{name}.{at}.{guess}" for (name, at), guess in guesses.items())
        wait_for(page, "(answers) => new URLSearchParams(location.search).get('answers') === answers", arg=written)
        if place < len(lesson.steps):
            with step(here):  # from the answer, by the arrow
                page.keyboard.press("ArrowRight")
                expect_step(here, NAME, place + 1)
    following = list(LESSONS)[number]
    press(here, "Next lesson", lambda: expect_step(here, following, 1))
    card = page.locator(f".st-key-lesson-card-{NAME}")
    done = f"{len(lesson.steps)} of {len(lesson.steps)} steps done"
    press(here, "All lessons", lambda: expect(card).to_contain_text(done))


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("width", [1280, 360])
def test_a_guess_is_drawn_in_one_stroke_compared_and_drawn_again(width: int, visit: StartVisit, app_url: str) -> None:
    place, question = next(
        (place, question)
        for place, question in enumerate((make(case_of(NAME)).ask() for make in LESSONS[NAME].steps), start=1)
        if not isinstance(question, Choice)
    )
    n = len(question.labels)
    here = visit(width, 800, "dark")
    # A link from before the text had so many tokens: what the model says, and nothing drawn.
    page: Page = here.open(f"{app_url}/learn?lesson={NAME}&step={place}&answers={NAME}.{place}.d1")
    expect(page.locator(".sketch .legend")).to_have_text("the model", use_inner_text=True)
    page.get_by_role("button", name="Draw it yourself").click()
    expect(page.locator(".sketch .legend")).to_be_hidden()
    row = page.locator(".sketch .columns")
    row.scroll_into_view_if_needed()
    box, track = row.bounding_box(), page.get_by_role("slider").first.bounding_box()
    assert box is not None
    assert track is not None
    low, high = track["y"] + 0.99 * track["height"], track["y"] + 0.01 * track["height"]
    page.mouse.move(box["x"] + 2, low)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, high)
    page.mouse.up()
    line = [round(35 * at / (n - 1)) for at in range(n)]
    drawn = page.get_by_role("slider").evaluate_all("(all) => all.map((one) => Number(one.ariaValueNow))")
    assert [round(height / question.top * 35) for height in drawn] == pytest.approx(line, abs=1)
    with step(here):
        page.get_by_role("button", name="Compare with the model").click()
        expect(page.get_by_role("button", name="Draw again")).to_be_visible()
        expect(page.locator(".st-key-reply")).to_be_visible()
    written = fields.drawn(drawn, question.top)
    wait_for(page, "(one) => new URLSearchParams(location.search).get('answers') === one", f"{NAME}.{place}.{written}")
    expect(page.locator(".sketch .legend")).to_have_text("you the model")
    page.get_by_role("slider").nth(1).hover()
    expect(page.locator(".sketch .reading")).to_contain_text(f"{question.labels[1]}: you ")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Draw again").click()
    expect(page.get_by_role("button", name="Compare with the model")).to_be_disabled()
    here.open(page.url)
    expect(page.get_by_role("slider").nth(n - 1)).to_have_attribute("aria-valuenow", str(drawn[-1]))


def test_answers_outlast_the_visit_until_they_are_forgotten(visit: StartVisit, app_url: str) -> None:
    text = "A dog saw it and barked."
    here = visit()
    page: Page = here.open(f"{app_url}/learn?lesson={NAME}&step=2&text={text}")
    with step(here):
        page.get_by_role("button", name="Show the answer").click()
        expect(page.get_by_text("Why?")).to_be_visible()
    wait_for(page, f"{KEPT}?.includes('{NAME}.2.x')")
    here.open(f"{app_url}/learn")
    on = page.get_by_role("button", name=f"Continue: lesson {list(LESSONS).index(NAME) + 1}, step 2")
    expect(on).to_be_visible()
    with step(here):
        on.click()
        expect_step(here, NAME, 2)
        expect(page.get_by_text("Why?")).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_value(text)
    here.open(f"{app_url}/learn?lesson={NAME}&step=2&answers={NAME}.2.1&text=Cats+purr.")  # a link comes first
    expect(page.get_by_label("Text", exact=True)).to_have_value("Cats purr.")
    expect(page.locator(".st-key-reply")).to_be_visible()
    wait_for(page, f"JSON.parse({KEPT}).answers === '{NAME}.2.1'")
    with step(here):
        page.get_by_role("button", name="All lessons").click()
        page.get_by_role("button", name="Clear my answers").click()
        expect(page.get_by_role("button", name="Clear my answers")).to_have_count(0)
    wait_for(page, f"{KEPT} === null && !location.search.includes('answers')")
    here.open(f"{app_url}/learn")
    expect(page.locator(".st-key-answer-course")).to_be_visible()
    expect(page.locator(".st-key-go-on")).to_have_count(0)


def test_what_lies_in_the_browser_is_not_trusted(visit: StartVisit, app_url: str) -> None:
    here = visit()
    page: Page = here.open(app_url)
    nasty = json.dumps({"answers": f"{NAME}.1.1,<b>,nothing.1.1", "lesson": "<b>", "step": -1, "text": ["x"]})
    page.evaluate("(kept) => localStorage.setItem('inside-bert:lessons', kept)", nasty)
    here.open(f"{app_url}/learn?lesson={NAME}&text=Cats+purr.")
    wait_for(page, f"JSON.parse({KEPT}).answers === '{NAME}.1.1'")
    expect(page.get_by_text("Why?")).to_be_visible()


@pytest.mark.usefixtures("app")
def test_question_and_way_on_are_on_the_screen_at_one_place(visit: StartVisit, app_url: str) -> None:
    """One step of each layout; ``python -m benchmarks.steps`` looks at all of them."""
    here = visit(*steps.SIZES[0])
    for name, place in (("pieces", 1), ("head", 1), ("head", 3), ("head", 6), ("following", 2)):
        page: Page = here.open(f"{app_url}/learn?lesson={name}&step={place}")
        places = {}
        for revealed in (False, True):
            for width, height in steps.SIZES:
                page.set_viewport_size({"width": width, "height": height})
                measured = steps.measure(page, revealed=revealed)
                assert measured.question, (name, place, width, revealed)
                assert measured.way, (name, place, width, revealed)
                assert places.setdefault(width, measured.place) == measured.place, (name, place, width)
            if not revealed:
                with step(here):
                    page.get_by_role("button", name="Show the answer").click()
                    expect(page.get_by_text("Why?")).to_be_visible()


def test_slides_fill_the_screen_and_keys_go_through_them(visit: StartVisit, app_url: str) -> None:
    here = visit(1280, 720)
    page: Page = here.open(f"{app_url}/learn?lesson={NAME}")
    with step(here):
        page.get_by_role("button", name="Slides").click()
        wait_for(page, FULL)
        expect(page.get_by_role("button", name="Leave slides")).to_be_visible()
    for hidden in (".st-key-headline", ".stAppHeader"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.get_by_label("Text", exact=True)).to_have_value(LESSONS[NAME].examples[0][0])
    expect(page.get_by_role("button", name="Examples")).to_be_visible()
    assert parameters(page)["present"] == "1"
    # A remote's keys and a keyboard's; after each the step, and whether its answer is seen.
    pressed = (("PageDown", 1, 1), (" ", 2, 0), ("ArrowRight", 2, 1), ("PageUp", 1, 1), ("PageDown", 2, 1))
    for key, place, revealed in (*pressed, ("ArrowRight", 3, 0), ("ArrowLeft", 2, 1)):
        with step(here):
            page.keyboard.press(key)
            expect_step(here, NAME, place)
            expect(page.get_by_text("Why?")).to_have_count(revealed)
    page.keyboard.press("b")
    covers = "document.elementFromPoint(5, 5).style.filter === 'brightness(0)'"
    wait_for(page, covers)
    page.keyboard.press(".")
    wait_for(page, f"!({covers})")
    expect(page.locator(".st-key-way")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.keyboard.press("f")
    wait_for(page, f"!({FULL})")
    expect(page.get_by_role("button", name="Leave slides")).to_be_visible()
    page.keyboard.press("f")
    wait_for(page, FULL)
    with step(here):
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Slides", exact=True)).to_be_visible()
    wait_for(page, f"!({FULL})")
    expect_step(here, NAME, 2)
    expect(page.locator(".st-key-headline")).to_be_visible()
    with step(here):  # a text keeps its arrows
        page.get_by_label("Text", exact=True).press("ArrowRight")
        page.get_by_role("button", name="Back", exact=True).press("ArrowRight")
        expect_step(here, NAME, 3)
    with step(here):  # the page that follows has none of this
        page.get_by_test_id("stTopNavLink").filter(has_text="Masked words").click()
        expect(page.get_by_role("heading", name="Masked words", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    here.wait_until_idle()
    expect(page.get_by_role("heading", name="Masked words", exact=True)).to_be_visible()
