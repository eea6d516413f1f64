"""The switch "Show" of the page "Attention" in every view, the grid of heads, words that light up: their numbers."""

from typing import Any

import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, controls, drawn, grids, heatmaps, prose, unpacked
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element
from walks.visitor import OpenVisitor, Visitor
from walks.walk import trouble

from analysis.filters import Filter
from analysis.rollout import rollout
from analysis.thumbnails import thumbnails
from analysis.views import ContributionView, Norms, Weights
from model_zoo import Engine
from model_zoo.types import MOST_ZEROED, ContributionMeasure, FloatArray
from pages.attention.page import PAGE as ATTENTION
from pages.attention.scene import Scene
from ui.show import SHOW, WORDS

PAGE = ATTENTION.path
TEXT = "The unbelievable dog barked."
OF_LAYERS: tuple[ContributionMeasure, ...] = ("ALTI", "value zeroing")


def component(app: AppTest, name: str) -> tuple[dict[str, Any], bytes]:
    (element,) = [e for e in app.get("bidi_component") if e.proto.component_name == name]
    header, numbers = unpacked(element.proto.bytes)
    return dict(header), numbers


@pytest.mark.parametrize("measure", OF_LAYERS)
@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2"])
def test_layers(
    name: str, measure: ContributionMeasure, open_page: Open, checkpoint: Checkpoint, engine: Engine
) -> None:
    folder = str(checkpoint(name))
    app = open_page(PAGE, model=folder, text=TEXT, show=measure, layer="2", head="3")
    assert not [*app.error, *app.warning]
    contributions = engine.contributions(folder, TEXT, max_tokens=1024, measure=measure)
    (grid,) = heatmaps(app)
    np.testing.assert_array_equal(grid, contributions.maps[1])
    assert "head" not in controls(app)
    assert "Layer 2, all heads together with the residual stream." in prose(app)
    assert WORDS[measure].about in prose(app)

    header, _ = component(app, "grid")
    assert (header["names"], header["heads"], header["selected"]) == (["layer"], [contributions.n_layers], [0, 1])
    shares = measure == "ALTI"
    small = thumbnails((contributions.layer(layer) for layer in range(contributions.n_layers)), shares=shares)
    np.testing.assert_array_equal(grids(app)[0][0], small.pixels[:, 0])

    header, numbers = component(app, "words")
    assert header["names"] == ["Layer 2", f"Mean of all {contributions.n_layers} layers"]
    assert (header["head"], header["n_heads"], header["unit"]) == (1, contributions.n_layers, "layer")
    assert (header["shares"], header["says"]) == (shares, "takes" if shares else "changes")
    n = len(header["queries"])
    lit = np.frombuffer(numbers, "<u2").reshape(2, n, n) * (np.array(header["limits"])[:, None, None] / 65535)
    np.testing.assert_allclose(lit, [contributions.maps[1], contributions.maps.mean(axis=0)], atol=1e-4)


@pytest.mark.parametrize("measure", OF_LAYERS)
def test_lines_and_rollout_of_layers(measure: ContributionMeasure, open_page: Open, engine: Engine) -> None:
    contributions = engine.contributions("embedded/tinybert", TEXT, max_tokens=1024, measure=measure)
    here = {"model": "embedded/tinybert", "text": TEXT, "show": measure, "layer": "2"}
    app = open_page(PAGE, view="lines", scope="all", **here)
    header, numbers = component(app, "lines")
    assert (header["head_names"], "scope" in controls(app)) == (["2"], False)
    drawn_ = np.frombuffer(numbers, np.uint8).reshape(contributions.maps[1].shape) * (header["scale"] / 255)
    np.testing.assert_allclose(drawn_, contributions.maps[1], atol=header["scale"] / 500)
    app = open_page(PAGE, view="rollout", **here)
    over, over_weights = heatmaps(app)
    np.testing.assert_array_equal(over, rollout(ContributionView(contributions)))
    np.testing.assert_array_equal(over_weights, rollout(Weights(engine.attend("embedded/tinybert", TEXT))))
    assert "no half is mixed in for" in prose(app)


@pytest.mark.parametrize("view", ["grid", "lines", "combined", "rollout", "bertviz"])
def test_every_measure_in_every_view(view: str, open_page: Open, engine: Engine) -> None:
    """With every filter, too. A layer as a whole has no heads to choose from."""
    app = open_page(PAGE, model="embedded/tinybert", text=TEXT, view=view, layer="2", head="2")
    plain = drawn(app)
    controls(app)["show"].set_value("value-weighted").run()
    assert not [*app.error, *app.warning]
    assert drawn(app) != plain
    if view == "grid":
        norms = Norms(engine.attend("embedded/tinybert", TEXT))
        np.testing.assert_array_equal(heatmaps(app)[0], norms.map(1, 1))
    filters = {"direction": "A->B", "hide": "1", "renorm": "1", "words": "1", "top": "3"}
    app.query_params.update({"pair": "It slept."} | filters)
    app.run()
    for measure in SHOW.labels:
        controls(app)["show"].set_value(measure).run()
        assert not [*app.error, *app.warning], measure
        without_heads = measure in OF_LAYERS and view in ("combined", "bertviz")
        assert ("belongs to a layer" in prose(app)) == without_heads
        assert bool(drawn(app)) != without_heads or view == "bertviz"  # which takes no filter from A to B
        if view != "combined":
            assert all(rows.sum(axis=1).max() <= 1 + 1e-5 for rows in heatmaps(app))


