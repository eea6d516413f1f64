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
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from training.finetuning import sentence_pairs
from training.finetuning.data import HIGHEST_SCORE, Scored
from training.finetuning.sets import SETS
from ui import as_text
from ui.glossary import quote
from ui.sources import CER, ETHAYARAJH, GAO, REIMERS
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
    title = "From tokens to one vector"
    terms = ("pooling", "mean pooling")
    sources = (REIMERS,)

    def text(self) -> str:
        n, width = len(self.case.encoding), self.case.info.width
        return (
            f"A model gives {n} vectors for your sentence, one a token. For search and comparison we need **one**. "
            "Three ways: the vector of the first token ([CLS] in BERT), the mean over the real tokens, or the "
            f"maximum of each number ([[pooling]]). Each has {width} numbers."
        )

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES[:3])])

    @property
    def alike(self) -> dict[SentencePooling, float]:
        """The cosine of two sentences that say nearly the same, by pooling, in the last layer."""
        return {pooling: float(cosines(layers[-1][1:3])[0, 1]) for pooling, layers in self.vectors.of.items()}

    def ask(self) -> Choice:
        return Choice(
            "Your sentence is padded to 128 tokens. Which tokens belong in the mean?",
            options.placed(
                1,
                Option("The real ones only", "Padding would pull the mean towards vectors that say nothing.", True),
                Option("All 128", "Then the mean depends on how much padding there is."),
                Option("The first one only", "That is the [CLS] way, not a mean."),
            ),
        )

    def reveal(self) -> None:
        names = {"own": "model’s own", "cls": "first token", "mean": "mean", "max": "maximum"}
        alike = self.alike
        values = [max(cosine, 0.0) for cosine in alike.values()]
        label = "cosine of two sentences about a late train"
        pictures.shares("poolings", [names[pooling] for pooling in alike], [(label, values)], written=".2f")

    def why(self) -> str:
        alike = self.alike
        named_pooling = (
            f" This model’s files name a pooling of its own, which the next steps use: {alike['own']:.2f}."
            if "own" in alike
            else ""
        )
        return (
            f"For {quote(_LINES[0])} and {quote(_LINES[1])} the cosine is {alike['cls']:.2f} by the first token, "
            f"{alike['mean']:.2f} by the mean and {alike['max']:.2f} by the maximum: numbers of different poolings "
            "cannot be compared with each other. Sentence-BERT uses the mean (Reimers & Gurevych 2019); here it leaves "
            f"out special tokens such as [CLS] and [SEP].{named_pooling}"
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"pooling": self.alike.keys(), "cosine": self.alike.values()})


class Anisotropy(SentencesStep):
    title = "Everything looks similar"
    terms = ("anisotropy", "cosine")
    sources = (ETHAYARAJH,)

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
        return (
            f"Take your sentence and {len(_LINES)} others, about trains, bread, banks. Most of them have nothing to do "
            "with each other, so their cosines should be near 0. Are they?"
        )

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in (self.case.text, *_LINES)])

    def ask(self) -> Sketch:
        chosen = options.spread(len(self.means), _MOST_LAYERS)
        labels = tuple("embeddings" if at == 0 else f"layer {at}" for at in chosen)
        truth = tuple(float(np.clip(self.means[at], 0, 1)) for at in chosen)

        def reply(drawn: Sequence[float]) -> str:
            return (
                f"You miss by {options.mean_gap(drawn, truth):.2f} on average. After the last layer the mean cosine is "
                f"{truth[-1]:.2f}."
            )

        return Sketch(
            "Draw the mean cosine of all pairs of these sentences, layer by layer.", labels, truth, reply, kind="curve"
        )

    def reveal(self) -> None:
        labels = ["embeddings" if at == 0 else f"layer {at}" for at in range(len(self.means))]
        label = "mean cosine of all pairs"
        pictures.shares("anisotropy", labels, [(label, [max(mean, 0.0) for mean in self.means])], written=".2f")

    def why(self) -> str:
        last = self.means[-1]
        verdict = (
            "vectors of unrelated sentences point partly the same way ([[anisotropy]], Ethayarajh 2019)"
            if last > _HIGH
            else "in this model there is little [[anisotropy]] (Ethayarajh 2019) in the last layer"
        )
        return (
            f"The mean goes from {self.means[0]:.2f} to {last:.2f}: {verdict}. Without the common component, the mean "
            f"and the strongest direction of the built-in pairs’ sentences, it is {self.removed[-1]:.2f} after the "
            "last layer. So compare a cosine with that of unrelated sentences; 0.7 may be high for one model and low "
            "for another."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {"layer": range(len(self.means)), "mean cosine": self.means, "common component removed": self.removed}
        )


