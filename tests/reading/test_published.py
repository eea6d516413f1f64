"""Data sets as the world publishes them are read whole, and as pandas, conllu, seqeval and json read them."""

import csv
import io
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import conllu
import pandas as pd
import pytest
from published_files import FILES, IOB2, NLI, TYPES, WORDS, N, PublishedFile, comma, parquet, sentence, zipped
from seqeval.metrics.sequence_labeling import get_entities

from model_zoo.errors import InvalidInput
from reading import read, read_files
from training.finetuning import entities


def left_out(data: Any) -> list[int]:
    return sorted(line for lines in data.left_out.values() for line in lines)


def by_pandas(text: str, header: int | None = 0, separator: str = "\t", **other: Any) -> pd.DataFrame:
    """The cells of a table as text; what a short row lacks is NaN."""
    other.setdefault("quoting", csv.QUOTE_NONE)
    return pd.read_csv(io.StringIO(text), sep=separator, header=header, dtype=str, keep_default_na=False, **other)


TAB_FILES = tomllib.loads((Path(__file__).parent / "tab_files.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", TAB_FILES)
def test_tab_files_are_read_as_pandas_reads_them_without_quoting(name: str) -> None:
    columns, unused, skipped = (TAB_FILES[name][part] for part in ("columns", "unused", "left_out"))
    file = FILES[name]
    data = file.read()
    frame = by_pandas(file.text)
    frame.index += 2  # the line of each row
    frame = frame.drop(index=skipped)
    assert left_out(data) == skipped
    assert data.lines == tuple(frame.index)
    assert data.columns == columns
    assert sorted(data.unused) == sorted(unused)
    for role, column in columns.items():
        expected: list[Any] = frame[column].str.strip().tolist()
        if role == "score":
            expected = list(map(float, expected))
        if file.kind == "pairs" and role == "label":
            expected = [label == "1" for label in expected]
        assert [getattr(item, role) for item in data.items] == expected, role
    assert data.format
    assert data.splits == (None,) * len(frame)


def test_cola_has_no_header_and_its_columns_are_chosen() -> None:
    file = FILES["CoLA/train.tsv"]
    frame = by_pandas(file.text, header=None)
    for header in (None, False):
        with pytest.raises(InvalidInput, match=re.escape(file.name)):
            read(file.data, "labelled", name=file.name, header=header)
        data = replace(file, chosen={**file.chosen, "header": header}).read()
        assert [(item.text, item.label) for item in data.items] == list(zip(frame[3], frame[1], strict=True))
        assert (data.lines[0], data.columns, data.unused) == (1, file.chosen["columns"], ("column 1", "column 3"))


@pytest.mark.parametrize("name", ["snli_1.0_dev.jsonl", "snli-from-the-hub.jsonl"])
def test_pairs_without_an_agreed_label_are_left_out_with_their_lines(name: str) -> None:
    file = FILES[name]
    rows = list(map(json.loads, file.text.splitlines()))
    named = ("sentence1", "premise"), ("sentence2", "hypothesis"), ("gold_label", "label")
    keys = [next(name for name in names if name in rows[0]) for names in named]
    data = file.read()
    expected = [tuple(str(row[key]) for key in keys) for row in rows if row[keys[2]] not in ("-", -1)]
    assert [(item.text, item.pair, item.label) for item in data.items] == expected
    assert left_out(data) == [10, 30, 50, 70]
    assert list(data.columns.values()) == keys


# The texts and labels of files without pairs.
SIDES = "good", "bad"
TEXTS: dict[str, list[tuple[str, str]]] = {
    **{
        name: [(sentence(n), SIDES[n % 2]) for n in N]
        for name in (
            *("train-00000-of-00001.parquet", "by-pandas.parquet", "fasttext.train"),
            *("excel.csv", "index.csv", "german.csv"),
        )
    },
    "records.json": [(sentence(n), str(n % 2)) for n in N],
    "windows.csv": [(f"Das süße Öl Nummer {n} – groß", SIDES[n % 2]) for n in N],
    "quoted.csv": [(f'She said "go; {n}"\nand went.', SIDES[n % 2]) for n in N],
    "ag_news.csv": [(sentence(n), str(n % 4 + 1)) for n in N],
}


@pytest.mark.parametrize("name", TEXTS)
def test_labelled_texts_in_other_formats(name: str) -> None:
    data = FILES[name].read()
    assert [(item.text, item.label, item.pair) for item in data.items] == [(*row, None) for row in TEXTS[name]]
    assert not data.left_out
    first = {"excel.csv": 3, "index.csv": 2, "windows.csv": 2, "quoted.csv": 2, "german.csv": 2}.get(name, 1)
    assert name == "records.json" or data.lines[:2] == (first, first + (2 if name == "quoted.csv" else 1))
    assert any("Windows-1252" in note for note in data.notes) == (name == "windows.csv")


def test_scores_with_decimal_commas() -> None:
    file = FILES["decimal_comma.csv"]
    frame = pd.read_csv(io.BytesIO(file.data), sep=";", decimal=",")
    rows = [(item.text, item.pair, item.score) for item in file.read().items]
    assert rows == list(frame.itertuples(index=False, name=None))


def test_several_labels_a_text_are_named_as_what_they_are() -> None:
    """The texts with one label are read, or none."""
    data = FILES["several_labels.jsonl"].read_or_refused()
    if isinstance(data, str):
        assert re.search("several|more than one", data)
    else:
        assert {item.label for item in data.items} == {"joy"}
        assert left_out(data) == [n + 1 for n in N if n % 2]
        assert re.search("several|more than one", " ".join(data.left_out))


def test_what_looks_like_a_missing_label_gets_a_note() -> None:
    for written in ("NaN", "NA"):
        rows = "".join(f"{sentence(n)},{written if n % 10 == 9 else SIDES[n % 2]}\n" for n in N)
        data = read(f"text,label\n{rows}".encode(), "labelled", name="own.csv")
        assert len(data.items) + len(left_out(data)) == len(N)
        assert written in " ".join([*data.notes, *data.left_out])


# Tagged words.


def by_hand(file: PublishedFile, word: int, tag: int = -1) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Words and tags of a file with a word a line."""
    blocks = [
        [re.split("[ \t]+", line) for line in block.splitlines() if not re.match(r"-DOCSTART-|#\t|#begin|#end", line)]
        for block in file.text.split("\n\n")
    ]
    rows = [block for block in blocks if block]
    return [tuple(row[word] for row in block) for block in rows], [tuple(row[tag] for row in block) for block in rows]


@pytest.mark.parametrize(
    ("name", "word", "tag", "line"),
    [("eng.testa", 0, 3, 3), ("wnut17train.conll", 0, 1, 1), ("NER-de-train.tsv", 1, 2, 2), ("numbered.tsv", 1, 2, 1)],
)
def test_words_in_columns_are_read_as_by_hand_and_their_entities_are_seqevals(name, word, tag, line) -> None:
    file = FILES[name]
    data = file.read()
    words, tags = by_hand(file, word, tag)
    assert [item.words for item in data.items] == words == WORDS
    assert [item.tags for item in data.items] == tags
    assert not data.left_out
    assert data.lines[0] == line
    by_line = [(str(n), tags) for n, (*_, tags) in enumerate(zip(words, tags, strict=True))]
    repaired = entities.convert_to_iob2(by_line, [])
    assert [get_entities(list(part)) for part in repaired] == [get_entities(list(part)) for part in tags]


def test_brackets_of_ontonotes_are_read_or_refused_by_name() -> None:
    data = FILES["x_0000.v4_gold_conll"].read_or_refused()
    if isinstance(data, str):
        assert re.search("2012|OntoNotes", data)
    else:
        assert [item.words for item in data.items] == WORDS
        assert [item.tags for item in data.items] == IOB2


@pytest.mark.parametrize(
    "name",
    ["wikiann.train", "ner_dataset.csv", "lists_python.csv", "lists_numpy.csv", "lists_json.csv", "lists.jsonl",
     "Sequence.parquet", "List.parquet"],
)  # fmt: skip
def test_tagged_words_in_other_formats(name: str) -> None:
    data = FILES[name].read()
    assert [item.words for item in data.items] == WORDS
    assert [item.tags for item in data.items] == IOB2
    assert not data.left_out


def test_characters_with_types_are_read_as_entities_or_refused() -> None:
    file = FILES["doccano.jsonl"]
    for chosen in ({}, {"columns": {"tokens": "text", "tags": "label"}}):
        data = replace(file, chosen=chosen).read_or_refused()
        if isinstance(data, str):
            assert "doccano.jsonl" in data
        else:
            assert [get_entities(list(item.tags)) for item in data.items] == [get_entities(list(tags)) for tags in IOB2]


def test_a_word_a_row_is_read_as_pandas_groups_it() -> None:
    file = FILES["ner_dataset.csv"]
    frame = by_pandas(file.text, separator=",", quoting=csv.QUOTE_MINIMAL)
    groups = frame.groupby(frame["Sentence #"].replace("", None).ffill(), sort=False)
    assert [item.words for item in file.read().items] == groups["Word"].agg(tuple).tolist()
    assert file.read().unused == ("POS",)


def test_numbers_for_tags_are_refused_as_what_they_are() -> None:
    for name in ("numbers.jsonl", "numbers.csv"):
        with pytest.raises(InvalidInput, match="number"):
            FILES[name].read()


@pytest.mark.parametrize(
    ("tokens", "tags"),
    [
        ("['Mia' 'left' ... 'home' '.']", "['B-PER' 'O' ... 'O' 'O']"),  # numpy, of a thousand words
        ("['Mia', 'lef", "['B-PER', 'O']"),  # a spreadsheet's cell is full
        ("['Mia', 'left'", "['B-PER', 'O'"),
        ("[Mia, left]", "[B-PER, O]"),
        ("('Mia', 'left')", "('B-PER', 'O')"),
        ("array(['Mia', 'left'], dtype=object)", "array(['B-PER', 'O'], dtype=object)"),
    ],
)
def test_what_is_no_whole_list_is_no_sentence(tokens: str, tags: str) -> None:
    """It is read as the list that it is, or refused; its brackets and quotes are no words, and no word is missing."""
    file = PublishedFile("lists.csv", "tagged", comma("tokens,tags", [(tokens, tags)] * 10))
    data = file.read_or_refused()
    if isinstance(data, str):
        assert "lists.csv, line 2" in data
    else:
        assert {item.words for item in data.items} == {("Mia", "left")}


# Questions.

Asked = list[tuple[str, str, tuple[tuple[int, str], ...]]]


def squad_by_json(text: str) -> Asked:
    questions: Asked = []
    for article in json.loads(text)["data"]:
        for passage in article["paragraphs"]:
            for part in passage["qas"]:
                answers = dict.fromkeys((answer["answer_start"], answer["text"]) for answer in part["answers"])
                questions.append((part["question"], passage["context"], tuple(answers)))
    return questions


@pytest.mark.parametrize("name", [file.name for file in FILES.values() if file.kind == "questions"])
def test_questions_are_read_letter_by_letter(name: str) -> None:
    version = "dev-v2.0.json" if "v2" in name else "train-v1.1.json"
    questions = [(item.question, item.context, tuple(dict.fromkeys(item.answers))) for item in FILES[name].read().items]
    assert questions == squad_by_json(FILES[version].text)
    assert sum(not answers for *_, answers in questions) == (30 if version == "dev-v2.0.json" else 0)
    for _, context, answers in questions:
        assert all(context[start : start + len(text)] == text for start, text in answers)


# Trees, minimal pairs, pairs, sentences, pronouns.


def words_with_characters(tree: conllu.TokenList) -> tuple[list[int], list[str]]:
    """The numbers and forms of the words that are written: not those of a token that is not its words joined."""
    forms = {token["id"]: token["form"] for token in tree if isinstance(token["id"], int)}
    unwritten: set[int] = set()
    for token in tree:
        if isinstance(token["id"], tuple) and token["id"][1] == "-":
            inside = range(token["id"][0], token["id"][2] + 1)
            if "".join(forms[n] for n in inside) != token["form"]:
                unwritten.update(inside)
    return [n for n in forms if n not in unwritten], [form for n, form in forms.items() if n not in unwritten]


def test_a_treebank_is_read_as_conllu_reads_it_with_the_words_of_its_contractions() -> None:
    file = FILES["en_mill-ud-train.conllu"]
    data = file.read()
    trees = conllu.parse(file.text)
    assert len(data.items) == len(trees) == 100
    for item, tree in zip(data.items, trees, strict=True):
        numbers, forms = words_with_characters(tree)
        tokens = {token["id"]: token for token in tree}
        assert item.text == tree.metadata["text"]
        assert list(item.words) == forms == [item.text[start:end] for start, end in item.spans]
        assert list(item.upos) == [tokens[n]["upos"] for n in numbers]
        plain = [relation.partition(":")[0] for relation in item.deprel]
        assert plain == [tokens[n]["deprel"].partition(":")[0] for n in numbers]
        assert list(item.heads) == [numbers.index(head) if (head := tokens[n]["head"]) else -1 for n in numbers]
    contractions = {
        (word, item.text[end : end + 3])
        for item in data.items
        for word, (_, end) in zip(item.words, item.spans, strict=True)
    }
    assert {("wo", "n't"), ("ca", "n't"), ("Mia", "'s ")} <= contractions
    of_du = [n for n, line in enumerate(file.text.splitlines(), start=1) if re.match("[67]\t(de|le)\t", line)]
    not_in_text = [n for n, line in enumerate(file.text.splitlines(), start=1) if line.startswith("6.1\t")]
    assert left_out(data) == sorted(of_du + not_in_text)


def test_minimal_pairs_of_blimp_have_their_phenomena() -> None:
    file = FILES["distractor_agreement.jsonl"]
    keys = "sentence_good", "sentence_bad", "linguistics_term", "UID"
    expected = [tuple(json.loads(line)[key] for key in keys) for line in file.text.splitlines()]
    assert [(item.good, item.bad, item.phenomenon, item.paradigm) for item in file.read().items] == expected
    assert len(expected) == 20


def test_pairs_and_pronouns_by_the_names_that_others_give_them() -> None:
    data = FILES["pronouns.csv"].read()
    assert len(data.items) == len(N)
    assert {(item.pronoun, item.antecedent, item.distractor) for item in data.items} == {("she", "nurse", "baker")}
    rows = [(item.a, item.b, item.label) for item in FILES["next.csv"].read().items]
    assert rows == [(sentence(n), sentence(n + 1), not n % 2) for n in N]


@pytest.mark.parametrize("name", ["corpus.jsonl", "eng.testa", "snli_1.0_dev.jsonl", "train-v1.1.json", "lists.jsonl",
                                  "x_0000.v4_gold_conll", "distractor_agreement.jsonl", "SST-2/train.tsv"])  # fmt: skip
def test_no_format_is_taken_for_prose(name: str) -> None:
    """Its sentences are read, or it is refused; never its brackets and columns."""
    data = replace(FILES[name], kind="sentences").read_or_refused()
    if isinstance(data, str):
        assert name in data
    else:
        texts = [item.text for item in data.items]
        assert texts
        assert not re.search(r"[{}\t]|NNP|I-NP|answer_start", " ".join(texts))
        if name == "corpus.jsonl":
            assert texts == [sentence(n) for n in N]


# Quotes that a program wrote, and names of classes.


@pytest.mark.parametrize("texts", [['She said "go".', "a\tb"], ["two\nlines", 'x "y" z'], ['"All of it"', '5" nail']])
def test_quotes_that_pandas_writes_are_read_as_pandas_reads_them(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": [*texts, *map(sentence, range(20))], "label": ["a", "b"] * 11})
    for separator in ("\t", ",", ";"):
        data = read(frame.to_csv(sep=separator, index=False).encode(), "labelled", name="own.txt")
        assert [(item.text, item.label) for item in data.items] == list(frame.itertuples(index=False, name=None))
        assert not data.left_out


def test_a_number_that_names_no_class_is_no_label() -> None:
    """Hugging Face writes -1 into test splits."""
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    rows = [{"text": sentence(n), "label": (0, 1, -1)[n % 3]} for n in N]
    data = read(parquet(rows, features), "labelled", name="test.parquet")
    assert {item.label for item in data.items} == {"no", "yes"}
    assert len(left_out(data)) == len(N) // 3


def test_an_answer_with_a_bracket_in_a_cell_of_numpy() -> None:
    answers = {"text": ["[1] and 'so'"], "answer_start": [4]}
    row = {"question": "Which?", "context": "See [1] and 'so'.", "answers": answers}
    frame = pd.read_parquet(io.BytesIO(parquet([row])))
    data = read(frame.to_csv(index=False).encode(), "questions", name="own.csv")
    assert [item.answers for item in data.items] == [((4, "[1] and 'so'"),)]


# Archives, folders, paths.


def test_an_archive_as_published_holds_other_things_too() -> None:
    """SNLI's has an empty icon, a description and a test split without labels as GLUE's."""
    members = {
        "snli_1.0/Icon\r": b"",
        "snli_1.0/README.txt": b"Pairs of sentences, by us.\n",
        "__MACOSX/snli_1.0/._Icon": b"\0\0",
        "snli_1.0/test.tsv": b"index\tsentence1\n0\tOne more.\n",
        "snli_1.0/snli_1.0_dev.jsonl": FILES["snli_1.0_dev.jsonl"].data,
    }
    data = read(zipped(members), "labelled", name="snli_1.0.zip")
    assert data.items == FILES["snli_1.0_dev.jsonl"].read().items
    assert {*data.splits} == {"dev"}
    assert "test.tsv" in " ".join(data.notes)


@pytest.mark.parametrize("task", ["SST-2", "QNLI", "STS-B"])
def test_members_of_an_archive_are_its_splits(task: str) -> None:
    file = FILES[f"{task}/train.tsv"]
    complete = file.read()
    members = {f"{task}/{split}.tsv": file.data for split in ("train", "dev", "test")}
    data = read(zipped({**members, "__MACOSX/._train.tsv": b"\0"}), file.kind, name=f"{task}.zip")
    assert [data.splits.count(split) for split in ("train", "dev", "test")] == [len(complete.items)] * 3
    assert data.items[: len(complete.items)] == complete.items or {*data.items} == {*complete.items}


def test_a_path_is_read_as_its_bytes_are(tmp_path: Any) -> None:
    file = FILES["RTE/train.tsv"]
    path = tmp_path / "train.tsv"
    path.write_bytes(file.data)
    assert read(path, "labelled").items == read(str(path), "labelled").items == file.read().items


def test_every_choice_can_be_made() -> None:
    file = FILES["QNLI/train.tsv"]
    data = read(file.data, "labelled", name=file.name, columns={"text": "sentence", "pair": "question"}, quoting="none")
    assert data.columns == {"text": "sentence", "pair": "question", "label": "label"}
    quoted = b'text\tlabel\n"go\nhome"\ta\nstay\tb\n'
    joined = read(quoted, "labelled", name="own.tsv", quoting="csv")
    assert [(item.text, item.label) for item in joined.items] == [("go\nhome", "a"), ("stay", "b")]
    named = read(b"text,label\nx,y\n", "labelled", name="own.csv", header=False,
                 columns={"text": "column 1", "label": "column 2"})  # fmt: skip
    assert [(item.text, item.label) for item in named.items] == [("text", "label"), ("x", "y")]


def test_a_choice_that_there_is_not_is_refused() -> None:
    for columns in ({"text": "nothing"}, {"nothing": "question"}):
        with pytest.raises(InvalidInput, match="nothing"):
            replace(FILES["QNLI/train.tsv"], chosen={"columns": columns}).read()


def test_classes_of_a_parquet_table_have_the_names_of_its_schema() -> None:
    assert {tag for item in FILES["List.parquet"].read().items for tag in item.tags} == {*TYPES}
    assert {item.label for item in FILES["MNLI/train.tsv"].read().items} == {*NLI}


def test_a_preview_shows_items_of_one_form() -> None:
    """A plain text and a treebank are read together; their items have other fields."""
    treebank = "1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n"
    report = read_files([("a.txt", b"One two."), ("b.conllu", treebank.encode())], "sentences").report
    assert (report.n_items, report.fields, report.preview) == (2, ("text",), (("One two.",),))
