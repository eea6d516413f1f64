"""Own data that nothing can be learned from: one sentence each, with the line."""

from __future__ import annotations

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
from training.finetuning.data import Kind
from training.finetuning.prepare import FEWEST, MOST_LABELS


def refused(data: bytes, kind: Kind) -> str:
    with pytest.raises(InvalidInput) as caught:
        read(data, "own", kind, 0)
    one_sentence(str(caught.value))
    return str(caught.value)


def zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return packed.getvalue()


ASKED = {"question": "Who?", "answers": [{"text": "Ann", "answer_start": 0}]}
SQUAD = json.dumps({"data": [{"paragraphs": [{"context": "Ann did.", "qas": [ASKED]}]}]}).encode()

REFUSED: dict[str, tuple[Kind, bytes, str]] = {
    "one label": ("classification", table([(f"text {i}", "a") for i in range(20)]), "own has one label only (“a”)"),
    "one example of each but one": (
        "classification",
        table([*((f"text {i}", "a") for i in range(20)), ("x", "b")]),
        "own has fewer than two labels with more than one example (“a” 20, “b” 1)",
    ),
    "one label to train on": (
        "classification",
        table(
            [(t, la, "train" if la == "a" else ("dev", "test")[i % 4 // 2]) for i, (t, la) in enumerate(TEXT)],
            "text,label,split",
        ),
        "the items to train on have one label only",
    ),
    "no items to train on": (
        "classification",
        table([(*row, "test") for row in TEXT], "text,label,split"),
        "no items to train on",
    ),
    "too few": ("classification", table(TEXT[:4]), f"own has 4 usable texts; at least {FEWEST} are needed"),
    "nothing but empty": (
        "classification",
        table([("", "a")] * 20),
        "own: there is no text to use. Choose a file with texts. "
        "Left out 20: rows without a text or a label (lines 2, 3, 4, 5, 6 …).",
    ),
    "too few but for case": (
        "classification",
        table(
            [
                (word, "ab"[i % 2])
                for i, word in enumerate(["one", "two", "One", "Two", "oNe", "tWo", "onE", "twO", "ONE", "TWO"])
            ]
        ),
        "own has 2 different texts, case and spaces aside, and none may be in two splits: at least 3 are needed.",
    ),
    "many labels": (
        "classification",
        table([(f"text {i}", f"label {i // 2}") for i in range(2 * MOST_LABELS + 2)]),
        "own has 51 different labels; at most 50 can be told apart. This is likely the wrong column",
    ),
    "a label of a page": ("classification", table([("x", "y" * 300)]), "own, line 2: the label has 300 characters"),
    "no label": (
        "classification",
        table(TEXT, "text,class_"),
        "own, line 1: there is no column for the label; "
        "read as a table (comma between columns), it has “text”, “class_”. "
        "Name it label, labels, gold_label, class, category, quality, is_duplicate or sentiment. Or choose the column.",
    ),
    "no text": (
        "classification",
        table(TEXT, "remark,label"),
        "own, line 1: there is no column for the text; read as a table (comma between columns), it has “remark”, "
        "“label”.",
    ),
    "commas outside of quotes in most rows": (
        "classification",
        table([*TEXT, *(("Well", *row) for row in TEXT), ("Well", " hello", "a")]),
        "own, line 22: 3 columns where the first line has 2, and 21 of 41 rows are so. "
        "If a text holds a comma, put it in quotes.",
    ),
    "most rows are short": (
        "classification",
        table([*TEXT, *((text,) for text, _ in TEXT), ("Well",)]),
        "own, line 22: 1 column where the first line has 2, and 21 of 41 rows are so.",
    ),
    "an open quote": ("classification", b'text,label\n"x,y', "own, line 2: this is not a well-formed table"),
    "another split": (
        "classification",
        table([("x", "y", "later")], "text,label,split"),
        "own, line 2: the split is “later”. Write train, dev (or validation) or test",
    ),
    "a line without a split": (
        "classification",
        jsonl([*({"text": t, "label": la, "split": "train"} for t, la in TEXT), {"text": "x", "label": "a"}]),
        "own, line 21: the split is “”. Write train, dev (or validation) or test",
    ),
    "a workbook": (
        "classification",
        zipped("[Content_Types].xml", "xl/workbook.xml"),
        "own is a workbook of Excel or a document of Word. Save its table as CSV",
    ),
    "an archive cut off": (
        "classification",
        b"PK\x03\x04\x14\x00",
        "own is not a zip archive that can be unpacked. Check that it is complete",
    ),
    "a PDF": ("tagging", b"%PDF-1.7", "own is a PDF document"),
    "empty": ("tagging", b" \n", "own is empty"),
    "malformed JSON": (
        "classification",
        jsonl([{"text": "x", "label": "y"}]) + b'\n{"text": "x"',
        "own, line 2: this is not a JSON object (",
    ),
    "a JSON list without a label": (
        "classification",
        json.dumps([{"text": "x"}]).encode(),
        "own, line 1: there is no column for the label; read as a JSON list, it has “text”.",
    ),
    "a list in JSON lines": (
        "classification",
        jsonl([{"text": "x", "label": "y"}, [{"text": "x", "label": "y"}]]),
        "own, line 2: this is not a JSON object. JSON lines have one per line",
    ),
    "JSON without a label": (
        "classification",
        jsonl([{"text": "x"}]),
        "own, line 1: there is no column for the label; read as JSON lines",
    ),
    "a text beyond all limits": (
        "classification",
        jsonl([{"text": "x" * 200_000, "label": "a"}]),
        "own, line 1: a text has more than 131,072 characters",
    ),
    "SQuAD to classify": (
        "classification",
        b'{"version": "2.0", "data": []}',
        "there is no list “data” in it, or it is empty",
    ),
    "SQuAD with questions to classify": (
        "classification",
        SQUAD,
        "Choose question answering for it.",
    ),
    "NaN in a list": (
        "classification",
        json.dumps([*({"text": text, "label": label} for text, label in TEXT), {"text": "x", "label": float("nan")}])
        .replace("}, {", "},\n{")
        .encode(),
        "own, line 21: ",
    ),
    "a score that is none": (
        "similarity",
        table([("a", "b", 1), ("c", "d", "high")], "text1,text2,score"),
        "own, line 3: the score “high” is not a number",
    ),
    "no number is infinite": (
        "similarity",
        table([("a", "b", "inf")], "text1,text2,score"),
        "own, line 2: the score “inf” is not a number",
    ),
    "one score": (
        "similarity",
        table([(f"a {i}", "b", 2.0) for i in range(20)], "text1,text2,score"),
        "own: all scores are 2.",
    ),
    "one score to train on": (
        "similarity",
        table(
            [(f"a {i}", "b", *((1, "train") if i < 12 else (i % 5, ("dev", "test")[i % 2]))) for i in range(20)],
            "text1,text2,score,split",
        ),
        "the items to train on have one score only",
    ),
    "no second text": (
        "similarity",
        table([("a", 1)], "text,score"),
        "own, line 1: there is no column for the second text; read as a table (comma between columns), it has “text”, "
        "“score”.",
    ),
    "no answer in its passage": (
        "answering",
        table([("Who?", f"Ann {i} did.", "Bob") for i in range(20)], "question,context,answer"),
        "own: there is no question to use. Choose a file with questions. Left out 20: answers that are not in their "
        "passage, letter by letter, and the question where it has no other (lines 2, 3, 4, 5, 6 …).",
    ),
    "no answer in its passage, beside questions without an answer": (
        "answering",
        table([(f"Who {i}?", f"Ann {i} did.", "Bob" if i % 2 else "") for i in range(40)], "question,context,answer"),
        "not in their passage, letter by letter, and the question where it has no other (lines 3, 5, 7, 9, 11 …)",
    ),
    "no answers": (
        "answering",
        table([("Who?", f"Ann {i} did.", "") for i in range(20)], "question,context,answer"),
        "own: the items to train on have no answer.",
    ),
    "one passage": (
        "answering",
        table([(f"Who {i}?", "Ann did.", "Ann") for i in range(20)], "question,context,answer"),
        "own has 1 different passage, case and spaces aside",
    ),
    "no answers to train on": (
        "answering",
        table(
            [
                ("Who?", f"Ann {i} did.", *(("", "train") if i < 12 else ("Ann", ("dev", "test")[i % 2])))
                for i in range(20)
            ],
            "question,context,answer,split",
        ),
        "the items to train on have no answer",
    ),
    "broken SQuAD": (
        "answering",
        b'{"data": [\n{"paragraphs": [}]}',
        "own, line 2: this is not well-formed JSON (Expecting value). Check that the file is whole.",
    ),
    "deep SQuAD": (
        "answering",
        b'{"data": [' + b"[" * 100_000,
        "own, line 1: objects nested too deeply",
    ),
    "SQuAD without paragraphs": (
        "answering",
        b'{"data": [{"paragraphs": []}, {"title": "x"}]}',
        "own, article 2: there is no list “paragraphs”",
    ),
    "nothing of SQuAD but a title": (
        "answering",
        b'{"data": [{"title": "x"}]}',
        "own, line 1: there is no column for the question; read as a JSON list, it has “title”.",
    ),
    "SQuAD without questions": (
        "answering",
        b'{"data": [{"paragraphs": [{"context": "x"}]}]}',
        "own, article 1, passage 1: there is no list “qas”",
    ),
    "SQuAD with odd questions": (
        "answering",
        b'{"data": [{"paragraphs": [{"context": "x", "qas": ["y"]}]}]}',
        "a question is not a JSON object",
    ),
    "words without tags": (
        "tagging",
        b"Ann\nsaw\n",
        "own, line 1: 1 column. Each line has a word first and its tag last",
    ),
    "columns that vary": (
        "tagging",
        b"Ann NN B-PER\nNew York NN B-LOC\n",
        "own, line 2: ",
    ),
    "a tag without a prefix": (
        "tagging",
        b"Ann B-PER\nsaw O\n\nBob PER\n",
        "own, line 4, word 1: the tag “PER” has no B- or I- before it",
    ),
    "numbers as tags": (
        "tagging",
        jsonl([{"tokens": ["Ann", "saw"], "ner_tags": [1, 0]}, {"tokens": ["Ann"], "ner_tags": [1]}]),
        "own, line 1: the tags are numbers (1, 0), which stand for names that this file does not have.",
    ),
    "one line of JSON": (
        "tagging",
        jsonl([{"tokens": ["Ann", "saw"], "ner_tags": ["B-PER", "O"]}]),
        "own has 1 usable sentence; at least 10 are needed",
    ),
    "tags that do not fit": (
        "tagging",
        jsonl([{"tokens": ["Ann", "saw"], "tags": ["O"]}]),
        "own, line 1: 2 words and 1 tag. Each word needs a tag of its own.",
    ),
    "no entity": ("tagging", b"\n\n".join(b"word%d O" % i for i in range(20)), "In own no word is in an entity"),
    "no entity to train on": (
        "tagging",
        jsonl(
            [
                {
                    "tokens": [f"w{i}"],
                    "tags": ["O" if i < 12 else "B-X"],
                    "split": "train" if i < 12 else ("dev", "test")[i % 2],
                }
                for i in range(20)
            ]
        ),
        "the items to train on have no entity",
    ),
    "no empty lines": (
        "tagging",
        b"\n".join(b"word%d B-X" % i for i in range(50)),
        "own has 1 usable sentence; at least 10 are needed to train on, to choose by and to test on. "
        "Add more. An empty line ends a sentence.",
    ),
    "many types": (
        "tagging",
        b"\n\n".join(b"word%d B-X%d" % (i, i) for i in range(60)),
        "own has 60 different types of entities; at most 50",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_learnt_from_is_refused_with_a_sentence(case: str) -> None:
    kind, data, message = REFUSED[case]
    assert message in refused(data, kind)


def test_a_number_of_five_thousand_digits_in_a_list_is_refused_or_read() -> None:
    """In a process of its own, which a parser written in C can end."""
    data = b'[{"text": "x", "label": ' + b"9" * 5000 + b"}]"
    ended = subprocess.run([sys.executable, "-c", _READ], input=data, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    one_sentence(ended.stdout.decode().strip())


_READ = """
import sys
import reading
from model_zoo.errors import InvalidInput
try:
    reading.read(sys.stdin.buffer.read(), "labelled", name="own")
except InvalidInput as error:
    print(error)
"""
