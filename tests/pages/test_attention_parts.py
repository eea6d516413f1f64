"""Encoder, decoder and cross-attention on the page "Attention": what is shown, kept, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from on_screen import grids, heatmaps, prose
from streamlit.testing.v1 import AppTest

from analysis.filters import Filter, apply_filter
from model_zoo import Engine
from model_zoo.types import FloatArray
from pages.attention.page import PAGE as ATTENTION

Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]

VIEWS = {view.name: view for view in ATTENTION.views}
UNFILTERED = {"neuron", "heads", "who"}
PAGE = "pages/attention/page.py"
TEXT, PAIR = "The cat sat on the mat.", "The dog was tired of it."
WITH_DECODER = ("bart", "t5")
NO_CROSS = ("rollout", "bertviz")  # views that need the same tokens on both sides


def heatmap_of(app: AppTest) -> FloatArray:
    """The one matrix on screen."""
    (weights,) = heatmaps(app)
    return weights


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("name", WITH_DECODER)
def test_the_part_in_the_address_is_shown(
    name: str, part: str, open_page: Open, checkpoint: Checkpoint, engine: Engine
) -> None:
    folder = str(checkpoint(name))
    app = open_page(PAGE, model=folder, text=TEXT, pair=PAIR, model_part=part, layer="2", head="3", words="1")
    assert not app.error
    assert app.segmented_control(key="attention_model_part").value == part
    run = engine.attend(folder, TEXT, PAIR, max_tokens=1024, stack=part)  # type: ignore[arg-type]
    expected = apply_filter(run.encoding, run.head(1, 2), Filter(words=True), run.key_encoding)
    np.testing.assert_array_equal(heatmap_of(app), expected.weights)
    assert app.query_params.get("model_part", "encoder") == part


def test_another_part_is_another_picture(open_page: Open, checkpoint: Checkpoint) -> None:
    """The pictures of all heads too, which are remembered by what they show."""
    app = open_page(PAGE, model=str(checkpoint("bart")), text=TEXT, pair=TEXT)
    pictures: set[object] = set()
    for part in ("encoder", "decoder", "cross"):
        app.segmented_control(key="attention_model_part").set_value(part).run()
        (grid,) = grids(app)
        pictures |= {grid.tobytes(), heatmap_of(app).tobytes()}
    assert len(pictures) == 6


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("family", WITH_DECODER)
def test_every_view_draws_or_says_why_not(family: str, name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint(family)), text=TEXT, pair=PAIR, view=name, layer="2")
    for part in ("decoder", "cross"):
        app.query_params["model_part"] = part
        app.run()
        assert not app.warning
        assert len(app.error) == (part == "cross" and name in NO_CROSS)
        assert all("ross-attention" in error.value.replace("\\", "") for error in app.error)


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_takes_every_filter_with_cross_attention(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    """Also of a decoder that has written nothing yet."""
    app = open_page(
        PAGE, model=str(checkpoint("t5")), text=TEXT, pair=PAIR, view=name, model_part="cross", direction="A->B",
        hide="1", renorm="1", words="1", show="value-weighted", threshold="0.05", top="3",
    )  # fmt: skip
    assert ("There is only one text here" in prose(app)) == (name not in UNFILTERED)
    assert len(app.error) == (name in NO_CROSS)
    if name in NO_CROSS:
        return
    app = open_page(PAGE, model=str(checkpoint("t5")), text=TEXT, view=name, model_part="cross")
    assert not app.error
    assert "has written nothing yet" in prose(app)
    assert len(app.warning) == (name == "heads")  # no words to measure them on
    if name == "grid":
        assert len(heatmap_of(app)) == 1


def test_bart_is_said_to_restore_the_first_text(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("bart")), text=TEXT, model_part="decoder")
    assert "has to restore" in prose(app)
    app.text_area(key="pair").set_value(PAIR).run()
    assert "has to restore" not in prose(app)


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_model_of_one_stack_offers_no_parts(name: str, open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint(name)), text=TEXT, model_part="cross")
    assert "no encoder and decoder to choose from" in prose(app)
    assert "attention" not in app.query_params
    with pytest.raises(KeyError):
        app.segmented_control(key="attention_model_part")
    assert heatmap_of(app).shape[0] == heatmap_of(app).shape[1]
    app.text_area(key="text").set_value("Another text.").run()
    assert "no encoder and decoder to choose from" not in prose(app)


def test_texts_that_are_cut_and_layers_that_are_not_there_are_named(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("bart")), text=TEXT, layer="3", model_part="middle")
    assert "could not be used" in prose(app)
    assert app.segmented_control(key="attention_model_part").value == "encoder"
    app.segmented_control(key="attention_model_part").set_value("cross").run()
    assert "layer 3 does not exist" in prose(app)
    assert app.number_input(key="layer").value == 2
    app.text_area(key="text").set_value("cat " * 90)
    app.text_area(key="pair").set_value("the " * 80).run()
    assert "The encoder's text was cut" in prose(app)
    assert "The decoder's text was cut" in prose(app)
    app = open_page(PAGE, model=str(checkpoint("t5")), view="neuron")  # which has no limit of its own
    app.text_area(key="text").set_value("cat " * 1100).run()
    assert "at most 1,024 tokens on this page" in prose(app)


def test_heads_of_cross_attention_leave_out_what_means_nothing(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, model=str(checkpoint("bart")), text=TEXT, pair=PAIR, model_part="cross", view="heads")
    columns = set(app.dataframe[0].value.columns)
    assert {"label", "entropy", "first", "separator", "same_word"} <= columns
    assert not columns & {"rare", "itself", "previous", "next", "distance", "other_sentence"}


def test_the_view_query_and_key_names_the_tokens_of_both_texts(
    open_page: Open, checkpoint: Checkpoint, engine: Engine
) -> None:
    folder = str(checkpoint("t5"))
    app = open_page(PAGE, model=folder, text=TEXT, pair="Xylophone", model_part="cross", view="neuron", token="2")
    run = engine.attend(folder, TEXT, "Xylophone", max_tokens=1024, stack="cross")
    options = app.selectbox(key="attention_token").options
    assert [option.split(" · ", 1)[1] for option in options] == list(run.encoding.tokens)
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    ticks = figure["layout"]["yaxis"]["ticktext"]
    assert len(ticks) == run.n_keys != run.n_tokens
    assert f"softmax over all {run.n_keys} keys" in prose(app)
