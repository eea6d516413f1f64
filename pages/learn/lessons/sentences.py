"""Sentences as vectors: pooling, anisotropy, siamese training in its smallest form, and search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

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
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Option, Place, Sketch, Step, read_lesson
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

    at: ClassVar[Place] = "layers"

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
        n, width = len(self.case.encoding), self.case.info.width
        return self.say("text", n=n, width=width)

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES[:3])])

    @property
    def alike(self) -> dict[SentencePooling, float]:
        """The cosine of two sentences that say nearly the same, by pooling, in the last layer."""
        return {pooling: float(cosines(layers[-1][1:3])[0, 1]) for pooling, layers in self.vectors.of.items()}

    def reveal(self) -> None:
        names = {"own": "model’s own", "cls": "first token", "mean": "mean", "max": "maximum"}
        alike = self.alike
        values = [max(cosine, 0.0) for cosine in alike.values()]
        label = "cosine of two sentences about a late train"
        pictures.shares("poolings", [names[pooling] for pooling in alike], [(label, values)], written=".2f")

    def why(self) -> str:
        alike = self.alike
        named_pooling = self.say("named_pooling", alike=alike) if "own" in alike else ""
        return self.say("why", lines=_LINES, alike=alike, named_pooling=named_pooling)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"pooling": self.alike.keys(), "cosine": self.alike.values()})


class Anisotropy(SentencesStep):
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

    def text(self) -> str:
        return self.say("text", n_lines=len(_LINES))

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES)])

    def ask(self) -> Sketch:
        chosen = options.spread(len(self.means), _MOST_LAYERS)
        labels = tuple("embeddings" if at == 0 else f"layer {at}" for at in chosen)
        truth = tuple(float(np.clip(self.means[at], 0, 1)) for at in chosen)

        def reply(drawn: Sequence[float]) -> str:
            return self.say("reply", gap=options.mean_gap(drawn, truth), cosine=truth[-1])

        return Sketch(self.say("ask"), labels, truth, reply, kind="curve")

    def reveal(self) -> None:
        labels = ["embeddings" if at == 0 else f"layer {at}" for at in range(len(self.means))]
        label = "mean cosine of all pairs"
        pictures.shares("anisotropy", labels, [(label, [max(mean, 0.0) for mean in self.means])], written=".2f")

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
        n = len(_pairs("train"))
        return self.say("text", steps=_STEPS, n=n)

    def figure(self) -> None:
        rows = [
            {"sentence A": as_text(item.text), "sentence B": as_text(item.pair), "score (0 to 5)": f"{item.score:g}"}
            for item in _pairs("train")[:4]
        ]
        st.table(rows)

    def reveal(self) -> None:
        a, b, scores = self.pairs("test")
        before, after = pair_cosines(a, b), self.trained.cosines(a, b)
        low, high = scores <= 0.2, scores >= 0.8
        series = [
            ("before", [float(before[low].mean()), float(before[high].mean())]),
            ("after", [float(after[low].mean()), float(after[high].mean())]),
        ]
        series = [(name, [max(value, 0.0) for value in values]) for name, values in series]
        pictures.shares("siamese", ["test pairs scored 0 to 1", "test pairs scored 4 to 5"], series, written=".2f")

    def why(self) -> str:
        (before, low, high), (after, lowest, highest) = self.ranks
        losses = self.trained.losses
        clear = after > high or after < low
        changed = self.say(("improved" if after > before else "worse") if clear else "unclear")
        return self.say(
            "why",
            first_loss=losses[0],
            loss=losses[-1],
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
        return pd.DataFrame(
            {
                "score": scores * HIGHEST_SCORE,
                "cosine before": pair_cosines(a, b),
                "cosine after": self.trained.cosines(a, b),
            }
        )


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
        best, cosine = self.ranked[0]
        kept = sorted(self.ranked[:3] + self.ranked[-1:])

        def option(text: str, value: float) -> Option:
            reply = self.say("reply_right" if text == best else "reply_wrong", value=value, cosine=cosine)
            return Option(as_text(text), reply, text == best)

        return Choice(self.say("ask"), tuple(option(*entry) for entry in kept))

    def reveal(self) -> None:
        names = [text for text, _ in self.ranked]
        pictures.shares("search", names, [("cosine", [max(value, 0.0) for _, value in self.ranked])], written=".3f")

    def why(self) -> str:
        (best, first), (_, second), *_ = self.ranked
        return self.say("why", best=best, lead=first - second)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.ranked, columns=["sentence", "cosine"])


LESSON = read_lesson(__file__, Pooling, Anisotropy, Trained, Search)
