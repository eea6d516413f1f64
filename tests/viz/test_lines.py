"""The payload of lines holds the numbers it says, and its files keep tokens text."""

from typing import Any

import numpy as np
import pytest
from on_screen import unpacked

from model_zoo.errors import InvalidInput
from viz import component, lines


def make(weights: Any, **changes: Any) -> lines.Payload:
    weights = np.asarray(weights, dtype=np.float32)
    n_heads, n_queries, n_keys = weights.shape
    arguments: dict[str, Any] = {
        "queries": [f"q{i}" for i in range(n_queries)],
        "keys": [f"k{i}" for i in range(n_keys)],
        "head_names": [f"Head {h + 1}" for h in range(n_heads)],
        "colours": ["#101010"] * n_heads,
        "dark_colours": ["#efefef"] * n_heads,
    }
    return lines.payload(weights, **(arguments | changes))


def decode(view: lines.Payload) -> np.ndarray:
    shape = len(view["head_names"]), len(view["queries"]), len(view["keys"])
    return np.frombuffer(view["weights"], dtype=np.uint8).reshape(shape) * (view["scale"] / 255)


def test_weights_by_hand_in_heads_queries_keys_order() -> None:
    view = make([[[0.0, 1.0, 0.2], [0.4, 0.6, 0.0]]])
    assert list(view["weights"]) == [0, 255, 51, 102, 153, 0]
    assert view["scale"] == 1.0
    view = make(np.zeros((2, 2, 2)))
    assert view["weights"] == bytes(8)
    assert np.isfinite(view["scale"])
    # What outlived its token or head is dropped.
    weights = np.ones((2, 2, 5))
    assert make(weights, selected={"side": "key", "index": 4})["selected"] == {"side": "key", "index": 4}
    assert make(weights, selected={"side": "query", "index": 2})["selected"] is None
    assert make(weights, selected={"side": "query", "index": -1})["selected"] is None
    assert make(weights, off=[7, 1, -1])["off"] == [1]
    assert make(weights, in_front=1)["in_front"] == 1
    assert make(weights, in_front=2)["in_front"] is None
    # Packed bytes are length header weights.
    tokens = ["שלום", "👩‍👧", "</script>"]
    view = make(np.random.default_rng(1).random((2, 3, 3)), queries=tokens, key_segments=[0, 0, 1])
    header, weights = unpacked(component.pack(view))
    assert header.pop("queries") == tokens
    assert header.pop("key_segments") == [0, 0, 1]
    assert weights == view["weights"]
    assert header == {name: view[name] for name in header}  # type: ignore[literal-required]
    assert set(view) - set(header) == {"weights", "queries", "key_segments"}


@pytest.mark.parametrize("highest", [1.0, 0.03, 17.5])
def test_weights_differ_by_at_most_the_stated_error(highest: float) -> None:
    weights = np.random.default_rng(0).random((3, 40, 31), dtype=np.float32) * np.float32(highest)
    view = make(weights)
    assert view["scale"] == weights.max()
    assert np.abs(decode(view) - weights).max() <= view["scale"] / 510 * (1 + 1e-5)


def test_what_cannot_be_drawn_is_refused() -> None:
    for shape, message in (((0, 2, 2), "No head"), ((1, 0, 2), "No token"), ((1, 2, 0), "No token")):
        with pytest.raises(InvalidInput, match=message):
            make(np.zeros(shape))
    for wrong in (np.nan, np.inf, -0.1):
        with pytest.raises(ValueError, match="finite"):
            make([[[1.0, wrong]]])
    for field in ("queries", "keys", "head_names", "colours", "dark_colours", "query_segments", "key_segments"):
        with pytest.raises(ValueError, match=r"\(2, 3, 3\)"):
            make(np.ones((2, 3, 3)), **{field: ["one"]})
