"""The user's own probing data: from what was read of a file to a ``Dataset``, or to a ``Treebank``. What cannot be used
is left out and counted in the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

import reading
from analysis.corpus.sentences import alike
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
    random_split,
    sentence_dataset,
    with_split,
)
from analysis.probing.trees import FEWEST_WORDS, Tree, Treebank, flaw, is_punctuation
from model_zoo.errors import InvalidInput
from model_zoo.types import counted
from reading.data import Split
from reading.formats.conllu import INSIDE
from reading.items import ROOT, Labelled, ParsedSentence
from reading.text import listed, number

CoNLLTarget = Literal["upos", "deprel", "head_distance"]
Target = CoNLLTarget | Literal["", "trees"]
HEAD_DISTANCE_LIMIT: Final = 5
# The trees of a file keep the distances of all pairs of words in a sentence: so many take 80 MB.
MAX_DISTANCES = 10_000_000

_PLACES: Final[dict[Split, int]] = {"train": TRAIN, "dev": DEV, "test": TEST}


def labelled_sentences(data: reading.Data, *, seed: int = 0) -> Dataset:
    """A data set of texts with labels (of kind "labelled"), in the splits that the file names or at random by the seed.

    Without any for development, some of those to train on are taken. Raises InvalidInput.
    """
    rows: list[tuple[str, str]] = []
    places: list[int] = []
    n_pairs = 0
    for item, split in zip(data.items, data.splits, strict=True):
        if isinstance(item, Labelled):
            rows.append((item.text, item.label))
            places.append(_PLACES[split or "train"])
            n_pairs += item.pair is not None
    notes = ("Only the first text of each pair is probed.",) if n_pairs else ()
    return _sentences(data.name, rows, None if None in data.splits else places, notes, seed)


def words(data: reading.Data, target: CoNLLTarget, *, seed: int = 0) -> Dataset:
    """A data set of the words of a treebank (of kind "trees") with their part of speech, relation or distance to their
    head.

    "deprel" is the universal part of the relation (before ":"). "head_distance" is head - id in words, cut at ±5,
    "root" for the root. Raises InvalidInput.
    """
    if target not in ("upos", "deprel", "head_distance"):
        raise InvalidInput('The target of a CoNLL-U file is "upos", "deprel" or "head_distance".')
    notes: tuple[str, ...] = ()
    places: dict[str, int] = {}
    text_of: list[int] = []
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    unlabelled = repeated = 0
    for sentence in _parsed(data):
        if sentence.text in places:
            repeated += 1
            continue
        place = places[sentence.text] = len(places)
        for at, span in enumerate(sentence.spans):
            label = _label_of(sentence, at, target)
            if label is None:
                unlabelled += 1
                continue
            text_of.append(place)
            spans.append(span)
            labels.append(label)
    if unlabelled:
        notes += (f"Left out {counted(unlabelled, 'word')} without a label (“_”).",)
    if repeated:
        notes += (f"Left out {counted(repeated, 'repeated sentence')}.",)
    notes += _alike_note(list(places))
    if not labels:
        raise InvalidInput(f"{data.name} has no words with a label for {target}. Choose another file or target.")
    dataset = Dataset(
        name=data.name,
        level="token",
        texts=tuple(places),
        split=random_split(list(places), ["all"] * len(places), seed),
        text_of=np.array(text_of, dtype=np.int64),
        labels=tuple(labels),
        spans=np.array(spans, dtype=np.int64),
        notes=notes,
    )
    return checked(dataset.select(np.ones(len(places), dtype=bool)))


def treebank(data: reading.Data, *, seed: int = 0) -> Treebank:
    """The dependency trees that were read (of kind "trees"), split at random by sentence.

    Words without characters of their own are not scored, and distances run through them. Left out and counted are
    sentences that do not form a tree, that occur again, and those of fewer than three words besides punctuation. Raises
    InvalidInput where too few sentences are left, or they are too long.
    """
    notes: tuple[str, ...] = ()
    trees: dict[str, Tree] = {}
    text_of: list[int] = []
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    flaws: dict[str, list[int]] = {}
    repeated = short = n_distances = 0
    for line, sentence in zip(data.lines, _parsed(data), strict=True):
        problem = flaw(sentence.all_heads)
        if problem is not None:
            flaws.setdefault(problem, []).append(line)
            continue
        if sentence.text in trees:
            repeated += 1
            continue
        pairs = zip(sentence.words, sentence.upos, strict=True)
        tree = Tree(
            heads=np.array(sentence.all_heads, dtype=np.int64),
            written=np.array(sentence.numbers, dtype=np.int64) - 1,
            punctuation=np.array([is_punctuation(form, upos) for form, upos in pairs], dtype=bool),
        )
        if (~tree.punctuation).sum() < FEWEST_WORDS or not len(tree.edges):
            short += 1
            continue
        n_distances += len(sentence.all_heads) ** 2
        if n_distances > MAX_DISTANCES:
            raise InvalidInput(
                f"{data.where(line)}: up to here the sentences have more than {MAX_DISTANCES:,} pairs of "
                "words, too many to keep their distances. Use fewer sentences, or shorter ones."
            )
        text_of += [len(trees)] * len(tree)
        trees[sentence.text] = tree
        spans += sentence.spans
        labels += [deprel.partition(":")[0] for deprel in sentence.deprel]
    if INSIDE in data.left_out:
        notes += ("Distances between words run through those that are left out inside multiword tokens.",)
    for cause, where in flaws.items():
        notes += (
            f"Left out {counted(len(where), 'sentence')} without a tree: {cause} (first words in {listed(where)}).",
        )
    if short:
        notes += (
            f"Left out {counted(short, 'sentence')} with fewer than {FEWEST_WORDS} words besides punctuation, "
            "or no edge between them: there is next to nothing to find.",
        )
    if repeated:
        notes += (f"Left out {counted(repeated, 'repeated sentence')}.",)
    notes += _alike_note(list(trees))
    scored = Dataset(
        name=data.name,
        level="token",
        texts=tuple(trees),
        split=random_split(list(trees), ["all"] * len(trees), seed) if trees else np.zeros(0, dtype=np.int64),
        text_of=np.array(text_of, dtype=np.int64),
        labels=tuple(labels),
        spans=np.array(spans, dtype=np.int64).reshape(-1, 2),
        notes=notes,
    )
    return Treebank(scored, trees).checked()


def read_file(
    data: bytes, name: str, target: Target, seed: int, choices: reading.Choices
) -> tuple[Dataset | Treebank, reading.Report]:
    """A file as labelled texts, or a treebank's words or trees by ``target``, and its report. Raises InvalidInput."""
    read = reading.read_files([(name, data)], "trees" if target else "labelled", choices)
    if not target:
        return labelled_sentences(read, seed=seed), read.report
    return treebank(read, seed=seed) if target == "trees" else words(read, target, seed=seed), read.report


