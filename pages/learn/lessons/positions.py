"""How a model is told where tokens stand, and what it notices when words are shuffled."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.sentence_vectors import cosines
from analysis.sinusoids import frequencies, sinusoids, turned
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, MaskPrediction, PositionKind, Positions, signed
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Step
from ui import as_text, is_dark
from ui.glossary import quoted
from ui.sources import DEVLIN, RAFFEL, SALAZAR, SHAW, SU, VASWANI, WARNER
from viz.predictions import predictions
from web.engine import engine

_SHOWN: Final = 32  # positions in a picture
_COMPARED: Final = 16  # positions in each of two pictures
_WIDTH: Final = 64  # of the vectors that the formula makes here
_APART: Final = (0, 1, 2, 3, 4, 6, 8, 12, 16)
_SEED: Final = 3  # of the shuffle, the same for everybody
_SLACK: Final = 0.25  # bits a token that are no difference to speak of

Vector = npt.NDArray[np.float64]


class PositionsStep(Step):
    """A step about how a model is told where tokens stand."""

    @property
    def positions(self) -> Positions:
        """How this one is."""
        return engine().read_positions(self.case.model, _SHOWN)


_KINDS: Final[Mapping[PositionKind, tuple[str, str, str]]] = {
    "learned": (
        "A learned vector for each position is added to the embeddings",
        "BERT, RoBERTa and GPT-2 do so: a table with a row for every place up to the longest text.",
        "Its embeddings have no table of positions.",
    ),
    "rotary": (
        "Queries and keys are turned by an angle that grows with the position",
        "ModernBERT does so in every layer: rotary positions (Su et al. 2021, Warner et al. 2024).",
        "Its queries and keys are compared as the matrices make them, without being turned.",
    ),
    "relative": (
        "A number for the distance of two tokens is added to their score",
        "T5 does so (Raffel et al. 2020), in the line of Shaw et al. 2018: relative positions.",
        "Its scores have no such number added.",
    ),
    "none": (
        "Not by any table or angle that is known here",
        "An LSTM reads one word after the other, so order needs no table; XLNet and DeBERTa compare with vectors of "
        "distances.",
        "It is told, and you can see how.",
    ),
}


def _angles(theta: Vector | FloatArray) -> FloatArray:
    """The cosine of the angle by which each pair of numbers is turned, by place, (places, pairs)."""
    return np.cos(np.outer(np.arange(_SHOWN), theta)).astype(np.float32)


def _alike() -> list[float]:
    """How alike the formula's vectors are by their distance, 1 for the same place."""
    vectors = sinusoids(64, _WIDTH)
    first = vectors[20]
    return [float(vectors[20 + apart] @ first / (first @ first)) for apart in _APART]


class Told(PositionsStep):
    title = "How it is told"
    at = "embeddings"
    sources = (DEVLIN, SU, SHAW, RAFFEL, WARNER)

    def text(self) -> str:
        return (
            "Attention adds up values, and sums do not care for order: without help a transformer would read a text as "
            "a bag of words. So every such model brings in the [[position]] of each token somehow. How does this one "
            "do it?"
        )

    def figure(self) -> None:
        tokens = self.tokens[:_SHOWN]
        st.markdown(" ".join(f"`{place + 1}`&nbsp;{as_text(token)}" for place, token in enumerate(tokens)))

    def ask(self) -> Choice:
        kind = self.positions.kind
        unknown = "Nothing of that kind was found in this model."
        return Choice(
            "How is this model told where a token stands?",
            tuple(
                options.either(text, name == kind, right, unknown if kind == "none" else wrong)
                for name, (text, right, wrong) in _KINDS.items()
            ),
        )

    def reveal(self) -> None:
        found, what = self.positions, "cosine"
        if found.table is not None:
            named = ("learned vectors of positions", cosines(found.table))
        elif found.frequencies is not None:
            named = ("cosine of the angle, by position and pair", _angles(found.frequencies[0]))
        elif found.bias is not None:
            named, what = ("bias of head 1 by places", found.bias[0]), "added to the score"
        else:
            st.info("There is no table to show for this model.", icon=":material/block:")
            return
        pictures.matrices("positions", [named], what=what, signed=True)

    def why(self) -> str:
        found = self.positions
        if found.table is not None:
            alike, half = cosines(found.table), len(found.table) // 2
            near, far = (float(np.diagonal(alike, apart).mean()) for apart in (1, half))
            return (
                "Nobody told the table which places are neighbours: after training, neighbouring rows have a "
                f"[[cosine]] of {signed(near)} on average, rows {half} places apart {signed(far)}."
            )
        if found.frequencies is not None:
            slow, fast = (2 * np.pi / float(end) for end in (found.frequencies[0].min(), found.frequencies[0].max()))
            return (
                f"The first pair of dimensions turns once in {fast:.1f} positions, the last in {slow:,.0f}: quick "
                "hands for near places and slow ones for far places, like those of a clock."
            )
        if found.bias is not None:
            return "The number depends on the distance alone, so every diagonal of the picture has one colour."
        return "Order enters this model in another way, for example by reading word after word."

    def numbers(self) -> pd.DataFrame:
        found = self.positions
        if found.table is not None:
            return pd.DataFrame(found.table, columns=[str(at + 1) for at in range(found.table.shape[1])])
        if found.frequencies is not None:
            layers = [f"layer {at + 1}" for at in range(len(found.frequencies))]
            return pd.DataFrame(found.frequencies.T, columns=layers)
        if found.bias is not None:
            return pd.DataFrame(found.bias[0])
        return pd.DataFrame({"positions": [found.kind]})


