"""Sentences in which a head looks from a word: what several views show as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from analysis.corpus.examples import Example
from analysis.corpus.looks import attention_to_words
from analysis.corpus.placing import word_of_token
from analysis.corpus.relations import Cases
from analysis.corpus.sentences import Sentence
from model_zoo.questions.attend import Attend
from pages.corpus.scene import Scene
from viz.example_sentences import ExampleSentence
from viz.predictions import percent
from web.engine import engine

_TINTED: Final = 4  # words of a sentence that are tinted
_LEAST: Final = 0.05  # of the attention, below which a word is not


class Looked(NamedTuple):
    """A sentence by its number, the place of the word that looks, and of that where it should look, if any should."""

    sentence: int
    query: int
    expected: int | None = None


def sentences(scene: Scene, looked: Sequence[Looked], layer: int, head: int) -> list[ExampleSentence]:
    """Sentences of the corpus with what a head (layer and head from 0) gives to their words; they are run now."""
    return of_sentences(scene.model, scene.corpus.take(each.sentence for each in looked), looked, layer, head)


def of_sentences(
    model: str, some: Sequence[Sentence], looked: Sequence[Looked], layer: int, head: int
) -> list[ExampleSentence]:
    """The same of sentences that are given, one for each of ``looked``."""
    found = []
    runs = engine().ask_all([Attend(model, sentence.text) for sentence in some])
    for (_, query, expected), sentence, run in zip(looked, some, runs, strict=True):
        given = attention_to_words(run, sentence, query, layer, head)
        if given is None:
            continue
        token, weights = given
        strongest = np.argsort(-weights, kind="stable")[:_TINTED].tolist()
        keys = [place for place in strongest if weights[place] >= _LEAST or place == expected or place == strongest[0]]
        found.append(
            ExampleSentence(
                sentence.text,
                sentence.spans[query],
                tuple((sentence.spans[place], float(weights[place])) for place in keys),
                None if expected is None else sentence.spans[expected],
                beside=percent(float(weights[strongest[0] if expected is None else expected])),
                layer=layer,
                head=head,
                token=token,
            )
        )
    return found


def examples(scene: Scene, found: Sequence[Example], layer: int, head: int) -> list[ExampleSentence]:
    """The pairs of words that a survey kept of a head, without running their sentences again."""
    shown = []
    for one, sentence in zip(found, scene.corpus.take(each.sentence for each in found), strict=True):
        tokens = np.flatnonzero(word_of_token(engine().encode(scene.model, sentence.text), sentence.spans) == one.query)
        shown.append(
            ExampleSentence(
                sentence.text,
                sentence.spans[one.query],
                ((sentence.spans[one.key], one.weight),),
                beside=percent(one.weight),
                layer=layer,
                head=head,
                token=int(tokens[0]),
            )
        )
    return shown


def right_and_wrong(cases: Cases, place: int) -> tuple[list[Looked], list[Looked]]:
    """The cases of a relation in which a head, by its place among all, is right, and those in which it is not."""
    right = cases.heads_right()[:, place]
    return _looked(cases.where(right)), _looked(cases.where(~right))


def _looked(cases: Cases) -> list[Looked]:
    rows: Iterable[tuple[int, int, int]] = zip(
        cases.sentence.tolist(), cases.query.tolist(), cases.key.tolist(), strict=True
    )
    return [Looked(*row) for row in rows]
