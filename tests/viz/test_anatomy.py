"""What the walk sends to the browser: numbers within their rounding, exact ones exact, a bounded size, and refusals."""

from collections.abc import Callable
from dataclasses import replace

import anatomies
import numpy as np
import pytest

from model_zoo.types import Anatomy, MaskPrediction, Prediction, softmax
from viz.anatomy import MOST_CELLS, MOST_TOKENS, RUN_CELLS, Payload, binned, payload, quantize
from viz.component import pack

Parts = dict[str, np.ndarray]


def sent(data: Payload) -> tuple[Parts, Parts, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """The exact numbers and the rounded ones of each stage by name, states, attention, and the exact rows of attention
    and scores; read as the payload's docstring says.
    """
    bytes_, n = data["weights"], len(data["tokens"])
    at = 0

    def take(dtype: str, *shape: int) -> np.ndarray:
        nonlocal at
        count = int(np.prod(shape))
        taken = np.frombuffer(bytes_, dtype, count, at).reshape(shape)
        at += taken.nbytes
        return taken

    def value(q: np.ndarray, scale: float) -> np.ndarray:
        q = q.astype(float)
        return scale * q * np.abs(q) / 127**2

    exact = {stage["name"]: take("<f4", stage["size"]) for stage in data["stages"]}
    row = take("<f4", n)
    scores = take("<f4", n) if data["scores"] else None
    rounded = {stage["name"]: value(take("i1", n, stage["cells"]), stage["scale"]) for stage in data["stages"]}
    states = np.stack([value(take("i1", n, data["state_cells"]), scale) for scale in data["states"]])
    attention = (take("u1", n, n) / 255) ** 2
    assert at == len(bytes_)
    return exact, rounded, states, attention, row, scores


def close(rounded: np.ndarray, values: np.ndarray) -> None:
    """Within half a step of the root, of which 127 reach from zero to the largest."""
    largest = np.abs(values).max()
    roots = [np.sign(part) * np.sqrt(np.abs(part) / largest) for part in (rounded, values)]
    assert np.abs(roots[0] - roots[1]).max() <= 0.5 / 127 + 1e-6


@pytest.mark.parametrize("make", [anatomies.bert, anatomies.pre_norm, anatomies.closed])
def test_rounded_numbers_are_within_half_a_step_and_those_of_the_followed_token_exact(
    make: Callable[[], Anatomy],
) -> None:
    anatomy = make()
    exact, rounded, states, attention, row, scores = sent(payload(anatomy, position=2))
    for stage in (*anatomy.embeddings, *anatomy.stages):
        np.testing.assert_array_equal(exact[stage.name], stage.values[2])
        close(rounded[stage.name], stage.values)
    for state, values in zip(states, anatomy.states, strict=True):
        close(state, values)
    np.testing.assert_allclose(np.sqrt(attention), np.sqrt(anatomy.attention), atol=0.5 / 255 + 1e-6)
    np.testing.assert_array_equal(row, anatomy.attention[2])
    if anatomy.scores is None:
        assert scores is None
    else:
        np.testing.assert_array_equal(scores, anatomy.scores[2])


def test_scores_of_what_is_hidden_stay_numbers() -> None:
    anatomy = anatomies.bert()
    hidden = anatomy.scores.copy()
    hidden[1, 3] = -np.inf
    data = payload(replace(anatomy, scores=hidden, attention=softmax(hidden)), position=1)
    assert data["scaling"] == pytest.approx(0.5)
    scores = sent(data)[-1]
    assert scores[3] == np.finfo(np.float32).min
    np.testing.assert_array_equal(np.delete(scores, 3), np.delete(anatomy.scores[1], 3))
    # Attention is called a softmax of scores and those a product only where they are.
    data = payload(anatomy)
    assert (data["scores"], data["scaling"]) == (True, pytest.approx(0.5))
    shifted = anatomy.scores + np.arange(6, dtype=np.float32)  # positions take part, too
    data = payload(replace(anatomy, scores=shifted, attention=softmax(shifted)))
    assert (data["scores"], data["scaling"]) == (True, None)
    assert not payload(replace(anatomy, scores=shifted))["scores"]


def test_how_a_stage_is_made_is_found_in_its_numbers() -> None:
    how = {stage["name"]: stage["how"] for stage in payload(anatomies.bert())["stages"]}
    assert [name for name, made in how.items() if made == "looked up"] == ["token", "position", "segment"]
    assert [name for name, made in how.items() if made == "sum"] == ["sum", "after attention", "after feed-forward"]
    assert {how[name] for name in ("input", "query", "context", "inner", "output", "normed")} == {"other"}
    gated = {stage["name"]: stage["how"] for stage in payload(anatomies.pre_norm())["stages"]}
    assert [name for name, made in gated.items() if made == "sum"] == ["after attention", "output"]
    anatomy = anatomies.bert()
    same = replace(
        anatomy,
        stages=(*anatomy.stages[:-1], replace(anatomy.stages[-2], name="output", made_of=("after feed-forward",))),
    )
    assert payload(same)["stages"][-1]["how"] == "same"
    # The part of the head is where its own numbers are.
    stages = {stage["name"]: stage for stage in payload(anatomy)["stages"]}
    for name in ("query", "key", "value", "context"):
        part = stages[name]["part"]
        np.testing.assert_array_equal(anatomy.stage(name).values[:, slice(*part)], getattr(anatomy, name))
    assert stages["inner"]["part"] is stages["attention"]["part"] is None
    # Grouped queries: four heads of two numbers share two keys.
    key = replace(anatomy.stage("key"), values=anatomy.stage("key").values[:, :4].copy())
    grouped = replace(
        anatomy,
        stages=tuple(key if stage.name == "key" else stage for stage in anatomy.stages),
        key=anatomy.stage("key").values[:, 2:4].copy(),
        head=2,
        model=replace(anatomy.model, n_heads=4),
    )
    assert {s["name"]: s["part"] for s in payload(grouped)["stages"]}["key"] == (2, 4)


def test_tokens_are_as_readers_see_them_with_the_characters_that_were_typed() -> None:
    data = payload(anatomies.bert(8))
    assert data["tokens"] == ["[CLS]", "un", "##believ", "##able", "it", "was", "so", "[SEP]"]
    assert data["characters"] == ["", "un", "believ", "able", "it", "was", "so", ""]
    assert data["ids"] == list(range(8))
    assert data["biases"] == ["query", "value"]
    # Predictions are at their token where it is shown.
    best = tuple(Prediction(f" word{at}", at, 0.5**at) for at in range(1, 9))
    data = payload(anatomies.bert(), predictions=MaskPrediction(3, best, 0.0))
    assert data["predicted"] == 3
    assert data["words"][0] == ("␣word1", 0.5)
    assert len(data["words"]) == 6
    far = payload(anatomies.bert(40), predictions=MaskPrediction(39, best, 0.0))
    assert far["predicted"] is None
    assert payload(anatomies.bert())["words"] == []
    assert payload(anatomies.bert(), at="segment")["at"] == "segment"
    assert payload(anatomies.pre_norm(), at="segment")["at"] == ""
    assert payload(anatomies.closed(), at="heads")["at"] == "heads"
    assert payload(anatomies.closed())["why_not"].startswith("The parts")


@pytest.mark.parametrize(("position", "first"), [(0, 0), (11, 0), (20, 8), (39, 16)])
def test_of_a_long_text_the_tokens_around_the_followed_one_are_sent(position: int, first: int) -> None:
    anatomy = anatomies.bert(40)
    data = payload(anatomy, position=position)
    assert (data["first"], data["n_tokens"], len(data["tokens"])) == (first, 40, MOST_TOKENS)
    assert data["position"] == position - first
    exact, rounded, _, attention, row, _ = sent(data)
    window = slice(first, first + MOST_TOKENS)
    np.testing.assert_array_equal(exact["query"], anatomy.stage("query").values[position])
    close(rounded["query"], anatomy.stage("query").values[window])
    assert attention.shape == (MOST_TOKENS, MOST_TOKENS)
    np.testing.assert_array_equal(row, anatomy.attention[position, window])


def test_wide_vectors_share_cells_and_the_size_is_bounded() -> None:
    small = payload(anatomies.bert(16, width=256, inner=1024, layers=6, heads=4))
    assert {stage["per"] for stage in small["stages"] if stage["size"] == 256} == {1}
    assert len(pack(small)) < 200_000
    wide = payload(anatomies.bert(64, width=1024, inner=4096, layers=24, heads=16))
    assert {stage["per"] for stage in wide["stages"]} == {3, 11}
    assert max(stage["cells"] for stage in wide["stages"]) <= MOST_CELLS
    assert len(pack(wide)) < 400_000
    # A shared cell holds the number farthest from zero.
    values = np.array([[1, -3, 2, 0.5, 0, -0.25, 4]], np.float32)
    cells, per = binned(values, 4)
    assert per == 2
    assert cells.tolist() == [[-3, 2, -0.25, 4]]
    assert binned(values, 7)[0].tolist() == values.tolist()
    q, scale = quantize(np.array([[-2, 0, 0.5, 2]], np.float32))
    assert q.tolist() == [[-127, 0, 64, 127]]  # √(0.5 / 2) · 127 = 63.5
    assert scale == 2
    assert quantize(np.zeros((1, 3), np.float32)) == (pytest.approx(np.zeros((1, 3))), 0)


def test_a_text_that_runs_has_flows_and_no_exact_numbers() -> None:
    anatomy = anatomies.bert(40)
    rng = np.random.default_rng(0)
    flows = softmax(rng.normal(size=(3, 40, 40)).astype(np.float32))
    data = payload(anatomy, position=30, flows=flows, opens={"layer": "the page"})
    n = len(data["tokens"])
    sizes = [n * stage["cells"] for stage in data["stages"]] + [4 * n * data["state_cells"], n * n, 3 * n * n]
    assert len(data["weights"]) == 8 * n + sum(sizes)
    window = slice(data["first"], data["first"] + n)
    levels = np.frombuffer(data["weights"][-3 * n * n :], np.uint8).reshape(3, n, n)
    np.testing.assert_allclose(levels / 255, np.sqrt(flows[:, window, window]), atol=0.5 / 255 + 1e-6)
    np.testing.assert_array_equal(np.frombuffer(data["weights"], "<f4", n), anatomy.attention[30, window])
    wide = payload(anatomies.bert(16, width=256, inner=1024, layers=6, heads=4), opens={"layer": "the page"})
    assert max(stage["cells"] for stage in wide["stages"]) <= RUN_CELLS


def test_refuses_what_does_not_fit() -> None:
    anatomy = anatomies.bert()
    for elsewhere in ({"layer": 3}, {"head": 2}):
        with pytest.raises(ValueError, match="are not among 3 layers of 2 heads"):
            payload(replace(anatomy, **elsewhere))
    for position in (-1, 6):
        with pytest.raises(ValueError, match=f"position {position} is not among 6 tokens"):
            payload(anatomy, position=position)
    broken = anatomy.states.copy()
    broken[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        payload(replace(anatomy, states=broken))
