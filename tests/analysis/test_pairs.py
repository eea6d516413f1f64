"""Lists of pairs and of minimal pairs: what is read and refused of their files; accuracy and calibration by hand."""

import json
import math
from pathlib import Path

import pytest

import reading
from analysis import pairs
from analysis.minimal_pairs import accuracies
from model_zoo.errors import InvalidInput
from reading.items import MinimalPair, SentencePair

CASES = json.loads(Path(__file__).with_name("pair_cases.json").read_text(encoding="utf-8"))


def read(text: str) -> reading.Data:
    return reading.read_files([("own", text.encode())], "pairs", most=pairs.MAX_PAIRS)


@pytest.mark.parametrize("case", CASES["read"])
def test_read(case: str) -> None:
    text, rows = CASES["read"][case]
    data = read(text)
    assert data.items == tuple(SentencePair(a, b, None) for a, b in rows)
    assert "label" not in data.columns
    assert not data.left_out


@pytest.mark.parametrize("case", CASES["refused"])
def test_what_cannot_be_read_says_so(case: str) -> None:
    text, message = CASES["refused"][case]
    with pytest.raises(InvalidInput, match=message):
        read(text)


def test_labels_and_rows_left_out() -> None:
    data = read("a,b,label\nx,y,1\n,y,1\nx,,0\nx,z,no\nx,q,\nx,r,NEXT\n")
    labels = {"y": True, "z": False, "q": None, "r": True}
    assert data.items == tuple(SentencePair("x", b, label) for b, label in labels.items())
    assert data.lines == (2, 5, 6, 7)
    assert data.left_out == {"rows without an A or a B": (3, 4)}
    data = read("a,b\n" + "x,y\n" * (pairs.MAX_PAIRS + 3))
    assert len(data.items) == pairs.MAX_PAIRS == 10_000
    assert data.left_out == {"pairs beyond the first 10,000": (10_002, 10_003, 10_004)}


def test_accuracy_and_calibration_by_hand() -> None:
    judged = pairs.judge([0.95, 0.91, 0.93, 0.97, 0.05, 0.55, 0.2], [True, True, True, False, False, True, None])
    assert judged.n == 6
    assert judged.accuracy == pytest.approx(5 / 6)
    assert [(b.low, b.n) for b in judged.bins] == [(0.0, 1), (0.5, 1), (0.9, 4)]
    assert [b.mean for b in judged.bins] == pytest.approx([0.05, 0.55, 0.94])
    assert [b.share_next for b in judged.bins] == [0, 1, 0.75]
    assert judged.calibration_error == pytest.approx((0.05 + 0.45 + 4 * 0.19) / 6)
    judged = pairs.judge([1.0, 0.0], [True, False])
    assert [b.high for b in judged.bins] == [0.1, 1.0]
    assert pairs.judge([0.4], [None]) is None


# A line as BLiMP has it, with a sentence of our own.
BLIMP = {
    "sentence_good": "No child ever sang.",
    "sentence_bad": "Some child ever sang.",
    "UID": "npi_present_1",
}


def read_minimal(*files: tuple[str, bytes], most: int = 1_000) -> reading.Data:
    return reading.read_files(files, "minimal pairs", most=most)


def jsonl(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def test_json_that_no_text_can_hold_is_read_as_far_as_it_is_text() -> None:
    line = b'{"good": "a b", "bad": "a \\ud800", "UID": ' + b"9" * 5_000 + b', "phenomenon": ["x"]}'
    (pair,) = read_minimal(("f", line)).items
    assert (pair.good, pair.bad, pair.phenomenon) == ("a b", "a \ufffd", "")
    assert pair.paradigm == "9" * 5_000


def test_several_files_are_one_list_and_what_is_left_out_is_counted() -> None:
    csv = b"good,bad\na b,a c\n,x\n\nd,e\n"
    data = read_minimal(("one.csv", csv), ("two.jsonl", jsonl(BLIMP, BLIMP | {"sentence_bad": None})), most=2)
    assert data.items == (MinimalPair("a b", "a c"), MinimalPair("d", "e"))
    assert data.report.remarks == (
        "Left out 2: rows without both sentences (one.csv line 3, two.jsonl line 2).",
        "Left out 1: pairs beyond the first 2 (two.jsonl line 1).",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\n", r"f, line 1: .* right sentence; .* “a”, “b”. Name it good or sentence_good"),
        (b"good,worse\n1,2\n", r"f, line 1: .* wrong sentence; .* Name it bad or sentence_bad"),
        (b'{"sentence_good": "a"}', r"f, line 1: .* wrong sentence; .* Name it bad or sentence_bad"),
        (jsonl(BLIMP) + b"\n[1]", r"f, line 2: this is not a JSON object"),
        (jsonl(BLIMP) + b'\n{"sent', r"f, line 2: this is not a JSON object \(.*one complete object per line"),
        (json.dumps([BLIMP, [1]]).encode(), r"f, record 2: this is not a JSON object"),
        (b'{"good":' * 100_000, r"f, line 1: .* nested"),
        (b'""', r"f has no row with anything in it"),
        (b"good,bad\n", r"f: there is no pair to use"),
    ],
)
def test_minimal_pairs_that_cannot_be_read_say_where(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_minimal(("f", data))


def test_accuracies_of_minimal_pairs_by_hand() -> None:
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
    (only,) = accuracies([MinimalPair("a", "b")] * 4, [1.0, 1.0, 1.0, -1.0])
    assert (only.n, only.accuracy) == (4, 0.75)
