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
from ui import Field, one_of, widgets
from viz.example_sentences import ExampleSentence
from viz.layout import percent
from web.engine import engine

_TINTED: Final = 4  # words of a sentence that are tinted
_LEAST: Final = 0.05  # of the attention, below which a word is not


SENTENCES_SHOWN: Final = one_of("the sentences shown", {"right": "Right", "wrong": "Wrong"})


class QueryWord(NamedTuple):
    """A sentence by its number, the place of the word that looks, and of that where it should look, if any should."""

    sentence: int
    query: int
    expected: int | None = None


def run_sentences(scene: Scene, query_words: Sequence[QueryWord], layer: int, head: int) -> list[ExampleSentence]:
    """Sentences of the corpus with what a head (layer and head from 0) gives to their words; they are run now."""
    return example_rows(scene.model, scene.corpus.take(case.sentence for case in query_words), query_words, layer, head)


def example_rows(
    model: str, some: Sequence[Sentence], query_words: Sequence[QueryWord], layer: int, head: int
) -> list[ExampleSentence]:
    """The same of sentences that are given, one for each of ``query_words``."""
    rows = []
    runs = engine().ask_all([Attend(model, sentence.text) for sentence in some])
    for (_, query, expected), sentence, run in zip(query_words, some, runs, strict=True):
        attention = attention_to_words(run, sentence, query, layer, head)
        if attention is None:
            continue
        token, weights = attention
        strongest = np.argsort(-weights, kind="stable")[:_TINTED].tolist()
        keys = [place for place in strongest if weights[place] >= _LEAST or place == expected or place == strongest[0]]
        rows.append(
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
    return rows


def kept_examples(scene: Scene, kept: Sequence[Example], layer: int, head: int) -> list[ExampleSentence]:
    """The pairs of words that the statistics kept of a head, without running their sentences again."""
    rows = []
    for example, sentence in zip(kept, scene.corpus.take(example.sentence for example in kept), strict=True):
        tokens = np.flatnonzero(
            word_of_token(engine().encode(scene.model, sentence.text), sentence.spans) == example.query
        )
        rows.append(
            ExampleSentence(
                sentence.text,
                sentence.spans[example.query],
                ((sentence.spans[example.key], example.weight),),
                beside=percent(example.weight),
                layer=layer,
                head=head,
                token=int(tokens[0]),
            )
        )
    return rows


def choose_result(field: Field[str], n_right: int, n_wrong: int) -> str:
    """Ask whether sentences in which a head is "right" are shown, or those in which it is "wrong"."""
    labels = {"right": f"Right ({n_right:,})", "wrong": f"Wrong ({n_wrong:,})"}
    chosen: str = widgets.choice("Sentences", field, labels, label_visibility="collapsed")
    return chosen


def right_and_wrong(cases: Cases, place: int) -> tuple[list[QueryWord], list[QueryWord]]:
    """The cases of a relation in which a head, by its place among all, is right, and those in which it is not."""
    right = cases.heads_right()[:, place]
    return _query_words(cases.where(right)), _query_words(cases.where(~right))


def _query_words(cases: Cases) -> list[QueryWord]:
    rows: Iterable[tuple[int, int, int]] = zip(
        cases.sentence.tolist(), cases.query.tolist(), cases.key.tolist(), strict=True
    )
    return [QueryWord(*row) for row in rows]
