"""As Python and Cite in a real browser: the lines are copied by a click, and what was copied computes what is on the
screen.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import model_zoo
from model_zoo import Engine

pytestmark = pytest.mark.browser

TEXT = 'He said "it\'s late" \\n and left. 🙂'


def test_what_is_copied_computes_what_is_on_the_screen(
    visit: Callable[..., Any], app_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = visit(400, 800)
    page: Page = window.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.open(f"{app_url}/attention?view=lines&text={TEXT}&layer=3&head=5")
    page.get_by_role("button", name="As Python", exact=True).click()
    lines = page.locator(".st-key-lines-of-python pre")
    expect(lines).to_contain_text("numbers = ")
    box = page.get_by_test_id("stPopoverBody").bounding_box()
    assert box is not None
    assert box["height"] > 200  # above its button, which stands at the end of the page
    assert box["y"] >= 0
    lines.hover()
    window.until(
        page.get_by_role("button", name="Copy to clipboard").click,
        lambda patience: expect(page.get_by_role("button", name="Copied")).to_be_visible(timeout=patience),
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    monkeypatch.setattr(model_zoo, "Engine", lambda: engine)
    namespace: dict[str, Any] = {}
    exec(copied, namespace)
    np.testing.assert_array_equal(namespace["numbers"], engine.attend("embedded/bert", TEXT).head(2, 4))

    page.keyboard.press("Escape")
    window.until(
        page.get_by_role("button", name="Cite", exact=True).click,
        lambda patience: expect(page.get_by_test_id("stCode").first).to_contain_text("@misc{", timeout=patience),
    )
    for expected in (engine.info("embedded/bert").revision, "in the app: /attention?text=He+said"):
        expect(page.get_by_test_id("stCode").last).to_contain_text(expected)
