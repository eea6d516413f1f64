"""Numbers that lessons compute by formula: softmax, cross-entropy, positions, multiplications, weights, WordPiece."""

import numpy as np
import pytest
import torch

from analysis.control_sentences import CONTROLS, draw
from analysis.operations import layer_operations, lstm_operations, outweighing, weights_by_part
from analysis.sinusoids import frequencies, sinusoids, turned
from analysis.softmax import guess, jacobian_norm, softened, unscaled
from analysis.wordpiece import Cut, cuts
from model_zoo import Engine

LOGITS = [1.0, 0.5, 4.0, 2.0, 0.0, 1.5]


def test_the_courses_example_with_its_true_figures() -> None:
    """Course notes say 0.797 and 0.227; e^4 is 54.598 of 71.836 in all."""
    actual = guess(LOGITS, 2)
    assert actual.probabilities[2] == pytest.approx(0.760, abs=5e-4)
    assert actual.loss == pytest.approx(0.274, abs=5e-4)
    assert guess([1.0, 0.5, 1.0, 2.0, 0.0, 1.5], 2).loss == pytest.approx(1.994, abs=1e-3)
    actual = guess([0.0, 0.0], 0)
    assert actual.probabilities == pytest.approx((0.5, 0.5))
    assert actual.loss == pytest.approx(0.6931, abs=1e-4)
    assert actual.gradient == pytest.approx((-0.5, 0.5))
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(logits[None], torch.tensor([2]))
    loss.backward()
    actual = guess(LOGITS, 2)
    assert actual.loss == pytest.approx(float(loss.detach()))
    assert actual.gradient == pytest.approx(logits.grad.tolist())


def test_a_temperature_softens() -> None:
    assert softened([0.0, 1.3862944], 1) == pytest.approx((0.2, 0.8))  # ln 4
    assert softened([0.0, 1.3862944], 2) == pytest.approx((1 / 3, 2 / 3))
    logits = torch.tensor(LOGITS, dtype=torch.float64)
    for temperature in (0.5, 1, 4):
        expected = (logits / temperature).softmax(0).tolist()
        assert softened(LOGITS, temperature) == pytest.approx(expected)
        assert softened(logits.log_softmax(0).tolist(), temperature) == pytest.approx(expected)
    with pytest.raises(ValueError, match="above 0"):
        softened(LOGITS, 0)


def test_two_keys_by_hand() -> None:
    actual = unscaled(np.array([0.0, np.log(3)], dtype=np.float32), 0.5)
    assert actual.shares == pytest.approx([0.25, 0.75])
    assert actual.without == pytest.approx([0.1, 0.9])  # twice the scores: 1 to 9
    assert actual.gradient == pytest.approx(2 * 0.25 * 0.75)  # of two keys, every entry is ±p(1 − p)
    assert actual.gradient_without == pytest.approx(2 * 0.1 * 0.9)
    actual = unscaled(np.array([-np.inf, 1.0, 1.0], dtype=np.float32), 0.25)
    assert actual.without == pytest.approx([0, 0.5, 0.5])
    scores = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), scores)
    assert jacobian_norm(torch.softmax(scores, 0).numpy()) == pytest.approx(float(jacobian.norm()))


