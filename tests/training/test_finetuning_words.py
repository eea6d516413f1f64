"""The visitor's own entities and questions to fine-tune on: every scheme of tags, and where answers begin."""

import json
from typing import Any

import pytest
from own_files import items, jsonl, notes, sentences, table
from own_files import to_train_on as read

from model_zoo.errors import InvalidInput
from training.finetuning import entities
from training.finetuning.data import SPLITS, Data, PassageQuestion, Tagged

CONLL2003 = """-DOCSTART- -X- -X- O

U.N. NNP I-NP I-ORG
official NN I-NP O
Ekeus NNP I-NP I-PER
heads VBZ I-VP O

New NNP x I-LOC
York NNP x I-LOC
Boston NNP x B-LOC
Ann NNP x I-PER
"""


def test_conll_columns_in_iob1_become_iob2() -> None:
    data = read((CONLL2003 + "\n" + sentences(20)).encode(), "own", "tagging", 0)
    actual = {item.words: item.tags for item in items(data)}
    assert actual[("U.N.", "official", "Ekeus", "heads")] == ("B-ORG", "O", "B-PER", "O")
    assert actual[("New", "York", "Boston", "Ann")] == ("B-LOC", "I-LOC", "B-LOC", "B-PER")
    assert len(actual) == 22
    assert (data.labels, data.measure) == (("O", "B-LOC", "I-LOC", "B-ORG", "B-PER"), "entity_f1")
    assert "Changed 4 tags to IOB2, in which every entity begins with B-." in data.notes


@pytest.mark.parametrize(
    ("inputs", "wanted"),
    [
        ("I-A I-A B-A I-B O I-B", "B-A I-A B-A B-B O B-B"),  # IOB1
        ("B-A I-A B-A B-B O B-B", "B-A I-A B-A B-B O B-B"),  # IOB2
        ("B-A E-A S-A B-B I-B E-B", "B-A I-A B-A B-B I-B I-B"),  # IOBES
        ("B-A L-A U-A O B-B L-B", "B-A I-A B-A O B-B I-B"),  # BILOU
        ("S-A I-A O E-B I-B", "B-A B-A O B-B B-B"),  # after the end of an entity another one begins
        ("A A B O B", "B-A I-A B-B O B-B"),  # types alone
    ],
)
def test_tags_of_every_scheme(inputs: str, wanted: str) -> None:
    notes: list[str] = []
    assert entities.convert_to_iob2([("own", inputs.split())], notes) == [tuple(wanted.split())]
    assert bool(notes) == (inputs != wanted)


def test_types_alone_are_said() -> None:
    text = "\n\n".join(f"New{i}\tLOC\nYork\tLOC\nsleeps\tO" for i in range(20))
    data = read(f"Token\tTag\n{text}".encode(), "own", "tagging", 0)
    assert {item.tags for item in items(data)} == {("B-LOC", "I-LOC", "O")}
    assert "types alone" in notes(data)


def test_json_lines_tables_and_columns_are_the_same_sentences() -> None:
    rows = [([f"Ann{i}", "sleeps"], ["B-PER", "O"]) for i in range(20)]
    actual = [
        read(jsonl([{"tokens": words, "ner_tags": tags} for words, tags in rows]), "own", "tagging", 0),
        read(table([(" ".join(words), " ".join(tags)) for words, tags in rows], "words,tags"), "own", "tagging", 0),
        read("\r\n".join(f"{w[0]}\t{t[0]}\r\n{w[1]}\t{t[1]}\r\n" for w, t in rows).encode(), "own", "tagging", 0),
        read(("# id = 1\n" + sentences(20)).encode(), "own", "tagging", 0),
    ]
    assert all((data.train, data.dev, data.test) == (actual[0].train, actual[0].dev, actual[0].test) for data in actual)
    assert Tagged(("Ann0", "sleeps"), ("B-PER", "O")) in items(actual[0])


def test_brackets_and_hashes_may_be_words() -> None:
    data = read(("[ O\nAnn B-PER\n# O\n\n" + sentences(20).replace(" x x", "")).encode(), "own", "tagging", 0)
    assert ("[", "Ann", "#") in {item.words for item in items(data)}
    data = read("\n\n".join(f"Ann{i}\tB-PER\n#\tO\n1\tO" for i in range(20)).encode(), "own", "tagging", 0)
    assert {item.words for item in items(data)} == {(f"Ann{i}", "#", "1") for i in range(20)}
    for words in ("[ Ann {} ]", "[1] Ann {} x", "( 'Ann {} x"):
        rows = [(words.format(i), "O B-PER O O") for i in range(20)]
        data = read(table(rows, "tokens,tags"), "own", "tagging", 0)
        assert {item.words for item in items(data)} == {tuple(text.split()) for text, _ in rows}


