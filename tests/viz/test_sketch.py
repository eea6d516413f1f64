"""Heights to draw: what the component is given."""

from __future__ import annotations

from typing import Any

import pytest

from viz.palette import categorical
from viz.sketch import LEVELS, payload


def make(drawn: Any, truth: Any, **changes: Any) -> Any:
    return payload(("a", "b"), drawn, truth, **({"top": 2, "unit": "bits", "kind": "bars"} | changes))


def test_the_truth_is_only_sent_when_it_is_to_be_seen() -> None:
    assert make(None, None) == {
        "labels": ["a", "b"], "drawn": None, "truth": None, "top": 2.0, "unit": "bits", "kind": "bars",
        "done": "Compare with the model", "most": LEVELS,
        "colours": categorical(2, False), "dark_colours": categorical(2, True),
    }  # fmt: skip
    revealed = make((0, 2), (0.5, 1.25))
    assert (revealed["drawn"], revealed["truth"]) == ([0.0, 2.0], [0.5, 1.25])


@pytest.mark.parametrize(("drawn", "truth", "top"), [((1,), None, 2), (None, (1, 2, 3), 2), ((0, 0), (0, 0), 0)])
def test_heights_that_do_not_fit_are_refused(drawn: Any, truth: Any, top: float) -> None:
    with pytest.raises(ValueError, match="do not fit 2 labels"):
        make(drawn, truth, top=top)
    with pytest.raises(ValueError, match="do not fit 0 labels"):
        payload((), None, None, top=1, unit="", kind="curve")
