"""Walks of fixed seeds over all pages. ``python -m walks --help`` (in tests/) walks on."""

from __future__ import annotations

import pytest
from walks.visitor import Address
from walks.walk import Failure, Step, Walk, shortest, take, walk

import pages.attention.fields
from pages.attention.fields import FILTERS, THRESHOLD, WORDS
from ui.field import Field
from ui.widgets import HEAD, LAYER


@pytest.mark.slow
@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("seed", range(3))
def test_nothing_goes_wrong_on_the_way(seed: int) -> None:
    try:
        way = walk(seed, n_steps=200)
    except Failure as failure:
        raise shortest(failure) from None
    assert way.n_steps >= 200


@pytest.mark.usefixtures("app")
def test_a_walk_finds_a_field_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk itself can fail: here the address of Attention does not carry the threshold."""
    monkeypatch.setattr(pages.attention.fields, "FILTERS", tuple(field for field in FILTERS if field is not THRESHOLD))
    walked = Walk(Address("pages/attention/page.py"))
    with pytest.raises(
        Failure, match=r"For another visitor, another state: .*widget attention_threshold: '0.25' -> '0.0'"
    ):
        walked.take(Step("use", "attention_threshold", 0.25))


@pytest.mark.slow
@pytest.mark.usefixtures("app")
def test_the_shortest_way_leaves_out_what_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure by two of seven steps is told by these two."""
    way = [
        Step("go", "pages/home/page.py"),
        Step("go", "pages/attention/page.py"),
        Step("use", "attention_view", "Lines"),
        Step("use", "attention_words", True),
        Step("use", "layer", 2),
        Step("use", "attention_threshold", 0.5),
        Step("use", "layer", 3),
    ]

    read = Field.value.fget  # type: ignore[attr-defined]

    def lost(self: Field[object]) -> object:
        if self is HEAD and LAYER.value == 3 and WORDS.value:
            raise KeyError("head")
        return read(self)

    monkeypatch.setattr(Field, "value", Field.value.getter(lost))  # type: ignore[attr-defined]
    with pytest.raises(Failure, match="Something went wrong") as caught:
        take(way, Walk(Address("pages/attention/page.py")))
    found = shortest(caught.value)
    assert [(step.which, step.value) for step in found.way] == [("attention_words", True), ("layer", 3)]
