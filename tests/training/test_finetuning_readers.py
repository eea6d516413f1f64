"""The visitor's own texts and pairs to fine-tune on: what is read, how it is divided, what is notes."""

from collections import Counter

import pytest
from fuzzing import one_sentence
from own_files import TEXT, items, jsonl, notes, table
from own_files import to_train_on as read

from analysis.corpus.sentences import alike
from model_zoo.errors import InvalidInput
from training.finetuning.data import SPLITS, Scored

LINES = [{"text": text, "label": label} for text, label in TEXT]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_table_is_split_by_seventy_ten_twenty_with_labels_in_proportion(separator: str) -> None:
    rows = [(f"text {i}", "no" if i % 4 == 0 else "yes") for i in range(200)]
    data = read(table(rows, "Text,LABEL", separator), "own", "classification", 0)
    counts = [Counter(item.label for item in data.split(split)) for split in SPLITS]
    assert counts == [{"yes": 105, "no": 35}, {"yes": 15, "no": 5}, {"yes": 30, "no": 10}]
    assert (data.labels, data.measure, data.title, data.notes) == (("no", "yes"), "accuracy", "own", ())
    assert sorted((item.text, item.label) for item in items(data)) == sorted(rows)
    assert all(item.pair is None for item in items(data))


def test_json_lines_are_the_same_data() -> None:
    lines = jsonl([{"sentence": text, "Label": label, "id": 1} for text, label in TEXT])
    data, expected = (read(file, "own", "classification", 0) for file in (lines, table(TEXT)))
    assert (data.train, data.dev, data.test) == (expected.train, expected.dev, expected.test)


def test_names_of_columns_in_other_case_on_other_lines_are_the_same_columns() -> None:
    others = [{"Text": f"other {i}", "Label": "ab"[i % 2]} for i in range(12)]
    data = read(jsonl([*LINES, *others]), "own", "classification", 0)
    assert len(items(data)) == 32


def test_a_column_that_only_late_lines_have_is_read_or_refused() -> None:
    """A split of its own was asked for by the last twenty: not to be passed over in silence."""
    rows = [{"text": f"text {i}", "label": "ab"[i % 2]} for i in range(1000)]
    late = [{"text": f"late {i}", "label": "ab"[i % 2], "split": "test"} for i in range(20)]
    with pytest.raises(InvalidInput, match="split"):
        read(jsonl([*rows, *late]), "own", "classification", 0)


@pytest.mark.parametrize(
    "names", [("text", "text_pair"), ("sentence1", "sentence2"), ("Premise", "Hypothesis"), ("text_a", "text_b")]
)
def test_pairs_by_all_their_usual_names(names: tuple[str, str]) -> None:
    rows = [(f"first {i}", f"second {i}", "ab"[i % 2]) for i in range(20)]
    data = read(table(rows, f"{','.join(names)},label"), "own", "classification", 0)
    assert sorted((item.text, item.pair, item.label) for item in items(data)) == sorted(rows)


def test_pairs_with_the_same_first_text_stay_in_one_split() -> None:
    rows = [(f"premise {i // 3}", f"hypothesis {i}", "abc"[i % 3]) for i in range(90)]
    data = read(table(rows, "premise,hypothesis,label"), "own", "classification", 0)
    firsts = [{item.text for item in data.split(split)} for split in SPLITS]
    assert not firsts[0] & firsts[1] | firsts[1] & firsts[2] | firsts[0] & firsts[2]
    entry = [("Is it spam?", f"mail {i}", "ab"[i % 2]) for i in range(20)]  # one first text cannot be divided
    assert len(items(read(table(entry, "text1,text2,label"), "own", "classification", 0))) == 20


def test_the_name_tells_items_kind_and_seed_apart_and_the_seed_draws_the_parts() -> None:
    pairs = table([(f"a {i}", f"b {i}", i % 2) for i in range(20)], "text,pair,label")
    actual = [
        read(data, name, kind, seed)
        for data, name, kind, seed in [
            (pairs, "own", "classification", 0),
            (pairs, "own", "classification", 1),
            (pairs, "own", "similarity", 0),
            (pairs.replace(b"b 7", b"b 77"), "own", "classification", 0),
            (pairs, "other", "classification", 0),
            (pairs + b"\n", "own", "classification", 0),
        ]
    ]
    assert len({data.name for data in actual[:4]}) == 4
    assert actual[5].name == actual[4].name == actual[0].name
    assert actual[0].name.startswith("own data ")
    assert actual[0].test != actual[1].test


