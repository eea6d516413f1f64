"""Walks of fixed seeds over all pages. ``python -m walks --help`` (in tests/) walks on."""

from __future__ import annotations

import pytest
from walks.visitor import Address
from walks.walk import Failure, Step, Walk, shortest, take, walk

from ui import state


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("seed", range(10))
def test_nothing_goes_wrong_on_the_way(seed: int) -> None:
    try:
        way = walk(seed, n_steps=200)
    except Failure as failure:
        raise shortest(failure) from None
    assert way.n_steps >= 200


@pytest.mark.usefixtures("app")
def test_a_walk_finds_a_field_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk itself can fail: here the address of Attention does not carry the threshold."""
    monkeypatch.setattr(state, "ATTENTION", tuple(field for field in state.ATTENTION if field is not state.THRESHOLD))
    walked = Walk(Address("pages/attention.py"))
    with pytest.raises(Failure, match=r"For another visitor, another state: .*widget threshold: '0.25' -> '0.0'"):
        walked.take(Step("use", "threshold", 0.25))


@pytest.mark.usefixtures("app")
def test_the_shortest_way_leaves_out_what_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure by two of seven steps is told by these two."""
    way = [
        Step("go", "pages/home.py"),
        Step("go", "pages/attention.py"),
        Step("use", "view", "Lines"),
        Step("use", "words", True),
        Step("use", "layer", 2),
        Step("use", "threshold", 0.5),
        Step("use", "layer", 3),
    ]

    def lost(self: state.Field) -> object:
        value = state.st.session_state.get(self.name, self.default)
        if self is state.HEAD and state.LAYER.value == 3 and state.WORDS.value:
            raise KeyError("head")
        return value

    monkeypatch.setattr(state.Field, "value", state.Field.value.getter(lost))  # type: ignore[attr-defined]
    with pytest.raises(Failure, match="Something went wrong") as caught:
        take(way, Walk(Address("pages/attention.py")))
    found = shortest(caught.value)
    assert [(step.which, step.value) for step in found.way] == [("words", True), ("layer", 3)]
