"""Where things stand on the screen: the first picture of every view, what must be seen at once, how long Compare is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from benchmarks.positions import MARKS, PAIR, SIZES, TEXT, Sight, measure, table
from model_zoo import DEFAULT_MODEL, Engine
from pages import PAGES
from ui.precomputed import EMBEDDED

PROJECTOR, TELEPHONE = SIZES
TWO_MODELS = {"models": ",".join(EMBEDDED[:2])}
Views = Callable[..., Iterator[tuple[Page, Sight]]]


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def test_the_texts_are_sixteen_tokens(engine: Engine) -> None:
    assert [len(engine.encode(DEFAULT_MODEL, *texts)) for texts in ((TEXT,), PAIR)] == [16, 16]


def test_two_outputs_stand_beside_each_other(tmp_path: Path) -> None:
    """A view that was not there before, and one without a picture, have their places."""
    before, after = tmp_path / "before", tmp_path / "after"
    grid = {"page": "attention", "view": "grid", "window": [1280, 720], "top": 912, "bottom": 1242, "height": 1643}
    words = grid | {"view": "words", "top": None, "bottom": None, "height": 720}
    before.write_text(json.dumps(grid) + "\n", "utf-8")
    after.write_text("\n".join(map(json.dumps, (grid | {"top": 257}, words))) + "\n", "utf-8")
    assert table(before, after).splitlines()[2:] == [
        "| attention | grid | 912 (1,643) | 257 (1,643) |  |  |",
        "| attention | words |  | no picture (720) |  |  |",
    ]


@pytest.mark.browser
@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_the_first_picture_of_every_view_is_seen_at_once(name: str, views: Views) -> None:
    too_low = []
    for page, sight in views(name):
        for size in SIZES:
            resize(page, size)
            top = measure(page).top
            if top is None or top > MARKS[size]:
                too_low.append(f"{sight.view or name} at {size[0]}x{size[1]}: {top}, at most {MARKS[size]}")
        resize(page, PROJECTOR)
    assert not too_low, "\n".join(too_low)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("sight", "parts"),
    [
        (Sight("attention", "grid"), [".st-key-grid", ".st-key-heatmap"]),
        (Sight("masked_words", "predictions"), [".st-key-mask_strip", '[data-testid="stPlotlyChart"]']),
        (Sight("next_sentence", "probability"), [".st-key-text", ".st-key-pair", ".st-key-answer"]),
    ],
    ids=lambda value: value.page if isinstance(value, Sight) else "",
)
def test_sixteen_tokens_are_seen_whole(sight: Sight, parts: list[str], visit: Callable[..., Any], app_url: str) -> None:
    page = visit(*PROJECTOR).open(app_url + sight.address())
    measure(page)
    for part in parts:
        box = page.locator(part).first.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= PROJECTOR[1], part


@pytest.mark.browser
def test_two_models_are_compared_on_two_screens(views: Views) -> None:
    """On a telephone, where everything stands below each other, as well."""
    too_long = []
    for page, sight in views("compare", **TWO_MODELS):
        for size in SIZES:
            resize(page, size)
            height = measure(page).height
            if height > 2 * size[1]:
                too_long.append(f"{sight.view} at {size[0]}x{size[1]}: {height}, at most {2 * size[1]}")
        resize(page, PROJECTOR)
    assert not too_long, "\n".join(too_long)
