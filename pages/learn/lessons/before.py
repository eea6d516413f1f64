"""Before attention: one vector for a whole sequence, what is lost in it, gradients that vanish, alignment by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property
from scipy import special

from model_zoo.errors import InvalidInput
from model_zoo.questions.read_recurrence import ReadRecurrence
from model_zoo.types import RecurrentPass
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson, spread
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
    weights: Vector = special.softmax(scores, axis=-1)
    return weights


class BeforeStep(Step):
    """A step about the bundled LSTM as it reads the visitor's text, whatever model is chosen."""

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
        return [typed[place] for place in spread(len(typed), _MOST)]

    def names(self, places: Sequence[int]) -> tuple[str, ...]:
        """The tokens at these places, with their numbers."""
        return tuple(f"{place + 1} · {self.read.encoding.tokens[place].lstrip('Ġ')}" for place in places)


class OneByOne(BeforeStep):
    def figure(self) -> None:
        places = self.drawn_places
        lengths = np.linalg.norm(self.read.states[places], axis=1)
        pictures.bars("states", {"token": self.names(places), "length of the vector after this token": lengths})

    def ask(self) -> Choice:
        n, width = self.read.states.shape
        return self.choice(n=n, n_pairs=n * n, width=width)

    def why(self) -> str:
        n, width = self.read.states.shape
        return self.say("why", n=n, width=width)

    def numbers(self) -> pd.DataFrame:
        lengths = np.linalg.norm(self.read.states, axis=1)
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the state": lengths})


class Bottleneck(BeforeStep):
    after = OneByOne

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
        chosen = spread(n, _MOST)
        start = len(self.read.encoding) - len(shares)
        return self.names([start + place for place in chosen]), np.minimum(shares[chosen], 1.0)

    def text(self) -> str:
        word, _ = self.changed
        first = self.case.text.strip().split(" ")[0]
        return self.say("text", first=first, word=word)

    def ask(self) -> Sketch:
        return self.sketch(*self.left, unit="%")

    def reply(self, compared: Mapping[str, Any]) -> str:
        names, truth = self.left
        below = next((name for name, share in zip(names, truth, strict=True) if share < _LITTLE), None)
        return self.say("reply_kept" if below is None else "reply", **compared, below=below, little=_LITTLE)

    def reveal(self) -> None:
        names, truth = self.left
        pictures.shares("left-of-the-first", {"token": names, "difference that is left": truth}, written=".0%")

    def why(self) -> str:
        _, truth = self.left
        return self.say("why", left_at_end=truth[-1])

    def numbers(self) -> pd.DataFrame:
        names, truth = self.left
        return pd.DataFrame({"token": names, "share left": truth})


class Vanishing(BeforeStep):
    @property
    def share(self) -> float:
        """The gradient at the first token that was typed, as a share of that at the last one."""
        lengths = self.read.gradients.astype(float)[self.typed]
        return float(lengths[0] / lengths[-1])

    def draw(self, name: str, places: list[int]) -> None:
        """Draw the gradients at these places."""
        columns = {"token": self.names(places), "length of the gradient": self.read.gradients[places]}
        pictures.bars(name, columns, written=".3f")

    def figure(self) -> None:
        self.draw("gradients-end", self.drawn_places[-3:])

    def reveal(self) -> None:
        self.draw("gradients", self.drawn_places)

    def why(self) -> str:
        return self.say("why", how=self.say("faded" if self.share < 0.9 else "short_text"))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the gradient": self.read.gradients})


class Alignment(Step):
    source = " ".join(_SOURCE)
    target = _TARGET[_AT]

    def figure(self) -> None:
        named = {"k of each source word": _KEYS, "q of each target word": _QUERIES}
        pictures.matrices("made-up", named, _SOURCE, ("animal", "action"), quantity="value", axes=("word", "number"))

    def ask(self) -> Choice:
        q, k = _QUERIES[_AT], _KEYS[1]
        return self.choice(q=q, k=k, first_product=q[0] * k[0], product=q @ k, sum_of_all=q.sum() + k.sum())

    def reveal(self) -> None:
        scores = {"multiplicative: q · k": multiplicative(), "additive: v · tanh(W q + U k + b)": additive()}
        named = {title: softmax(values) for title, values in scores.items()}
        pictures.matrices("alignment", named, _TARGET, _SOURCE, quantity="weight", axes=("target word", "source word"))

    def why(self) -> str:
        row, other = softmax(multiplicative())[_AT], softmax(additive())[_AT]
        shares = ", ".join(f"{row[place]:.0%} to “{word}”" for place, word in enumerate(_SOURCE))
        return self.say("why", shares=shares, additive=other[1])

    def numbers(self) -> pd.DataFrame:
        scores = np.stack([multiplicative(), additive()])
        pairs = pd.MultiIndex.from_product(
            [("multiplicative", "additive"), _TARGET, _SOURCE], names=["kind", "target", "source"]
        )
        return pairs.to_frame(index=False).assign(score=scores.ravel(), weight=softmax(scores).ravel())


class SoftMemory(Step):
    after = Alignment

    @property
    def context(self) -> Vector:
        """The mean of the source vectors, weighted for the word that is translated."""
        mean: Vector = softmax(multiplicative())[_AT] @ _KEYS
        return mean

    def reveal(self) -> None:
        names = (*_SOURCE, f"read for {_TARGET[_AT]}")
        named = {"vectors, and what is read": np.vstack([_KEYS, self.context])}
        pictures.matrices("context", named, names, ("animal", "action"), quantity="value", axes=("word", "number"))

    def why(self) -> str:
        context = self.context
        return self.say("why", target=_TARGET[_AT], context=context, animal=_KEYS[1, 0], action=_KEYS[1, 1])

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([*_KEYS, self.context], columns=["animal", "action"], index=[*_SOURCE, "read"])


LESSON = read_lesson(__file__, OneByOne, Bottleneck, Vanishing, Alignment, SoftMemory)