class Trained(SentencesStep):
    title = "Siamese training"
    terms = ("siamese network", "semantic textual similarity")
    sources = (REIMERS, CER, GAO)

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
        return (
            "Sentence-BERT trains a **siamese** network: the same weights read both sentences of a pair, and the "
            "cosine of the two vectors should match a score that people gave. We do the smallest version: one matrix "
            f"after the last layer, {_STEPS} steps on {n} scored pairs. Test pairs are other ones."
        )

    def figure(self) -> None:
        rows = [
            {"sentence A": as_text(item.text), "sentence B": as_text(item.pair), "score (0 to 5)": f"{item.score:g}"}
            for item in _pairs("train")[:4]
        ]
        st.table(rows)

    def ask(self) -> Choice:
        return Choice(
            "How many different networks read the two sentences of a pair?",
            options.placed(
                0,
                Option("One: both are read with the same weights", "So similar inputs get similar vectors.", True),
                Option("Two, one for each side", "Then A against B would differ from B against A."),
                Option("None: the pair is read as one text", "That is a cross-encoder: accurate, but slow for search."),
            ),
        )

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
        changed = ("improved" if after > before else "got worse") if clear else "did not change clearly"
        return (
            f"The squared error on the training pairs fell from {losses[0]:.3f} to {losses[-1]:.3f}. The ranking of "
            f"the **test** pairs {changed}: Spearman’s ρ with the scores went from {before:.2f} ({low:.2f} to "
            f"{high:.2f}) to {after:.2f} ({lowest:.2f} to {highest:.2f}). A smaller error on pairs that were "
            "learned is not yet a better ranking of others; Sentence-BERT trains all weights, on hundreds of thousands "
            "of pairs (Reimers & Gurevych 2019)."
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
    title = "Search by meaning"
    terms = ("semantic search",)
    sources = (REIMERS,)

    @cached_property
    def ranked(self) -> list[tuple[str, float]]:
        """The app’s sentences by their cosine with the visitor’s in the last layer, the highest first."""
        vectors = self.vectors.of[self.vectors.usual][-1]
        similarities = cosines(vectors)[0, 1:]
        order = np.argsort(-similarities, kind="stable").tolist()
        return [(_LINES[place], float(similarities[place])) for place in order]

    def text(self) -> str:
        return (
            "[[Semantic search]]: turn every sentence into a vector once, turn the query into a vector, and sort by "
            f"cosine. No shared word is needed. Your sentence is the query: {quote(self.case.text)}"
        )

    def figure(self) -> None:
        st.table([{"sentence": as_text(text)} for text in _LINES])

    def ask(self) -> Choice:
        best, cosine = self.ranked[0]
        kept = sorted(self.ranked[:3] + self.ranked[-1:])

        def reply(text: str, value: float) -> str:
            return f"Its cosine is {value:.3f}" + (
                ", the highest." if text == best else f"; the highest is {cosine:.3f}."
            )

        return Choice(
            "Which of these sentences does this model find most similar to yours?",
            tuple(Option(as_text(text), reply(text, value), text == best) for text, value in kept),
        )

    def reveal(self) -> None:
        names = [text for text, _ in self.ranked]
        pictures.shares("search", names, [("cosine", [max(value, 0.0) for _, value in self.ranked])], written=".3f")

    def why(self) -> str:
        (best, first), (_, second), *_ = self.ranked
        return (
            f"{quote(best)} leads by {first - second:.3f}. A cosine says that vectors are similar, not that sentences "
            "mean the same: shared words and topics count, too. For real search use a model trained for it, such as "
            "all-MiniLM-L6-v2."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.ranked, columns=["sentence", "cosine"])


LESSON = Lesson(
    name="sentences",
    title="Sentences as vectors",
    question="How can sentences be compared and searched by meaning?",
    aims=(
        "make one vector of a sentence in three ways",
        "judge a cosine against anisotropy",
        "explain siamese training",
        "say how semantic search works",
    ),
    terms=("semantic search", "siamese network"),
    examples=(
        ("Why was the journey so slow?", ""),
        ("He put the loaf into the oven.", ""),
        ("Loans became cheaper this week.", ""),
    ),
    pages=("train",),
    steps=(
        Pooling,
        Anisotropy,
        Trained,
        Search,
        *recalled(
            "layers",
            Recall(
                "What is mean pooling?",
                (
                    Option("The mean of the vectors of all real tokens", "Padding is left out.", True),
                    Option("The mean of all layers", "It is over tokens, in one layer."),
                    Option("The vector of [CLS]", "That is another way."),
                ),
                "Pooling makes one vector of a sentence: the first token’s, the mean or the maximum over real tokens.",
            ),
            Recall(
                "Two sentences have a cosine of 0.8 in some model. Are they similar?",
                (
                    Option("Yes, 0.8 is high", "In some models all pairs are that high."),
                    Option("Compare with unrelated sentences first", "Anisotropy raises all cosines.", True),
                    Option("No, only 1 counts", "Only the same direction has 1."),
                ),
                "Vectors of a layer share directions (anisotropy), so compare a cosine with that of unrelated "
                "sentences.",
            ),
            Recall(
                "Why does a siamese network suit search?",
                (
                    Option("Each sentence is read once, by itself", "Its vector can be stored.", True),
                    Option("It reads every pair together", "That is a cross-encoder, too slow for many sentences."),
                    Option("It needs no training", "It is trained on scored pairs."),
                ),
                "A siamese network reads sentences one by one with the same weights, so vectors can be stored and "
                "searched.",
            ),
        ),
    ),
)
