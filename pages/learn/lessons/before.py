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
from pages.learn.lesson import Choice, Lesson, Option, Place, Recall, Sketch, Step, recalled
from ui.glossary import quote
from ui.sources import BAHDANAU, BENGIO, CHO, ELMAN, HOCHREITER, LUONG, SUTSKEVER, VASWANI
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
    title = "One word after another"
    terms = ("recurrent network", "LSTM")
    sources = (ELMAN, HOCHREITER)

    def text(self) -> str:
        return (
            "Before transformers, a [[recurrent network]] read a text token by token. It carried one vector along: "
            "after each token, the new vector is computed from the old one and the token. An [[LSTM]] has gates that "
            "decide what to keep. This lesson always uses the bundled LSTM."
        )

    def figure(self) -> None:
        places = self.drawn_places
        lengths = np.linalg.norm(self.read.states[places], axis=1).tolist()
        pictures.bars("states", self.names(places), [("length of the vector after this token", lengths)])

    def ask(self) -> Choice:
        n, width = self.read.states.shape
        return Choice(
            f"Your text has {n} tokens. How many steps must be done, one after another, before the last vector is "
            "known?",
            options.numbers(
                (n, "One for each token: each step needs the result of the one before."),
                (1, "That is a transformer’s layer: it computes all tokens at once."),
                (n * n, "That is how many pairs attention compares, and it compares them at once."),
                (width, "That is how many numbers the vector has."),
            ),
        )

    def reveal(self) -> None:
        self.figure()

    def why(self) -> str:
        n, width = self.read.states.shape
        return (
            f"Each step waits for the one before, so {n} tokens take {n} steps however many processors there are; and "
            f"whatever the text says has to fit into {width} numbers."
        )

    def numbers(self) -> pd.DataFrame:
        lengths = np.linalg.norm(self.read.states, axis=1)
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the state": lengths})


class Bottleneck(BeforeStep):
    title = "What is left of the first word"
    terms = ("bottleneck",)
    sources = (CHO, SUTSKEVER)

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
        return (
            f"A [[bottleneck]]: everything the LSTM knows of the text is in one vector. Replace {quote(first)} by "
            f"{quote(word)}. How far apart are the two vectors after each later token? Right after the first word the "
            "difference counts as 100%."
        )

    def figure(self) -> None:
        OneByOne(self.case).figure()

    def ask(self) -> Sketch:
        names, truth = self.left

        def reply(drawn: Sequence[float]) -> str:
            below = next((name for name, share in zip(names, truth, strict=True) if share < _LITTLE), None)
            start = f"You miss by {options.mean_gap(drawn, truth.tolist()):.0%} on average. "
            if below is None:
                return f"{start}At the end {truth[-1]:.0%} is left."
            return f"{start}At {quote(below)} it is below {_LITTLE:.0%} for the first time; at the end {truth[-1]:.0%}."

        return Sketch(
            "Draw how much of the difference is left after each token.", names, tuple(truth.tolist()), reply, unit="%"
        )

    def reveal(self) -> None:
        names, truth = self.left
        pictures.shares("left-of-the-first", names, [("difference that is left", truth.tolist())], written=".0%")

    def why(self) -> str:
        _, truth = self.left
        return (
            f"After the last word {truth[-1]:.0%} of the difference is left: new words write over old ones. "
            "Translation models that squeezed a sentence into one vector got worse the longer the sentence was (Cho "
            "et al. 2014)."
        )

    def numbers(self) -> pd.DataFrame:
        names, truth = self.left
        return pd.DataFrame({"token": names, "share left": truth})


