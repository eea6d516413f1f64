"""The user's own probing data: CSV and TSV, the SentEval probing format, and CoNLL-U.

Readers take the bytes of a file and give a ``Dataset``, or the ``Treebank`` of a CoNLL-U file. What cannot be used is
left out and counted in the notes; what makes the file unusable raises InvalidInput with the number of the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from analysis import files
from analysis.files import decoded, lines
from analysis.probing.conllu import CoNLLTarget, sentences_of
from analysis.probing.data import (
    DEV,
    DEV_SHARE,
    MAX_CLASSES,
    TEST,
    TEST_SHARE,
    TRAIN,
    Dataset,
    check_labels,
    checked,
    ignoring_case_and_spaces,
    random_split,
    sentence_dataset,
    with_split,
)
from analysis.probing.trees import FEWEST_WORDS, Tree, Treebank, flaw, is_punctuation
from model_zoo.errors import InvalidInput
from model_zoo.types import counted

# Labels stand in tables, messages and legends.
MAX_LABEL = 200
# The trees of a file keep the distances of all pairs of words in a sentence: so many take 80 MB.
MAX_DISTANCES = 10_000_000

_SPLITS = {"tr": TRAIN, "va": DEV, "te": TEST}


def read_table(data: bytes, name: str, *, seed: int = 0) -> Dataset:
    """A table with the columns ``text`` and ``label`` (the first line names them; other columns are ignored).

    Comma, semicolon, tab or bar between the columns, quotes as in CSV. Raises InvalidInput.
    """
    text, notes = decoded(data, name)
    separator = files.separator_name(files.first_line(text))
    rows: list[tuple[str, str]] = []
    skipped: list[int] = []
    columns: tuple[int, int] | None = None
    for line, row in files.rows(text, name):
        if columns is None:
            columns = _columns(row, name, separator)
            continue
        if len(row) <= max(columns):
            raise InvalidInput(
                f"{name}, line {line}: {counted(len(row), 'column')} where the first line names more. "
                f"If a text holds a {separator}, put it in quotes."
            )
        sentence, label = (row[column].strip() for column in columns)
        if sentence and label:
            rows.append((sentence, _label(label, f"{name}, line {line}")))
        else:
            skipped.append(line)
    notes += files.left_out(skipped, "a text or a label")
    return _sentences(name, rows, None, notes, seed)


def read_senteval(data: bytes, name: str, *, seed: int = 0) -> Dataset:
    """The SentEval probing format, a line ``split<TAB>label<TAB>text`` with split tr, va or te.

    Without any va, some of tr are for development. Raises InvalidInput.
    """
    text, notes = decoded(data, name)
    rows: list[tuple[str, str]] = []
    splits: list[int] = []
    skipped: list[int] = []
    for number, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        cells = line.split("\t", 2)
        if len(cells) != 3:
            raise InvalidInput(
                f"{name}, line {number}: {counted(len(cells), 'column')} instead of split, label and text "
                "with tabs between."
            )
        split, label, sentence = (cell.strip() for cell in cells)
        if split not in _SPLITS:
            raise InvalidInput(f"{name}, line {number}: the split is {split[:40]!r}; it must be tr, va or te.")
        if not sentence or not label:
            skipped.append(number)
            continue
        rows.append((sentence, _label(label, f"{name}, line {number}")))
        splits.append(_SPLITS[split])
    return _sentences(name, rows, splits, notes + files.left_out(skipped, "a text or a label"), seed)


def read_conllu(data: bytes, name: str, target: CoNLLTarget, *, seed: int = 0) -> Dataset:
    """Words of a CoNLL-U file with their part of speech, dependency relation or distance to their head.

    The text is assembled from the forms and ``SpaceAfter=No``. "deprel" is the universal part of the
    relation (before ":"). "head_distance" is head - id in words, cut at ±5, "root" for the root. Words
    inside a multiword token (1-2) have no characters of their own and are left out; empty nodes (1.1) and
    comments are passed over. Raises InvalidInput with the number of the malformed line.
    """
    if target not in ("upos", "deprel", "head_distance"):
        raise InvalidInput('The target of a CoNLL-U file is "upos", "deprel" or "head_distance".')
    text, notes = decoded(data, name)
    number: dict[str, int] = {}
    text_of: list[int] = []
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    inside = unlabelled = repeated = 0
    for sentence in sentences_of(text, name):
        if sentence.text in number:
            repeated += 1
            continue
        place = number[sentence.text] = len(number)
        inside += sentence.inside
        for word in sentence.words:
            label = word.label(target)
            if label is None:
                unlabelled += 1
                continue
            text_of.append(place)
            spans.append(word.span)
            labels.append(label)
    if inside:
        notes += (f"Left out {counted(inside, 'word')} inside multiword tokens, without characters of their own.",)
    if unlabelled:
        notes += (f"Left out {counted(unlabelled, 'word')} without a label (“_”).",)
    if repeated:
        notes += (f"Left out {counted(repeated, 'repeated sentence')}.",)
    notes += _alike_note(list(number))
    if not labels:
        raise InvalidInput(f"{name} has no words with a label for {target}. Choose another file or target.")
    dataset = Dataset(
        name=name,
        level="token",
        texts=tuple(number),
        split=random_split(list(number), ["all"] * len(number), seed),
        text_of=np.array(text_of, dtype=np.int64),
        labels=tuple(labels),
        spans=np.array(spans, dtype=np.int64),
        notes=notes,
    )
    return checked(dataset.select(np.ones(len(number), dtype=bool)))


def read_trees(data: bytes, name: str, *, seed: int = 0) -> Treebank:
    """The dependency trees of a CoNLL-U file, split at random by sentence.

    Texts and words as in ``read_conllu``: words inside a multiword token have no characters of their own, so they are
    not scored, and distances run through them. Left out and counted are sentences that do not form a tree, that occur
    again, and those of fewer than three words besides punctuation. Raises InvalidInput with the number of a malformed
    line, or where too few sentences are left.
    """
    text, notes = decoded(data, name)
    trees: dict[str, Tree] = {}
    text_of: list[int] = []
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    flaws: dict[str, list[int]] = {}
    inside = repeated = short = n_distances = 0
    for sentence in sentences_of(text, name):
        found = flaw(sentence.heads)
        if found is not None:
            flaws.setdefault(found, []).append(sentence.line)
            continue
        if sentence.text in trees:
            repeated += 1
            continue
        forms = [sentence.text[slice(*word.span)] for word in sentence.words]
        tree = Tree(
            heads=np.array(sentence.heads, dtype=np.int64),
            shown=np.array([word.number - 1 for word in sentence.words], dtype=np.int64),
            punctuation=np.array(
                [is_punctuation(form, word.upos) for form, word in zip(forms, sentence.words, strict=True)], dtype=bool
            ),
        )
        if (~tree.punctuation).sum() < FEWEST_WORDS or not len(tree.edges):
            short += 1
            continue
        n_distances += len(sentence.heads) ** 2
        if n_distances > MAX_DISTANCES:
            raise InvalidInput(
                f"{name}, line {sentence.line}: up to here the sentences have more than {MAX_DISTANCES:,} pairs of "
                "words, too many to keep their distances. Use fewer sentences, or shorter ones."
            )
        text_of += [len(trees)] * len(tree)
        trees[sentence.text] = tree
        inside += sentence.inside
        spans += [word.span for word in sentence.words]
        labels += [word.deprel.partition(":")[0] for word in sentence.words]
    for what, where in flaws.items():
        shown = ", ".join(map(str, where[:5])) + (" …" if len(where) > 5 else "")
        notes += (f"Left out {counted(len(where), 'sentence')} without a tree: {what} (first words in line {shown}).",)
    if short:
        notes += (
            f"Left out {counted(short, 'sentence')} with fewer than {FEWEST_WORDS} words besides punctuation, "
            "or no edge between them: there is next to nothing to find.",
        )
    if inside:
        notes += (
            f"Left out {counted(inside, 'word')} inside multiword tokens, without characters of their own. "
            "Distances between other words run through such words.",
        )
    if repeated:
        notes += (f"Left out {counted(repeated, 'repeated sentence')}.",)
    notes += _alike_note(list(trees))
    words = Dataset(
        name=name,
        level="token",
        texts=tuple(trees),
        split=random_split(list(trees), ["all"] * len(trees), seed) if trees else np.zeros(0, dtype=np.int64),
        text_of=np.array(text_of, dtype=np.int64),
        labels=tuple(labels),
        spans=np.array(spans, dtype=np.int64).reshape(-1, 2),
        notes=notes,
    )
    return Treebank(words, trees).checked()


def _columns(header: Sequence[str], name: str, separator: str) -> tuple[int, int]:
    names = [cell.strip().lower() for cell in header]
    if "text" not in names or "label" not in names:
        found = ", ".join(repr(cell.strip()[:40]) for cell in header[:8])
        raise InvalidInput(
            f"{name}, line 1: the columns must be named text and label; found {found} ({separator} taken as separator)."
        )
    return names.index("text"), names.index("label")


def _label(label: str, where: str) -> str:
    if len(label) > MAX_LABEL:
        raise InvalidInput(
            f"{where}: the label has {len(label):,} characters; labels are names of up to {MAX_LABEL}. "
            "Check which column is the label."
        )
    return label


def _sentences(
    name: str, rows: list[tuple[str, str]], splits: list[int] | None, notes: tuple[str, ...], seed: int
) -> Dataset:
    """Different texts, each with a label, split as given or at random."""
    if not rows:
        raise InvalidInput(f"{name} has no usable lines. Each needs a text and a label.")
    labels_of: dict[str, Counter[str]] = {}
    for sentence, label in rows:
        labels_of.setdefault(sentence, Counter())[label] += 1
    conflicting = {sentence for sentence, labels in labels_of.items() if len(labels) > 1}
    if conflicting:
        notes += (f"Left out {counted(len(conflicting), 'sentence')} with more than one label.",)
    repeated = sum(labels.total() - 1 for labels in labels_of.values() if len(labels) == 1)
    if repeated:
        notes += (f"Left out {counted(repeated, 'repeated sentence')}.",)
    texts = [sentence for sentence in labels_of if sentence not in conflicting]
    labels = [next(iter(labels_of[sentence])) for sentence in texts]
    different = len(set(labels))
    numbers = sum(files.number(label) is not None for label in set(labels))
    if numbers == different and different > 20:
        raise InvalidInput(
            f"{name} has {different:,} different numbers as labels. A probe tells kinds apart: "
            f"put the numbers into a few bins first (at most {MAX_CLASSES:,} labels, better fewer than 20)."
        )
    check_labels(name, different)  # before the split, which goes through the texts once a label
    if numbers == different and different > 1:
        notes += ("The labels are numbers; they are taken as names, without an order.",)
    if splits is None:
        split = random_split(texts, labels, seed)
        notes += _alike_note(texts)
    else:
        # What is held out must not be in training as well, not even with different capitals.
        splits_of: dict[str, set[int]] = {}
        for (sentence, _), given in zip(rows, splits, strict=True):
            splits_of.setdefault(ignoring_case_and_spaces(sentence), set()).add(given)
        split = np.array([max(splits_of[ignoring_case_and_spaces(text)]) for text in texts], dtype=np.int64)
        several = sum(len(splits_of[ignoring_case_and_spaces(text)]) > 1 for text in texts)
        if several:
            notes += (
                f"In more than one split, case and spaces aside: {counted(several, 'sentence')}, "
                "kept in the held-out split.",
            )
        if not (split == DEV).any():
            split = with_split(texts, split, DEV, DEV_SHARE / (1 - TEST_SHARE), np.random.default_rng(seed))
            notes += ("The file has no development split (va): a seventh of its training split takes its place.",)
    return checked(sentence_dataset(name, texts, split, labels, own_split=splits is not None, notes=notes))


def _alike_note(texts: Sequence[str]) -> tuple[str, ...]:
    twins = len(texts) - len({ignoring_case_and_spaces(text) for text in texts})
    if not twins:
        return ()
    return (f"Only case or spaces tell {counted(twins, 'sentence')} from another; such sentences stay in one split.",)