def test_a_column_of_splits_is_the_split() -> None:
    names = ["train", "Training", "dev", "validation", "test", "TEST"]
    rows = [(text, label, names[i % 6]) for i, (text, label) in enumerate(TEXT)]
    data = read(table(rows, "text,label,split"), "own", "classification", 0)
    assert [item.text for item in data.train] == [text for i, (text, _) in enumerate(TEXT) if i % 6 < 2]
    assert [item.text for item in data.dev] == [text for i, (text, _) in enumerate(TEXT) if i % 6 in (2, 3)]
    assert not data.notes


@pytest.mark.parametrize(
    ("lacking", "inputs", "share", "note"),
    [
        ("dev", ("train", "test"), 10 / 8, "no split to choose by: 12% of its training split"),
        ("test", ("train", "dev"), 20 / 9, "no split to test on: 22% of its training split"),
    ],
)
def test_a_split_that_is_missing_is_taken_out_of_the_training_split(lacking, inputs, share, note) -> None:
    rows = [(f"text {i}", "ab"[i % 2], inputs[i >= 80]) for i in range(100)]
    data = read(table(rows, "text,label,split"), "own", "classification", 0)
    assert note in notes(data)
    assert len(data.split(lacking)) == round(80 * share / 10)
    assert {item.text for item in data.split(lacking)} < {f"text {i}" for i in range(80)}


def test_what_is_in_several_parts_stays_in_the_one_held_out_most() -> None:
    rows = [(text, label, SPLITS[i % 3]) for i, (text, label) in enumerate(TEXT)]
    twins = [("sentence 0", "a", "test"), ("Sentence  1", "b", "train"), ("sentence 3", "b", "dev")]
    data = read(table([*rows, *twins], "text,label,split"), "own", "classification", 0)
    of = {item.text: split for split in SPLITS for item in data.split(split)}
    assert (of["sentence 0"], of["sentence 1"], of["Sentence  1"], of["sentence 3"]) == ("test", "dev", "dev", "dev")
    assert "In more than one split, case and spaces aside: 1 text, kept" in notes(data)
    assert "Left out 2 repeated texts." in notes(data)


