"""Words that light up on the page "Attention": the numbers of the head, its layer and all heads, as the filter leaves
them; and the head that a step leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_screen import unpacked
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from analysis.filters import Filter
from model_zoo import Engine
from model_zoo.types import FloatArray
from pages.attention.scene import Scene

TEXT, PAIR = "The unbelievable dog barked.", "It was not tired."
LAYER, HEAD = 2, 4  # from 0


def _script(scene: object, layer: int, head: int) -> None:
    from pages.attention.scene import Scene
    from ui import lit_words

    assert isinstance(scene, Scene)
    lit_words.draw(scene, layer, head)


def drawn(scene: Scene, head: tuple[int, int] = (LAYER, HEAD)) -> tuple[dict[str, Any], FloatArray]:
    """The component's data and its three matrices."""
    app = AppTest.from_function(_script, args=(scene, *head), default_timeout=PATIENCE).run()
    assert not app.exception
    (element,) = app.get("bidi_component")
    header, packed = unpacked(element.proto.bytes)
    state: dict[str, Any] = header
    shape = 3, len(state["queries"]), len(state["queries" if state["keys"] is None else "keys"])
    numbers = np.frombuffer(packed, dtype="<u2").reshape(shape)
    return state, numbers * (np.array(state["limits"], dtype=np.float32) / 65535)[:, None, None]


@pytest.fixture(autouse=True)
def the_tests_engine(open_page: Callable[..., AppTest]) -> None:
    """Its engine is the app's: nothing is opened here."""


def test_the_three_matrices_are_the_run_s(engine: Engine) -> None:
    scene = Scene(model="embedded/bert", text=TEXT, pair=PAIR, stack="encoder")
    header, matrices = drawn(scene)
    run = engine.attend("embedded/bert", TEXT, PAIR)
    layers = [run.layer(layer) for layer in range(run.n_layers)]
    expected = [run.head(LAYER, HEAD), layers[LAYER].mean(axis=0), np.concatenate(layers).mean(axis=0)]
    np.testing.assert_allclose(matrices, expected, atol=1 / 131070 + 1e-6)
    assert header["names"] == ["Layer 3, head 5", "Mean of layer 3", "Mean of all 72 heads"]
    assert (header["head"], header["n_heads"]) == (LAYER * 12 + HEAD, 72)
    assert [word["text"] for word in header["queries"]][:3] == ["[CLS]", "The", "unbelievable"]
    assert header["keys"] is None

    scene = Scene(model="embedded/bert", text=TEXT, pair=None, stack="encoder", measure="value-weighted")
    header, matrices = drawn(scene)
    run = engine.attend("embedded/bert", TEXT)
    of_layer = run.layer(LAYER) * run.value_norms(LAYER)[:, None, :]
    np.testing.assert_allclose(matrices[0], of_layer[HEAD], atol=of_layer[HEAD].max() / 65535)
    np.testing.assert_allclose(matrices[1], of_layer.mean(axis=0), atol=of_layer.max() / 65535)
    assert header["shares"] is False
    assert header["limits"] == pytest.approx(matrices.max(axis=(1, 2)))

    from ui import lit_words

    scene = Scene(model="embedded/bert", text=TEXT, pair=None, stack="encoder")
    page = lit_words.file(scene, LAYER, HEAD)
    assert "layer 3, head 5" in page
    assert '"n_heads": 1,' in page  # a file has no other head to step to
    assert TEXT in page


def test_the_filter_is_that_of_the_heatmap(checkpoint: Callable[[str], Path], engine: Engine) -> None:
    chosen = Filter(words=True, hide_special=True, renormalize=True, direction="A->B", threshold=0.05)
    scene = Scene(model="embedded/bert", text=TEXT, pair=PAIR, stack="encoder", filter=chosen)
    header, matrices = drawn(scene)
    np.testing.assert_allclose(matrices[0], scene.filtered(scene.maps.map(LAYER, HEAD)).weights, atol=1 / 131070 + 1e-6)
    assert [word["text"] for word in header["queries"]] == ["The", "unbelievable", "dog", "barked", "."]
    assert [word["text"] for word in header["keys"]] == ["It", "was", "not", "tired", "."]

    folder = str(checkpoint("bart"))
    scene = Scene(model=folder, text=TEXT, pair=PAIR, stack="cross")
    header, matrices = drawn(scene, (0, 1))
    run = engine.attend(folder, TEXT, PAIR, stack="cross")
    np.testing.assert_allclose(matrices[0], run.head(0, 1), atol=1 / 131070 + 1e-6)
    assert (len(header["queries"]), len(header["keys"])) == (run.n_tokens, run.n_keys)

    scene = Scene(model="embedded/bert", text="[SEP]", pair=None, stack="encoder", filter=Filter(hide_special=True))
    app = AppTest.from_function(_script, args=(scene, 0, 0), default_timeout=PATIENCE).run()
    assert not app.exception
    assert not app.get("bidi_component")


def _stepping(model: str, place: int) -> None:
    import streamlit as st

    from pages.attention.scene import Scene
    from ui import lit_words
    from ui.widgets import HEAD, LAYER

    lit_words._step(Scene(model=model, text="A cat.", pair=None, stack="encoder"), place)
    st.text(f"{LAYER.value}.{HEAD.value}")


@pytest.mark.parametrize(("place", "opened"), [(0, "1.1"), (11, "1.12"), (12, "2.1"), (71, "6.12"), (72, "2.4")])
def test_a_step_opens_the_head_at_its_place(place: int, opened: str) -> None:
    """After the last head of a layer comes the first of the next; there are 72, and another place leaves the head that
    was open.
    """
    app = AppTest.from_function(_stepping, args=("embedded/bert", place), default_timeout=PATIENCE).run()
    assert not app.exception
    assert app.text[0].value == opened
