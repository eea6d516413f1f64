"""The user's own files: what is read, what is left out and counted, what is refused and why."""

from collections import Counter

import numpy as np
import pytest
from own_files import table, to_probe, trees

from analysis.probing.data import DEV, TEST, TRAIN, resplit
from model_zoo.errors import InvalidInput

ROWS = [(f"sentence {i}", "ab"[i % 2]) for i in range(40)]
SENTEVAL = [f"{'te' if i >= 30 else 'va' if i >= 25 else 'tr'}\t{'AB'[i % 2]}\tsentence {i}" for i in range(40)]


def test_separators_quotes_order_and_more_columns() -> None:
    for separator in ",;\t|":
        data = to_probe(table(ROWS, separator=separator), "own")
        assert dict(zip(data.texts, data.labels, strict=True)) == dict(ROWS)
        assert np.bincount(data.split).tolist() == [24, 4, 12]
        assert not data.own_split
    body = "id,Label,TEXT\n" + "\n".join(f'{i},{"ab"[i % 2]},"one, two\nthree {i}"' for i in range(30))
    data = to_probe(body.encode(), "own")
    assert data.texts[0] == "one, two\nthree 0"
    assert data.labels[:2] == ("a", "b")


def test_left_out_lines_are_counted() -> None:
    rows = [*ROWS, ("", "a"), ("sentence 0", "a"), ("both", "a"), ("both", "b"), ("single", "c")]
    data = to_probe(table(rows), "own")
    notes = " ".join(data.notes)
    assert "Left out 1: rows without a text or a label (line 42)." in notes
    assert "1 repeated" in notes
    assert "1 sentence with more than one label" in notes
    assert "'c'" in notes
    assert len(data.texts) == 40
    # Short and long rows are left out and counted.
    data = to_probe(table([*ROWS, ("only text",)]) + b"\nx,a,b", "own")
    assert len(data.texts) == 40
    assert "Left out 1: rows of fewer columns than the first (line 42)." in data.notes
    assert "Left out 1: rows of more columns than the first (line 43)." in data.notes
    # Numbers as classes are noted.
    data = to_probe(table([(t, "01"[i % 2]) for i, (t, _) in enumerate(ROWS)]), "own")
    assert any("labels are numbers" in note for note in data.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (table(ROWS, header="satz,klasse"), "line 1: .* (comma between columns), it has “satz”, “klasse”"),
        (table([(t, "a") for t, _ in ROWS]), "fewer than two labels"),
        (table(ROWS[:2]), "2 different sentences; a probe needs at least 20"),
        (table([(f"s {i}", f"c{i // 2}") for i in range(10000)]), "5,000 different labels; at most 1,000"),
        (table([(f"s {i}", f"{i}.5") for i in range(100)]), "100 different numbers as labels"),
        (table([*ROWS, *[("only text",)] * 41]), "line 42: 1 column where the first line has 2, and 41 of 81 rows"),
        (table([("text", "x" * 201)]), "line 2: the label has 201 characters"),
        (table([(f"s {i}", f"c{i}") for i in range(150_000)]), "150,000 different labels; at most 1,000"),
        (b"tr\tA\tfirst\ntr\tA\ntr\tB\n", "line 2: 2 columns where the first line has 3"),
        (b"tr\tA\tfirst\nxx\tA\tb\n", "line 2: the split is “xx”"),
    ],
)
def test_refusals_say_why(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(").replace(")", r"\)")):
        to_probe(data, "own")


def test_senteval_split_and_duplicates() -> None:
    data = to_probe("\n".join([*SENTEVAL, "te\tA\tsentence 2"]).encode(), "own")
    assert np.bincount(data.split).tolist() == [24, 5, 11]
    assert data.split[data.texts.index("sentence 2")] == TEST
    assert any("1 sentence, kept in the held-out split" in note for note in data.notes)
    assert data.own_split
    # SentEval without a development part gets one of its training part.
    data = to_probe("\n".join(SENTEVAL).replace("va\t", "tr\t").encode(), "own")
    assert np.bincount(data.split).tolist() == [26, 4, 10]
    assert any("no development split" in note for note in data.notes)
    # A tab in a text of SentEval is of the text.
    data = to_probe("\n".join([*SENTEVAL, "tr\tA\tone\ttwo"]).encode(), "own")
    assert "one\ttwo" in data.texts


def test_texts_that_differ_in_case_or_spaces_only_stay_in_one_part() -> None:
    variants = [(f.format(i), "ab"[i % 2]) for i in range(30) for f in ("It is {}", "it  IS {}", " It is {} ")]
    data = to_probe(table(variants), "own")
    assert len(data.texts) == 90
    parts_of: dict[str, set[int]] = {}
    for text, part in zip(data.texts, data.split, strict=True):
        parts_of.setdefault(text.split()[-1], set()).add(int(part))
    assert all(len(parts) == 1 for parts in parts_of.values())
    assert set(data.split.tolist()) == {TRAIN, DEV, TEST}
    assert any(note.startswith("Only case or spaces tell 60 sentences from another") for note in data.notes)
    inputs = to_probe("\n".join([*SENTEVAL, "te\tA\tSENTENCE  2"]).encode(), "own")
    assert inputs.split[inputs.texts.index("sentence 2")] == inputs.split[inputs.texts.index("SENTENCE  2")] == TEST


