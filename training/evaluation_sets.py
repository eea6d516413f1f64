"""The held-out texts and pairs that models are measured on: of a corpus, or those written for this project."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from model_zoo.errors import InvalidInput
from model_zoo.heldout import written_pairs
from training.corpus import Document, held_out_documents

Item = TypeVar("Item")

WORDS_A_TEXT = 40
PAIRS_A_DOCUMENT = 4
SEED = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and whether the second follows the first where they come from."""

    first: str
    second: str
    is_next: bool


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """``texts`` for masked words, ``pairs`` for next sentences; half of the pairs are random. ``of_texts`` and
    ``of_pairs`` number the document or subject that each text, or each pair's first text, is from.
    """

    texts: tuple[str, ...]
    pairs: tuple[Pair, ...]
    of_texts: tuple[int, ...]
    of_pairs: tuple[int, ...]

    def sample(self, n: int) -> EvaluationSet:
        """Takes at most ``n`` texts and ``n`` pairs, evenly spaced."""
        texts, pairs, of_texts, of_pairs = self.texts, self.pairs, self.of_texts, self.of_pairs
        return EvaluationSet(_spaced(texts, n), _spaced(pairs, n), _spaced(of_texts, n), _spaced(of_pairs, n))


def _spaced(items: Sequence[Item], n: int) -> tuple[Item, ...]:
    places = np.linspace(0, len(items) - 1, num=min(n, len(items)))
    return tuple(items[round(place)] for place in places)


def half_random(following: Sequence[tuple[Hashable, str, str]]) -> tuple[Pair, ...]:
    """Of pairs (origin, first, second), every other one gets a second text of another origin.

    The random second texts are the replaced ones themselves, handed round, so both kinds have the same
    lengths. Raises InvalidInput when they are all of one origin.
    """
    order = np.random.default_rng(SEED).permutation(len(following))
    replaced = [int(place) for place in order[::2]]
    seconds = {}
    for number, place in enumerate(replaced):
        others = (replaced[(number + step) % len(replaced)] for step in range(1, len(replaced)))
        giver = next((other for other in others if following[other][0] != following[place][0]), None)
        if giver is None:
            raise InvalidInput("Next-sentence pairs need held-out texts of two documents. Give a larger corpus.")
        seconds[place] = following[giver][2]
    return tuple(
        Pair(first, seconds.get(place, second), place not in seconds)
        for place, (_, first, second) in enumerate(following)
    )


def _chunks(document: Document) -> list[str]:
    """Whole sentences of a document in texts of about WORDS_A_TEXT words, at least one sentence each."""
    chunks: list[list[str]] = []
    n_words = WORDS_A_TEXT
    for sentence in document.sentences:
        if n_words >= WORDS_A_TEXT:
            chunks.append([])
            n_words = 0
        chunks[-1].append(sentence)
        n_words += len(sentence.split())
    return [" ".join(chunk) for chunk in chunks]


def corpus_set(corpus: Path) -> EvaluationSet:
    """The held-out documents of a corpus, evenly spaced passages of each.

    Short documents give their first sentence and the rest as a pair. Raises as ``held_out_documents`` does.
    """
    texts: list[tuple[int, str]] = []
    following: list[tuple[int, str, str]] = []
    for number, document in enumerate(held_out_documents(corpus)):
        chunks = _chunks(document)
        texts.extend((number, chunk) for chunk in _spaced(chunks, PAIRS_A_DOCUMENT))
        if document.ordered and len(document.sentences) >= 2:
            if len(chunks) == 1:
                chunks = [document.sentences[0], " ".join(document.sentences[1:])]
            starts = _spaced(range(len(chunks) - 1), PAIRS_A_DOCUMENT)
            following.extend((number, chunks[start], chunks[start + 1]) for start in starts)
    return EvaluationSet(
        tuple(text for _, text in texts),
        half_random(following),
        tuple(number for number, _ in texts),
        tuple(number for number, *_ in following),
    )


def written_set() -> EvaluationSet:
    """The sentence pairs written for this project: short modern English."""
    pairs = written_pairs()
    number = {subject: place for place, subject in enumerate(dict.fromkeys(pair.subject for pair in pairs))}
    subjects = tuple(number[pair.subject] for pair in pairs)
    return EvaluationSet(
        texts=tuple(f"{pair.first} {pair.second}" for pair in pairs),
        pairs=half_random([(pair.subject, pair.first, pair.second) for pair in pairs]),
        of_texts=subjects,
        of_pairs=subjects,
    )