class Vanishing(BeforeStep):
    title = "Gradients that vanish"
    terms = ("vanishing gradient",)
    sources = (BENGIO, HOCHREITER)

    @property
    def shares(self) -> Vector:
        """The gradient at each token that was typed, as a share of that at the last one."""
        lengths = self.read.gradients.astype(float)[self.typed]
        shares: Vector = lengths / lengths[-1]
        return shares

    def text(self) -> str:
        return (
            "Learning needs a way back. How much would the last vector change if an early token’s input changed a "
            "little? That is a [[gradient]], multiplied once for every step in between. We measure its length at each "
            "token, by automatic differentiation."
        )

    def figure(self) -> None:
        places = self.drawn_places[-3:]
        lengths = self.read.gradients[places].tolist()
        pictures.bars("gradients-end", self.names(places), [("length of the gradient", lengths)], written=".3f")

    def ask(self) -> Choice:
        share = float(self.shares[0])
        fact = f"It is {share:.1%} of that at the last token."
        bounds = ((0.5, "Less than half"), (0.9, "Half to nine tenths"), (np.inf, "Nine tenths or more"))

        def reply(place: int, right: int) -> str:
            return fact if place == right else f"{'More' if place < right else 'Less'} than that. {fact}"

        return Choice(
            "Compared with the gradient at the last token that you typed, how long is the one at the first?",
            options.ranges(share, bounds, reply),
        )

    def reveal(self) -> None:
        places = self.drawn_places
        lengths = self.read.gradients[places].tolist()
        pictures.bars("gradients", self.names(places), [("length of the gradient", lengths)], written=".3f")

    def why(self) -> str:
        share = float(self.shares[0])
        how = (
            "so early words hardly influence learning, the more so the longer the text"
            if share < 0.9
            else "on so short a text it has not vanished; type a longer one"
        )
        return (
            f"At the first token {share:.1%} of the gradient is left, {how} (Bengio et al. 1994). The gates of an LSTM "
            "slow this down (Hochreiter & Schmidhuber 1997); attention gives every word a path of one step."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"token": self.read.encoding.tokens, "length of the gradient": self.read.gradients})


