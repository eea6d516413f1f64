"""Common words of several tokenizers, by hand and for any cutting of any text."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from cut_texts import BPE, UNIGRAM, WORDPIECE, Piece, cuttings, encoding, ranges, whole_words
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.alignment import align, fertility, pieces_table, tokens_by_word
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding


def test_a_contraction_that_three_tokenizers_cut_their_own_way_is_one_word() -> None:
    alignment = align([WORDPIECE, BPE, UNIGRAM])
    assert alignment.labels == ("I", "don't", "know")
    assert alignment.spans == ((0, 1), (2, 7), (8, 12))
    assert alignment.segments == (0, 0, 0)
    assert [ranges(units) for units in alignment.units] == [
        [(1, 2), (2, 5), (5, 6)],
        [(1, 2), (2, 4), (4, 5)],
        [(1, 2), (2, 5), (5, 7)],
    ]
    assert all(
        unit.label == label for units in alignment.units for unit, label in zip(units, alignment.labels, strict=True)
    )
    assert alignment.summary(["a", "b", "c"]) == ""
    # WordPiece and BPE both cut after "don"; without the one that does not, that stays.
    assert align([WORDPIECE, BPE]).labels == ("I", "don", "'t", "know")
    # Pieces and tokens per word.
    encodings = [WORDPIECE, BPE, UNIGRAM]
    alignment = align(encodings)
    assert tokens_by_word(alignment, encodings)[1] == (("don", "'", "t"), ("Ġdon", "'t"), ("▁don", "'", "t"))
    assert fertility(alignment, encodings) == pytest.approx((5 / 3, 4 / 3, 2))
    table = pieces_table(alignment, encodings, ["A", "B", "C"])
    assert list(table.columns) == ["word", "A", "B", "C"]
    assert table.iloc[1].tolist() == ["don't", "don · ' · t", "Ġdon · 't", "▁don · ' · t"]


def test_words_are_as_fine_as_the_coarsest_model_has_them() -> None:
    text = "Café über"
    stripped = encoding(text, [("cafe", 0, (0, 4)), ("uber", 1, (5, 9))])
    cafe = [("Caf", 0, (0, 3)), ("Ã", 0, (3, 4)), ("©", 0, (3, 4))]
    uber = [("Ġ", 1, (5, 5)), ("Ã", 1, (5, 6)), ("¼", 1, (5, 6)), ("ber", 1, (6, 9))]
    in_bytes = encoding(text, [*cafe, *uber])
    alignment = align([stripped, in_bytes])
    assert alignment.labels == ("Café", "über")
    assert ranges(alignment.units[1]) == [(1, 4), (4, 8)]
    # An emoji of many signs and many tokens is one word.
    text = "a 👩‍🚀 b"  # woman, joiner, rocket: characters 2 to 5
    in_bytes = encoding(text, [("a", 0, (0, 1)), *[("?", 1, (2, 3))] * 4, *[("?", 1, (3, 5))] * 3, ("b", 2, (6, 7))])
    unknown = encoding(text, [("a", 0, (0, 1)), ("[UNK]", 1, (2, 5)), ("b", 2, (6, 7))])
    in_parts = encoding(text, [("a", 0, (0, 1)), ("👩", 1, (2, 3)), ("🚀", 2, (4, 5)), ("b", 3, (6, 7))])
    alignment = align([in_bytes, unknown, in_parts])
    assert alignment.labels == ("a", "👩‍🚀", "b")
    assert [ranges(units)[1] for units in alignment.units] == [(2, 9), (2, 3), (2, 4)]
    # Chinese is as fine as the coarsest model has it.
    text = "我喜欢猫"
    by_sign = encoding(text, [(sign, place, (place, place + 1)) for place, sign in enumerate(text)])
    by_word = encoding(text, [("▁", 0, (0, 1)), ("我", 0, (0, 1)), ("喜欢", 1, (1, 3)), ("猫", 2, (3, 4))])
    assert align([by_sign, by_word]).labels == ("我", "喜欢", "猫")
    # One cuts ab|cd, the other a|bc|d: they agree at the ends only.
    left = encoding("abcd", [("ab", 0, (0, 2)), ("cd", 1, (2, 4))])
    right = encoding("abcd", [("a", 0, (0, 1)), ("bc", 1, (1, 3)), ("d", 2, (3, 4))])
    assert align([left, right]).labels == ("abcd",)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        # A word of no characters goes with the one after it, at the end of the text with the one before.
        ([("▁", 0, (0, 0)), ("a", 1, (0, 1)), ("b", 2, (2, 3))], [(1, 3), (3, 4)]),
        ([("a", 0, (0, 1)), ("Ġ", 1, (1, 2)), ("b", 2, (2, 3))], [(1, 2), (2, 4)]),
        ([("a", 0, (0, 1)), ("b", 1, (2, 3)), ("▁", 2, (0, 0))], [(1, 2), (2, 4)]),
    ],
)
def test_tokens_that_cover_nothing_join_their_neighbour(pieces: list[Piece], expected: list[tuple[int, int]]) -> None:
    alignment = align([whole_words("a b"), encoding("a b", pieces)])
    assert alignment.labels == ("a", "b")
    assert ranges(alignment.units[1]) == expected


def test_a_word_one_model_drops_goes_with_its_neighbour() -> None:
    text = "a ☃ b"
    alignment = align([whole_words(text), encoding(text, [("a", 0, (0, 1)), ("b", 1, (4, 5))])])
    assert alignment.labels == ("a", "☃ b")
    assert [ranges(units) for units in alignment.units] == [[(1, 2), (2, 4)], [(1, 2), (2, 3)]]
    # WordPiece takes a typed [SEP] for the real one, the other model for three words.
    text = "a [SEP] b"
    taken = encoding(text, [("a", 0, (0, 1)), ("[SEP]", None, (2, 7)), ("b", 1, (8, 9))])
    spelled = encoding(
        text, [("a", 0, (0, 1)), ("[", 1, (2, 3)), ("SEP", 2, (3, 6)), ("]", 3, (6, 7)), ("b", 4, (8, 9))]
    )
    alignment = align([taken, spelled])
    assert alignment.labels == ("a", "[SEP] b")
    assert tokens_by_word(alignment, [taken, spelled])[1] == (("b",), ("[", "SEP", "]", "b"))
    # Masks that are written differently are one word.
    bert = encoding("a [MASK]", [("a", 0, (0, 1)), ("[MASK]", 1, (2, 8))])
    roberta = encoding("a <mask>", [("a", 0, (0, 1)), ("<mask>", 1, (2, 8))])
    assert align([bert, roberta]).labels == ("a", "[MASK]")


def test_pairs_are_aligned_text_by_text() -> None:
    first = encoding("a b", [("a", 0, (0, 1)), ("b", 1, (2, 3))], [("ab", 2, (0, 2))], "ab")
    second = encoding("a b", [("a b", 0, (0, 3))], [("a", 1, (0, 1)), ("b", 2, (1, 2))], "ab")
    alignment = align([first, second])
    assert alignment.labels == ("a b", "ab")
    assert alignment.segments == (0, 1)
    assert alignment.spans == ((0, 3), (0, 2))
    assert [ranges(units) for units in alignment.units] == [[(1, 3), (4, 5)], [(1, 2), (3, 5)]]
    empty = replace(encoding("a b", []), n_dropped=2)
    with pytest.raises(InvalidInput, match="No word of this text is seen in full by every model"):
        align([whole_words("a b"), empty])
    with pytest.raises(InvalidInput, match="different texts"):
        align([whole_words("a b"), whole_words("a c")])
    for number in (1, 5):
        with pytest.raises(ValueError, match=f"got {number}"):
            align([whole_words("a")] * number)


def test_where_one_model_had_to_cut_the_common_part_is_compared_and_the_rest_counted() -> None:
    text = "so very unhappy now"
    cut = replace(encoding(text, [("so", 0, (0, 2)), ("very", 1, (3, 7)), ("un", 2, (8, 10))]), n_dropped=3)
    alignment = align([cut, whole_words(text)])
    assert alignment.labels == ("so", "very")  # "unhappy" is seen in part only
    assert alignment.n_beyond == (1, 2)
    assert alignment.n_dropped == (3, 0)
    summary = alignment.summary(["Short", "Long"])
    assert all(part in summary for part in ("3 tokens", "1 word of Short, 2 words of Long", "the 2 words"))
    # A cut between words keeps the last one.
    cut = replace(encoding(text, [("so", 0, (0, 2)), ("very", 1, (3, 7))]), n_dropped=4)
    both = align([cut, whole_words(text)])
    assert both.labels == ("so", "very")
    assert both.n_beyond == (0, 2)
    same = align([cut, cut])
    assert same.labels == ("so", "very")
    assert same.n_beyond == (0, 0)
    # A second text that fell off whole leaves the first.
    long = encoding("a", [("a", 0, (0, 1))], [("b", 1, (0, 1))], "b")
    short = replace(encoding("a", [("a", 0, (0, 1))], [], "b"), n_dropped=1)
    alignment = align([long, short])
    assert alignment.labels == ("a",)
    assert alignment.n_beyond == (1, 0)


def slow_words(text: str, encodings: Sequence[Encoding]) -> list[str]:
    """Cut the text before every visible character that no model has in one word with a character before it."""
    visible = [place for place, character in enumerate(text) if not character.isspace()]
    tied = set()
    for encoded in encodings:
        words: dict[int, list[int]] = {}
        for word, (start, stop) in zip(encoded.word_ids, encoded.offsets, strict=True):
            if word is not None:
                words.setdefault(word, []).extend(place for place in range(start, stop) if place in visible)
        for places in words.values():
            tied.update(place for place in visible if places and min(places) < place <= max(places))
    starts = [place for place in visible if place not in tied]
    return [text[start:stop].strip() for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.slow
@settings(max_examples=200)
@given(cuttings())
def test_any_cutting_gives_the_finest_words_all_agree_on(drawn: tuple[str, list[Encoding]]) -> None:
    text, encodings = drawn
    alignment = align(encodings)
    assert list(alignment.labels) == slow_words(text, encodings)
    assert alignment.n_beyond == (0,) * len(encodings)
    for encoded, units in zip(encodings, alignment.units, strict=True):
        covered = [place for unit in units for place in range(unit.start, unit.stop)]
        assert covered == [place for place, special in enumerate(encoded.special) if not special]
    again = align([encodings[0], encodings[0]])
    assert again.units[0] == again.units[1]


@pytest.mark.slow
@settings(max_examples=200)
@given(cuttings(), st.data())
def test_dropped_characters_and_cut_texts_leave_every_token_in_one_word_or_none(
    drawn: tuple[str, list[Encoding]], data: st.DataObject
) -> None:
    text, encodings = drawn
    changed = []
    for part in encodings:
        places = range(1, len(part) - 1)
        kept = [place for place in places if data.draw(st.integers(0, 5))]
        kept = kept[: data.draw(st.integers(0, len(kept)))] if (cut := data.draw(st.booleans())) else kept
        pieces = [(part.tokens[place], part.word_ids[place], part.offsets[place]) for place in kept]
        changed.append(replace(encoding(text, pieces), n_dropped=len(places) - len(kept) if cut else 0))
    if any(len(part) == 2 for part in changed):
        with pytest.raises(InvalidInput):
            align(changed)
        return
    try:
        alignment = align(changed)
    except InvalidInput:
        assert any(part.n_dropped for part in changed)
        return
    ends = [0, *(end for _, end in alignment.spans)]
    assert all(start >= before for (start, _), before in zip(alignment.spans, ends, strict=False))
    for part, units, beyond in zip(changed, alignment.units, alignment.n_beyond, strict=True):
        covered = [place for unit in units for place in range(unit.start, unit.stop)]
        assert covered == list(range(1, len(covered) + 1))  # from the first token on, none twice
        assert len(covered) >= len(units)
        if not any(other.n_dropped for other in changed):
            assert (len(covered), beyond) == (len(part) - 2, 0)
