"""Directions of texts: where rows of words begin, and words that turn nothing around."""

from builders import encoding

from analysis.words import token_units
from viz import lit_words
from viz.coherence import coherence
from viz.direction import direction_of, isolated
from viz.sentence_input import sentence_input
from viz.static import token_line_svg
from viz.surprisal import surprisals
from viz.token_line import Cell, Item, Line, payload

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