def _parsed(data: reading.Data) -> list[ParsedSentence]:
    return [item for item in data.items if isinstance(item, ParsedSentence)]


def _label_of(sentence: ParsedSentence, at: int, target: CoNLLTarget) -> str | None:
    """The label of the word at a place; None where it has none."""
    if target != "head_distance":
        label = sentence.upos[at] if target == "upos" else sentence.deprel[at].partition(":")[0]
        return None if label == "_" else label
    place = sentence.numbers[at]
    head = sentence.all_heads[place - 1]
    if head is None or head == ROOT:
        return None if head is None else "root"
    distance = head + 1 - place
    sign = "+" if distance > 0 else "−"
    if abs(distance) >= HEAD_DISTANCE_LIMIT:
        return f"{sign}{HEAD_DISTANCE_LIMIT} or more"
    return f"{sign}{abs(distance)}"


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
    numbers = sum(number(label) is not None for label in set(labels))
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
        for (sentence, _), named in zip(rows, splits, strict=True):
            splits_of.setdefault(alike(sentence), set()).add(named)
        split = np.array([max(splits_of[alike(text)]) for text in texts], dtype=np.int64)
        several = sum(len(splits_of[alike(text)]) > 1 for text in texts)
        if several:
            notes += (
                f"In more than one split, case and spaces aside: {counted(several, 'sentence')}, "
                "kept in the held-out split.",
            )
        if not (split == DEV).any():
            split = with_split(texts, split, DEV, DEV_SHARE / (1 - TEST_SHARE), np.random.default_rng(seed))
            notes += ("The file has no development split: a seventh of its training split takes its place.",)
    return checked(sentence_dataset(name, texts, split, labels, own_split=splits is not None, notes=notes))


def _alike_note(texts: Sequence[str]) -> tuple[str, ...]:
    twins = len(texts) - len({alike(text) for text in texts})
    if not twins:
        return ()
    return (f"Only case or spaces tell {counted(twins, 'sentence')} from another; such sentences stay in one split.",)