def test_the_formula_by_hand() -> None:
    actual = sinusoids(3, 4)
    assert actual[0] == pytest.approx([0, 1, 0, 1])
    assert actual[1] == pytest.approx([np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    assert actual[1, 0] == pytest.approx(0.8415, abs=1e-4)
    assert sinusoids(2, 3).shape == (2, 3)
    actual = sinusoids(40, 64)
    products = actual @ actual.T
    for distance in (1, 5, 12):
        diagonal = np.diagonal(products, distance)
        assert diagonal == pytest.approx(np.full_like(diagonal, diagonal[0]))
        assert diagonal[0] == pytest.approx(np.cos(distance * frequencies(64)).sum())
    rng = np.random.default_rng(0)
    q, k, theta = rng.normal(size=8), rng.normal(size=8), frequencies(8)
    assert np.linalg.norm(turned(q, 7, theta)) == pytest.approx(np.linalg.norm(q))
    assert turned(q, 3, theta) @ turned(k, 9, theta) == pytest.approx(turned(q, 13, theta) @ turned(k, 19, theta))
    assert turned(np.array([1.0, 0.0]), np.pi / 2, np.array([1.0])) == pytest.approx([0, 1])


def test_a_small_layer_by_hand() -> None:
    assert layer_operations(3, 2, 5) == {"projections": 4 * 3 * 4, "pairs": 2 * 9 * 2, "feed-forward": 2 * 3 * 2 * 5}
    assert layer_operations(3, 2, 5, gated=True)["feed-forward"] == 3 * 3 * 2 * 5
    assert lstm_operations(3, 2) == 3 * 4 * (2 * 2 + 2 * 2)
    once, twice = layer_operations(64, 128, 512), layer_operations(128, 128, 512)
    assert twice["pairs"] == 4 * once["pairs"]
    assert twice["projections"] == 2 * once["projections"]
    assert lstm_operations(128, 128) == 2 * lstm_operations(64, 128)
    actual = weights_by_part(vocabulary=30_522, positions=512, width=768, inner=3072, layers=12)
    assert actual == {"embeddings": 31_034 * 768, "attention": 28_311_552, "feed-forward": 56_623_104}
    assert sum(actual.values()) == pytest.approx(108.8e6, rel=0.005)  # the other 1% are biases, norms and the pooler
    shape = {"vocabulary": 10, "positions": 0, "width": 4, "inner": 6, "layers": 2}
    assert weights_by_part(**shape)["feed-forward"] == 2 * 2 * 4 * 6
    assert weights_by_part(**shape, gated=True)["feed-forward"] == 2 * 3 * 4 * 6


@pytest.mark.parametrize(("width", "inner", "gated"), [(768, 3072, False), (384, 1536, False), (768, 1152, True)])
def test_where_pairs_outweigh_the_rest(width: int, inner: int, gated: bool) -> None:
    n = outweighing(width, inner, gated=gated)
    for tokens, more in ((n, True), (n - 1, False)):
        parts = layer_operations(tokens, width, inner, gated=gated)
        assert (parts["pairs"] > parts["projections"] + parts["feed-forward"]) is more


def test_the_longest_beginning_wins(engine: Engine) -> None:
    vocabulary = {"un", "unb", "##believ", "##elie", "##vably", "##ably", "##ably!"}
    assert cuts("unbelievably", vocabulary) == (
        Cut("unbelievably", "unb", 10),
        Cut("elievably", "##elie", 6),
        Cut("vably", "##vably", 1),
    )
    assert cuts("unknown", {"un"}) is None
    assert cuts("", vocabulary) == ()
    vocabulary = set(engine.vocabulary("embedded/bert").tokens)
    words = {word.strip(".,").lower() for sentence in CONTROLS for word in sentence.split()}
    words |= {"unbelievably", "transformers", "xylophonist", "antidisestablishmentarianism", "zzzz"}
    for word in sorted(word for word in words if word.isalpha()):
        encoding = engine.encode("embedded/bert", word)
        pieces = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if not special]
        actual = cuts(word, vocabulary)
        assert actual is not None, word
        assert [cut.piece for cut in actual] == pieces


def test_they_are_different_sentences() -> None:
    assert len(set(CONTROLS)) == len(CONTROLS) >= 20
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in CONTROLS)
    assert len(set(draw(3))) == 5
    assert draw(3) == draw(3) != draw(4)
    assert set(draw(3)) <= set(CONTROLS)
    drawn = draw(0, n=len(CONTROLS), exclude=f" {CONTROLS[7]} ")
    assert set(drawn) == set(CONTROLS) - {CONTROLS[7]}
