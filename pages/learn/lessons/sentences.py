"""Sentences as vectors: pooling, anisotropy, siamese training in its smallest form, and search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis import siamese
from analysis.sentence_vectors import (
    SentencePooling,
    SentenceVectors,
    agreement,
    cosines,
    mean_of_pairs,
    pair_cosines,
    shared_by,
)
from analysis.siamese import Siamese
from model_zoo.types import DoubleArray, FloatArray
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson, spread
from training.finetuning import sentence_pairs
from training.finetuning.data import HIGHEST_SCORE, Scored
from training.finetuning.sets import SETS
from ui import as_text
from web.engine import engine

_LINES: Final = (
    "The train to the coast was late again.",
    "Our train arrived an hour behind schedule.",
    "She baked a loaf of bread with walnuts.",
    "The soup needs more salt.",
    "The bank lowered its interest rates.",
    "We sat on the bank of the river.",
)
_STEPS: Final = 20  # of the siamese training
_RATE: Final = 0.001
_HIGH: Final = 0.2  # mean cosine above which vectors are said to point the same way
_MOST_LAYERS: Final = 13  # that one draws over


def _pairs(split: str) -> list[Scored]:
    """The built-in similarity pairs of a split."""
    data = SETS["similarity"].build()
    items = {"train": data.train, "test": data.test}[split]
    return [item for item in items if isinstance(item, Scored)]


class SentencesStep(Step):
    """A step about vectors of sentences."""

    def read(self, texts: Sequence[str]) -> SentenceVectors:
        """Texts as vectors, by every pooling."""
        model = self.case.model

        def compute() -> SentenceVectors:
            return sentence_pairs.vectors(engine(), model, texts)

        revision = engine().info(model).revision
        return engine().derived(("sentence vectors of a lesson", model, revision, tuple(texts)), compute)

    @cached_property
    def vectors(self) -> SentenceVectors:
        """The visitor’s sentence and the app’s."""
        return self.read((self.case.text, *_LINES))

    def pairs(self, split: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The last layer’s usual vectors of both sides of built-in pairs (n, width), and their scores from 0 to 1."""
        items = _pairs(split)
        read = self.read([text for item in items for text in (item.text, item.pair)])
        vectors = read.of[read.usual][-1]
        scores = np.array([item.score / HIGHEST_SCORE for item in items], dtype=np.float32)
        return vectors[0::2], vectors[1::2], scores


class Pooling(SentencesStep):
    def text(self) -> str:
        return self.say("text", n=len(self.tokens), width=self.case.info.width)

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES[:3])])

    @property
    def alike(self) -> dict[SentencePooling, float]:
        """The cosine of two sentences that say nearly the same, by pooling, in the last layer."""
        return {pooling: float(cosines(layers[-1][1:3])[0, 1]) for pooling, layers in self.vectors.of.items()}

    def reveal(self) -> None:
        names = {"own": "model’s own", "cls": "first token", "mean": "mean", "max": "maximum"}
        alike = self.alike
        label = "cosine of two sentences about a late train"
        columns = {"pooling": [names[pooling] for pooling in alike], label: alike.values()}
        pictures.shares("poolings", columns, written=".2f")

    def why(self) -> str:
        alike = self.alike
        named_pooling = self.say("named_pooling", alike=alike) if "own" in alike else ""
        return self.say("why", lines=_LINES, alike=alike, named_pooling=named_pooling)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"pooling": self.alike.keys(), "cosine": self.alike.values()})


