"""A component that is taken off the page, whatever it does: it ends quietly, and a move is no end."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anatomies
import numpy as np
import pytest
from playwright.sync_api import Page

from analysis.thumbnails import thumbnails
from model_zoo.types import MaskPrediction, Prediction
from ui.browser import _SLIDES
from viz import anatomy, cells, component, example_sentences, grid, heatmap, lines, lit_words, sketch, token_line
from viz.anatomy import RUN_PLACES

TOKENS = ["[CLS]", "cat", "sat", "[SEP]"]
N = len(TOKENS)
MAPS = np.random.default_rng(0).dirichlet(np.ones(N), (3, N)).astype(np.float32)
TIMES = 100


def walk() -> dict[str, Any]:
    bert = anatomies.bert()
    n, n_layers = len(bert.encoding), len(bert.states) - 1
    places = {stage.name for stage in (*bert.embeddings, *bert.stages)}
    return anatomy.payload(  # type: ignore[return-value]
        bert,
        predictions=MaskPrediction(4, (Prediction("she", 7, 0.75),), 0.0),
        position=4,
        flows=np.full((n_layers, n, n), 1 / n, np.float32),
        opens=dict.fromkeys({*places, *RUN_PLACES}, "the page"),
    ) | {"file": "asked for"}


def words() -> dict[str, Any]:
    plain: dict[str, Any] = {"space": True, "piece": False, "special": False, "segment": 0, "dir": "ltr"}
    queries = [lit_words.Word(text=token, token=token, **plain) for token in TOKENS]
    names = ["The head", "The layer", "All"]
    return lit_words.payload(MAPS, queries, names=names, n_heads=9, group="g", file="asked for")  # type: ignore[return-value]


def saver() -> dict[str, Any]:
    picture = {
        "name": "asked for",
        "label": "Picture",
        "file": "picture",
        "plot": None,
        "about": {"title": "A picture"},
    }
    look = component.paper_look(component.LIGHT)
    settings = {"mm": 85, "png": 2, "outlines": False, "serial": 0, "fonts": {}, "problem": ""}
    return {"pictures": [picture], "look": look, **settings}


EXAMPLES: dict[str, tuple[dict[str, str], Callable[[], Any]]] = {
    "anatomy": (anatomy.SOURCE, walk),
    "cells": (
        cells.SOURCE,
        lambda: cells.cells(MAPS[0], TOKENS, TOKENS, quantity="w", down="d", across="a", pick=True, file="asked for"),
    ),
    "example_sentences": (
        example_sentences.SOURCE,
        lambda: (
            example_sentences.payload(
                [example_sentences.ExampleSentence("The cat sat.", (8, 11), (((4, 7), 1.0),), beside="83%")] * 4,
                "attention",
                {"Attention": ["attention?layer=3"] * 4},
                first=2,
            )
            | {"file": "asked for"}
        ),
    ),
    "grid": (
        grid.SOURCE,
        lambda: grid.grid(thumbnails([MAPS, MAPS]), (1, 0), group="g", file="asked for"),
    ),
    "heatmap": (heatmap.SOURCE, lambda: heatmap.heatmap(MAPS[0], TOKENS, TOKENS, group="g", file="asked for")),
    "lines": (
        lines.SOURCE,
        lambda: lines.payload(
            MAPS,
            TOKENS,
            TOKENS,
            head_names=["1", "2", "3"],
            colours=["#f00", "#0a0", "#00f"],
            dark_colours=["#f88", "#8f8", "#88f"],
            group="g",
            file="asked for",
        ),
    ),
    "saver": (component.source("saver"), saver),
    "sketch": (sketch.SOURCE, lambda: sketch.payload(TOKENS, None, None, top=1, unit="%", kind="bars")),
    "slides": (dict(_SLIDES), lambda: {"on": True, "place": "1.1"}),
    "token_line": (
        token_line.SOURCE,
        lambda: token_line.payload([token_line.Line((token_line.Item((token_line.Cell("cat"),)),))], "asked for"),
    ),
    "words": (lit_words.SOURCE, words),
}


def test_every_component_that_stands_on_a_page_is_here() -> None:
    with_markup = {file.parent.name for file in component.FILES.glob("*/*.js") if file.with_suffix(".html").exists()}
    assert with_markup <= set(EXAMPLES)


SCRIPT = Path(__file__).with_name("taken_away.js")


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_ends_quietly_at_every_stage(name: str, mounted: Callable[..., tuple[Page, Any]]) -> None:
    source, example = EXAMPLES[name]
    page, _run = mounted(source)
    page.add_script_tag(path=SCRIPT)
    payload = example()
    packed, plain = None, payload
    if "weights" in payload:
        packed, plain = base64.b64encode(component.pack(payload)).decode(), None
    look = component.paper_look(component.LIGHT)
    assert page.evaluate("(given) => takeAway(...given)", [packed, plain, TIMES, look]) == []


def test_a_picture_that_is_moved_goes_on(mounted: Callable[..., tuple[Page, Any]]) -> None:
    """As a notebook moves a cell with all that stands in it."""
    page, run = mounted(heatmap.SOURCE)
    run(EXAMPLES["heatmap"][1]())
    page.locator(".heatmap[data-picture='1']").wait_for()
    page.evaluate("document.body.prepend(document.querySelector('main'))")
    page.set_viewport_size({"width": 500, "height": 700})
    page.locator(".heatmap[data-picture='2']").wait_for()
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert "weight" in page.get_by_role("status").inner_text()
