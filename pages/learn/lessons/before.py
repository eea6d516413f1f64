"""Before attention: one vector for a whole sequence, what is lost in it, gradients that vanish, alignment by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property

from model_zoo.errors import InvalidInput
from model_zoo.questions.read_recurrence import ReadRecurrence
from model_zoo.types import RecurrentPass
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Place, Sketch, Step, read_lesson
from web.engine import engine

_LSTM: Final = "embedded/bilstm"
_MOST: Final = 12  # tokens that one draws over
_REPLACEMENTS: Final = ("Some", "My", "No", "A", "Those", "It", "Old")  # of the first word
_LITTLE: Final = 0.1

# A sentence and its translation, with vectors of two numbers that are made up: the first says how much a word is about
# an animal, the second how much about an action.
_SOURCE: Final = ("the", "cat", "sleeps")
_TARGET: Final = ("die", "Katze", "schläft")
_KEYS: Final = np.array([[0.2, 0.1], [2.0, 0.3], [0.1, 2.0]])
_QUERIES: Final = np.array([[0.6, 0.2], [2.0, 0.1], [0.2, 2.0]])
# Additive attention: v · tanh(W q + U k + b), with matrices that are small enough to follow. Bahdanau et al. leave b
# out of their formulas, as they do with every bias, so that these read better.
_W: Final = np.array([[1.0, 0.0], [0.0, 1.0]])
_U: Final = np.array([[1.0, 0.0], [0.0, 1.0]])
_B: Final = np.array([-3.0, -3.0])
_V: Final = np.array([2.0, 2.0])
_AT: Final = 1  # the word that is translated: Katze

Vector = npt.NDArray[np.float64]


def multiplicative() -> Vector:
    """Scores q · k of every target word with every source word (Luong et al. 2015), (targets, sources)."""
    scores: Vector = _QUERIES @ _KEYS.T
    return scores


def additive() -> Vector:
    """Scores v · tanh(W q + U k + b) (Bahdanau et al. 2015), (targets, sources)."""
    inside = np.tanh((_QUERIES @ _W.T)[:, None, :] + (_KEYS @ _U.T)[None, :, :] + _B)
    scores: Vector = inside @ _V
    return scores


def softmax(scores: Vector) -> Vector:
    """Rows that add up to 1."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Vector = raised / raised.sum(axis=-1, keepdims=True)
    return weights


class BeforeStep(Step):
    """A step about the bundled LSTM as it reads the visitor's text, whatever model is chosen."""

    at: ClassVar[Place] = "embeddings"

    @cached_property
    def read(self) -> RecurrentPass:
        """The text as the LSTM reads it. Raises InvalidInput where there is too little to read."""
        reading = engine().ask(ReadRecurrence(_LSTM, self.case.text))
        if len(reading.encoding) < 4:
            raise InvalidInput("This text is too short to see what is forgotten. Type a sentence.")
        return reading

    @property
    def typed(self) -> list[int]:
        """The places of the tokens that were typed."""
        return [place for place, special in enumerate(self.read.encoding.special) if not special]

    @property
    def drawn_places(self) -> list[int]:
        """Places to draw over: at most a dozen of those that were typed, the first and the last among them."""
        typed = self.typed
        return [typed[place] for place in options.spread(len(typed), _MOST)]

    def names(self, places: Sequence[int]) -> tuple[str, ...]:
        """The tokens at these places, with their numbers."""
        return tuple(f"{place + 1} · {self.read.encoding.tokens[place].lstrip('Ġ')}" for place in places)


class OneByOne(BeforeStep):
    def figure(self) -> None:
        places = self.drawn_places
        lengths = np.linalg.norm(self.read.states[places], axis=1).tolist()
        pictures.bars("states", self.names(places), [("length of the vector after this token", lengths)])

    def ask(self) -> Choice:
        n, width = self.read.states.shape
        return self.choice(n=n, n_pairs=n * n, width=width)

    def reveal(self) -> None:
        self.figure()

    def why(self) -> str:
        n, width = self.read.states.shape
        return self.say("why", n=n, width=width)

    def numbers(self) -> pd.DataFrame:
        lengths = np.linalg.norm(self.read.states, axis=1)
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the state": lengths})


