"""One head by hand, from the vectors that enter to the mixture of values that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.softmax_scaling import Unscaled, unscaled
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray, HeadWeights, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Step
from ui.glossary import quoted
from ui.sources import KOBAYASHI, VASWANI
from viz.strips import Strip

_MOST_KEYS: Final = 12  # that a picture compares
# The figures are those of ``python -m benchmarks.cause --only areas --markdown``.
_NO_EXPLANATION: Final = (
    "Nor does it say which words a prediction depends on. With the BERT that comes with this app and 100 built-in "
    "sentences, hiding words in the order of attention (mean of all heads) does hardly better than hiding the words "
    "nearest to the mask first: the area under the curve of P is 0.227 against 0.237, a difference of −0.011 (95% "
    "interval −0.031 to +0.010). When words are shown again in that order, it is 0.671 against 0.623, a difference of "
    "+0.048 (+0.017 to +0.079). Try it on the page Cause, under “Which word did it?”."
)


class _Head(NamedTuple):
    """The chosen head with its matrices, and what it makes of the followed token: ``given`` (width,) enters, normalized
    first in models that do so; ``query`` and ``context`` (d,), ``scores`` and ``shares`` (n,) are the token's, ``key``
    and ``value`` (n, d) those of all tokens.
    """

    weights: HeadWeights
    given: FloatArray
    query: FloatArray
    key: FloatArray
    value: FloatArray
    scores: FloatArray
    shares: FloatArray
    context: FloatArray


class HeadStep(Step):
    """A step about the chosen head and the followed token."""

    at = "heads"

    @cached_property
    def head(self) -> _Head:
        """The head by hand. Raises NotSupported where its matrices are not known."""
        found, at = self.case.anatomy, self.followed
        if found.weights is None:
            raise NotSupported(
                found.why_not or f"The matrices of {self.case.model} are not known here. Choose another model."
            )
        assert found.query is not None
        assert found.key is not None
        assert found.value is not None
        assert found.scores is not None
        assert found.context is not None
        given = found.stage("normed before" if found.has("normed before") else "input").values[at]
        of_token = found.scores[at], found.attention[at], found.context[at]
        return _Head(found.weights, given, found.query[at], found.key, found.value, *of_token)

    @property
    def compared(self) -> list[int]:
        """The places that a picture compares, in the order of the text: the largest weights, and the token itself."""
        strongest = np.argsort(-self.head.shares, kind="stable")[:_MOST_KEYS].tolist()
        return sorted({*strongest[: _MOST_KEYS - (self.followed not in strongest)], self.followed})


def _projected(given: FloatArray, matrix: FloatArray, bias: FloatArray) -> FloatArray:
    """What a matrix and a bias make of a vector."""
    exact = given.astype(np.float64) @ matrix.astype(np.float64) + bias
    return exact.astype(np.float32)


def _said(given: FloatArray, matrix: FloatArray, bias: FloatArray, name: str) -> list[str]:
    """The products that weigh most in each number of a projection, in words."""
    products = given[:, None].astype(np.float64) * matrix
    said = []
    for column in range(matrix.shape[1]):
        largest = np.argsort(-np.abs(products[:, column]))[:2]
        parts = [f"{signed(given[row], 3)} · {signed(matrix[row, column], 3)}" for row in largest]
        rest = products[:, column].sum() - products[largest, column].sum()
        said.append(
            f"= {' + '.join(f'({part})' for part in parts)}\n+ {signed(rest, 3)} from {len(given) - len(parts)} more"
            f" + bias {signed(bias[column], 3)}\ncolumn {column + 1} of {name}"
        )
    return said


class Projections(HeadStep):
    title = "Query, key, value"
    sources = (VASWANI,)
    stage = "query"

    def text(self) -> str:
        return (
            "A [[head|attention head]] begins by making three shorter [[vectors|vector]] of every token’s vector x: a "
            "[[query]], a [[key]] and a [[value]]. Each is x times a learned matrix, plus a learned bias. This is "
            f"layer {self.case.layer + 1}, head {self.case.head + 1}."
        )

    def ask(self) -> Choice:
        width, size = self.head.weights.query.shape
        return Choice(
            f"x has {width} numbers and the matrix W_Q {width} rows and {size} columns. How many numbers has the "
            "query?",
            options.numbers(
                (size, "Every column of the matrix makes one number: x times that column, added up."),
                (width, "So many go in. Every column takes them all and makes one number of them."),
                (width * size, "So many numbers are in the matrix. They are used up in sums."),
                (len(self.tokens), "That is the number of tokens. Each of them gets a query of its own."),
            ),
        )

    def reveal(self) -> None:
        weights, given = self.head.weights, self.head.given
        value = self.head.value[self.followed]
        rows = [
            Strip("x, which enters the head", given),
            Strip(
                "query: x W_Q + b",
                _projected(given, weights.query, weights.query_bias),
                _said(given, weights.query, weights.query_bias, "W_Q"),
            ),
            Strip(
                "key: x W_K + b",
                _projected(given, weights.key, weights.key_bias),
                _said(given, weights.key, weights.key_bias, "W_K"),
            ),
            Strip("value: x W_V + b", value, _said(given, weights.value, weights.value_bias, "W_V")),
        ]
        pictures.strips("query-key-value", rows)

    def why(self) -> str:
        weights, given = self.head.weights, self.head.given
        first = float(_projected(given, weights.query, weights.query_bias)[0])
        return (
            "A matrix takes from x what this head compares by and leaves the rest: the first number of the query of "
            f"{self.token} is the sum of {len(given)} products and a bias, {signed(first, 4)}. Point at a number to "
            "see what it is made of."
        )

    def numbers(self) -> pd.DataFrame:
        weights, given = self.head.weights, self.head.given
        return pd.DataFrame(
            {
                "dimension": range(1, weights.query.shape[1] + 1),
                "query": _projected(given, weights.query, weights.query_bias),
                "key": _projected(given, weights.key, weights.key_bias),
                "value": self.head.value[self.followed],
            }
        )


class Scores(HeadStep):
    title = "Query times keys: scores"
    sources = (VASWANI,)

    def products(self, place: int) -> FloatArray:
        """Query times key, number by number, scaled (d,): they add up to the score."""
        found = self.head
        return (found.query * found.key[place] * np.float32(found.weights.scaling)).astype(np.float32)

    def of_products(self, place: int) -> list[str]:
        """What each of these products is made of."""
        found = self.head
        pairs = zip(found.query, found.key[place], strict=True)
        return [f"= {signed(one, 3)} · {signed(other, 3)} · {found.weights.scaling:.4f}" for one, other in pairs]

    def text(self) -> str:
        return (
            f"The query of {self.token} is multiplied with every key, number by number, and the products are added up: "
            "the [[dot product|dot product]]. Divided by √d it is the [[score]]. Vectors that point the same way give "
            "a high one. In a figure of speech: the query asks, and a key that fits answers."
        )

    def figure(self) -> None:
        places = self.compared[:6]
        named = zip(self.labels(places), self.head.key[places], strict=True)
        query = Strip(f"query of {self.tokens[self.followed]}", self.head.query)
        pictures.strips("query-keys", [query, *(Strip(f"key of {name}", key) for name, key in named)])

    def ask(self) -> Choice:
        scores = self.head.scores
        order = np.argsort(-np.where(np.isfinite(scores), scores, -np.inf), kind="stable")
        seen = [int(place) for place in order if np.isfinite(scores[place])]
        if len(seen) < 2:
            raise InvalidInput(f"{self.token} may look at one token only. Follow another token, or type more words.")
        best = seen[0]
        others = [self.followed, seen[-1], seen[len(seen) // 2], *seen[1:]]

        def reply(place: int) -> str:
            if place == best:
                return f"Its score is {signed(scores[place])}, the highest."
            if not np.isfinite(scores[place]):
                return "This token is hidden from it: there is no score."
            itself = (
                " A token’s own key need not fit its query: two matrices made them." if place == self.followed else ""
            )
            return f"Its score is {signed(scores[place])}; the highest is {signed(scores[best])}.{itself}"

        return Choice(
            f"Which token’s key fits the query of {self.token} best in this head?",
            options.tokens(self.case, best, [place for place in others if np.isfinite(scores[place])], reply),
        )

    def reveal(self) -> None:
        scores = self.head.scores
        places = sorted(np.argsort(-self.head.shares, kind="stable")[:8].tolist())
        rows = [
            Strip(f"{name}: score {signed(scores[place])}", self.products(place), self.of_products(place))
            for place, name in zip(places, self.labels(places), strict=True)
            if np.isfinite(scores[place])
        ]
        pictures.strips("products", rows, what="product")

    def why(self) -> str:
        scores = self.head.scores
        best = int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))
        total = float(self.products(best).astype(np.float64).sum())
        bias = float(scores[best]) - total
        added = f", plus {signed(bias, 3)} that the model adds for the places of the two" if abs(bias) > 1e-3 else ""
        return (
            f"The products of {self.token} with {self.quoted(best)}, scaled, add up to "
            f"{signed(total, 3)}{added}; no other key gives more."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"score": self.head.scores, "weight": self.head.shares})


class Shares(HeadStep):
    title = "Softmax: shares of 100%"
    sources = (VASWANI,)

    def text(self) -> str:
        return (
            f"[[Softmax|softmax]] turns the [[scores|score]] of one query into shares: e to the power of each score, "
            f"divided by the sum of all. These are the [[attention weights|attention weight]] of {self.token}. People "
            "say it “looks at” a token: what happens is that the token gets a share."
        )

    def figure(self) -> None:
        places = [place for place in self.compared if np.isfinite(self.head.scores[place])]
        scores = [float(score) for score in self.head.scores[places]]
        what = f"score, counted from the lowest shown ({signed(min(scores))})"
        pictures.bars("scores", self.labels(places), [(what, [score - min(scores) for score in scores])])

    def ask(self) -> Sketch:
        names, truth = tuple(self.labels(self.compared)), tuple(self.head.shares[self.compared].tolist())

        def reply(drawn: Sequence[float]) -> str:
            total, most = sum(drawn), options.highest(names, truth)
            said = f"What you drew adds up to {total:.0%}; shares add up to 100%. "
            if total == 0:
                return said + f"The largest share, {max(truth):.0%}, is that of {quoted(most)}."
            shared = sum(min(mine / total, its) for mine, its in zip(drawn, truth, strict=True))
            where = "You, too, gave most to" if options.highest(names, drawn) == most else "Most went to"
            said += f"Brought to 100%, {shared:.0%} of it lies where the model’s lies. "
            return said + f"{where} {quoted(most)}: {max(truth):.0%}."

        return Sketch(f"Draw how {self.token} divides its 100%.", names, truth, reply, unit="%")

    def reveal(self) -> None:
        shares = self.head.shares[self.compared].tolist()
        pictures.shares("shares", self.labels(self.compared), [("attention weight", shares)])

    def why(self) -> str:
        scores, weights = self.head.scores, self.head.shares
        order = np.argsort(-weights, kind="stable")
        best = int(order[0])
        if len(order) < 2 or weights[order[1]] == 0:
            return f"{self.token} has one token to look at, so that one gets all of it."
        second = int(order[1])
        gap = float(scores[best] - scores[second])
        return (
            f"Softmax cares for differences: {self.quoted(best)} leads "
            f"{self.quoted(second)} by {gap:.2f}, so its share is e^{gap:.2f} = {np.exp(gap):.2f} times "
            f"as large, {weights[best]:.1%} to {weights[second]:.1%}."
        )

    def numbers(self) -> pd.DataFrame:
        return Scores(self.case).numbers()


class Scaling(HeadStep):
    title = "The scaling taken away"
    sources = (VASWANI,)
    after = Shares

    @cached_property
    def scaled(self) -> Unscaled:
        """The shares with the scaling and without."""
        return unscaled(self.head.scores, self.head.weights.scaling)

    def text(self) -> str:
        weights = self.head.weights
        size = weights.query.shape[1]
        return (
            f"Why divide by √d? A [[dot product]] of two vectors with {size} random numbers, each of variance 1, has a "
            f"standard deviation of √{size} = {np.sqrt(size):.1f}: longer vectors, larger scores. This head multiplies "
            f"by {weights.scaling:.4f}. Take that away."
        )

    def ask(self) -> Choice:
        found = self.scaled
        before, after = float(found.shares.max()), float(found.without.max())
        change = after - before
        told = f"It goes from {before:.1%} to {after:.1%}."
        return Choice(
            f"Without the scaling, what happens to the largest share of {self.token}?",
            (
                Option("It grows", f"Larger differences between scores, sharper shares. {told}", change > 1e-4),
                Option("It shrinks", f"Larger scores do not even out: softmax sharpens them. {told}", change < -1e-4),
                Option(
                    "It stays as it is",
                    f"Only if all scores were alike, or one had all, or nothing was scaled. {told}",
                    -1e-4 <= change <= 1e-4,
                ),
            ),
        )

    def reveal(self) -> None:
        found, places = self.scaled, self.compared[:9]
        series = [("scaled", found.shares[places].tolist()), ("without", found.without[places].tolist())]
        pictures.shares("scaling", self.labels(places), series)

    def why(self) -> str:
        found = self.scaled
        if found.gradient_without < found.gradient:
            then = (
                "less of an error gets through to queries and keys, and a head learns more slowly (Vaswani et al. 2017)"
            )
        else:
            then = (
                "on this row it does not shrink, since the shares were far from one-sided; the danger is the other case"
            )
        return (
            f"The size of the softmax’s derivative goes from {found.gradient:.3f} to {found.gradient_without:.3f} "
            f"without the scaling: {then}."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"share": self.scaled.shares, "share without scaling": self.scaled.without})


class Values(HeadStep):
    title = "Shares times values"
    sources = (KOBAYASHI,)
    after = Shares

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """How long the value of each token is, (n,)."""
        return np.linalg.norm(self.head.value.astype(np.float64), axis=1)

    @cached_property
    def brought(self) -> FloatArray:
        """‖α v‖ (n,): how long a vector each token contributes to the mixture."""
        return (self.head.shares * self.lengths).astype(np.float32)

    def text(self) -> str:
        return (
            "Last, the head adds up the [[values|value]] of all tokens, each multiplied by its share: the "
            f"[[context vector]] of {self.token}. How much a token brings depends on its share and on how long its "
            "value is."
        )

    def ask(self) -> Choice:
        brought, weights = self.brought, self.head.shares
        order = [int(place) for place in np.argsort(-brought, kind="stable")]
        best = order[0]
        others = [int(np.argmax(weights)), *order[1:]]
        if len(order) < 2:
            raise InvalidInput("This text has one token only. Type more words, or take an example.")

        def reply(place: int) -> str:
            said = f"It brings a vector of length {brought[place]:.3f}, at a share of {weights[place]:.1%}."
            if place == best:
                return said
            if place == int(np.argmax(weights)):
                return f"{said} It has the largest share, but {self.quoted(best)} brings more: {brought[best]:.3f}."
            return f"{said} {self.quoted(best)} brings {brought[best]:.3f}."

        return Choice(
            f"Which token brings most, the longest vector, into the context of {self.token}?",
            options.tokens(self.case, best, others, reply),
        )

    def reveal(self) -> None:
        places, total = self.compared[:9], float(self.brought.sum()) or 1.0
        series = [
            ("share of attention", self.head.shares[places].tolist()),
            ("share of the lengths brought", [length / total for length in self.brought[places].tolist()]),
        ]
        pictures.shares("values", self.labels(places), series)

    def why(self) -> str:
        most, looked = int(np.argmax(self.brought)), int(np.argmax(self.head.shares))
        length = float(np.linalg.norm(self.head.context.astype(np.float64)))
        same = (
            "Here the largest share also brings most, which need not be so"
            if most == looked
            else f"Here {self.quoted(looked)} has the largest share and {self.quoted(most)} brings most"
        )
        return (
            f"{same}: the context, of length {length:.3f}, is the sum of shares times values, so a large share of a "
            "short value is little, and attention alone does not say what was passed on (Kobayashi et al. 2020). "
            f"{_NO_EXPLANATION}"
        )

    def numbers(self) -> pd.DataFrame:
        columns = {"weight": self.head.shares, "length of value": self.lengths, "length brought": self.brought}
        return self.by_token(columns)


LESSON = Lesson(
    name="head",
    title="One head by hand",
    question="How does a head divide its attention?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The dog ran into the garden and barked at the cat.", ""),
    ),
    controls=("token", "layer", "head"),
    pages=("attention", "cause"),
    steps=(Projections, Scores, Shares, Scaling, Values),
)
