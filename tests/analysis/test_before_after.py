"""What tuning changed: heads, layers, and the plane, against values known by hand and other implementations."""

import builders
import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.decomposition import PCA

from analysis.before_after import change_of_heads, cka_by_layer, most_changed, path_in_the_plane, turned
from model_zoo.types import AttentionRun, HiddenStates, MapsLayer, read_only


def run(seed: int, n: int = 4, layers: int = 2, heads: int = 3) -> AttentionRun:
    rng = np.random.default_rng(seed)
    maps = rng.dirichlet(np.ones(n), size=(layers, heads, n)).astype(np.float32)
    return AttentionRun(
        encoding=builders.encoding(["a"] * (n - 2)),
        model=builders.info(n_layers=layers, n_heads=heads),
        layers=tuple(MapsLayer(layer) for layer in maps),
    )


def test_the_change_of_a_head_is_the_mean_divergence_of_its_rows() -> None:
    before, after = run(0), run(1)
    change = change_of_heads(before, after)
    assert change.shape == (2, 3)
    for layer, head in np.ndindex(2, 3):
        rows = zip(before.head(layer, head), after.head(layer, head), strict=True)
        expected = np.mean([jensenshannon(a, b, base=2) ** 2 for a, b in rows])
        assert change[layer, head] == pytest.approx(expected, abs=1e-5)
    assert change_of_heads(before, before).max() == 0
    # Heads are ranked by their change and those that are not there are left out.
    change = np.array([[0.1, 0.5], [0.5, np.nan]], dtype=np.float32)
    assert most_changed(change) == [(0, 1), (1, 0), (0, 0)]
    with pytest.raises(ValueError, match="the same tokens"):
        change_of_heads(run(0, n=4), run(0, n=5))


def states(seed: int) -> list[HiddenStates]:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(6, 3, 6, 5)).astype(np.float32)
    return [HiddenStates(builders.encoding(["a"] * 4), read_only(of_text)) for of_text in vectors]


def test_a_layer_that_was_only_turned_has_not_changed() -> None:
    before = states(0)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))
    after = [HiddenStates(part.encoding, read_only((3 * part.states @ turn + 1).astype(np.float32))) for part in before]
    np.testing.assert_allclose(cka_by_layer(before, after), 1, atol=1e-5)
    others = cka_by_layer(before, states(7))
    assert others.max() < 0.5
    # Special tokens do not count for the layers.
    before, after = states(0), states(0)
    special = np.array([100, 0, 0, 0, 0, 100], dtype=np.float32)[:, None]
    changed = [HiddenStates(part.encoding, read_only(part.states + special)) for part in after]
    np.testing.assert_allclose(cka_by_layer(before, changed), 1, atol=1e-6)

    # How far vectors have turned.
    def of(*vectors: tuple[float, float]) -> HiddenStates:
        return HiddenStates(builders.encoding(["a"]), read_only(np.array([vectors], dtype=np.float32)))

    before, after = of((1, 0), (0, 2), (0, 0)), of((0, 3), (0, 1), (1, 1))
    np.testing.assert_allclose(turned(before, after), [[1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(turned(before, of((-2, 0), (1, 1), (0, 0))), [[2, 1 - 0.5**0.5, 0]], atol=1e-6)
    with pytest.raises(ValueError, match="same tokens"):
        turned(before, states(0)[0])


def test_the_plane_is_one_projection_of_all_moments() -> None:
    rng = np.random.default_rng(0)
    moments = [rng.normal(size=(20, 8)).astype(np.float32) * (1 + epoch) for epoch in range(3)]
    path = path_in_the_plane(moments)
    assert path.points.shape == (3, 20, 2)
    pca = PCA(2).fit(np.concatenate(moments))
    expected = pca.transform(np.concatenate(moments)).reshape(3, 20, 2)
    np.testing.assert_allclose(np.abs(path.points), np.abs(expected), atol=1e-3)
    np.testing.assert_allclose(path.explained, pca.explained_variance_ratio_, atol=1e-5)
