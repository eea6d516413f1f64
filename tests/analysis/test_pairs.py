"""Lists of pairs: every way a CSV can be odd, and accuracy and calibration by hand."""

from __future__ import annotations

import pytest

import reading
from analysis import pairs
from model_zoo.errors import InvalidInput
from reading.items import SentencePair

GOOD = {
    "plain": ("a,b\nx,y\n", (("x", "y"),)),
    "other order and more columns": ("id,b,a\n7,y,x\n", (("x", "y"),)),
    "capital names and spaces": (" A , B \nx,y\n", (("x", "y"),)),
    "quotes, commas and line breaks": (
        'a,b\n"He said ""no"", twice","one\ntwo"\n',
        (('He said "no", twice', "one\ntwo"),),
    ),
    "semicolons": ("a;b\nx, y;z\n", (("x, y", "z"),)),
    "tabs": ("a\tb\nx, y\tz\n", (("x, y", "z"),)),
    "Windows line ends": ("a,b\r\nx,y\r\n", (("x", "y"),)),
    "empty lines": ("\n\na,b\n\nx,y\n\n", (("x", "y"),)),
    "formulas stay text": ("a,b\n=1+1,@x\n", (("=1+1", "@x"),)),
}


def read(text: str) -> reading.Data:
    return reading.read_files([("own", text.encode())], "pairs", most=pairs.MAX_PAIRS)


@pytest.mark.parametrize("case", GOOD)
def test_read(case: str) -> None:
    text, rows = GOOD[case]
    data = read(text)
    assert data.items == tuple(SentencePair(a, b, None) for a, b in rows)
    assert "label" not in data.columns
    assert not data.left_out


BAD = {
    "nothing": ("  ", "own is empty"),
    "no b": (
        "a,c\nx,y\n",
        "own, line 1: there is no column for the sentence B; .* it has “a”, “c”. Name it b, ",
    ),
    "neither": (
        "x,y\n1,2\n",
        "own, line 1: there is no column for the sentence A; .* it has “x”, “y”. Name it a, ",
    ),
    "no rows": ("a,b\n", "own: there is no pair to use"),
    "open quote": ('a,b\n"x,y\n', "own, line 2: this is not a well-formed table"),
    "a label that is none": ("a,b,label\nx,y,1\nx,y,perhaps\n", "own, line 3: “perhaps”"),
    "a cell without end": ("a,b\n" + "x" * 200_000 + ",y\n", "own, line 2: a cell has more than 131,072 characters"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_says_so(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(InvalidInput, match=message):
        read(text)


def test_labels_and_rows_left_out() -> None:
    data = read("a,b,label\nx,y,1\n,y,1\nx,,0\nx,z,no\nx,q,\nx,r,NEXT\n")
    assert data.items == (
        SentencePair("x", "y", True),
        SentencePair("x", "z", False),
        SentencePair("x", "q", None),
        SentencePair("x", "r", True),
    )
    assert data.lines == (2, 5, 6, 7)
    assert data.left_out == {"rows without an A or a B": (3, 4)}


def test_ten_thousand_rows_and_no_more() -> None:
    data = read("a,b\n" + "x,y\n" * (pairs.MAX_PAIRS + 3))
    assert len(data.items) == pairs.MAX_PAIRS == 10_000
    assert data.left_out == {"pairs beyond the first 10,000": (10_002, 10_003, 10_004)}


def test_accuracy_and_calibration_by_hand() -> None:
    judged = pairs.judge([0.95, 0.91, 0.93, 0.97, 0.05, 0.55, 0.2], [True, True, True, False, False, True, None])
    assert judged is not None
    assert judged.n == 6
    assert judged.accuracy == pytest.approx(5 / 6)
    assert [(b.low, b.n) for b in judged.bins] == [(0.0, 1), (0.5, 1), (0.9, 4)]
    assert [b.mean for b in judged.bins] == pytest.approx([0.05, 0.55, 0.94])
    assert [b.share_next for b in judged.bins] == [0, 1, 0.75]
    assert judged.calibration_error == pytest.approx((0.05 + 0.45 + 4 * 0.19) / 6)


def test_a_probability_of_one_is_in_the_last_bin_and_no_labels_are_no_curve() -> None:
    judged = pairs.judge([1.0, 0.0], [True, False])
    assert judged is not None
    assert [b.high for b in judged.bins] == [0.1, 1.0]
    assert pairs.judge([0.4], [None]) is None