class Alignment(Step):
    title = "Look back instead"
    at = "heads"
    terms = ("alignment", "additive attention", "multiplicative attention")
    sources = (BAHDANAU, LUONG)

    def text(self) -> str:
        return (
            "The way out of the bottleneck: keep a vector for **every** source word, and let the decoder look back. It "
            f"translates {quote(' '.join(_SOURCE))} and is at {quote(_TARGET[_AT])}. Its vector q and the source "
            "words’ vectors k have two made-up numbers, “animal” and “action”. The multiplicative score is q · k."
        )

    def figure(self) -> None:
        named = [
            ("k of each source word", _KEYS.astype(np.float32)),
            ("q of each target word", _QUERIES.astype(np.float32)),
        ]
        pictures.matrices("made-up", named, _SOURCE, ("animal", "action"), quantity="value", axes=("word", "number"))

    def ask(self) -> Choice:
        q, k = _QUERIES[_AT], _KEYS[1]
        right = float(q @ k)

        def option(value: float, reply: str, is_right: bool = False) -> Option:
            return Option(f"{value:.2f}", reply, is_right)

        made = f"{q[0]:g} · {k[0]:g} + {q[1]:g} · {k[1]:g} = {right:.2f}."
        return Choice(
            f"q = ({q[0]:g}, {q[1]:g}) for {quote(_TARGET[_AT])}, k = ({k[0]:g}, {k[1]:g}) for “cat”. What is the "
            "score q · k?",
            (
                option(float(q[0] * k[0]), f"That is the first product only. {made}"),
                option(right, made, True),
                option(float(q.sum() + k.sum()), f"The numbers are multiplied in pairs, then added. {made}"),
            ),
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
        return (
            f"Softmax turns the scores into weights: {quote(_TARGET[_AT])} gives {shares}. The additive score "
            f"(Bahdanau et al. 2015), a small network, gives {other[1]:.0%} to “cat” here; the product (Luong et al. "
            "2015) needs no network and is cheaper."
        )

    def numbers(self) -> pd.DataFrame:
        rows = []
        for kind, scores in (("multiplicative", multiplicative()), ("additive", additive())):
            weights = softmax(scores)
            for target, word in enumerate(_TARGET):
                for source, other in enumerate(_SOURCE):
                    rows.append((kind, word, other, scores[target, source], weights[target, source]))
        return pd.DataFrame(rows, columns=["kind", "target", "source", "score", "weight"])


class SoftMemory(Step):
    title = "A soft memory"
    at = "heads"
    terms = ("context vector", "attention")
    sources = (BAHDANAU, VASWANI)

    @property
    def context(self) -> Vector:
        """The mean of the source vectors, weighted for the word that is translated."""
        mean: Vector = softmax(multiplicative())[_AT] @ _KEYS
        return mean

    def text(self) -> str:
        return (
            "A memory in a computer is hard: an address finds exactly one entry. Attention is a **soft** memory: "
            "every entry is read a little, by its weight, and the results are added up: the [[context vector]]. "
            "Because it is soft, it has a gradient, so a network can learn where to look."
        )

    def figure(self) -> None:
        Alignment(self.case).reveal()

    def ask(self) -> Choice:
        return Choice(
            "What happens if one weight is 1 and all others are 0?",
            options.placed(
                1,
                Option("It reads exactly one entry", "A soft memory can become a hard one, as a special case.", True),
                Option("It reads nothing", "A weight of 1 reads the whole entry."),
                Option("It reads the mean of all entries", "That happens if all weights are the same."),
            ),
        )

    def reveal(self) -> None:
        rows = np.vstack([_KEYS, self.context]).astype(np.float32)
        names = (*_SOURCE, f"read for {_TARGET[_AT]}")
        named = [("vectors, and what is read", rows)]
        pictures.matrices("context", named, names, ("animal", "action"), quantity="value", axes=("word", "number"))

    def why(self) -> str:
        context = self.context
        return (
            f"For {quote(_TARGET[_AT])} it reads ({context[0]:.2f}, {context[1]:.2f}), close to “cat” "
            f"({_KEYS[1, 0]:.2f}, {_KEYS[1, 1]:.2f}). Transformers use the same memory within one text, with separate "
            "vectors to ask (query), to be found by (key) and to be read (value) (Vaswani et al. 2017)."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame([*_KEYS, self.context], columns=["animal", "action"], index=[*_SOURCE, "read"])


LESSON = Lesson(
    name="before",
    title="Before attention",
    question="Why was attention invented?",
    aims=(
        "explain what a recurrent network carries along, and what it loses",
        "say why gradients vanish over many steps",
        "compute a multiplicative attention score by hand",
        "describe attention as a soft memory",
    ),
    terms=("recurrent network", "bottleneck", "alignment"),
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The dog that chased the cat through the old garden behind our house was never seen again.", ""),
    ),
    pages=("compare", "attention"),
    steps=(
        OneByOne,
        Bottleneck,
        Vanishing,
        Alignment,
        SoftMemory,
        *recalled(
            "heads",
            Recall(
                "What is the bottleneck of a recurrent encoder?",
                (
                    Option("It has too few layers", "More layers still end in one vector."),
                    Option(
                        "The whole text has to fit into one vector", "Long texts write over their beginnings.", True
                    ),
                    Option("Its vocabulary is small", "The vocabulary has nothing to do with it."),
                ),
                "A recurrent network reads one token after another and carries one vector, in which early words fade.",
            ),
            Recall(
                "Why do gradients vanish over many steps?",
                (
                    Option(
                        "They are multiplied once per step, and the product shrinks",
                        "So early words hardly influence learning.",
                        True,
                    ),
                    Option("The learning rate falls", "That is something else: a schedule."),
                    Option("Early words are masked", "Nothing is masked here."),
                ),
                "Gradients pass through every step in between and tend to vanish on the way back.",
            ),
            Recall(
                "What does attention do differently?",
                (
                    Option("It keeps one vector and makes it wider", "That would only move the bottleneck."),
                    Option(
                        "It keeps a vector for every word and reads them by weight",
                        "A soft memory, one step away.",
                        True,
                    ),
                    Option("It reads the text twice", "Reading twice does not remove the bottleneck."),
                ),
                "Attention keeps a vector for every word and reads them by softmax weights: a soft memory.",
            ),
        ),
    ),
)
