"""A whole class in its browsers: a teacher, three students, a network that is lost, a process that is killed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from journeys import enter, go_to
from on_screen import PATIENCE_MS, StartVisit, wait_for
from patience import until
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from benchmarks.cutting_proxy import proxies
from pages.learn.lessons import LESSONS

CONNECTION = "document.querySelector('[data-test-connection-state]').dataset.testConnectionState"
OTHER = "Unbelievably, the old bank was closed."


def at_step(page: Page, step: int) -> None:
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        f"{step}. {LESSONS['pieces'].steps[step - 1].title}"
    )


def option(page: Page, number: int) -> Locator:
    return page.locator(f".st-key-option-{number}").get_by_role("button")


def count(page: Page, number: int) -> Locator:
    """The bar beside an option, and how many have chosen it."""
    return page.locator(f".st-key-counted-{number} .count")


def chosen(page: Page, number: int) -> Locator:
    return page.locator(f".st-key-option-{number}").get_by_test_id("stBaseButton-primary")


def press(here: Any, button: Locator, seen: Locator) -> None:
    """Click, and again where that came to nothing: a page whose process has just been started again may still show what
    the one before has drawn. What has been clicked is at work, or seen, before the page is idle again.
    """
    for _ in range(6):
        here.wait_until_idle()
        if seen.is_visible():
            return
        with suppress(TimeoutError):
            button.click(timeout=5_000)
        with suppress(AssertionError):
            expect(seen).to_be_visible(timeout=10_000)
            return
    expect(seen).to_be_visible()


def test_a_class_from_its_first_step_to_its_last(
    start_app: Callable[..., Any], visit: StartVisit, browser: Browser, tmp_path: Path
) -> None:
    app = start_app(INSIDE_BERT_ROOMS_FILE=str(tmp_path / "rooms.json"))
    with (
        proxies(app.url) as (network,),
        browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as phones,
    ):
        seats = desk, near, late = visit(height=720), visit(), visit(color_scheme="dark")
        for seat in seats:
            seat.loses_its_connection = True
        teacher: Page = desk.open(f"{app.url}/learn?lesson=pieces")
        teacher.get_by_role("button", name="Teach", exact=True).click()
        teacher.get_by_role("button", name="Start a room").click()
        room_code = teacher.locator(".st-key-room-code")
        code = room_code.locator("strong").inner_text()
        expect(room_code).to_contain_text(f"/learn?room={code}")
        expect(teacher.get_by_alt_text("QR code of the link to the room")).to_be_visible()
        expect(teacher.get_by_text("an address that works on this computer alone")).to_be_visible()

        # Two students come by the link, one of them on a phone; both answer, and nobody sees who chose what.
        student: Page = near.open(f"{network.url}/learn?room={code}")
        phones.set_default_timeout(PATIENCE_MS)
        phone = phones.new_page()
        phone.goto(f"{app.url}/learn?room={code}")
        for page in (student, phone):
            expect(page.get_by_text(f"You are in room {code}.")).to_be_visible()
            expect(page.locator(".st-key-followed")).to_contain_text(f"“{LESSONS['pieces'].examples[0][0]}”")
            at_step(page, 1)
            expect(page.get_by_label("Text", exact=True)).to_have_count(0)
        expect(teacher.get_by_text("2 students in the room", exact=True)).to_be_visible()
        teacher.keyboard.press("Escape")
        option(student, 1).click()
        option(phone, 2).tap()
        for page in (student, phone):
            expect(page.get_by_text("Recorded.")).to_be_visible()
            expect(page.get_by_text("2 answers so far.")).to_be_visible()
        expect(teacher.get_by_text("2 answers from 2 students in the room.")).to_be_visible()
        everybody = [teacher, student, phone]
        for page in everybody:
            expect(page.locator(".count")).to_have_count(0)
        teacher.get_by_role("button", name="Show votes").click()
        for page in everybody:
            expect(count(page, 1)).to_have_text("1")
            expect(count(page, 2)).to_have_text("1")
            expect(page.get_by_text("Why?")).to_have_count(0)
        teacher.get_by_role("button", name="Show the answer").click()
        for page in everybody:
            expect(page.get_by_text("Why?")).to_be_visible()
            expect(page.locator(".st-key-reply")).to_have_count(0 if page is teacher else 1)

        # One comes late and types the code. The teacher types a sentence of the class, and loads the page again.
        teacher.get_by_role("button", name="Next", exact=True).click()
        last: Page = late.open(f"{app.url}/learn")
        last.get_by_role("button", name="Join a room").click()
        last.get_by_label("Room code").fill(code.lower())
        last.get_by_role("button", name="Join", exact=True).click()
        everybody.append(last)
        enter(teacher, "Text", OTHER)
        for page in everybody[1:]:
            at_step(page, 2)
            expect(page.locator(".st-key-followed")).to_contain_text(f"“{OTHER}”")
            expect(page.locator(".count")).to_have_count(0)
        teacher.reload()
        expect(teacher.get_by_role("button", name=f"Room {code}")).to_be_visible()
        expect(teacher.get_by_text("0 answers from 3 students in the room.")).to_be_visible()
        assert code not in teacher.url

        # One loses the network while the class goes on, and is where the class is when it is back.
        network.lose()
        teacher.get_by_role("button", name="Next", exact=True).click()
        for page in (phone, last):
            at_step(page, 3)
        at_step(student, 2)
        network.find()
        at_step(student, 3)
        press(near, option(student, 1), chosen(student, 1))
        expect(teacher.get_by_text("1 answer from 3 students in the room.")).to_be_visible()
        wait_for_file(tmp_path / "rooms.json", '"pieces.3":{"shown"', '"1"}')

        # The process is killed. Nobody has to do anything, and an answer is still that of its student.
        app.kill()
        for page in everybody:
            wait_for(page, f"{CONNECTION} !== 'CONNECTED'")
        app.start()
        for page in everybody:
            wait_for(page, f"{CONNECTION} === 'CONNECTED'")
        expect(student.get_by_text("Recorded.")).to_be_visible()
        press(near, option(student, 2), chosen(student, 2))
        press(desk, teacher.get_by_role("button", name="Show votes"), count(teacher, 2))
        expect(count(teacher, 2)).to_have_text("1")
        expect(count(teacher, 1)).to_have_text("0")
        on = teacher.get_by_role("button", name="Next", exact=True)
        press(desk, on, teacher.get_by_role("heading", level=2).filter(has_text="4. "))
        for page in everybody:
            at_step(page, 4)

        # Another page and back; there students may look around.
        go_to(teacher, "Attention")
        for page in everybody[1:]:
            expect(page.get_by_role("heading", name="Attention", exact=True, level=1)).to_be_visible()
        enter(teacher, "Layer", "3")
        for page in everybody[1:]:
            expect(page.get_by_label("Layer", exact=True)).to_have_value("3")
        go_to(teacher, "Learn")
        for step in (4, 5, 6):
            for page in everybody:
                at_step(page, step)
            if step < 6:
                teacher.get_by_role("button", name="Next", exact=True).click()

        # The teacher is gone, which all are told, and back. One goes on alone.
        teacher.goto("about:blank")
        for page in everybody[1:]:
            expect(page.get_by_text("Your teacher has left; you can go on by yourself")).to_be_visible()
        last.get_by_role("button", name="Leave").click()
        expect(last.get_by_label("Text", exact=True)).to_have_value(OTHER)
        wait_for(last, "!location.search.includes('room=')")
        teacher.goto(f"{app.url}/learn")
        expect(teacher.get_by_role("button", name=f"Room {code}")).to_be_visible()
        for page in (student, phone):
            expect(page.get_by_text("Your teacher has left")).to_have_count(0)
            at_step(page, 6)
        teacher.get_by_role("button", name=f"Room {code}").click()
        teacher.get_by_role("button", name="End the room").click()
        for page in (student, phone):
            expect(page.get_by_text(f"There is no room “{code}”")).to_be_visible()
            expect(page.get_by_label("Text", exact=True)).to_have_value(OTHER)
        at_step(last, 6)
        for seat in seats:
            seat.wait_until_idle()


def wait_for_file(path: Path, *parts: str) -> None:
    """Until a file says this."""

    def written() -> str:
        return path.read_text("utf-8") if path.exists() else ""

    until(lambda: all(part in written() for part in parts), why=written)