def test_a_sentence_with_a_line_of_another_width_is_left_out_and_most_may_not_be() -> None:
    data = read((sentences(20) + "\nNew York x x B-LOC\n").encode(), "own", "tagging", 0)
    assert len(items(data)) == 20
    assert data.notes == ("Left out 1: sentences with a line of another number of columns (line 61).",)
    few = "\n".join(f"Bob{i} x B-PER\n" for i in range(15))
    with pytest.raises(InvalidInput, match="own, line 31: "):
        read((few + "\n" + sentences(200)).encode(), "own", "tagging", 0)


def test_sentences_with_an_empty_word_are_left_out() -> None:
    rows = [{"tokens": [f"Ann{i}", "x"], "tags": ["B-PER", "O"]} for i in range(20)]
    odd = [{"tokens": ["a", " "], "tags": ["O", "O"]}, {"tokens": [], "tags": []}, {"tokens": ["a"], "tags": [None]}]
    data = read(jsonl([*rows, *odd]), "own", "tagging", 0)
    assert data.notes == ("Left out 3: sentences without a word and a tag in every place (lines 21, 22, 23).",)


# Answering.


def squad() -> dict[str, Any]:
    """As SQuAD 2.0 has it: two questions on each of thirty passages, of which the second has no answer."""
    passages = []
    for i in range(30):
        answers = [{"text": f"Ann {i}", "answer_start": 0}, {"text": f"{i}", "answer_start": 4}]
        plausible = {"plausible_answers": answers[:1]}
        qas = [
            {"id": f"{i}a", "question": f"Who is {i}?", "is_impossible": False, "answers": answers},
            {"id": f"{i}b", "question": f"How old is {i}?", "is_impossible": True, "answers": []} | plausible,
        ]
        passages.append({"context": f"Ann {i} lives in town {i}.", "qas": qas})
    return {"version": "v2.0", "data": [{"title": "People", "paragraphs": passages}]}


def read_squad(document: dict[str, Any], indent: int | None = None) -> Data:
    return read(json.dumps(document, indent=indent).encode(), "own", "answering", 0)


def test_squad_as_it_is_and_no_passage_in_two_parts() -> None:
    data = read_squad(squad())
    passages = [{item.pair for item in data.split(split)} for split in SPLITS]
    assert [len(passage) for passage in passages] == [21, 3, 6]
    assert not passages[0] & passages[1] | passages[1] & passages[2] | passages[0] & passages[2]
    passage = {item.text: item for item in items(data)}
    assert passage["Who is 7?"] == PassageQuestion("Who is 7?", "Ann 7 lives in town 7.", ((0, "Ann 7"), (4, "7")))
    assert passage["How old is 7?"].answers == ()
    assert (data.notes, data.measure, data.labels) == ((), "span_f1", ())
    again = read_squad(squad(), indent=1)
    assert (again.train, again.test) == (data.train, data.test)


def test_squad_may_have_an_article_a_line() -> None:
    (article,) = squad()["data"]
    articles = [{"title": "People", "paragraphs": [passage]} for passage in article["paragraphs"]]
    for begin in ('{"data": [\n', '{"version": "v2.0", "data": [\n', '{"data": [\n\n'):
        data = read((begin + ",\n".join(map(json.dumps, articles)) + "\n]}").encode(), "own", "answering", 0)
        assert data.train == read_squad(squad()).train


def test_squad_1_1_has_no_mark_of_the_impossible() -> None:
    document = squad()
    for passage in document["data"][0]["paragraphs"]:
        for question in passage["qas"]:
            del question["is_impossible"]
    document["data"][0]["paragraphs"][0]["qas"][0]["answers"] = []
    data = read_squad(document)
    assert sum(not item.answers for item in items(data)) == 31


Rows = list[tuple[str, str, str, str]]
QUESTIONS: Rows = [(f"Who {i}?", f"  Ann {i} saw Ann {i}.", f"Ann {i}", "") for i in range(20)]


