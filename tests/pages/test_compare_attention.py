"""The page "Compare": heads of two models beside each other, and which does the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from checkpoints import varied
from compare_page import PAGE, PAIR, TEXT, Open, clean, matrices, on_words
from on_screen import button, prose

from analysis.alignment import align, all_on_common_words, shares_on_common_words
from analysis.divergence import best_matches, head_matrix, jensen_shannon
from analysis.views import ContributionView, Measure, Norms, Weights
from model_zoo import Engine
from model_zoo.types import ContributionMeasure
from ui.show import WORDS


def test_heads_side_by_side_and_which_does_the_same(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", layer="2", head="3", head_2="4")
    a, b = on_words(engine, two, ((1, 2), (1, 3)), TEXT)
    drawn = matrices(app)
    np.testing.assert_array_equal(drawn[0], a)
    np.testing.assert_array_equal(drawn[2], b)
    np.testing.assert_allclose(drawn[1], a - b, atol=1e-7)
    bits = jensen_shannon(a[None], b[None])[0, 0]
    assert f"divergence is {bits:.3f} bits" in prose(app)
    np.testing.assert_allclose(a.sum(-1), 1, atol=1e-5)

    runs = [engine.attend(model, TEXT) for model in two]
    expected = head_matrix(*map(Weights, runs), align([run.encoding for run in runs]))
    np.testing.assert_allclose(drawn[3], expected, atol=1e-6)
    best = best_matches(expected, runs[0].n_heads, runs[1].n_heads)
    table = app.dataframe[0].value
    np.testing.assert_allclose(table["divergence (bits)"], [match.divergence for match in best], atol=1e-6)

    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", layer="1", head="2")
    divergences = expected[1]
    layer, head = divmod(int(divergences.argmin()), 4)
    button(app, f"Layer {layer + 1} head {head + 1}: {divergences.min():.3f} bits").click().run()  # the most alike
    a, b = on_words(engine, two, ((0, 1), (layer, head)), TEXT)
    np.testing.assert_array_equal(matrices(app)[0], a)
    np.testing.assert_array_equal(matrices(app)[2], b)
    assert f"Their Jensen–Shannon divergence is {divergences.min():.3f} bits" in prose(app)


def test_layers_are_matched_by_depth_and_said_so(
    open_page: Open, engine: Engine, checkpoint: Callable[[str], Path]
) -> None:
    models = ("embedded/bert", str(checkpoint("bert")))  # six layers and three
    app = open_page(PAGE, models=",".join(models), text=TEXT, view="attention", layer="4")
    assert "layer 2 of 3, beside layer 4 of 6: the same relative depth." in prose(app)
    np.testing.assert_array_equal(matrices(app)[2], on_words(engine, models, ((3, 0), (1, 0)), TEXT)[1])
    app.number_input(key="compare_layer_2").set_value(1).run()
    assert ": layer 1 of 3." in prose(app)
    assert "beside layer" not in prose(app)
    np.testing.assert_array_equal(matrices(app)[2], on_words(engine, models, ((3, 0), (0, 0)), TEXT)[1])


def test_a_layer_or_head_out_of_range_is_said(two: tuple[str, str], open_page: Open) -> None:
    app = open_page(PAGE, models=",".join(two), view="attention", layer="9", head="9", layer_2="8", head_2="7")
    for message in ("layers 1 to 3; layer 9", "heads 1 to 4; head 9", "layers 1 to 3; layer 8", "heads 1 to 4; head 7"):
        assert message in prose(app)
    keys = ("layer", "head", "compare_layer_2", "compare_head_2")
    assert [app.number_input(key=key).value for key in keys] == [3, 4, 3, 4]
    assert len(matrices(app)) == 4


def test_a_model_without_attention(two: tuple[str, str], bilstm: str, open_page: Open) -> None:
    models = ",".join((two[0], bilstm, two[1]))
    app = open_page(PAGE, models=models, text=TEXT, view="attention", beside="3")
    clean(app)
    assert "has no attention to show" in prose(app)
    assert [matrix.shape for matrix in matrices(app)][2:] == [matrices(app)[0].shape, (12, 12)]
    app = open_page(PAGE, models=models, text=TEXT, view="attention", beside="2")
    assert f"{Path(bilstm).name} has no attention, so there is nothing to compare" in prose(app)
    assert len(matrices(app)) == 2
    app.query_params["pair"] = PAIR
    for view in ("tokens", "predictions", "representations"):
        app.query_params["view"] = view
        clean(app.run())
    alone = open_page(PAGE, models=bilstm, text=TEXT, view="attention")
    assert "has no attention to show" in prose(alone)


@pytest.mark.parametrize("measure", ["ALTI", "value zeroing"])
def test_layers_are_compared_where_heads_have_no_maps(
    measure: ContributionMeasure, two: tuple[str, str], open_page: Open, engine: Engine
) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", show=measure, layer="2", layer_2="3")
    clean(app)
    a, b = (ContributionView(engine.contributions(model, TEXT, measure=measure)) for model in two)
    alignment = align([a.encoding, b.encoding])
    of_a, of_b = (all_on_common_words(of, units) for of, units in zip((a, b), alignment.units, strict=True))
    drawn = matrices(app)
    for values, expected in zip(
        drawn, (of_a[1], of_a[1] - of_b[2], of_b[2], head_matrix(a, b, alignment)), strict=True
    ):
        np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(drawn[0].sum(axis=-1), 1, atol=1e-5)
    assert not {"head", "compare_head_2"} & {str(box.key) for box in app.number_input}
    assert "Which layer of B matches each layer of A?" in [header.value for header in app.header]
    table = app.dataframe[0].value
    assert [name for name in table.columns if name.endswith("head")] == []
    assert ("row is scaled to 100%" in prose(app)) == (measure == "value zeroing")

    best = matrices(app)[3][1]
    button(app, f"Layer {best.argmin() + 1}: {best.min():.3f} bits").click().run()
    np.testing.assert_allclose(matrices(app)[2], of_b[best.argmin()], atol=1e-6)


def test_norms_are_compared_as_shares(two: tuple[str, str], open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, models=",".join(two), text=TEXT, view="attention", show="value-weighted", layer="2", head="3")
    clean(app)
    a = Norms(engine.attend(two[0], TEXT))
    units = align([engine.attend(model, TEXT).encoding for model in two]).units[0]
    np.testing.assert_allclose(matrices(app)[0], shares_on_common_words(a, a.map(1, 2), units), atol=1e-6)
    np.testing.assert_allclose(matrices(app)[0].sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("measure", "why"), [("ALTI", "part by part"), ("value-weighted", "finished attention maps only")]
)
def test_a_model_that_lacks_a_measure(
    measure: Measure, why: str, two: tuple[str, str], checkpoint: Callable[[str], Path], open_page: Open, tmp_path: Path
) -> None:
    lacking = varied("deberta", checkpoint("deberta"), tmp_path / "talking", talking_head=True)
    models = ",".join((two[0], str(lacking), two[1]))
    app = open_page(PAGE, models=models, text=TEXT, view="attention", show=measure, beside="3")
    clean(app)
    assert why in prose(app)
    assert len(matrices(app)) == 4
    app.query_params["beside"] = "2"
    app.run()
    assert f"“{WORDS[measure].title}” cannot be shown of talking, so there is nothing to compare" in prose(app)
    assert len(matrices(app)) == 2