@pytest.mark.parametrize("seed", range(5))
def test_another_split_keeps_twins_together_and_the_shares(seed: int) -> None:
    variants = [(f.format(i), "ab"[i % 2]) for i in range(100) for f in ("It is {}", "IT IS {}")]
    data = resplit(to_probe(table(variants), "own"), seed)
    pairs = data.split.reshape(-1, 2)
    assert (pairs[:, 0] == pairs[:, 1]).all()
    assert np.bincount(pairs[:, 0]).tolist() == [60, 10, 30]


def word(number: str, form: str, upos: str, head: str, deprel: str, misc: str = "_") -> str:
    return "\t".join([number, form, form, upos, "_", "_", head, deprel, "_", misc])


def words(rows: str) -> list[str]:
    return [word(*row.split()) for row in rows.split(" | ")]


# "Vámonos al mar nº." with a multiword token (2-3 = a + el), an empty node and comments.
AL_MAR = "1 Vamos{i} VERB 0 root | 2-3 al _ _ _ | 2 a ADP 4 case | 3 el DET 4 det"
SENTENCE = [
    "# sent_id = 1",
    "# text = something else",
    *words(f"{AL_MAR} | 3.1 empty NOUN _ _ | 4 mar NOUN 1 obl:arg SpaceAfter=No | 5 . PUNCT 1 punct"),
]


def conllu(sentence: list[str], n: int = 30) -> bytes:
    return "\n".join("\n".join(sentence).replace("{i}", str(i)) + "\n" for i in range(n)).encode()


def test_conllu_words_spans_and_labels() -> None:
    distances = {"head_distance": ["root", "−3", "−4"]}
    labels = {"upos": ["VERB", "NOUN", "PUNCT"], "deprel": ["root", "obl", "punct"]} | distances
    for target, expected in labels.items():
        data = to_probe(conllu(SENTENCE), "own", target)
        assert data.texts[0] == "Vamos0 al mar."
        assert [data.word(i) for i in range(3)] == ["Vamos0", "mar", "."]
        assert Counter(data.labels) == dict.fromkeys(expected, 30)
        assert any(note.startswith("Left out 60: words inside") for note in data.notes)
    # The distance of a head is cut at five.
    rows = " | ".join(f"{i} w{i if i > 1 else '{i}'} X {9 if i < 9 else 0} dep" for i in range(1, 10))
    data = to_probe(conllu(words(rows)), "own", "head_distance")
    assert Counter(data.labels) == {"+5 or more": 120, "+4": 30, "+3": 30, "+2": 30, "+1": 30, "root": 30}


@pytest.mark.parametrize(
    ("place", "line", "message"),
    [
        (3, "2 al _", "line 4: 1 column"),
        (3, word("x", "al", "_", "_", "_"), "line 4: 'x' is not a word number"),
        (7, word("4", "mar", "NOUN", "one", "obl"), "line 8: the head 'one'"),
        (7, word("4", "mar", "NOUN", "17", "obl"), "line 8: the head is word 17, but the sentence has 5"),
        (7, word("9", "mar", "NOUN", "1", "obl"), "line 8: word 9 follows word 3"),
        (3, word("2-1", "al", "_", "_", "_"), "line 4: the multiword token"),
        (7, word("9" * 5_000, "mar", "NOUN", "1", "obl"), "line 8: '9{40}' is not a word number"),
        (7, word("4", "mar", "NOUN", "9" * 5_000, "obl"), "line 8: the head '9{40}' is not a word number"),
        (3, word("2-" + "9" * 5_000, "al", "_", "_", "_"), "line 4: '2-9{38}' is not a word number"),
        (7, word("4", "m" * 1_001, "NOUN", "1", "obl"), "line 8: a word of more than 1,000 characters"),
        (7, word("4", "mar", "N" * 201, "1", "obl"), "line 8: .* or a label of more than 200"),
    ],
)
def test_malformed_conllu_names_its_line(place: int, line: str, message: str) -> None:
    lines = list(SENTENCE)
    lines[place] = line
    with pytest.raises(InvalidInput, match=message):
        to_probe(conllu(lines), "own", "upos")


TREES = [
    *words("1 Dogs{i} NOUN 2 nsubj | 2 chase VERB 0 root | 3 cats NOUN 2 obj SpaceAfter=No | 4 . PUNCT 2 punct"),
    "",
]


