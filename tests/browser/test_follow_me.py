"""A teacher and two students, each in a browser: the students' pages follow by themselves, and their answers count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from journeys import enter
from on_screen import wait_for
from playwright.sync_api import Page, expect

from pages.learn.lessons import LESSONS

pytestmark = pytest.mark.browser

OTHER = "Unbelievably, the old bank was closed."


def option(page: Page, number: int) -> Any:
    return page.locator(f".st-key-option-{number}").get_by_role("button")


def test_students_follow_and_are_counted(visit: Callable[..., Any], app_url: str) -> None:
    desk = visit()
    teacher: Page = desk.open(f"{app_url}/learn?lesson=pieces")
    teacher.get_by_role("button", name="Teach", exact=True).click()
    teacher.get_by_role("button", name="Start a room").click()
    shown = teacher.locator(".st-key-room-code")
    code = shown.locator("strong").inner_text()
    expect(shown).to_contain_text(f"/learn?room={code}")

    seats = [visit(), visit(width=400, height=800, color_scheme="dark")]
    student, other = (seat.open(f"{app_url}/learn?room={code}") for seat in seats)
    for page in (student, other):
        expect(page.get_by_text(f"You are in room {code}.")).to_be_visible()
        expect(page.locator(".st-key-followed")).to_contain_text(f"“{LESSONS['pieces'].examples[0][0]}”")
        expect(page.get_by_role("heading", name="1. Words and pieces")).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_count(0)
    expect(teacher.get_by_text("2 students in the room", exact=True)).to_be_visible()
    teacher.keyboard.press("Escape")

    teacher.get_by_role("button", name="Next", exact=True).click()
    expect(student.get_by_role("heading", name="2. ")).to_be_visible()
    enter(teacher, "Text", OTHER)
    for page in (student, other):
        expect(page.locator(".st-key-followed")).to_contain_text(f"“{OTHER}”")
        expect(page.get_by_text("Unbelievably").last).to_be_visible()

    option(student, 1).click()
    expect(student.get_by_text("Recorded.")).to_be_visible()
    expect(teacher.get_by_text("1 answer from 2 students in the room.")).to_be_visible()
    teacher.get_by_role("button", name="Show votes").click()
    expect(teacher.locator(".st-key-counted-1 .count")).to_have_text("1")
    expect(student.get_by_text("Why?")).to_have_count(0)

    teacher.get_by_role("button", name="Show the answer").click()
    for page in (student, other):
        expect(page.get_by_text("Why?")).to_be_visible()
    expect(student.locator(".st-key-reply")).to_be_visible()
    expect(other.locator(".st-key-reply")).to_have_count(0)

    student.get_by_role("button", name="Leave").click()
    expect(student.get_by_label("Text", exact=True)).to_have_value(OTHER)
    wait_for(student, "!location.search.includes('room=')")
    teacher.get_by_role("button", name="Next", exact=True).click()
    expect(other.get_by_role("heading", name="3. ")).to_be_visible()
    expect(student.get_by_role("heading", name="2. ")).to_be_visible()

    teacher.get_by_role("button", name=f"Room {code}").click()
    teacher.get_by_role("button", name="End the room").click()
    expect(other.get_by_text(f"There is no room “{code}”")).to_be_visible()
    expect(other.get_by_label("Text", exact=True)).to_have_value(OTHER)
    for seat in (desk, *seats):
        seat.wait_until_idle()
