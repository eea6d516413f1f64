"""Files of minimal pairs are read as they are, and accuracies are those counted by hand."""

from __future__ import annotations

import json
import math

import pytest

import reading
from analysis.minimal_pairs import accuracies
from model_zoo.errors import InvalidInput
from reading.items import MinimalPair

# A line as BLiMP has it, with a sentence of our own.
BLIMP = {
    "sentence_good": "No child has ever sung.",
    "sentence_bad": "Some child has ever sung.",
    "field": "semantics",
    "linguistics_term": "npi_licensing",
    "UID": "npi_present_1",
    "simple_LM_method": True,
    "one_prefix_method": False,
    "two_prefix_method": False,
    "lexically_identical": False,
    "pairID": "0",
}


def read(*files: tuple[str, bytes], most: int = 1_000) -> reading.Data:
    return reading.read_files(files, "minimal pairs", most=most)


def jsonl(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def test_blimp_is_read_as_it_is() -> None:
    other = BLIMP | {"UID": "npi_present_2", "sentence_good": "  Nobody ever sang. ", "pairID": 1}
    data = read(("npi.jsonl", jsonl(BLIMP, other) + b"\n\n"))
    assert data.items == (
        MinimalPair("No child has ever sung.", "Some child has ever sung.", "npi_licensing", "npi_present_1"),
        MinimalPair("Nobody ever sang.", "Some child has ever sung.", "npi_licensing", "npi_present_2"),
    )
    assert data.report.remarks == ()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_read_by_its_columns(separator: str) -> None:
    text = '\ufeffBad,phenomenon, good ,x\n"A, b; c\td",word order,"B ""b""",1\n'.replace(",", separator)
    (pair,) = read(("pairs.csv", text.encode())).items
    assert isinstance(pair, MinimalPair)
    assert pair.good == 'B "b"'
    assert pair.bad == "A, b; c\td".replace(",", separator)
    assert pair.phenomenon == "word order"
    assert pair.paradigm == ""


def test_several_files_are_one_list_and_what_is_left_out_is_counted() -> None:
    csv = b"good,bad\na b,a c\n,x\n\nd,e\n"
    data = read(("one.csv", csv), ("two.jsonl", jsonl(BLIMP, BLIMP | {"sentence_bad": None})), most=2)
    assert data.items == (MinimalPair("a b", "a c"), MinimalPair("d", "e"))
    assert data.report.remarks == (
        "Left out 2: rows without both sentences (one.csv line 3, two.jsonl line 2).",
        "Left out 1: pairs beyond the first 2 (two.jsonl line 1).",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"a,b\n1,2\n",
            r"f, line 1: there is no column for the right sentence; .* “a”, “b”. Name it good or sentence_good",
        ),
        (b"good,worse\n1,2\n", r"f, line 1: there is no column for the wrong sentence; .* Name it bad or sentence_bad"),
        (
            b'{"sentence_good": "a"}',
            r"f, line 1: there is no column for the wrong sentence; .* Name it bad or sentence_bad",
        ),
        (jsonl(BLIMP) + b"\n[1]", r"f, line 2: this is not a JSON object"),
        (jsonl(BLIMP) + b'\n{"sent', r"f, line 2: this is not a JSON object \(.*one complete object per line"),
        (b'good,bad\n"a,b\n', r"f, line 2: this is not a well-formed table"),
        (json.dumps([BLIMP, [1]]).encode(), r"f, record 2: this is not a JSON object"),
        (b'{"good":' * 100_000, r"f, line 1: .* nested"),
        (b'""', r"f has no row with anything in it"),
        (b"good,bad\n", r"f: there is no pair to use"),
        (b"  ", r"f is empty"),
    ],
)
def test_what_cannot_be_read_says_where(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(("f", data))


def test_json_that_no_text_can_hold_is_read_as_far_as_it_is_text() -> None:
    line = b'{"good": "a b", "bad": "a \\ud800", "UID": ' + b"9" * 5_000 + b', "phenomenon": ["x"]}'
    (pair,) = read(("f", line)).items
    assert isinstance(pair, MinimalPair)
    assert (pair.good, pair.bad, pair.phenomenon) == ("a b", "a \ufffd", "")
    assert pair.paradigm == "9" * 5_000


def test_accuracies_by_hand() -> None:
    rows = [MinimalPair("a", "b", phenomenon, paradigm) for phenomenon, paradigm in ("xp", "xq", "xp", "y-", "y-")]
    actual = accuracies(rows, [1.0, -1.0, 0.004, 2.0, math.nan])
    assert [(entry.phenomenon, entry.paradigm, entry.n, entry.n_ties) for entry in actual] == [
        ("", "", 4, 1),
        ("x", "", 3, 1),
        ("x", "p", 2, 1),
        ("x", "q", 1, 0),
        ("y", "-", 1, 0),
    ]
    assert [entry.accuracy for entry in actual] == pytest.approx([2.5 / 4, 0.5, 0.75, 0, 1])
    assert actual[0].mean_difference == pytest.approx((1 - 1 + 0.004 + 2) / 4)
    assert (actual[4].low, actual[4].high) == pytest.approx((0.2065, 1), abs=1e-4)  # Wilson, 1 of 1
    assert accuracies(rows, [math.nan] * 5) == ()


def test_without_phenomena_there_is_one_accuracy() -> None:
    (only,) = accuracies([MinimalPair("a", "b")] * 4, [1.0, 1.0, 1.0, -1.0])
    assert (only.n, only.accuracy) == (4, 0.75)