class Sinusoids(PositionsStep):
    title = "Waves"
    at = "embeddings"
    sources = (VASWANI,)

    def text(self) -> str:
        return (
            "The first transformer learned no table: it used a formula. PE(pos, 2i) = sin(pos / 10000^(2i/k)), and cos "
            f"for the odd dimensions, of k in all; here k is {_WIDTH}. Low dimensions swing fast, high ones slowly."
        )

    def figure(self) -> None:
        table = sinusoids(_SHOWN, _WIDTH).astype(np.float32)
        pictures.matrices("sinusoids", [("PE: positions down, dimensions across", table)], what="PE", signed=True)

    def ask(self) -> Sketch:
        truth = tuple(_alike())
        names = tuple("the same place" if apart == 0 else f"{apart} apart" for apart in _APART)

        def reply(drawn: Sequence[float]) -> str:
            return (
                f"You are {options.mean_gap(drawn, truth):.2f} off, on average. It falls slowly: {truth[1]:.2f} at 1 "
                f"place apart, {truth[-1]:.2f} at {_APART[-1]} apart."
            )

        return Sketch(
            "Draw how alike the vectors of two places are (dot product, 1 for the same place).", names, truth, reply
        )

    def reveal(self) -> None:
        alike = cosines(sinusoids(_SHOWN, _WIDTH).astype(np.float32))
        pictures.matrices("sinusoids-alike", [("how alike two places are", alike)], what="likeness", signed=True)

    def why(self) -> str:
        vectors = sinusoids(64, _WIDTH)
        one, other = float(vectors[3] @ vectors[8]), float(vectors[33] @ vectors[38])
        return (
            f"The product depends on the distance alone: places 4 and 9 give {one:.4f}, places 34 and 39 give "
            f"{other:.4f}, which should make it easy to learn “five places back” once for all (Vaswani et al. 2017)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"places apart": _APART, "likeness": _alike()})


def _shuffled(text: str, kept: int | None = None) -> str:
    """The words of a text in another order, always the same; the one at ``kept`` stays where it is."""
    words = text.split()
    free = [place for place in range(len(words)) if place != kept]
    if len({words[place] for place in free}) < 2:
        raise InvalidInput("There are too few words to shuffle. Type a longer sentence, or take an example.")
    order = free.copy()
    dice = random.Random(_SEED)
    while [words[place] for place in order] == [words[place] for place in free]:
        dice.shuffle(order)
    mixed = words.copy()
    for place, source in zip(free, order, strict=True):
        mixed[place] = words[source]
    return " ".join(mixed)


def _bits(model: str, text: str) -> float:
    """The mean surprisal of a token."""
    logs = engine().token_scores(model, text).log_probabilities
    if not np.isfinite(logs).any():
        raise InvalidInput("There is nothing to guess in this text. Type a sentence of a few words.")
    return float(-np.nanmean(logs) / np.log(2))


class Turned(PositionsStep):
    title = "Only the distance"
    at = "heads"
    sources = (SU, SHAW, RAFFEL)

    @cached_property
    def pair(self) -> tuple[Vector, Vector, Vector]:
        """A query and a key (d,) as a head of this model makes them, and the angles: the model's own where it turns
        them.

        Of a model whose heads are not known part by part they are drawn at random.
        """
        found = engine().dissect(self.case.model, self.case.text)
        if found.weights is None:
            size = 32
            rng = np.random.default_rng(0)
            query, key = rng.normal(size=size), rng.normal(size=size)
        else:
            size = found.weights.query.shape[1]
            query = found.stage("query").values[self.followed][:size].astype(np.float64)
            key = found.stage("key").values[min(1, len(found.encoding) - 1)][:size].astype(np.float64)
        own = self.positions.frequencies
        theta = frequencies(size) if own is None else own[0].astype(np.float64)
        return query, key, theta

    def product(self, at: int, other: int) -> float:
        """The query at a place times the key at another, both turned."""
        query, key, theta = self.pair
        return float(turned(query, at, theta) @ turned(key, other, theta))

    def text(self) -> str:
        if self.positions.kind == "rotary":
            which = "This model turns them."
        elif engine().dissect(self.case.model, self.case.text).weights is None:
            which = "This model does neither; here a query and a key drawn at random are turned."
        else:
            which = "Here a query and a key of your model are turned, though it does not do so itself."
        return (
            "Some newer models add nothing to the embeddings. [[Rotary positions]]: queries and keys are turned, one "
            "pair of numbers after the other, by an angle that grows with the place. [[Relative positions]]: a number "
            f"for the distance is added to each score. {which}"
        )

    def figure(self) -> None:
        *_, theta = self.pair
        named = [("how far pairs are turned (across), by place (down)", _angles(theta))]
        pictures.matrices("angles", named, what="cosine of the angle", signed=True)

    def ask(self) -> Choice:
        before, after = self.product(2, 5), self.product(5, 8)
        told = f"At places 3 and 6 it is {signed(before, 4)}, at places 6 and 9 it is {signed(after, 4)}."
        return Choice(
            "A query and a key, both turned, move three places to the right. What happens to their product?",
            options.placed(
                2,
                Option(
                    "It stays exactly the same",
                    f"Both are turned further by the same angle, in every pair of numbers. {told}",
                    True,
                ),
                Option("It grows with the place", f"Each is turned further, but turning makes no arrow longer. {told}"),
                Option("It shrinks with the place", f"It may with the distance, but here the distance stays. {told}"),
            ),
        )

    def reveal(self) -> None:
        query, key, theta = self.pair
        places = range(_COMPARED)
        queries = np.array([turned(query, at, theta) for at in places])
        keys = np.array([turned(key, at, theta) for at in places])
        alike = queries @ keys.T / max(float(np.linalg.norm(query) * np.linalg.norm(key)), 1e-12)
        far = np.abs(np.subtract.outer(places, places)) / (_COMPARED - 1)
        named = {"rotary: cosine of q and k": alike, "relative: −distance (made up)": -far}
        both = [(name, values.astype(np.float32)) for name, values in named.items()]
        pictures.matrices("by-distance", both, what="value", signed=True)
        st.caption("Rows are the query’s place, columns the key’s. Every diagonal, one distance, has one colour.")

    def why(self) -> str:
        return (
            f"Three places apart give {signed(self.product(2, 5), 4)} wherever the two stand, seven apart "
            f"{signed(self.product(2, 9), 4)}: such scores tell distances and no places (Su et al. 2021; for numbers "
            "that are added, Shaw et al. 2018 and T5, Raffel et al. 2020)."
        )

    def numbers(self) -> pd.DataFrame:
        places = ((2, 5), (5, 8), (12, 15), (2, 9), (5, 12))
        rows = [(at + 1, other + 1, other - at, self.product(at, other)) for at, other in places]
        return pd.DataFrame(rows, columns=["query at place", "key at place", "places apart", "product"])


class Shuffled(PositionsStep):
    title = "Words shuffled"
    at = "guess"
    sources = (SALAZAR,)

    @cached_property
    def surprises(self) -> list[tuple[str, float, float]]:
        """For each model that ships with the app its name, and its bits a token in order and shuffled."""
        return [
            (name_of(spec.id), _bits(spec.id, self.case.text), _bits(spec.id, _shuffled(self.case.text)))
            for spec in registry.MODELS.values()
            if spec.hub_id is None and spec.mlm
        ]

    def text(self) -> str:
        return (
            f"Shuffle the words: {quoted(_shuffled(self.case.text))}. Each model that ships with this app hides one "
            "token after the other and guesses it from the rest. We count its mean [[surprisal]], −log₂ P of the right "
            "token, in order and shuffled."
        )

    def figure(self) -> None:
        st.markdown(f"In order: {quoted(self.case.text)}\n\nShuffled: {quoted(_shuffled(self.case.text))}")

    def ask(self) -> Choice:
        found = self.surprises
        worse = sum(shuffled - ordered > _SLACK for _, ordered, shuffled in found)
        told = f"{worse} of {len(found)} are surprised by more than {_SLACK} bits more a token."
        return Choice(
            f"How many of the {len(found)} models find the shuffled text more surprising (by more than {_SLACK} bits)?",
            (
                options.either("None of them", worse == 0, told, f"So it would be if all were blind to order. {told}"),
                options.either(
                    "Some of them",
                    0 < worse < len(found),
                    told,
                    f"They are told places in different ways, and yet: {told}",
                ),
                options.either(
                    "All of them", worse == len(found), told, f"On many sentences it is so, but not on this one. {told}"
                ),
            ),
        )

    def reveal(self) -> None:
        names, ordered, shuffled = zip(*self.surprises, strict=True)
        pictures.bars("shuffled", names, [("in order", ordered), ("shuffled", shuffled)])

    def why(self) -> str:
        most = max(self.surprises, key=lambda one: one[2] - one[1])
        return (
            f"A model that uses order expects other tokens once order is gone: here {most[0]} changes most, from "
            f"{most[1]:.2f} to {most[2]:.2f} bits a token; one sentence says little, and some words need no order to "
            "be guessed."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.surprises, columns=["model", "bits in order", "bits shuffled"])


class Blind(PositionsStep):
    title = "Positions taken away"
    at = "embeddings"

    @cached_property
    def blind(self) -> list[tuple[str, MaskPrediction]]:
        """The guesses at the followed word: as ever, without positions, and without positions and shuffled."""
        words = self.case.text.split()
        written = self.case.written(self.followed)
        before = self.case.text[: self.case.encoding.offsets[self.followed][0]]
        at = len(before.split()) - (0 if not before or before[-1].isspace() else 1)
        if not written or not 0 <= at < len(words) or written not in words[at]:
            raise InvalidInput("The followed token stands in no word. Follow another one.")
        if self.case.vocabulary.mask_id in self.case.encoding.ids:
            raise InvalidInput("There is a mask in this text already, and here one word is hidden. Take the mask away.")
        hidden = words.copy()
        hidden[at] = words[at].replace(written, "[MASK]", 1)
        # With a blank before the first word, so that every word is written alike wherever it stands.
        ordered, mixed = f" {' '.join(hidden)}", f" {_shuffled(' '.join(hidden), at)}"
        if sorted(engine().encode(self.case.model, ordered).ids) != sorted(engine().encode(self.case.model, mixed).ids):
            raise InvalidInput(
                "Shuffled, this text has other tokens. Take away signs between words, or take an example."
            )
        (usual,) = engine().fill_mask(self.case.model, ordered, 5)
        (without,) = engine().fill_without(self.case.model, ordered, without="positions", top_k=5)
        (shuffled,) = engine().fill_without(self.case.model, mixed, without="positions", top_k=5)
        return [("with positions", usual), ("no positions", without), ("no positions, shuffled", shuffled)]

    def text(self) -> str:
        return (
            f"Now take the positions away: tell the model that every token stands at the first place, and hide "
            f"{quoted(self.case.written(self.followed))}. Then shuffle the other words."
        )

    def figure(self) -> None:
        (_, usual), *_ = self.blind
        pictures.show("with-positions", predictions(usual, "With positions", dark=is_dark()))

    def ask(self) -> Choice:
        _, (_, without), (_, shuffled) = self.blind
        pairs = zip(without.best, shuffled.best, strict=True)
        apart = max(abs(one.probability - other.probability) for one, other in pairs)
        same = apart < 1e-4
        told = f"The probabilities of the five best guesses differ by at most {apart:.1e}.".replace("e-", "e−")
        return Choice(
            "Without positions, does shuffling the other words change the guess?",
            (
                options.either(
                    "Yes, the sentence makes no sense any more",
                    not same,
                    f"{told} By something else than their places it tells the words’ order.",
                    f"To us, who read from left to right. The model computes with a bag of tokens. {told}",
                ),
                options.either(
                    "No, the probabilities stay as they are",
                    same,
                    f"{told} That is rounding: the very same numbers are added up in another order.",
                    f"So it would be if places were all that tells the order. {told}",
                ),
            ),
        )

    def reveal(self) -> None:
        _, *blind = self.blind
        pictures.guesses([(name.capitalize(), answer) for name, answer in blind])

    def why(self) -> str:
        (_, usual), (_, without), _ = self.blind
        first = without.best[0].token
        learned = self.positions.kind == "learned" and self.case.encoding.special[0] and first == self.tokens[0]
        said = ", which alone ever stood at the first place in training" if learned else ""
        return (
            "Attention and the feed-forward network treat every place alike, so with equal positions only the set of "
            f"tokens is left; the best guess was {quoted(usual.best[0].token)} and is {quoted(first)} without "
            f"positions{said}, from a model that was never trained so."
        )

    def numbers(self) -> pd.DataFrame:
        rows = [(name, guess.token, guess.probability) for name, answer in self.blind for guess in answer.best]
        return pd.DataFrame(rows, columns=["model", "token", "probability"])


LESSON = Lesson(
    name="positions",
    title="Where am I?",
    question="How does a model know the order of words?",
    examples=(
        ("The dog ran into the garden and barked at the cat.", ""),
        ("She gave the old book to her friend because it was good.", ""),
    ),
    controls=("token",),
    pages=("compare",),
    steps=(Told, Sinusoids, Turned, Shuffled, Blind),
)
