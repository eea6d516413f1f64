"""Layers and runs compute attention that is known by hand."""

import dataclasses
import sys
import types
from typing import Any

import numpy as np
import pytest
from checkpoints import Checkpoint
from runs_by_hand import ENCODING, array, run_of, two_tokens

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import Encoding, MapsLayer, QueryKeyLayer, softmax


def test_softmax_by_hand() -> None:
    inf = np.inf
    rows = array([[0, 0, 0, 0], [np.log(3), 0, -inf, -inf], [1000, 1000, -1000, -inf], [-inf] * 4])
    expected = [[0.25] * 4, [0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [0] * 4]
    np.testing.assert_allclose(softmax(rows), expected, rtol=1e-6)
    assert softmax(rows).dtype == np.float32
    assert rows[0, 0] == 0  # the scores are not written over


def test_two_tokens_by_hand() -> None:
    layer = two_tokens()
    np.testing.assert_allclose(layer.scores(0), [[np.log(3), 0], [0, np.log(3)]], rtol=1e-6)
    np.testing.assert_allclose(layer.weights(0), [[0.75, 0.25], [0.25, 0.75]], rtol=1e-6)
    assert layer.weights(0).dtype == np.float32
    assert layer.n_heads == 1
    assert layer.n_bytes == 3 * 4 * 4


def test_bool_mask_hides_keys() -> None:
    """True is "may look"; with or without an axis for heads."""
    mask = np.array([[True, False], [True, True]])
    for shape in ((2, 2), (1, 2, 2)):
        layer = two_tokens(mask=mask.reshape(shape))
        np.testing.assert_allclose(layer.weights(0), [[1, 0], [0.25, 0.75]], rtol=1e-6)
        assert layer.scores(0)[0, 1] == -np.inf


def test_float_mask_is_added_to_the_scores() -> None:
    layer = two_tokens(mask=array([[[0, np.log(3)], [-np.inf, 0]]]))
    np.testing.assert_allclose(layer.weights(0), [[0.5, 0.5], [0, 1]], rtol=1e-6)
    assert layer.scores(0).dtype == np.float32


def test_mask_of_each_head() -> None:
    both = {name: np.repeat(getattr(two_tokens(), name), 2, axis=0) for name in ("query", "key", "value")}
    layer = two_tokens(**both, mask=np.array([[[True, False]] * 2, [[False, True]] * 2]))
    np.testing.assert_array_equal(layer.weights(0), [[1, 0], [1, 0]])
    np.testing.assert_array_equal(layer.weights(1), [[0, 1], [0, 1]])
    np.testing.assert_array_equal(layer.weights(slice(None)), [layer.weights(0), layer.weights(1)])


def test_causal_hides_what_comes_later() -> None:
    np.testing.assert_allclose(two_tokens(causal=True).weights(0), [[1, 0], [0.25, 0.75]], rtol=1e-6)
    # One query and two keys: the query is the last token and sees both.
    last = two_tokens(query=array([[[0, 2]]]), causal=True)
    np.testing.assert_allclose(last.weights(0), [[0.25, 0.75]], rtol=1e-6)


def test_grouped_queries_share_a_key_head() -> None:
    """Four query heads, two key heads: heads 0 and 1 use the first key head, 2 and 3 the second."""
    keys = array([[[np.log(3), 0], [0, np.log(3)]], [[0, 0], [0, np.log(3)]]])
    query = array([[[2, 0], [0, 2]]] * 4)
    layer = two_tokens(query=query, key=keys, value=keys)
    first, second = [[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.25, 0.75]]
    np.testing.assert_allclose(layer.weights(slice(None)), [first, first, second, second], rtol=1e-6)
    np.testing.assert_allclose(layer.weights(2), second, rtol=1e-6)
    q, k, scores = run_of(layer).query_key(0, 3)
    np.testing.assert_array_equal(k, keys[1])
    np.testing.assert_array_equal(q, query[3])
    np.testing.assert_allclose(scores, q @ k.T / 2, rtol=1e-6)
    np.testing.assert_array_equal(run_of(layer).value(0, 1), keys[0])
    assert layer.n_bytes == (16 + 8 + 8) * 4


def test_value_norms_by_hand() -> None:
    """v = (3, 4) and (0, 2). The identity keeps 5 and 2; the projection that doubles the first part and drops the
    second leaves 6 and 0.
    """
    run = run_of(two_tokens(), two_tokens(), projections=(array([np.eye(2)]), array([[[2, 0], [0, 0]]])))
    np.testing.assert_allclose(run.value_norms(0), [[5, 2]])
    np.testing.assert_allclose(run.value_norms(1), [[6, 0]])
    assert run.value_norms(0).dtype == np.float32


def test_norms_of_the_sum_by_hand() -> None:
    """Two heads with the weights 3/4, 1/4 (and 1/4, 3/4). Their vectors point the same way for the first token, (3, 4)
    and (3, 4) halved, in opposite directions for the second, (0, 2) and (0, -2): there the sum vanishes.
    """
    encoding = two_tokens()
    values = array([encoding.value[0], [[1.5, 2], [0, -2]]])
    layer = two_tokens(query=np.repeat(encoding.query, 2, 0), key=np.repeat(encoding.key, 2, 0), value=values)
    run = run_of(layer, layer, projections=(array([np.eye(2)] * 2), array([np.eye(2), 3 * np.eye(2)])))
    norms = run.norms_of_sum(0)
    np.testing.assert_allclose(norms, [[0.75 * 7.5, 0], [0.25 * 7.5, 0]], atol=1e-7)
    assert norms.dtype == np.float32
    # The other projection makes the second head three times as long: 5 + 7.5 and 2 - 6.
    np.testing.assert_allclose(run.norms_of_sum(1), [[0.75 * 12.5, 0.25 * 4], [0.25 * 12.5, 0.75 * 4]], rtol=1e-6)
    for head in range(2):  # of one head it is α · ‖f(x)‖, however often it is named
        expected = run.head(1, head) * run.value_norms(1)[head]
        np.testing.assert_allclose(run.norms_of_sum(1, [head, head]), expected, rtol=1e-6)


def test_norms_of_the_sum_in_parts() -> None:
    """More keys than are in memory at once, in cross-attention; two heads are nearly each other's opposite."""
    rng = np.random.default_rng(0)
    heads, n, m, d, width = 3, 5, 150, 4, 6
    key, value, projection = (
        rng.normal(size=shape).astype(np.float32) for shape in ((heads, m, d), (heads, m, d), (heads, d, width))
    )
    key[2], value[2], projection[2] = key[1], value[1] * (1 + 1e-4), -projection[1]
    layer = QueryKeyLayer(query=np.ones((heads, n, d), np.float32), key=key, value=value, scaling=1.0)
    read, written = (
        Encoding(**{name: (of * 75)[:size] if isinstance(of, tuple) else of for name, of in ENCODING.items()})
        for size in (m, n)
    )
    run = dataclasses.replace(run_of(layer, projections=(projection,)), stack="cross", encoding=written, source=read)
    brought = np.einsum("hij,hjd,hdw->hijw", *(of.astype(np.float64) for of in (run.layer(0), value, projection)))
    norms = run.norms_of_sum(0)
    assert norms.shape == (n, m)
    np.testing.assert_allclose(norms, np.linalg.norm(brought.sum(axis=0), axis=-1), rtol=1e-5, atol=1e-6)
    opposite = np.linalg.norm(brought[1:].sum(axis=0), axis=-1)
    np.testing.assert_allclose(run.norms_of_sum(0, [1, 2]), opposite, rtol=1e-2)


@pytest.mark.parametrize("projections", [(), (None,)])
def test_value_norms_need_the_output_projection(projections: tuple[None, ...]) -> None:
    run = run_of(two_tokens(), projections=projections)
    for ask in (run.value_norms, run.norms_of_sum):
        with pytest.raises(NotSupported, match=r"output projection of tiny .* plain attention weights instead"):
            ask(0)


def test_norms_of_the_sum_refuse_heads_that_do_not_exist() -> None:
    run = run_of(two_tokens(), projections=(array([np.eye(2)]),))
    with pytest.raises(InvalidInput, match="1 head, 0 to 0, and no head 1"):
        run.norms_of_sum(0, [0, 1])
    with pytest.raises(InvalidInput, match="No head is chosen"):
        run.norms_of_sum(0, [])


def test_finished_maps() -> None:
    maps = array([[[0.75, 0.25], [0.5, 0.5]], [[1, 0], [0, 1]]])
    run = run_of(MapsLayer(maps))
    np.testing.assert_array_equal(run.head(0, 1), np.eye(2))
    np.testing.assert_array_equal(run.layer(0), maps)
    assert (run.n_layers, run.n_heads, run.n_tokens, run.n_bytes) == (1, 2, 2, 32)
    np.testing.assert_array_equal(MapsLayer(maps).select_head(1, values=False).maps, maps[1:])
    assert MapsLayer(maps).select_head(None, values=True).maps.shape == maps.shape
    for ask in (run.query_key, run.value):
        with pytest.raises(NotSupported, match="gives finished attention maps only"):
            ask(0, 0)
    for ask_layer in (run.value_norms, run.norms_of_sum):
        with pytest.raises(NotSupported, match="gives finished attention maps only"):
            ask_layer(0)


@pytest.mark.parametrize(
    ("layer", "head", "message"),
    [
        (1, 0, "tiny has 1 layer, 0 to 0, and no layer 1."),
        (-1, 0, "no layer -1"),
        (0, 1, "tiny has 1 head, 0 to 0, and no head 1."),
        (0, -1, "no head -1"),
    ],
)
def test_layers_and_heads_out_of_range(layer: int, head: int, message: str) -> None:
    run = run_of(two_tokens(), projections=(array([np.eye(2)]),))
    for ask in (run.head, run.query_key, run.value):
        with pytest.raises(InvalidInput) as caught:
            ask(layer, head)
        assert message in str(caught.value)
    if layer:
        for ask_layer in (run.layer, run.value_norms, run.norms_of_sum):
            with pytest.raises(InvalidInput, match="and no"):
                ask_layer(layer)


def test_bytes_of_a_run_count_a_shared_mask_once() -> None:
    mask = np.ones((1, 2, 2), dtype=bool)
    run = run_of(two_tokens(mask=mask), two_tokens(mask=mask), two_tokens())
    assert run.n_bytes == 3 * 48 + 4


def test_a_decoder_looks_at_its_own_text_and_in_cross_attention_at_the_source() -> None:
    source = Encoding(**{name: value * 2 if isinstance(value, tuple) else value for name, value in ENCODING.items()})
    maps = MapsLayer(np.full((2, 2, 4), 0.25, dtype=np.float32))
    cross = dataclasses.replace(run_of(maps), stack="cross", source=source)
    assert (cross.n_tokens, cross.n_keys) == (2, 4)
    assert cross.key_encoding is source
    decoder = dataclasses.replace(cross, stack="decoder")
    assert (decoder.n_keys, decoder.key_encoding) == (2, decoder.encoding)
    encoder = run_of(maps)
    assert (encoder.n_keys, encoder.key_encoding) == (2, encoder.encoding)


@pytest.mark.parametrize(("stack", "has_source"), [("encoder", True), ("decoder", False), ("cross", False)])
def test_only_a_decoder_has_a_source(stack: Any, has_source: bool) -> None:
    source = Encoding(**ENCODING) if has_source else None
    with pytest.raises(ValueError, match="what the encoder has read"):
        dataclasses.replace(run_of(two_tokens()), stack=stack, source=source)


def test_queries_and_keys_of_other_lengths_by_hand() -> None:
    """Two queries look at three keys: scores ln 2, 0, 0 and 0, 0, ln 2."""
    key = array([[[np.log(2), 0], [0, 0], [0, np.log(2)]]])
    layer = two_tokens(key=key, value=array([[[1, 0], [0, 1], [1, 1]]]))
    np.testing.assert_allclose(layer.weights(0), [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], atol=1e-6)


@pytest.mark.parametrize("name", ["bert", "gpt2", "modernbert", "deberta", "t5"])
def test_rows_are_those_of_the_whole_matrix(name: str, checkpoint: Checkpoint, engine: Engine) -> None:
    """Masked, causal, windowed, with a bias of positions, and as finished maps."""
    settings: dict[str, Any] = {"stack": "cross"} if name == "t5" else {}
    run = engine.attend(
        str(checkpoint(name)),
        "The cat sat on the mat because it was tired.",
        "The dog barked." if settings else None,
        **settings,
    )
    for layer in range(run.n_layers):
        full = run.layer(layer)
        for rows in (slice(0, 1), slice(2, 4), slice(3, 99)):
            np.testing.assert_allclose(run.layer(layer, rows), full[:, rows], rtol=1e-5, atol=1e-7)


def test_a_run_becomes_a_table_by_hand() -> None:
    other = MapsLayer(array([[[1, 0], [0.5, 0.5]], [[0, 1], [0.25, 0.75]]]))
    run = run_of(two_tokens(), other)
    table = run.to_frame()
    assert list(table.columns) == ["layer", "head", "query", "key", "query_token", "key_token", "weight"]
    assert list(zip(table["layer"], table["head"], strict=True)) == [(0, 0)] * 4 + [(1, 0)] * 4 + [(1, 1)] * 4
    assert list(table["query"]) == [0, 0, 1, 1] * 3
    assert list(table["key"]) == [0, 1] * 6
    assert list(table["query_token"]) == ["a", "a", "b", "b"] * 3
    assert list(table["key_token"]) == ["a", "b"] * 6
    assert table["weight"].dtype == np.float32
    np.testing.assert_allclose(table["weight"], [0.75, 0.25, 0.25, 0.75, 1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75], rtol=1e-6)
    chosen = run.to_frame(layer=1, head=[1])
    assert list(chosen["weight"]) == [0, 1, 0.25, 0.75]
    assert len(run.to_frame(layer=[], head=0)) == 0
    with pytest.raises(InvalidInput, match="no head 1"):
        run.to_frame(head=1)
    with pytest.raises(InvalidInput, match="no layer 2"):
        run.to_frame(layer=2)


def test_cross_attention_as_a_table_names_the_tokens_of_both_sides() -> None:
    source = Encoding(**{name: value * 2 if isinstance(value, tuple) else value for name, value in ENCODING.items()})
    run = dataclasses.replace(run_of(MapsLayer(np.full((1, 2, 4), 0.25, np.float32))), stack="cross", source=source)
    table = run.to_frame()
    assert list(table["query_token"]) == ["a"] * 4 + ["b"] * 4
    assert list(table["key_token"]) == ["a", "b", "a", "b"] * 2


class _DataArray:
    """What is asked of xarray, where it is not installed."""

    def __init__(self, values: np.ndarray, **parts: Any) -> None:
        self.values, self.parts = values, parts


def test_a_run_becomes_an_xarray_with_tokens_as_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", types.SimpleNamespace(DataArray=_DataArray))  # type: ignore[arg-type]
    other = MapsLayer(array([[[1, 0], [0.5, 0.5]], [[0, 1], [0.25, 0.75]]]))
    actual = run_of(two_tokens(), other).to_xarray()
    assert actual.parts["dims"] == ("layer", "head", "query", "key")
    assert (actual.parts["coords"]["layer"], actual.parts["coords"]["head"]) == ([0, 1], [0, 1])
    assert actual.parts["coords"]["key_token"] == ("key", ["a", "b"])
    assert actual.parts["attrs"]["model"] == "tiny"
    np.testing.assert_allclose(actual.values[0, 0], [[0.75, 0.25], [0.25, 0.75]], rtol=1e-6)
    assert np.isnan(actual.values[0, 1]).all()  # the first layer has one head
    np.testing.assert_array_equal(actual.values[1], other.maps)
    assert run_of(two_tokens(), other).to_xarray(layer=1, head=1).values.tolist() == [[[[0, 1], [0.25, 0.75]]]]


def test_without_xarray_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(NotSupported, match=r"needs the package xarray, which is not installed\. Install it \(pip"):
        run_of(two_tokens()).to_xarray()
