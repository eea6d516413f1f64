"""How a model is told where tokens stand, and what it notices when words are shuffled."""

from __future__ import annotations

import random
from functools import partial
from typing import Final, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.sentence_vectors import cosines
from analysis.sinusoids import frequencies, sinusoids, turned
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, MaskPrediction, PositionKind, Positions
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui import as_text
from ui.glossary import quote
from viz.bars import predictions
from web.engine import engine

_SHOWN: Final = 32  # positions in a picture
_COMPARED: Final = 16  # positions in each of two pictures
_WIDTH: Final = 64  # of the vectors that the formula makes here
_APART: Final = (0, 1, 2, 3, 4, 6, 8, 12, 16)
_SEED: Final = 3  # of the shuffle, the same for everybody
_SLACK: Final = 0.25  # bits per token that are no difference to speak of

Vector = npt.NDArray[np.float64]


class PositionsStep(Step):
    """A step about how a model is told where tokens stand."""

    @property
    def positions(self) -> Positions:
        """How this one is."""
        return engine().read_positions(self.case.model, _SHOWN)


def _angles(theta: Vector | FloatArray) -> FloatArray:
    """The cosine of the angle by which each pair of numbers is turned, by place, (places, pairs)."""
    return np.cos(np.outer(np.arange(_SHOWN), theta)).astype(np.float32)


def _alike() -> list[float]:
    """How alike the formula's vectors are by their distance, 1 for the same place."""
    vectors = sinusoids(64, _WIDTH)
    first = vectors[20]
    return [float(vectors[20 + apart] @ first / (first @ first)) for apart in _APART]


class HowItKnows(PositionsStep):
    def check(self) -> None:
        super().check()
        len(self.tokens)  # which are drawn

    def figure(self) -> None:
        tokens = self.tokens[:_SHOWN]
        st.markdown(" ".join(f"`{place + 1}`&nbsp;{as_text(token)}" for place, token in enumerate(tokens)))

    def ask(self) -> Choice:
        kind, kinds = self.positions.kind, get_args(PositionKind)
        wrong = {f"not_{name}": self.say("unknown" if kind == "none" else f"no_{name}") for name in kinds}
        return self.choice(**{name: name == kind for name in kinds}, **wrong)

    def reveal(self) -> None:
        positions, quantity, axes = self.positions, "cosine", ("position", "position")
        if positions.table is not None:
            name, values = "learned vectors of positions", cosines(positions.table).astype(np.float32)
        elif positions.frequencies is not None:
            name, values = "cosine of the angle, by position and pair", _angles(positions.frequencies[0])
            axes = ("position", "pair")
        elif positions.bias is not None:
            name, values, quantity = "bias of head 1 by places", positions.bias[0], "added to the score"
        else:
            st.info("There is no table to show for this model.", icon=":material/block:")
            return
        pictures.matrices("positions", {name: values}, quantity=quantity, axes=axes, signed=True)

    def why(self) -> str:
        positions = self.positions
        if positions.table is not None:
            alike, half = cosines(positions.table), len(positions.table) // 2
            near, far = (float(np.diagonal(alike, apart).mean()) for apart in (1, half))
            return self.say("why table", near=near, half=half, far=far)
        if positions.frequencies is not None:
            theta = positions.frequencies[0].astype(np.float64)
            return self.say("why rotary", fast=2 * np.pi / theta.max(), slow=2 * np.pi / theta.min())
        return self.say("why" if positions.bias is None else "why bias")

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
    width = _WIDTH
    furthest = _APART[-1]

    def figure(self) -> None:
        named = {"PE": sinusoids(_SHOWN, _WIDTH)}
        pictures.matrices("sinusoids", named, quantity="PE", axes=("position", "dimension"), signed=True)

    def ask(self) -> Sketch:
        return self.sketch(("the same place" if apart == 0 else f"{apart} apart" for apart in _APART), _alike())

    def reveal(self) -> None:
        named = {"similarity of two places": cosines(sinusoids(_SHOWN, _WIDTH).astype(np.float32))}
        pictures.matrices("sinusoids-alike", named, quantity="cosine", axes=("place", "place"), signed=True)

    def why(self) -> str:
        vectors = sinusoids(64, _WIDTH)
        early, other = float(vectors[3] @ vectors[8]), float(vectors[33] @ vectors[38])
        return self.say("why", early=early, other=other)

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
        known = engine().dissect(self.case.model, self.case.text).weights is not None
        rotates = self.positions.kind == "rotary"
        return self.say("text", which=self.say("rotary" if rotates else "not_rotary" if known else "random"))

    def figure(self) -> None:
        *_, theta = self.pair
        named = {"rotation of each pair, by position": _angles(theta)}
        pictures.matrices("angles", named, quantity="cosine of the angle", axes=("position", "pair"), signed=True)

    def ask(self) -> Choice:
        return self.choice(before=self.product(2, 5), after=self.product(5, 8))

    def reveal(self) -> None:
        query, key, theta = self.pair
        places = range(_COMPARED)
        queries = np.array([turned(query, at, theta) for at in places])
        keys = np.array([turned(key, at, theta) for at in places])
        alike = queries @ keys.T / max(float(np.linalg.norm(query) * np.linalg.norm(key)), 1e-12)
        far = np.abs(np.subtract.outer(places, places)) / (_COMPARED - 1)
        named = {"rotary: cosine of q and k": alike, "relative: −distance (an example)": -far}
        pictures.matrices("by-distance", named, quantity="value", axes=("query’s place", "key’s place"), signed=True)
        st.caption(
            "Rows are the query’s position, columns the key’s. Each diagonal is one signed distance and has one colour."
        )

    def why(self) -> str:
        return self.say("why", three_apart=self.product(2, 5), seven_apart=self.product(2, 9))

    def numbers(self) -> pd.DataFrame:
        places = ((2, 5), (5, 8), (12, 15), (2, 9), (5, 12))
        rows = [(at + 1, other + 1, other - at, self.product(at, other)) for at, other in places]
        return pd.DataFrame(rows, columns=["query at place", "key at place", "places apart", "product"])