def test_texts_alike_but_for_case_and_spaces_are_never_in_two_parts() -> None:
    rows = [(f"{'Some' if i % 2 else 'some '} text {i // 2}", "ab"[i // 2 % 2]) for i in range(60)]
    data = read(table(rows), "own", "classification", 3)
    of: dict[str, set[str]] = {}
    for split in SPLITS:
        for item in data.split(split):
            of.setdefault(alike(item.text), set()).add(split)
    assert len(of) == 30
    assert all(len(value) == 1 for value in of.values())


NOTED = {
    "empty texts": (table([*TEXT, ("", "a"), (" ", "b"), ("x", "")]), ["Left out 3: ", "(lines 22, 23, 24)"]),
    "a comma outside of quotes": (table([*TEXT, ("Well", " hello", "a")]), ["Left out 1", "more columns", "(line 22)"]),
    "a row that is short": (table([*TEXT, ("Well",)]), ["Left out 1: ", "fewer columns", "(line 22)"]),
    "lists of a label that is none": (
        jsonl([{"text": t, "label": la} for t, la in [*TEXT, ("x", [None]), ("y", [{}]), ("z", [])]]),
        ["Left out 3: ", "(lines 21, 22, 23)"],
    ),
    "one line with a second text": (jsonl([*LINES, {"text": "x", "pair": "y", "label": "a"}]), []),
    "a line without a label": (jsonl([*LINES, {"text": "x"}]), ["Left out 1: ", "(line 21)"]),
    "repeated": (table([*TEXT, TEXT[0]]), ["Left out 1 repeated text"]),
    "two labels": (table([*TEXT, ("sentence 0", "b")]), ["Left out 1 text labelled"]),
    "numbers": (table([(text, "01"[i % 2]) for i, (text, _) in enumerate(TEXT)]), ["labels are numbers"]),
    "one example": (table([*TEXT, ("alone", "c")]), ["one item only", ": “c”"]),
    "Windows-1252": (table([*TEXT, ("é", "a")]).decode().encode("cp1252"), ["own: read as Windows-1252"]),
    "only tested": (
        table([*((t, la, SPLITS[i % 3]) for i, (t, la) in enumerate(TEXT)),
               ("x", "c", "test"), ("y", "c", "test")], "text,label,split"),
        ["no item to train on", ": “c”"],
    ),
    "shared first texts": (
        table([(f"p {i % 12}", f"h {i}", "ab"[i % 2], SPLITS[i // 12]) for i in range(36)],
              "premise,hypothesis,label,split"),
        ["12 first texts are in more than one split"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOTED)
def test_what_is_left_out_or_odd_is_said(case: str) -> None:
    inputs, words = NOTED[case]
    data = read(inputs, "own", "classification", 0)
    for part in words:
        assert part in notes(data)
    for part in data.notes:
        one_sentence(part)


def test_a_single_example_is_trained_on_and_numbers_are_ordered_by_size() -> None:
    rows = [(f"text {i}", label) for i, label in enumerate(["10", "9", "-1"] * 10)]
    data = read(table([*rows, ("alone", "2,5")], "text;label", ";"), "own", "classification", 0)
    assert data.labels == ("-1", "2,5", "9", "10")
    assert [item.label for item in data.train if item.text == "alone"] == ["2,5"]


@pytest.mark.slow
def test_of_a_large_file_a_sample_is_drawn_with_labels_in_proportion() -> None:
    rows = [(f"text {i}", "rare" if i in (7, 70_000) else "yes" if i % 5 else "no") for i in range(100_000)]
    data = read(table(rows), "own", "classification", 0)
    assert [len(data.split(split)) for split in SPLITS] == [2000, 500, 500]
    assert "Of 100,000 usable items a sample is used, drawn by the seed: 2,000 to train on" in notes(data)
    counts = Counter(item.label for item in data.train)
    assert abs(counts["no"] - 400) <= 1
    assert counts["rare"] == 1  # none is left out, however rare
    assert data.train != read(table(rows), "own", "classification", 1).train


PAIRS = [(f"first {i}", f"second {i}") for i in range(21)]


@pytest.mark.parametrize(
    ("inputs", "note"),
    [
        ([i / 4 for i in range(21)], ""),
        ([i / 20 for i in range(21)], "from 0 to 1, were rescaled to 0 to 5."),
        ([i / 10 - 1 for i in range(21)], "from -1 to 1, were rescaled"),
        ([i * 5 for i in range(21)], "from 0 to 100, were rescaled"),
        ([i * 10 + 50 for i in range(21)], "from 50 to 250, were rescaled"),
    ],
)
def test_scores_are_brought_to_the_scale_of_five(inputs: list[float], note: str) -> None:
    rows = [(*pair, score) for pair, score in zip(PAIRS, inputs, strict=True)]
    data = read(table(rows, "sentence1,sentence2,score"), "own", "similarity", 0)
    assert note in notes(data)
    assert bool(note) == bool(data.notes)
    actual = {item.text: item.score for item in items(data)}
    assert [actual[first] for first, _ in PAIRS] == pytest.approx([i / 4 for i in range(21)])
    assert (data.labels, data.measure) == ((), "spearman")


@pytest.mark.parametrize(
    ("inputs", "wanted"), [((-1e308, 0.0, 1e308), {0.0, 2.5, 5.0}), ((0.0, 426.8322534354045), {0.0, 5.0})]
)
def test_scores_never_leave_the_scale(inputs: tuple[float, ...], wanted: set[float]) -> None:
    rows = [(*pair, inputs[i % len(inputs)]) for i, pair in enumerate(PAIRS)]
    data = read(table(rows, "sentence1,sentence2,score"), "own", "similarity", 0)
    assert {item.score for item in items(data)} == wanted


def test_a_pair_turned_round_is_the_same_pair_and_empty_ones_are_left_out() -> None:
    rows = [
        *((*pair, i % 6) for i, pair in enumerate(PAIRS)),
        (PAIRS[1][1], PAIRS[1][0], 1),
        ("x", "", 3),
        ("x", "y", ""),
    ]
    data = read(table(rows, "text1,text2,score"), "own", "similarity", 0)
    assert data.notes == ("Left out 2: rows without two texts and a score (lines 24, 25).", "Left out 1 repeated pair.")
    with_commas = b"text1;text2;score\n" + b"\n".join(b"a %d;b %d;%d,5" % (i, i, i % 4) for i in range(12))
    comma = read(with_commas, "own", "similarity", 0)
    assert {item.score for item in items(comma)} == {0.5, 1.5, 2.5, 3.5}
    assert all(isinstance(item, Scored) for item in items(comma))