class Anisotropy(SentencesStep):
    n_lines = len(_LINES)

    @cached_property
    def means(self) -> list[float]:
        """The mean cosine of all pairs of the sentences, by layer (layers + 1)."""
        return [mean_of_pairs(layer) for layer in self.vectors.of[self.vectors.usual]]

    @cached_property
    def removed(self) -> list[float]:
        """The same without what the sentences of the built-in training pairs have in common."""
        reference = self.read([text for item in _pairs("train") for text in (item.text, item.pair)])
        layers = zip(self.vectors.of[self.vectors.usual], reference.of[reference.usual], strict=True)
        return [mean_of_pairs(shared_by(layer).removed(layer_vectors)) for layer_vectors, layer in layers]

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES)])

    @property
    def labels_of_layers(self) -> list[str]:
        """What the layers are called."""
        return ["embeddings", *(f"layer {layer}" for layer in range(1, len(self.means)))]

    def ask(self) -> Sketch:
        chosen = spread(len(self.means), _MOST_LAYERS)
        truth = np.clip(np.take(self.means, chosen), 0, 1)
        return self.sketch((self.labels_of_layers[at] for at in chosen), truth, kind="curve")

    def reveal(self) -> None:
        columns = {"layer": self.labels_of_layers, "mean cosine of all pairs": self.means}
        pictures.shares("anisotropy", columns, written=".2f")

    def why(self) -> str:
        last = self.means[-1]
        verdict = self.say("similar") if last > _HIGH else self.say("not_similar")
        return self.say("why", last=last, verdict=verdict, removed_at_end=self.removed[-1])

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {"layer": range(len(self.means)), "mean cosine": self.means, "common component removed": self.removed}
        )


class Trained(SentencesStep):
    @cached_property
    def trained(self) -> Siamese:
        """One matrix after the last layer, trained on the training pairs."""
        a, b, scores = self.pairs("train")
        model, revision = self.case.model, engine().info(self.case.model).revision
        return engine().derived(
            ("siamese lesson", model, revision), lambda: siamese.train(a, b, scores, steps=_STEPS, rate=_RATE)
        )

    @cached_property
    def ranks(self) -> DoubleArray:
        """Spearman’s ρ of cosine and score on the test pairs with its 95% interval, before and after, (2, 3)."""
        a, b, scores = self.pairs("test")
        both = np.stack([pair_cosines(a, b), self.trained.cosines(a, b)])
        return agreement(both, scores.tolist(), [item.cluster for item in _pairs("test")])

    def text(self) -> str:
        return self.say("text", steps=_STEPS, n=len(_pairs("train")))

    def figure(self) -> None:
        rows = [
            {"sentence A": as_text(item.text), "sentence B": as_text(item.pair), "score (0 to 5)": f"{item.score:g}"}
            for item in _pairs("train")[:4]
        ]
        st.table(rows)

    def reveal(self) -> None:
        table = self.numbers()
        bins = {"test pairs scored 0 to 1": table["score"] <= 1, "test pairs scored 4 to 5": table["score"] >= 4}
        means = {
            when: [table.loc[rows, f"cosine {when}"].mean() for rows in bins.values()] for when in ("before", "after")
        }
        pictures.shares("siamese", {"pairs": bins.keys(), **means}, written=".2f")

    def why(self) -> str:
        (before, low, high), (after, lowest, highest) = self.ranks
        clear = after > high or after < low
        changed = self.say(("improved" if after > before else "worse") if clear else "unclear")
        return self.say(
            "why",
            loss=self.trained.losses[-1],
            changed=changed,
            before=before,
            low=low,
            high=high,
            after=after,
            lowest=lowest,
            highest=highest,
        )

    def numbers(self) -> pd.DataFrame:
        a, b, scores = self.pairs("test")
        columns = {"cosine before": pair_cosines(a, b), "cosine after": self.trained.cosines(a, b)}
        return pd.DataFrame({"score": scores * HIGHEST_SCORE, **columns})


class Search(SentencesStep):
    @cached_property
    def ranked(self) -> list[tuple[str, float]]:
        """The app’s sentences by their cosine with the visitor’s in the last layer, the highest first."""
        vectors = self.vectors.of[self.vectors.usual][-1]
        similarities = cosines(vectors)[0, 1:]
        order = np.argsort(-similarities, kind="stable").tolist()
        return [(_LINES[place], float(similarities[place])) for place in order]

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in _LINES])

    def ask(self) -> Choice:
        ranked = self.ranked
        kept = sorted((0, 1, 2, len(ranked) - 1), key=lambda place: ranked[place])
        labels = {place: as_text(ranked[place][0]) for place in kept}
        return self.choose(labels, 0, lambda place: {"value": ranked[place][1], "cosine": ranked[0][1]})

    def reveal(self) -> None:
        pictures.shares("search", self.numbers(), written=".3f")

    def why(self) -> str:
        (best, first), (_, second), *_ = self.ranked
        return self.say("why", best=best, lead=first - second)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.ranked, columns=["sentence", "cosine"])


LESSON = read_lesson(__file__, Pooling, Anisotropy, Trained, Search)
