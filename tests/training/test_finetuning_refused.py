"""Own data that nothing can be learned from: one sentence each, with the line."""

import io
import json
import subprocess
import sys
import zipfile

import pytest
from fuzzing import one_sentence
from own_files import TEXT, jsonl, table
from own_files import to_train_on as read

from model_zoo.errors import InvalidInput
from training.finetuning.prepare import FEWEST, MOST_LABELS

N = range(20)
LABELLED = [{"text": text, "label": label} for text, label in TEXT]
THIRDS = ("train", "dev", "test")
BY_CASE = ["one", "two", "One", "Two", "oNe", "tWo", "onE", "twO", "ONE", "TWO"]
SPLIT, PAIR, ASKED = "text,label,split", "text1,text2,score", "question,context,answer"
SQUAD = {"context": "Ann did.", "qas": [{"question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]}]}


def training_split(row: int) -> str:
    """The first twelve of twenty rows are to train on."""
    return "train" if row < 12 else THIRDS[1 + row % 2]


def workbook() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            archive.writestr(name, "<x/>")
    return packed.getvalue()


# What is said of a file: words that its sentence has.
CLASSIFICATION = {
    "one label": (table([(f"text {i}", "a") for i in N]), ["one label only (“a”)"]),
    "one example of each but one": (table([*((f"text {i}", "a") for i in N), ("x", "b")]), ["(“a” 20, “b” 1)"]),
    "one label to train on": (
        table([(t, la, "train" if la == "a" else THIRDS[1 + i % 4 // 2]) for i, (t, la) in enumerate(TEXT)], SPLIT),
        ["items to train on", "one label only"],
    ),
    "no items to train on": (table([(*row, "test") for row in TEXT], SPLIT), ["no items to train on"]),
    "too few": (table(TEXT[:4]), ["4 usable texts", f"at least {FEWEST}"]),
    "nothing but empty": (table([("", "a")] * 20), ["no text to use", "Left out 20", "(lines 2, 3, 4, 5, 6 …)"]),
    "too few but for case": (table([(w, "ab"[i % 2]) for i, w in enumerate(BY_CASE)]), ["2 different texts", "3 are"]),
    "many labels": (
        table([(f"text {i}", f"label {i // 2}") for i in range(2 * MOST_LABELS + 2)]),
        ["51 different labels", "at most 50", "wrong column"],
    ),
    "a label of a page": (table([("x", "y" * 300)]), ["line 2: ", "300 characters"]),
    "no label": (
        table(TEXT, "text,class_"),
        ["line 1: ", "no column for the label", "table (comma between columns)", "“text”, “class_”", "gold_label"],
    ),
    "no text": (table(TEXT, "remark,label"), ["line 1: ", "no column for the text", "“remark”, “label”"]),
    "commas outside of quotes in most rows": (
        table([*TEXT, *(("Well", *row) for row in TEXT), ("Well", " hello", "a")]),
        ["line 22: 3 columns", "has 2", "21 of 41 rows", "in quotes"],
    ),
    "most rows are short": (
        table([*TEXT, *((text,) for text, _ in TEXT), ("Well",)]),
        ["line 22: 1 column", "has 2", "21 of 41 rows"],
    ),
    "an open quote": (b'text,label\n"x,y', ["line 2: ", "well-formed table"]),
    "another split": (table([("x", "y", "later")], SPLIT), ["line 2: ", "“later”", "(or validation)"]),
    "a line without a split": (
        jsonl([*(row | {"split": "train"} for row in LABELLED), {"text": "x", "label": "a"}]),
        ["line 21: ", "split is “”"],
    ),
    "a workbook": (workbook(), ["workbook of Excel", "as CSV"]),
    "an archive cut off": (b"PK\x03\x04\x14\x00", ["zip archive", "complete"]),
    "malformed JSON": (jsonl([{"text": "x", "label": "y"}]) + b'\n{"text": "x"', ["line 2: ", "not a JSON object ("]),
    "a JSON list without a label": (
        json.dumps([{"text": "x"}]).encode(),
        ["line 1: ", "label", "a JSON list", "“text”"],
    ),
    "a list in JSON lines": (jsonl([{"text": "x", "label": "y"}, [LABELLED[0]]]), ["line 2: ", "one per line"]),
    "JSON without a label": (jsonl([{"text": "x"}]), ["line 1: ", "label", "read as JSON lines"]),
    "a text beyond all limits": (jsonl([{"text": "x" * 200_000, "label": "a"}]), ["line 1: ", "131,072"]),
    "SQuAD to classify": (b'{"version": "2.0", "data": []}', ["“data”", "empty"]),
    "SQuAD with questions": (json.dumps({"data": [{"paragraphs": [SQUAD]}]}).encode(), ["question answering"]),
    "NaN in a list": (
        json.dumps([*LABELLED, {"text": "x", "label": float("nan")}]).replace("}, {", "},\n{").encode(),
        ["line 21: "],
    ),
}
SIMILARITY = {
    "a score that is none": (table([("a", "b", 1), ("c", "d", "high")], PAIR), ["line 3: ", "“high”", "not a number"]),
    "no number is infinite": (table([("a", "b", "inf")], PAIR), ["line 2: ", "“inf”", "not a number"]),
    "one score": (table([(f"a {i}", "b", 2.0) for i in N], PAIR), ["all scores are 2."]),
    "one score to train on": (
        table([(f"a {i}", "b", 1 if i < 12 else i % 5, training_split(i)) for i in N], f"{PAIR},split"),
        ["items to train on", "one score only"],
    ),
    "no second text": (table([("a", 1)], "text,score"), ["line 1: ", "the second text", "“text”, “score”"]),
}
ANSWERING = {
    "no answer in its passage": (
        table([("Who?", f"Ann {i} did.", "Bob") for i in N], ASKED),
        ["no question to use", "Left out 20", "(lines 2, 3, 4, 5, 6 …)"],
    ),
    "no answer in its passage, beside questions without an answer": (
        table([(f"Who {i}?", f"Ann {i} did.", "Bob" if i % 2 else "") for i in range(40)], ASKED),
        ["letter by letter", "(lines 3, 5, 7, 9, 11 …)"],
    ),
    "no answers": (table([("Who?", f"Ann {i} did.", "") for i in N], ASKED), ["items to train on have no answer"]),
    "one passage": (table([(f"Who {i}?", "Ann did.", "Ann") for i in N], ASKED), ["1 different passage"]),
    "no answers to train on": (
        table([("Who?", f"Ann {i} did.", "" if i < 12 else "Ann", training_split(i)) for i in N], f"{ASKED},split"),
        ["items to train on have no answer"],
    ),
    "broken SQuAD": (b'{"data": [\n{"paragraphs": [}]}', ["line 2: ", "(Expecting value)"]),
    "deep SQuAD": (b'{"data": [' + b"[" * 100_000, ["line 1: ", "nested too deeply"]),
    "SQuAD without paragraphs": (b'{"data": [{"paragraphs": []}, {"title": "x"}]}', ["article 2: ", "“paragraphs”"]),
    "nothing of SQuAD but a title": (b'{"data": [{"title": "x"}]}', ["line 1: ", "the question", "“title”"]),
    "SQuAD without questions": (b'{"data": [{"paragraphs": [{"context": "x"}]}]}', ["article 1, passage 1: ", "“qas”"]),
    "SQuAD with odd questions": (
        b'{"data": [{"paragraphs": [{"context": "x", "qas": ["y"]}]}]}',
        ["not a JSON object"],
    ),
}
TAGGING = {
    "a PDF": (b"%PDF-1.7", ["a PDF document"]),
    "empty": (b" \n", ["is empty"]),
    "words without tags": (b"Ann\nsaw\n", ["line 1: 1 column", "tag last"]),
    "columns that vary": (b"Ann NN B-PER\nNew York NN B-LOC\n", ["line 2: "]),
    "a tag without a prefix": (b"Ann B-PER\nsaw O\n\nBob PER\n", ["line 4, word 1: ", "“PER”", "B- or I-"]),
    "numbers as tags": (
        jsonl([{"tokens": ["Ann", "saw"], "ner_tags": [1, 0]}, {"tokens": ["Ann"], "ner_tags": [1]}]),
        ["line 1: ", "are numbers (1, 0)"],
    ),
    "one line of JSON": (
        jsonl([{"tokens": ["Ann", "saw"], "ner_tags": ["B-PER", "O"]}]),
        ["1 usable sentence", "at least 10"],
    ),
    "tags that do not fit": (jsonl([{"tokens": ["Ann", "saw"], "tags": ["O"]}]), ["line 1: 2 words and 1 tag."]),
    "no entity": (b"\n\n".join(b"word%d O" % i for i in N), ["no word is in an entity"]),
    "no entity to train on": (
        jsonl([{"tokens": [f"w{i}"], "tags": ["O" if i < 12 else "B-X"], "split": training_split(i)} for i in N]),
        ["items to train on have no entity"],
    ),
    "no empty lines": (b"\n".join(b"word%d B-X" % i for i in range(50)), ["1 usable sentence", "An empty line ends"]),
    "many types": (b"\n\n".join(b"word%d B-X%d" % (i, i) for i in range(60)), ["60 different types", "at most 50"]),
}
REFUSED = {
    "classification": CLASSIFICATION, "similarity": SIMILARITY, "answering": ANSWERING, "tagging": TAGGING,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in REFUSED.items() for case in cases])
def test_what_cannot_be_learnt_from_is_refused_with_a_sentence(kind, case: str) -> None:
    data, words = REFUSED[kind][case]
    with pytest.raises(InvalidInput) as caught:
        read(data, "own", kind, 0)
    message = str(caught.value)
    one_sentence(message)
    assert "own" in message or "items to train on" in message
    for part in words:
        assert part in message


_READ = """
import sys
import reading
from model_zoo.errors import InvalidInput
try:
    reading.read(sys.stdin.buffer.read(), "labelled", name="own")
except InvalidInput as error:
    print(error)
"""


def test_a_number_of_five_thousand_digits_in_a_list_is_refused_or_read() -> None:
    """In a process of its own, which a parser written in C can end."""
    data = b'[{"text": "x", "label": ' + b"9" * 5000 + b"}]"
    ended = subprocess.run([sys.executable, "-c", _READ], input=data, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    one_sentence(ended.stdout.decode().strip())
