"""A head opened in the grid of the page "Attention": what is shown then, and what is not sent again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from on_screen import unpacked
from streamlit.testing.v1.element_tree import Element
from walks.visitor import Visitor
from walks.walk import trouble

from model_zoo import Engine

TEXT = "The dog barked."
LONG = "the old man " * 25


def grid(here: Visitor) -> Element:
    return next(e for e in here.elements() if e.type == "bidi_component" and e.proto.component_name == "grid")


def sent(here: Visitor) -> tuple[object, object]:
    """Which head the browser is told to frame, and by which number it knows that it is told again."""
    header, _ = unpacked(grid(here).proto.bytes)
    return header["selected"], header["serial"]


def test_an_opened_head_is_shown_and_the_grid_not_sent_again(visitor: Callable[..., Visitor], engine: Engine) -> None:
    here = visitor("pages/attention/page.py", view="grid", text=TEXT)
    before = grid(here).proto.bytes
    for layer, head in ((3, 6), (5, 11), (3, 6)):
        here.choose(grid(here), {"head": [layer, head]})
        assert trouble(here) is None
        assert (here.value("layer", 1), here.value("head", 1)) == (layer + 1, head + 1)
        heatmap = next(e for e in here.elements() if e.type == "bidi_component" and e.proto.component_name == "heatmap")
        expected = engine.attend("embedded/bert", TEXT).head(layer, head)
        np.testing.assert_array_equal(
            np.frombuffer(unpacked(heatmap.proto.bytes)[1], "<f4").reshape(expected.shape), expected
        )
        assert grid(here).proto.bytes == before


def test_the_steppers_move_the_frame_back_to_where_it_was_sent(visitor: Callable[..., Visitor]) -> None:
    """The browser has moved it since, so the same head is asked for once more."""
    here = visitor("pages/attention/page.py", view="grid", text=TEXT, layer="1", head="1")
    assert sent(here) == ([0, 0], 0)
    here.choose(grid(here), {"head": [0, 5]})
    here.use(here.widget("head"), 1)
    assert sent(here) == ([0, 0], 1)
    here.use(here.widget("head"), 3)
    assert sent(here) == ([0, 2], 1)


def test_a_grid_that_is_new_on_the_page_has_its_frame_where_the_head_is(visitor: Callable[..., Visitor]) -> None:
    here = visitor("pages/attention/page.py", view="grid", text=TEXT)
    here.choose(grid(here), {"head": [2, 4]})
    here.use(here.widget("view"), "Lines")
    here.use(here.widget("view"), "All heads")
    assert sent(here) == ([2, 4], 0)


@pytest.mark.parametrize(("text", "mentioned"), [(TEXT, False), (LONG, True)])
def test_blocks_of_tokens_are_spoken_of_where_there_are_some(
    text: str, mentioned: bool, visitor: Callable[..., Visitor]
) -> None:
    here = visitor("pages/attention/page.py", view="grid", text=text)
    captions = [e.value for e in here.elements() if e.type == "caption"]
    assert any("largest weight of a block" in caption for caption in captions) == mentioned