class Shuffled(PositionsStep):
    @cached_property
    def surprises(self) -> list[tuple[str, float, float]]:
        """For each model that ships with the app its name, and its bits per token in order and shuffled."""
        return [
            (name_of(spec.id), _bits(spec.id, self.case.text), _bits(spec.id, _shuffled(self.case.text)))
            for spec in registry.MODELS.values()
            if spec.hub_id is None and spec.mlm
        ]

    def text(self) -> str:
        return self.say("text", shuffled_text=_shuffled(self.case.text))

    def figure(self) -> None:
        st.markdown(f"In order: {quote(self.case.text)}\n\nShuffled: {quote(_shuffled(self.case.text))}")

    def ask(self) -> Choice:
        surprises = self.surprises
        worse = sum(shuffled - ordered > _SLACK for _, ordered, shuffled in surprises)
        return self.choice(
            n_surprises=len(surprises),
            slack=_SLACK,
            none=worse == 0,
            worse=worse,
            some=0 < worse < len(surprises),
            all=worse == len(surprises),
        )

    def reveal(self) -> None:
        pictures.bars("shuffled", pd.DataFrame(self.surprises, columns=["model", "in order", "shuffled"]))

    def why(self) -> str:
        return self.say("why", most=max(self.surprises, key=lambda model: model[2] - model[1]))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.surprises, columns=["model", "bits in order", "bits shuffled"])


class Blind(PositionsStep):
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
        return self.say("text", word=self.case.written(self.followed))

    def figure(self) -> None:
        (_, usual), *_ = self.blind
        pictures.show("with-positions", partial(predictions, usual, "With positions"))

    def ask(self) -> Choice:
        _, (_, without), (_, shuffled) = self.blind
        pairs = zip(without.best, shuffled.best, strict=True)
        apart = max(abs(prediction.probability - other.probability) for prediction, other in pairs)
        same = apart < 1e-4
        fact = self.say("fact", apart=apart).replace("e-", "e−")
        return self.choice(changed=not same, fact=fact, same=same)

    def reveal(self) -> None:
        _, *blind = self.blind
        pictures.guesses([(name.capitalize(), answer) for name, answer in blind])

    def why(self) -> str:
        (_, usual), (_, without), _ = self.blind
        first = without.best[0].token
        learned = self.positions.kind == "learned" and self.case.encoding.special[0] and first == self.tokens[0]
        addition = self.say("first_token") if learned else ""
        return self.say("why", usual=usual, first=first, addition=addition)

    def numbers(self) -> pd.DataFrame:
        rows = [(name, guess.token, guess.probability) for name, answer in self.blind for guess in answer.best]
        return pd.DataFrame(rows, columns=["model", "token", "probability"])


LESSON = read_lesson(__file__, HowItKnows, Sinusoids, Turned, Shuffled, Blind)
