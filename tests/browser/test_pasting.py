"""A text that is too long for one message is refused where it is pasted: sent, it would end the connection, again and
again.
"""

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.messages import most_typed

pytestmark = pytest.mark.browser


def test_a_text_that_cannot_be_sent_is_not_taken_and_said_so(visit: Callable[..., Any], app_url: str) -> None:
    most = most_typed()
    here = visit()
    page = here.open(f"{app_url}/attention?view=lines")
    area = page.locator("textarea").first
    area.fill("")
    page.keyboard.insert_text("x" * most)
    assert len(area.input_value()) == most
    page.keyboard.insert_text("yz")
    assert len(area.input_value()) == most
    message = area.evaluate("(area) => area.validationMessage")
    assert message.startswith("This is too long: up to 300,000 characters can be put here.")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("The page goes on.")
    assert area.evaluate("(area) => area.validationMessage") == ""
    area.press("Enter")
    here.wait_until_idle()
    assert area.input_value() == "The page goes on."
    page.get_by_test_id("stAlert").first.wait_for(state="detached")
