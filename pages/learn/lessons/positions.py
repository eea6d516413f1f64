"""How a model is told where tokens stand, and what it notices when words are shuffled."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.sentence_vectors import cosines
from analysis.sinusoids import frequencies, sinusoids, turned
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, MaskPrediction, PositionKind, Positions, signed
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui import as_text
from ui.glossary import quote
from ui.sources import DEVLIN, HAVIV, RAFFEL, SALAZAR, SHAW, SU, VASWANI, WARNER
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
        "BERT, RoBERTa and GPT-2 do this: a table with a row for every place up to the longest text.",
        "Its embeddings have no table of positions.",
    ),
    "rotary": (
        "Queries and keys are rotated by an angle that grows with the position",
        "ModernBERT does this in every layer: rotary positions (Su et al. 2021, Warner et al. 2024).",
        "Its queries and keys are compared as the matrices make them, without rotation.",
    ),
    "relative": (
        "A number for the distance of two tokens is added to their score",
        "T5 does this (Raffel et al. 2020), following Shaw et al. 2018: relative positions.",
        "Its scores have no such number added.",
    ),
    "none": (
        "Not by any table or angle that is known here",
        "An LSTM reads one word after another, so order needs no table; XLNet and DeBERTa use vectors of distances.",
        "It is, and you can see how.",
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
    title = "How it knows"
    terms = ("position encoding",)
    at = "embeddings"
    sources = (DEVLIN, SU, SHAW, RAFFEL, WARNER, HAVIV)

    def text(self) -> str:
        return (
            "Attention adds up values, and sums do not depend on order: a bidirectional transformer without "
            "positions would read a text as a bag of words. (Causal ones can infer order from the mask, Haviv et al. "
            "2022.) How does this model bring in the [[position]] of each token?"
        )

    def check(self) -> None:
        super().check()
        len(self.tokens)  # which are drawn

    def figure(self) -> None:
        tokens = self.tokens[:_SHOWN]
        st.markdown(" ".join(f"`{place + 1}`&nbsp;{as_text(token)}" for place, token in enumerate(tokens)))

    def ask(self) -> Choice:
        kind = self.positions.kind
        unknown = "Nothing of that kind was found in this model."
        return Choice(
            "How does this model know the position of a token?",
            tuple(
                options.either(text, name == kind, right, unknown if kind == "none" else wrong)
                for name, (text, right, wrong) in _KINDS.items()
            ),
        )

    def reveal(self) -> None:
        positions, value, axes = self.positions, "cosine", ("position", "position")
        if positions.table is not None:
            named = ("learned vectors of positions", cosines(positions.table).astype(np.float32))
        elif positions.frequencies is not None:
            named = ("cosine of the angle, by position and pair", _angles(positions.frequencies[0]))
            axes = ("position", "pair")
        elif positions.bias is not None:
            named, value = ("bias of head 1 by places", positions.bias[0]), "added to the score"
        else:
            st.info("There is no table to show for this model.", icon=":material/block:")
            return
        pictures.matrices("positions", [named], quantity=value, axes=axes, signed=True)

    def why(self) -> str:
        positions = self.positions
        if positions.table is not None:
            alike, half = cosines(positions.table), len(positions.table) // 2
            near, far = (float(np.diagonal(alike, apart).mean()) for apart in (1, half))
            return (
                "Nobody told the table which places are neighbours: after training, neighbouring rows have a mean "
                f"[[cosine]] of {signed(near)}, rows {half} places apart {signed(far)}."
            )
        if positions.frequencies is not None:
            slow, fast = (
                2 * np.pi / float(end) for end in (positions.frequencies[0].min(), positions.frequencies[0].max())
            )
            return (
                f"The first pair of dimensions makes a full turn in {fast:.1f} positions, the last in {slow:,.0f}: "
                "like the hands of a clock, fast ones tell near places apart and slow ones far places."
            )
        if positions.bias is not None:
            return "The number depends only on the signed distance, so every diagonal of the picture has one colour."
        return "Order enters this model in another way, for example by reading one word after another."

    def numbers(self) -> pd.DataFrame:
        positions = self.positions
        if positions.table is not None:
            return pd.DataFrame(positions.table, columns=[str(at + 1) for at in range(positions.table.shape[1])])
        if positions.frequencies is not None:
            layers = [f"layer {at + 1}" for at in range(len(positions.frequencies))]
            return pd.DataFrame(positions.frequencies.T, columns=layers)
        if positions.bias is not None:
            return pd.DataFrame(positions.bias[0])
        return pd.DataFrame({"positions": [positions.kind]})


class Sinusoids(PositionsStep):
    title = "Sine waves"
    at = "embeddings"
    sources = (VASWANI,)

    def text(self) -> str:
        return (
            "The first transformer used a formula instead of a learned table (its authors found both equally good): "
            "PE(pos, 2i) = sin(pos / 10000^(2i/k)), and cos for the odd dimensions, of k in total; here k is "
            f"{_WIDTH}. Low dimensions oscillate fast, high ones slowly."
        )

    def figure(self) -> None:
        table = sinusoids(_SHOWN, _WIDTH).astype(np.float32)
        pictures.matrices("sinusoids", [("PE", table)], quantity="PE", axes=("position", "dimension"), signed=True)

    def ask(self) -> Sketch:
        truth = tuple(_alike())
        names = tuple("the same place" if apart == 0 else f"{apart} apart" for apart in _APART)

        def reply(drawn: Sequence[float]) -> str:
            return (
                f"You miss by {options.mean_gap(drawn, truth):.2f} on average. It falls slowly: {truth[1]:.2f} at 1 "
                f"place apart, {truth[-1]:.2f} at {_APART[-1]} apart."
            )

        return Sketch(
            "Draw how similar the vectors of two places are (dot product, 1 for the same place).", names, truth, reply
        )

    def reveal(self) -> None:
        alike = cosines(sinusoids(_SHOWN, _WIDTH).astype(np.float32)).astype(np.float32)
        named = [("similarity of two places", alike)]
        pictures.matrices("sinusoids-alike", named, quantity="cosine", axes=("place", "place"), signed=True)

    def why(self) -> str:
        vectors = sinusoids(64, _WIDTH)
        early, other = float(vectors[3] @ vectors[8]), float(vectors[33] @ vectors[38])
        return (
            f"The product depends only on the distance: places 4 and 9 give {early:.4f}, places 34 and 39 give "
            f"{other:.4f}. The authors hoped this would make “five places back” easy to learn for all places at once "
            "(Vaswani et al. 2017)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"places apart": _APART, "similarity": _alike()})


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
        raise InvalidInput("There is nothing to predict in this text. Type a sentence of a few words.")
    return float(-np.nanmean(logs) / np.log(2))


class Turned(PositionsStep):
    title = "Only the distance counts"
    terms = ("rotary positions", "relative positions")
    at = "heads"
    sources = (SU, SHAW, RAFFEL)

    @cached_property
    def pair(self) -> tuple[Vector, Vector, Vector]:
        """A query and a key (d,) as a head of this model makes them, and the angles: the model's own where it turns
        them.

        Of a model whose heads are not known part by part they are drawn at random.
        """
        anatomy = engine().dissect(self.case.model, self.case.text)
        if anatomy.weights is None:
            size = 32
            rng = np.random.default_rng(0)
            query, key = rng.normal(size=size), rng.normal(size=size)
        else:
            size = anatomy.weights.query.shape[1]
            query = anatomy.stage("query").values[self.followed][:size].astype(np.float64)
            key = anatomy.stage("key").values[min(1, len(anatomy.encoding) - 1)][:size].astype(np.float64)
        frequencies_of_model = self.positions.frequencies
        theta = frequencies(size) if frequencies_of_model is None else frequencies_of_model[0].astype(np.float64)
        return query, key, theta

    def product(self, at: int, other: int) -> float:
        """The query at a place times the key at another, both turned."""
        query, key, theta = self.pair
        return float(turned(query, at, theta) @ turned(key, other, theta))

    def text(self) -> str:
        if self.positions.kind == "rotary":
            which = "This model does."
        elif engine().dissect(self.case.model, self.case.text).weights is None:
            which = "This model does neither; here a random query and a random key are rotated."
        else:
            which = "Here a query and a key of your model are rotated, though the model itself does not do this."
        return (
            "Some models add no positions to the embeddings. [[Rotary positions]]: queries and keys are rotated, "
            "pair of numbers by pair, by an angle that grows with the position. [[Relative positions]]: a number for "
            f"the signed distance is added to each score. {which}"
        )

    def figure(self) -> None:
        *_, theta = self.pair
        named = [("rotation of each pair, by position", _angles(theta))]
        pictures.matrices("angles", named, quantity="cosine of the angle", axes=("position", "pair"), signed=True)

    def ask(self) -> Choice:
        before, after = self.product(2, 5), self.product(5, 8)
        fact = f"At positions 3 and 6 it is {signed(before, 4)}, at positions 6 and 9 it is {signed(after, 4)}."
        return Choice(
            "A rotated query and a rotated key both move three places to the right. What happens to their product?",
            options.placed(
                2,
                Option(
                    "It stays exactly the same",
                    f"Both are rotated by the same extra angle, in every pair of numbers. {fact}",
                    True,
                ),
                Option(
                    "It grows with the position",
                    f"Each is rotated further, but rotation makes no vector longer. {fact}",
                ),
                Option(
                    "It shrinks with the position",
                    f"It may shrink with the distance, but here the distance stays the same. {fact}",
                ),
            ),
        )

    def reveal(self) -> None:
        query, key, theta = self.pair
        places = range(_COMPARED)
        queries = np.array([turned(query, at, theta) for at in places])
        keys = np.array([turned(key, at, theta) for at in places])
        alike = queries @ keys.T / max(float(np.linalg.norm(query) * np.linalg.norm(key)), 1e-12)
        far = np.abs(np.subtract.outer(places, places)) / (_COMPARED - 1)
        named = {"rotary: cosine of q and k": alike, "relative: −distance (an example)": -far}
        both = [(name, values.astype(np.float32)) for name, values in named.items()]
        pictures.matrices("by-distance", both, quantity="value", axes=("query’s place", "key’s place"), signed=True)
        st.caption(
            "Rows are the query’s position, columns the key’s. Each diagonal is one signed distance and has one colour."
        )

    def why(self) -> str:
        return (
            f"Three places apart the product is {signed(self.product(2, 5), 4)} wherever the two are, seven apart "
            f"{signed(self.product(2, 9), 4)}: such scores depend on signed distances, not on places (Su et al. 2021; "
            "for numbers that are added, Shaw et al. 2018 and T5, Raffel et al. 2020)."
        )

    def numbers(self) -> pd.DataFrame:
        places = ((2, 5), (5, 8), (12, 15), (2, 9), (5, 12))
        rows = [(at + 1, other + 1, other - at, self.product(at, other)) for at, other in places]
        return pd.DataFrame(rows, columns=["query at place", "key at place", "places apart", "product"])


class Shuffled(PositionsStep):
    title = "Words shuffled"
    terms = ("surprisal",)
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
            f"Shuffle the words: {quote(_shuffled(self.case.text))}. For each bundled model, every token is masked "
            "in turn and predicted from the rest. We compare the mean [[surprisal]], −log₂ P of the original token, "
            "in order and shuffled."
        )

    def figure(self) -> None:
        st.markdown(f"In order: {quote(self.case.text)}\n\nShuffled: {quote(_shuffled(self.case.text))}")

    def ask(self) -> Choice:
        surprises = self.surprises
        worse = sum(shuffled - ordered > _SLACK for _, ordered, shuffled in surprises)
        fact = f"For {worse} of {len(surprises)} the surprisal rises by more than {_SLACK} bits a token."
        return Choice(
            f"How many of the {len(surprises)} models find the shuffled text more surprising (by more than {_SLACK} "
            "bits)?",
            (
                options.either(
                    "None of them", worse == 0, fact, f"That would mean that all are blind to order. {fact}"
                ),
                options.either(
                    "Some of them",
                    0 < worse < len(surprises),
                    fact,
                    f"They handle positions in different ways, and yet: {fact}",
                ),
                options.either(
                    "All of them",
                    worse == len(surprises),
                    fact,
                    f"That is true of many sentences, but not of this one. {fact}",
                ),
            ),
        )

    def reveal(self) -> None:
        names, ordered, shuffled = zip(*self.surprises, strict=True)
        pictures.bars("shuffled", names, [("in order", ordered), ("shuffled", shuffled)])

    def why(self) -> str:
        most = max(self.surprises, key=lambda model: model[2] - model[1])
        return (
            f"A model that uses order predicts differently once the order is gone: here {most[0]} changes most, from "
            f"{most[1]:.2f} to {most[2]:.2f} bits a token. One sentence says little, and some words can be predicted "
            "without any order."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.surprises, columns=["model", "bits in order", "bits shuffled"])


class Blind(PositionsStep):
    title = "Without positions"
    at = "embeddings"

    @cached_property
    def blind(self) -> list[tuple[str, MaskPrediction]]:
        """The guesses at the followed word: as ever, without positions, and without positions and shuffled."""
        words = self.case.text.split()
        written = self.case.written(self.followed)
        before = self.case.text[: self.case.encoding.offsets[self.followed][0]]
        at = len(before.split()) - (0 if not before or before[-1].isspace() else 1)
        if not written or not 0 <= at < len(words) or written not in words[at]:
            raise InvalidInput("The followed token is not part of a word. Follow another one.")
        if self.case.vocabulary.mask_id in self.case.encoding.ids:
            raise InvalidInput("There is a mask in this text already, and here one word is masked. Remove the mask.")
        hidden = words.copy()
        hidden[at] = words[at].replace(written, "[MASK]", 1)
        # With a blank before the first word, so that every word is written alike wherever it stands.
        ordered, mixed = f" {' '.join(hidden)}", f" {_shuffled(' '.join(hidden), at)}"
        if sorted(engine().encode(self.case.model, ordered).ids) != sorted(engine().encode(self.case.model, mixed).ids):
            raise InvalidInput(
                "Shuffled, this text has different tokens. Remove punctuation between words, or take an example."
            )
        (usual,) = engine().fill_mask(self.case.model, ordered, 5)
        (without,) = engine().fill_without(self.case.model, ordered, without="positions", top_k=5)
        (shuffled,) = engine().fill_without(self.case.model, mixed, without="positions", top_k=5)
        return [("with positions", usual), ("no positions", without), ("no positions, shuffled", shuffled)]

    def text(self) -> str:
        return (
            "Now remove the positions: give every token the first position, let every layer attend to all of them, and "
            f"mask {quote(self.case.written(self.followed))}. Then shuffle the other words."
        )

    def figure(self) -> None:
        (_, usual), *_ = self.blind
        pictures.show("with-positions", partial(predictions, usual, "With positions"))

    def ask(self) -> Choice:
        _, (_, without), (_, shuffled) = self.blind
        pairs = zip(without.best, shuffled.best, strict=True)
        apart = max(abs(prediction.probability - other.probability) for prediction, other in pairs)
        same = apart < 1e-4
        fact = f"The probabilities of the top five predictions differ by at most {apart:.1e}.".replace("e-", "e−")
        return Choice(
            "Without positions, does shuffling the other words change the prediction?",
            (
                options.either(
                    "Yes, the sentence makes no sense any more",
                    not same,
                    f"{fact} It learns word order from something other than positions.",
                    f"Not to us, who read from left to right. The model computes with a bag of tokens. {fact}",
                ),
                options.either(
                    "No, the probabilities stay the same",
                    same,
                    f"{fact} That is rounding: the same numbers are added up in another order.",
                    f"That would be true if positions were the only source of order. {fact}",
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
        addition = ", the only token that was ever first in training" if learned else ""
        return (
            "Attention and the feed-forward network treat every place the same, so with equal positions only the set "
            f"of tokens is left; the top prediction was {quote(usual.best[0].token)} and is {quote(first)} without "
            f"positions{addition}, from a model that was never trained this way."
        )

    def numbers(self) -> pd.DataFrame:
        rows = [(name, guess.token, guess.probability) for name, answer in self.blind for guess in answer.best]
        return pd.DataFrame(rows, columns=["model", "token", "probability"])


LESSON = Lesson(
    name="positions",
    title="Word order",
    question="How does a model know the order of words?",
    examples=(
        ("The dog ran into the garden and barked at the cat.", ""),
        ("She gave the old book to her friend because it was good.", ""),
    ),
    controls=("token",),
    pages=("compare",),
    aims=(
        "say why a bidirectional transformer needs positions",
        "name three ways to bring them in",
        "predict what shuffling does to a model with and without positions",
    ),
    terms=("position encoding",),
    steps=(
        Told,
        Sinusoids,
        Turned,
        Shuffled,
        Blind,
        *recalled(
            "embeddings",
            Recall(
                "Why does BERT need position vectors?",
                (
                    Option(
                        "Attention is a sum, and sums have no order",
                        "Without them a sentence would be a bag of words.",
                        True,
                    ),
                    Option("Because texts have different lengths", "Length alone needs no positions."),
                    Option("To find the end of a sentence", "That is what [SEP] marks."),
                ),
                "Attention adds up values, and a sum has no order, so a bidirectional transformer needs positions.",
            ),
            Recall(
                "What do rotary positions rotate?",
                (
                    Option("The embeddings, once at the start", "Nothing is added or rotated there."),
                    Option("Queries and keys, in every layer", "So scores depend on the signed distance.", True),
                    Option("The order of the words", "The words stay where they are."),
                ),
                "Positions can be learned vectors or sine waves that are added, rotations of queries and keys, or "
                "numbers added to scores.",
            ),
            Recall(
                "All tokens get the same position. What does shuffling the words then change?",
                (
                    Option(
                        "Nothing but rounding, in a bidirectional transformer",
                        "The same set of vectors goes in.",
                        True,
                    ),
                    Option("Everything", "There is nothing left that knows the order."),
                    Option("Only the first word", "No place is special any more."),
                ),
                "With equal positions only the set of tokens is left, and shuffling changes nothing.",
            ),
        ),
    ),
)