@pytest.mark.parametrize(
    ("row", "answers", "note"),
    [
        (("Who?", "  Ann saw Bob.", "Bob", "10"), ((10, "Bob"),), ""),
        (("Who?", "  Ann saw Bob.", " Bob ", "9"), ((10, "Bob"),), ""),
        (("Who?", "  Ann saw Bob.", "Bob", "8"), ((10, "Bob"),), "elsewhere in their passage (line 22)."),
        (("Who?", "Ann, Ann, Ann", "Ann", "9"), ((10, "Ann"),), "elsewhere in their passage (line 22)."),
        (("Who?", "Ann, Ann, Ann", "Ann", "4"), ((5, "Ann"),), "elsewhere in their passage (line 22)."),
        (("Who?", "Ann saw Bob.", "Bob", "later"), ((8, "Bob"),), "elsewhere in their passage (line 22)."),
        (("Who?", "Ann saw Bob.", "Bob", "9" * 5000), ((8, "Bob"),), "elsewhere in their passage (line 22)."),
        (("Who?", "Ann saw Bob.", "Bob", ""), ((8, "Bob"),), ""),
        (("Who?", "Ann, Ann, Ann", "Ann", ""), ((0, "Ann"),), "first place was taken (lines"),
        (("Who?", "Ann saw Bob.", "", ""), (), ""),
        (("Who?", "Ann saw Bob.", "Bobby", ""), None, "not in their passage, letter by letter,"),
        (("Who?", "Ann saw {{}}.", "{{}}", ""), ((8, "{{}}"),), ""),
        (("Who?", "Ann saw [1, {{}}].", "[1, {{}}]", ""), ((8, "[1, {{}}]"),), ""),
        (("Who?", "", "Bob", ""), None, "without a question or a passage (line 22)."),
    ],
)
def test_where_an_answer_begins(row: tuple[str, ...], answers: tuple[tuple[int, str], ...] | None, note: str) -> None:
    data = read(table([*QUESTIONS, row], "question,context,answer,answer_start", "\t"), "own", "answering", 0)
    actual = [item.answers for item in items(data) if item.text == "Who?"]
    assert actual == ([] if answers is None else [answers])
    assert note in notes(data)
    assert "first place was taken (lines 2, 3, 4, 5, 6 …)." in notes(data)  # of those before it
    assert len(data.notes) == 1 + (bool(note) and "first place" not in note)


ANSWERS: dict[str, dict[str, Any]] = {
    "of Hugging Face": {"answers": {"text": ["Ann", "Bob"], "answer_start": [0, 8]}},
    "objects": {"answers": [{"text": "Ann", "answer_start": 0}, {"text": "Bob", "answer_start": 8}]},
    "texts": {"answers": ["Ann", "Bob"]},
    "texts and starts": {"answers": ["Ann", "Bob"], "answer_start": [0]},
    "one of two": {"answers": {"text": ["Ann", "Bob", "Cid"], "answer_start": [0, 8, 3]}},
}


@pytest.mark.parametrize("case", ANSWERS)
def test_several_answers_in_every_form(case: str) -> None:
    rows = [{"question": q, "passage": c, "answers": a} for q, c, a, _ in QUESTIONS]
    data = read(jsonl([*rows, {"question": "Who?", "passage": "Ann saw Bob."} | ANSWERS[case]]), "own", "answering", 0)
    assert [item.answers for item in items(data) if item.text == "Who?"] == [((0, "Ann"), (8, "Bob"))]
    assert ("Left out 1: answers" in notes(data)) == ("Left out" in notes(data)) == (case == "one of two")


def test_a_line_that_names_its_answers_otherwise_is_left_out_and_not_taken_for_unanswered() -> None:
    rows = [{"question": q, "passage": c, "answer": a} for q, c, a, _ in QUESTIONS]
    other = {"question": "Who?", "passage": "Ann saw Bob.", "answers": ["Ann", "Bob"]}
    data = read(jsonl([*rows, other]), "own", "answering", 0)
    assert "Who?" not in {item.text for item in items(data)}
    assert f"Left out 1: lines without an answer, not even an empty one (line {len(rows) + 1})." in data.notes


def test_answers_in_rows_of_their_own_are_joined() -> None:
    rows = [*QUESTIONS, ("Who?", "Ann saw Bob.", "Ann", ""), ("Who?", "Ann saw Bob.", "Bob", "")]
    data = read(table(rows, "question,context,answer,answer_start"), "own", "answering", 0)
    assert [item.answers for item in items(data) if item.text == "Who?"] == [((0, "Ann"), (8, "Bob"))]
    assert "Repeated questions were joined with the answers they had before: 1." in data.notes


def test_passages_in_several_splits_of_a_files_own_are_said() -> None:
    rows = [(f"Who {i}?", f"Ann saw Bob {i % 6}.", "Ann", ("train", "dev", "test")[i // 8]) for i in range(24)]
    data = read(table(rows, "question,context,answer,split"), "own", "answering", 0)
    assert "As the file has it, 6 passages are in more than one split: scores can come out too high." in data.notes