@pytest.mark.parametrize(
    ("name", "part"), [("bart", "encoder"), ("bart", "decoder"), ("bart", "cross"), ("deberta", "encoder")]
)
def test_where_a_layer_is_not_known(name: str, part: str, open_page: Open, checkpoint: Checkpoint) -> None:
    """In the place of the picture: all controls are there, and lead back. Rollout over weights stays."""
    here = {"model": str(checkpoint(name)), "text": TEXT, "pair": "It slept.", "model_part": part}
    for view, measure in (("grid", "ALTI"), ("lines", "value zeroing")):
        app = open_page(PAGE, view=view, show=measure, **here)
        (error,) = app.error
        assert "not known here part by part" in error.value
        assert not drawn(app)
        assert {"show", "layer", "text", "model", "view"} <= set(controls(app))
        controls(app)["show"].set_value("weights").run()
        assert not app.error
        assert drawn(app)
    if name == "deberta":
        app = open_page(PAGE, view="rollout", show="ALTI", **here)
        assert "not known here part by part" in app.error[0].value
        assert len(heatmaps(app)) == 1


def test_too_long_a_text_for_value_zeroing(open_page: Open) -> None:
    text = "word " * (MOST_ZEROED + 1)
    app = open_page(PAGE, model="embedded/tinybert", text=text, show="value zeroing")
    assert any(f"at most {MOST_ZEROED}" in warning.value for warning in app.warning)
    assert not drawn(app)
    assert app.text_area(key="text").value == text.strip("\n")


def test_files_name_the_measure(open_page: Open) -> None:
    app = open_page(PAGE, text=TEXT, show="ALTI", layer="3", head="5")
    files = app.session_state["saved_shelf"].files
    (numbers,) = [file for key, file in files.items() if file.label == "Numbers (CSV)"]
    head, row, *_ = numbers.make().decode("utf-8-sig").splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=False))
    assert {name: cells[name] for name in ("layer", "head", "how", "measure")} == {
        "layer": "3", "head": "1 to 12", "how": "layer", "measure": "ALTI",
    }  # fmt: skip
    assert numbers.name == "attention_L3"
    (words,) = [file for file in files.values() if file.label.startswith("The words")]
    page = words.make()
    assert "Contributions (ALTI), word by word" in page
    assert "layer 3" in page


BARKED = "The dog barked."
LONG = "the old man " * 25


def grid(here: Visitor) -> Element:
    return next(e for e in here.elements() if e.type == "bidi_component" and e.proto.component_name == "grid")


def sent(here: Visitor) -> tuple[object, object]:
    """Which head the browser is told to frame, and by which number it knows that it is told again."""
    header, _ = unpacked(grid(here).proto.bytes)
    return header["selected"], header["serial"]


def test_opened_heads_and_layers_are_shown_and_no_grid_is_sent(visitor: OpenVisitor, engine: Engine) -> None:
    here = visitor("pages/attention/page.py", view="grid", text=BARKED)
    before = grid(here).proto.bytes
    for layer, head in ((3, 6), (5, 11), (3, 6)):
        here.choose(grid(here), {"head": [layer, head]})
        assert trouble(here) is None
        assert (here.value("layer", 1), here.value("head", 1)) == (layer + 1, head + 1)
        heatmap = next(e for e in here.elements() if e.type == "bidi_component" and e.proto.component_name == "heatmap")
        expected = engine.attend("embedded/bert", BARKED).head(layer, head)
        np.testing.assert_array_equal(
            np.frombuffer(unpacked(heatmap.proto.bytes)[1], "<f4").reshape(expected.shape), expected
        )
        assert grid(here).proto.bytes == before
    here = visitor("pages/attention/page.py", text=TEXT, layer="1", head="5", show="ALTI")
    here.choose(grid(here), {"head": [0, 3]})
    assert trouble(here) is None
    assert (here.value("layer", 1), here.value("head", 1)) == (4, 5)
    contributions = engine.contributions("embedded/bert", TEXT, measure="ALTI")
    heatmap = next(e for e in here.elements() if e.type == "bidi_component" and e.proto.component_name == "heatmap")
    np.testing.assert_array_equal(
        np.frombuffer(unpacked(heatmap.proto.bytes)[1], "<f4").reshape(contributions.maps[3].shape),
        contributions.maps[3],
    )


def test_the_frame_stands_where_the_steppers_say(visitor: OpenVisitor) -> None:
    """The browser has moved it since, so the same head is asked for once more."""
    here = visitor("pages/attention/page.py", view="grid", text=BARKED, layer="1", head="1")
    assert sent(here) == ([0, 0], 0)
    here.choose(grid(here), {"head": [0, 5]})
    here.use(here.widget("head"), 1)
    assert sent(here) == ([0, 0], 1)
    here.use(here.widget("head"), 3)
    assert sent(here) == ([0, 2], 1)
    here = visitor("pages/attention/page.py", view="grid", text=BARKED)
    here.choose(grid(here), {"head": [2, 4]})
    here.use(here.widget("view"), "Lines")
    here.use(here.widget("view"), "All heads")
    assert sent(here) == ([2, 4], 0)