def test_trees_keep_the_rule_of_multiword_tokens() -> None:
    # "lejos" hangs on "a", a word inside "al".
    sentence = words(f"{AL_MAR} | 4 mar NOUN 1 obl | 5 lejos ADV 2 advmod SpaceAfter=No | 6 . PUNCT 1 punct")
    treebank = trees(conllu([*sentence, ""]), "own")
    tree = treebank.trees["Vamos0 al mar lejos."]
    assert tree.heads.tolist() == [-1, 3, 3, 0, 1, 0]
    assert tree.written.tolist() == [0, 3, 4, 5]  # "a" and "el" have no characters of their own
    assert tree.punctuation.tolist() == [False, False, False, True]
    assert tree.distances.tolist() == [[0, 1, 3, 1], [1, 0, 2, 2], [3, 2, 0, 4], [1, 2, 4, 0]]
    assert tree.edges.tolist() == [[0, 1]]
    assert [treebank.words.word(i) for i in treebank.places()[0]] == ["Vamos0", "mar", "lejos", "."]


def test_sentences_without_a_tree_are_left_out_and_counted() -> None:
    good = conllu(TREES).decode()
    cycle = "\n".join(TREES).replace("{i}", "x").replace("Dogsx\tNOUN\t_\t_\t2", "Dogsx\tNOUN\t_\t_\t3").replace(
        "cats\tcats\tNOUN\t_\t_\t2", "cats\tcats\tNOUN\t_\t_\t1"
    )  # fmt: skip
    roots = "\n".join(TREES).replace("{i}", "y").replace("NOUN\t_\t_\t2\tobj", "NOUN\t_\t_\t0\tobj")
    headless = "\n".join(TREES).replace("{i}", "z").replace("NOUN\t_\t_\t2\tobj", "NOUN\t_\t_\t_\tobj")
    short = "\n".join(words("1 Go VERB 0 root | 2 ! PUNCT 1 punct"))
    text = "\n\n".join([good, cycle, roots, headless, short, "\n".join(TREES).replace("{i}", "0")]) + "\n\n"
    treebank = trees(text.encode(), "own")
    assert len(treebank.words.texts) == len(treebank.trees) == 30
    assert np.bincount(treebank.words.split).tolist() == [18, 3, 9]
    notes = " ".join(treebank.words.notes)
    line = text.split("\n").index(cycle.split("\n")[0]) + 1
    assert f"Left out 1 sentence without a tree: a cycle (first words in line {line})" in notes
    assert "without a tree: several roots" in notes
    assert "without a tree: words without a head" in notes
    assert "Left out 1 sentence with fewer than 3 words besides punctuation" in notes
    assert "Left out 1 repeated sentence." in notes


def test_too_few_trees_are_refused_with_what_was_left_out() -> None:
    no_heads = [line.replace("\t2\t", "\t_\t").replace("\t0\t", "\t_\t") for line in TREES]
    with pytest.raises(InvalidInput, match=r"0 different sentences with a tree; .* at least 20 .*without a head"):
        trees(conllu(no_heads), "own")
    with pytest.raises(InvalidInput, match="12 different sentences with a tree"):
        trees(conllu(TREES, 12), "own")
    # Sentences with two words left have no tree to find.
    with pytest.raises(InvalidInput, match=r"0 different sentences .*Left out 30 sentences with fewer than 3"):
        trees(conllu(SENTENCE), "own")  # "Vamos" and "mar"
    # Trees whose distances take too much memory are refused.
    chain = [word(str(i), "w{i}", "X", str(i - 1), "dep") for i in range(1, 1_001)] + [""]
    with pytest.raises(InvalidInput, match="line 10,021: up to here the sentences have more than 10,000,000 pairs"):
        trees(conllu(chain, 11), "own")
    # A sentence without end is refused before it is put together.
    endless = [word(str(i), "w", "X", "0", "dep") for i in range(1, 100_000)]
    with pytest.raises(InvalidInput, match=r"line 2,001: a sentence of more than 2,000 words\. Put an empty line"):
        to_probe("\n".join(endless).encode(), "own", "upos")


def test_punctuation_is_told_by_its_characters_where_no_part_of_speech_is_given() -> None:
    untagged = [line.replace("\tPUNCT\t", "\t_\t").replace("\tNOUN\t", "\t_\t") for line in TREES]
    (tree, *_) = trees(conllu(untagged), "own").trees.values()
    assert tree.punctuation.tolist() == [False, False, False, True]
    # Twins of trees stay in one part.
    lower = [line.replace("Dogs", "dogs") for line in TREES]
    treebank = trees(conllu(TREES) + b"\n" + conllu(lower), "own")
    part = dict(zip(treebank.words.texts, treebank.words.split.tolist(), strict=True))
    assert all(part[text] == part[text.replace("Dogs", "dogs")] for text in part)
    assert any(note.startswith("Only case or spaces tell 30 sentences from another") for note in treebank.words.notes)
