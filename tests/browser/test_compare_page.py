"""Comparing models in a real browser: a row of the best matches opens both heads, the link brings them back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from analysis.alignment import align
from analysis.divergence import best_matches, head_matrix
from model_zoo import Engine

pytestmark = pytest.mark.browser

TEXT = "The unbelievable dog barked, didn't it?"


def address(url: str, models: tuple[str, ...], **fields: str) -> str:
    return f"{url}/compare?{urlencode({'models': ','.join(models), 'text': TEXT} | fields)}"


def steppers(page: Page) -> list[str]:
    return [box.input_value() for box in page.get_by_role("spinbutton").all()]


def test_a_best_match_is_opened_and_its_link_restores_it(
    visit: Callable[..., Any], app_url: str, engine: Engine, checkpoint: Callable[[str], Path]
) -> None:
    models = str(checkpoint("bert")), str(checkpoint("roberta"))
    runs = [engine.attend(model, TEXT) for model in models]
    best = best_matches(head_matrix(*runs, align([run.encoding for run in runs])), 4, 4)[0]
    wanted = [str(place + 1) for place in (best.layer_a, best.head_a, best.layer_b, best.head_b)]

    window = visit(height=1400)
    page: Page = window.open(address(app_url, models, compare_view="tokens"))
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    page.get_by_role("radio", name="Attention", exact=True).click()
    expect(page.get_by_text("Which head of B does what this head of A does?")).to_be_visible()
    window.settled()
    assert steppers(page) == ["1", "1", "", "1"]  # no layer of its own: the one at the same depth
    page.get_by_test_id("stDataFrame").locator(".dvn-scroller").click(position={"x": 16, "y": 52})
    expect(page.get_by_role("spinbutton").nth(2)).to_have_value(wanted[2])
    window.settled()
    assert steppers(page) == wanted

    again = visit(height=1400)
    restored: Page = again.open(page.url)
    expect(restored.get_by_role("spinbutton").nth(3)).to_be_visible()
    again.settled()
    assert steppers(restored) == wanted


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["tokens", "attention", "predictions", "representations", "cost"])
def test_every_view_fits_a_telephone(
    view: str, scheme: str, visit: Callable[..., Any], app_url: str, checkpoint: Callable[[str], Path]
) -> None:
    models = str(checkpoint("bert")), str(checkpoint("roberta")), str(checkpoint("gpt2"))
    page: Page = visit(width=400, color_scheme=scheme).open(
        address(app_url, models, compare_view=view, pair="She walked home.")
    )
    expect(page.get_by_text("The address of this page restores")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