@pytest.mark.parametrize(("text", "mentioned"), [(BARKED, False), (LONG, True)])
def test_blocks_of_tokens_are_told_of(text: str, mentioned: bool, visitor: OpenVisitor) -> None:
    here = visitor("pages/attention/page.py", view="grid", text=text)
    captions = [e.value for e in here.elements() if e.type == "caption"]
    assert any("largest weight of a block" in caption for caption in captions) == mentioned


UNBELIEVABLE, PAIR = "The unbelievable dog barked.", "It was not tired."
LAYER, HEAD = 2, 4  # from 0


def _script(scene: object, layer: int, head: int) -> None:
    from pages.attention import lit_words
    from pages.attention.scene import Scene

    assert isinstance(scene, Scene)
    lit_words.draw(scene, layer, head)


def lit(scene: Scene, head: tuple[int, int] = (LAYER, HEAD)) -> tuple[dict[str, Any], FloatArray]:
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
def the_tests_engine(open_page: Open) -> None:
    """Its engine is the app's: nothing is opened here."""


def test_the_three_matrices_are_the_run_s(engine: Engine) -> None:
    scene = Scene(model="embedded/bert", text=UNBELIEVABLE, pair=PAIR, stack="encoder")
    header, matrices = lit(scene)
    run = engine.attend("embedded/bert", UNBELIEVABLE, PAIR)
    layers = [run.layer(layer) for layer in range(run.n_layers)]
    expected = [run.head(LAYER, HEAD), layers[LAYER].mean(axis=0), np.concatenate(layers).mean(axis=0)]
    np.testing.assert_allclose(matrices, expected, atol=1 / 131070 + 1e-6)
    assert header["names"] == ["Layer 3, head 5", "Mean of layer 3", "Mean of all 72 heads"]
    assert (header["head"], header["n_heads"]) == (LAYER * 12 + HEAD, 72)
    assert [word["text"] for word in header["queries"]][:3] == ["[CLS]", "The", "unbelievable"]
    assert header["keys"] is None

    scene = Scene(model="embedded/bert", text=UNBELIEVABLE, pair=None, stack="encoder", measure="value-weighted")
    header, matrices = lit(scene)
    run = engine.attend("embedded/bert", UNBELIEVABLE)
    of_layer = run.layer(LAYER) * run.value_norms(LAYER)[:, None, :]
    np.testing.assert_allclose(matrices[0], of_layer[HEAD], atol=of_layer[HEAD].max() / 65535)
    np.testing.assert_allclose(matrices[1], of_layer.mean(axis=0), atol=of_layer.max() / 65535)
    assert header["shares"] is False
    assert header["limits"] == pytest.approx(matrices.max(axis=(1, 2)))

    from pages.attention import lit_words

    scene = Scene(model="embedded/bert", text=UNBELIEVABLE, pair=None, stack="encoder")
    page = lit_words.file(scene, LAYER, HEAD)
    assert "layer 3, head 5" in page
    assert '"n_heads": 1,' in page  # a file has no other head to step to
    assert UNBELIEVABLE in page


def test_the_filter_is_that_of_the_heatmap(checkpoint: Checkpoint, engine: Engine) -> None:
    chosen = Filter(words=True, hide_special=True, renormalize=True, direction="A->B", threshold=0.05)
    scene = Scene(model="embedded/bert", text=UNBELIEVABLE, pair=PAIR, stack="encoder", filter=chosen)
    header, matrices = lit(scene)
    np.testing.assert_allclose(matrices[0], scene.filtered(scene.maps.map(LAYER, HEAD)).weights, atol=1 / 131070 + 1e-6)
    assert [word["text"] for word in header["queries"]] == ["The", "unbelievable", "dog", "barked", "."]
    assert [word["text"] for word in header["keys"]] == ["It", "was", "not", "tired", "."]

    folder = str(checkpoint("bart"))
    scene = Scene(model=folder, text=UNBELIEVABLE, pair=PAIR, stack="cross")
    header, matrices = lit(scene, (0, 1))
    run = engine.attend(folder, UNBELIEVABLE, PAIR, stack="cross")
    np.testing.assert_allclose(matrices[0], run.head(0, 1), atol=1 / 131070 + 1e-6)
    assert (len(header["queries"]), len(header["keys"])) == (run.n_tokens, run.n_keys)

    scene = Scene(model="embedded/bert", text="[SEP]", pair=None, stack="encoder", filter=Filter(hide_special=True))
    app = AppTest.from_function(_script, args=(scene, 0, 0), default_timeout=PATIENCE).run()
    assert not app.exception
    assert not app.get("bidi_component")


def _stepping(model: str, place: int) -> None:
    import streamlit as st

    from pages.attention import lit_words
    from pages.attention.scene import Scene
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