class Bottleneck(BeforeStep):
    @cached_property
    def changed(self) -> tuple[str, Vector]:
        """Another first word, and what of the change is left after each token from the first on, as a share of the
        change right after it. Raises InvalidInput where no other word has as many tokens.
        """
        original = self.read
        first, _, rest = self.case.text.strip().partition(" ")
        if not rest:
            raise InvalidInput("This needs at least two words with a space between them. Type a sentence.")
        for word in _REPLACEMENTS:
            if word.lower() == first.lower():
                continue
            other = engine().ask(ReadRecurrence(_LSTM, f"{word} {rest}"))
            same = [id == two for id, two in zip(original.encoding.ids, other.encoding.ids, strict=False)]
            if len(other.encoding) == len(original.encoding) and same.count(False) == 1:
                at = same.index(False)
                apart = np.linalg.norm(original.states.astype(float) - other.states.astype(float), axis=1)[at:]
                return word, apart / apart[0]
        raise InvalidInput("The first word of this text has several tokens. Begin with a short word, such as “The”.")

    @property
    def left(self) -> tuple[tuple[str, ...], Vector]:
        """The tokens that are shown, and what is left after each, at most 1."""
        _, shares = self.changed
        n = len(shares) - (1 if self.read.encoding.special[-1] else 0)
        chosen = options.spread(n, _MOST)
        start = len(self.read.encoding) - len(shares)
        return self.names([start + place for place in chosen]), np.minimum(shares[chosen], 1.0)

    def text(self) -> str:
        word, _ = self.changed
        first = self.case.text.strip().split(" ")[0]
        return self.say("text", first=first, word=word)

    def figure(self) -> None:
        OneByOne(self.case).figure()

    def ask(self) -> Sketch:
        names, truth = self.left

        def reply(drawn: Sequence[float]) -> str:
            below = next((name for name, share in zip(names, truth, strict=True) if share < _LITTLE), None)
            if below is None:
                return self.say("reply_kept", gap=options.mean_gap(drawn, truth.tolist()), left_at_end=truth[-1])
            return self.say(
                "reply",
                gap=options.mean_gap(drawn, truth.tolist()),
                below=below,
                little=_LITTLE,
                left_at_end=truth[-1],
            )

        return Sketch(self.say("ask"), names, tuple(truth.tolist()), reply, unit="%")

    def reveal(self) -> None:
        names, truth = self.left
        pictures.shares("left-of-the-first", names, [("difference that is left", truth.tolist())], written=".0%")

    def why(self) -> str:
        _, truth = self.left
        return self.say("why", left_at_end=truth[-1])

    def numbers(self) -> pd.DataFrame:
        names, truth = self.left
        return pd.DataFrame({"token": names, "share left": truth})


class Vanishing(BeforeStep):
    @property
    def shares(self) -> Vector:
        """The gradient at each token that was typed, as a share of that at the last one."""
        lengths = self.read.gradients.astype(float)[self.typed]
        shares: Vector = lengths / lengths[-1]
        return shares

    def figure(self) -> None:
        places = self.drawn_places[-3:]
        lengths = self.read.gradients[places].tolist()
        pictures.bars("gradients-end", self.names(places), [("length of the gradient", lengths)], written=".3f")

    def ask(self) -> Choice:
        share = float(self.shares[0])

        return self.choice(share=share)

    def reveal(self) -> None:
        places = self.drawn_places
        lengths = self.read.gradients[places].tolist()
        pictures.bars("gradients", self.names(places), [("length of the gradient", lengths)], written=".3f")

    def why(self) -> str:
        share = float(self.shares[0])
        how = self.say("faded") if share < 0.9 else self.say("short_text")
        return self.say("why", share=share, how=how)

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the gradient": self.read.gradients})


class Alignment(Step):
    at = "heads"

    def text(self) -> str:
        return self.say("text", source=" ".join(_SOURCE), target=_TARGET[_AT])

    def figure(self) -> None:
        named = [
            ("k of each source word", _KEYS.astype(np.float32)),
            ("q of each target word", _QUERIES.astype(np.float32)),
        ]
        pictures.matrices("made-up", named, _SOURCE, ("animal", "action"), quantity="value", axes=("word", "number"))

    def ask(self) -> Choice:
        q, k = _QUERIES[_AT], _KEYS[1]
        return self.choice(
            target=_TARGET[_AT], q=q, k=k, first_product=q[0] * k[0], product=q @ k, sum_of_all=q.sum() + k.sum()
        )

    def reveal(self) -> None:
        named = [
            ("multiplicative: q · k", softmax(multiplicative()).astype(np.float32)),
            ("additive: v · tanh(W q + U k + b)", softmax(additive()).astype(np.float32)),
        ]
        pictures.matrices("alignment", named, _TARGET, _SOURCE, quantity="weight", axes=("target word", "source word"))

    def why(self) -> str:
        row, other = softmax(multiplicative())[_AT], softmax(additive())[_AT]
        shares = ", ".join(f"{row[place]:.0%} to “{word}”" for place, word in enumerate(_SOURCE))
        return self.say("why", target=_TARGET[_AT], shares=shares, additive=other[1])

    def numbers(self) -> pd.DataFrame:
        rows = []
        for kind, scores in (("multiplicative", multiplicative()), ("additive", additive())):
            weights = softmax(scores)
            for target, word in enumerate(_TARGET):
                for source, other in enumerate(_SOURCE):
                    rows.append((kind, word, other, scores[target, source], weights[target, source]))
        return pd.DataFrame(rows, columns=["kind", "target", "source", "score", "weight"])


class SoftMemory(Step):
    at = "heads"

    @property
    def context(self) -> Vector:
        """The mean of the source vectors, weighted for the word that is translated."""
        mean: Vector = softmax(multiplicative())[_AT] @ _KEYS
        return mean

    def figure(self) -> None:
        Alignment(self.case).reveal()

    def reveal(self) -> None:
        rows = np.vstack([_KEYS, self.context]).astype(np.float32)
        names = (*_SOURCE, f"read for {_TARGET[_AT]}")
        named = [("vectors, and what is read", rows)]
        pictures.matrices("context", named, names, ("animal", "action"), quantity="value", axes=("word", "number"))

    def why(self) -> str:
        context = self.context
        return self.say("why", target=_TARGET[_AT], context=context, animal=_KEYS[1, 0], action=_KEYS[1, 1])

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([*_KEYS, self.context], columns=["animal", "action"], index=[*_SOURCE, "read"])


LESSON = read_lesson(__file__, OneByOne, Bottleneck, Vanishing, Alignment, SoftMemory)
