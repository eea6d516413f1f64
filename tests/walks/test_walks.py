"""Walks of fixed seeds over all pages. ``python -m walks --help`` (in tests/) walks on."""

import pytest
from walks.visitor import Address
from walks.walk import Failure, Step, Walk, shortest, take, walk

import pages.attention.fields
from pages.attention.fields import FILTERS, THRESHOLD, WORDS
from ui.field import Field
from ui.widgets import HEAD, LAYER, TEXT


@pytest.mark.slow
@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("seed", range(3))
def test_nothing_goes_wrong_on_the_way(seed: int) -> None:
    try:
        way = walk(seed, n_steps=200)
    except Failure as failure:
        raise shortest(failure) from None
    assert way.n_steps >= 200


_ONCE_WRONG = (
    # where nothing is masked, an example is shown to whoever filled the masks, too
    ("masked_words", Step("use", "Fill the most confident mask")),
    # a head that another page opened on
    ("compare", Step("go", "pages/attention/page.py")),
    # texts that were made what they are at first, on a page that opens on an example
    ("next_sentence", Step("use", "text", TEXT.default), Step("use", "pair", "")),
    (
        "cause",
        Step("use", "text", TEXT.default),
        Step("go", "pages/compare/page.py"),
        Step("use", "examples", "The previous word"),
    ),
    # an example of heads, of a model that has none
    (
        "masked_words",
        Step("use", "text", "One. Two! Three?"),
        Step("go", "pages/cause/page.py"),
        Step("use", "model", "Small LSTM · 2 layers"),
    ),
    # a mark in a chart that stands for nothing
    (
        "attention",
        Step("use", "attention_view", "Find a head"),
        Step("choose", "heads that look there most", {"points": [{"customdata": None}]}),
    ),
)


@pytest.mark.slow
@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("way", _ONCE_WRONG, ids=lambda way: way[0])
def test_what_once_went_wrong_does_not(way: tuple[str, *tuple[Step, ...]]) -> None:
    page, *steps = way
    walked = Walk(Address(f"pages/{page}/page.py"))
    assert all(walked.take(step) for step in steps)


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
        Step("use", "layer", 1),
        Step("use", "attention_threshold", 0.5),
        Step("use", "layer", 3),
    ]

    read = Field.value.fget

    def lost(self: Field[object]) -> object:
        if self is HEAD and LAYER.value == 3 and WORDS.value:
            raise KeyError("head")
        return read(self)

    monkeypatch.setattr(Field, "value", Field.value.getter(lost))
    with pytest.raises(Failure, match="Something went wrong") as caught:
        take(way, Walk(Address("pages/attention/page.py")))
    shortest_failure = shortest(caught.value)
    assert [(step.which, step.value) for step in shortest_failure.way] == [("attention_words", True), ("layer", 3)]
