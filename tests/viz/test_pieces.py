"""Words with their pieces below."""

import pytest

from viz.pieces import pieces


def test_each_row_has_the_pieces_of_each_word_the_more_the_darker() -> None:
    (line,) = pieces(["A", "word"], {"one, two": ["a", "wo · ##rd"], "three": ["A", "w · o · r · d"]})
    names, first, second = line.items
    assert [cell.text for cell in names.cells] == ["\u00a0", "one, two", "three"]
    assert [cell.text for cell in first.cells] == ["A", "a", "A"]
    assert [cell.text for cell in second.cells] == ["word", "wo · ##rd", "w · o · r · d"]
    assert first.cells[1].fill == first.cells[2].fill
    assert len({first.cells[1].fill, second.cells[1].fill, second.cells[2].fill}) == 3
    assert second.title == "one, two: 2 pieces, three: 4 pieces"


def test_a_long_text_is_cut_into_lines_that_begin_with_the_names() -> None:
    lines = pieces(["word"] * 60, {"a": ["word"] * 60})
    assert len(lines) > 1
    assert {line.items[0].cells[1].text for line in lines} == {"a"}
    assert sum(len(line.items) - 1 for line in lines) == 60


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="pieces of 2 words"):
        pieces(["a", "b"], {"a": ["a"]})
