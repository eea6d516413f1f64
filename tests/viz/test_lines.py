"""The lines between words, and which way attention goes."""

from typing import Any

import numpy as np
import pytest
from builders import encoding
from on_screen import unpacked

from analysis.words import token_units
from model_zoo.errors import InvalidInput
from viz import component, lines, lit_words
from viz.coherence import coherence
from viz.direction import direction_of, isolated
from viz.sentence_input import sentence_input
from viz.static import token_line_svg
from viz.surprisal import surprisals
from viz.token_line import Cell, Item, Line, payload


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


HEBREW = ["החתול", "ישב", "."]


def test_a_row_begins_where_its_first_letter_does() -> None:
    for texts in ([], ["2020."], ["The cat"], ["猫", "החתול"], ["[CLS]", "BERT", "ישב"]):
        assert direction_of(texts) == "ltr", texts
    special = ["<s>", "</s>", "<mask>", "ישב"]
    for texts in (["החתול"], ["القطة"], ["[CLS]", "3.5", "החתול", "BERT"], ["[MASK] ישב"], special):
        assert direction_of(texts) == "rtl", texts
    # Words are isolated only where they turn something around.
    assert [isolated(word) for word in ("cat", "", "ישב", "##ה")] == ["cat", "", "\u2068ישב\u2069", "\u2068##ה\u2069"]


def directions(*lines: Line) -> list[str]:
    return [line["dir"] for line in payload(lines)["lines"]]


def line(*words: str, **settings: str) -> Line:
    return Line(tuple(Item((Cell(word), Cell("below", small=True))) for word in words), **settings)  # type: ignore[arg-type]


def test_lines_run_as_their_words_or_as_they_are_told() -> None:
    """What stands below a word, or in a label, turns no line."""
    lines = line("[CLS]", *HEBREW, label="A"), line("cat"), line("cat", dir="rtl"), line("4", "5")
    assert directions(*lines) == ["rtl", "ltr", "rtl", "ltr"]
    words = ["החתול", *["BERT"] * 60]
    rows = surprisals(words, {"Small BERT": [1.0] * len(words)})  # type: ignore[dict-item]
    assert len(rows) > 1
    assert set(directions(*rows)) == {"rtl"}
    assert set(directions(*coherence(["החתול ישב.", "BERT."], [0.5]))) == {"rtl"}
    assert directions(sentence_input(encoding(HEBREW))) == ["rtl"]
    # A picture without a script runs from the right too.
    svg = token_line_svg([line(*HEBREW)])
    places = [float(part.split('"')[1]) for part in svg.split("<text x=")[1:]]
    assert places[::2] == sorted(places[::2], reverse=True)


def test_words_that_light_up_know_the_direction_of_their_text_and_what_they_go_on_with() -> None:
    both = encoding(["ה", "##חתול", "."], ["it", "sat"])
    words = lit_words.words(both, token_units(both))
    assert [word["dir"] for word in words] == ["rtl"] * 5 + ["ltr"] * 3
    assert [word["piece"] for word in words] == [False, False, True, *[False] * 5]
