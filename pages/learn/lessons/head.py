"""One head by hand, from the vectors that enter to the mixture of values that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property

from analysis.softmax_scaling import Unscaled, unscaled
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray, HeadWeights, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui.glossary import quote
from ui.sources import KOBAYASHI, VASWANI
from viz.strips import Strip

_MOST_KEYS: Final = 12  # that a picture compares
# The figures are those of ``python -m benchmarks.faithfulness --only areas --markdown``.
_NO_EXPLANATION: Final = (
    "Nor does it say which words a prediction depends on. With the bundled BERT and 100 built-in sentences, hiding "
    "words in the order of mean attention does hardly better than hiding those nearest to the mask: the area under the "
    "curve of P is 0.227 against 0.237 (difference −0.011, 95% interval −0.031 to +0.010). Shown again in that order, "
    "they give 0.671 against 0.623 (+0.048, +0.017 to +0.079), but attention is better in only 58% of the sentences "
    "(48% to 67%). Try it in the lesson “Is attention an explanation?”."
)


class _Head(NamedTuple):
    """The chosen head with its matrices, and what it makes of the followed token: ``vector`` (width,) enters,
    normalized first in models that do so; ``query`` and ``context`` (d,), ``scores`` and ``shares`` (n,) are the
    token's, ``key`` and ``value`` (n, d) those of all tokens.
    """

    weights: HeadWeights
    vector: FloatArray
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
        anatomy, at = self.case.anatomy, self.followed
        if anatomy.weights is None:
            raise NotSupported(
                anatomy.why_not or f"The matrices of {self.case.model} are not known here. Choose another model."
            )
        assert anatomy.query is not None
        assert anatomy.key is not None
        assert anatomy.value is not None
        assert anatomy.scores is not None
        assert anatomy.context is not None
        entering = anatomy.stage("normed before" if anatomy.has("normed before") else "input").values[at]
        of_token = anatomy.scores[at], anatomy.attention[at], anatomy.context[at]
        return _Head(anatomy.weights, entering, anatomy.query[at], anatomy.key, anatomy.value, *of_token)

    @property
    def compared(self) -> list[int]:
        """The places that a picture compares, in the order of the text: the largest weights, and the token itself."""
        strongest = np.argsort(-self.head.shares, kind="stable")[:_MOST_KEYS].tolist()
        return sorted({*strongest[: _MOST_KEYS - (self.followed not in strongest)], self.followed})


def _projected(vector: FloatArray, matrix: FloatArray, bias: FloatArray) -> FloatArray:
    """What a matrix and a bias make of a vector."""
    exact = vector.astype(np.float64) @ matrix.astype(np.float64) + bias
    return exact.astype(np.float32)


def _explain_products(vector: FloatArray, matrix: FloatArray, bias: FloatArray, name: str) -> list[str]:
    """The products that weigh most in each number of a projection, in words."""
    products = vector[:, None].astype(np.float64) * matrix
    explanations = []
    for column in range(matrix.shape[1]):
        largest = np.argsort(-np.abs(products[:, column]))[:2]
        parts = [f"{signed(vector[row], 3)} · {signed(matrix[row, column], 3)}" for row in largest]
        rest = products[:, column].sum() - products[largest, column].sum()
        explanations.append(
            f"= {' + '.join(f'({part})' for part in parts)}\n+ {signed(rest, 3)} from {len(vector) - len(parts)} more"
            f" + bias {signed(bias[column], 3)}\ncolumn {column + 1} of {name}"
        )
    return explanations


class Projections(HeadStep):
    title = "Query, key, value"
    terms = ("query", "key", "value")
    sources = (VASWANI,)
    stage = "query"

    @property
    def has_bias(self) -> bool:
        """Whether a bias is added to what the matrices make; ModernBERT has none."""
        weights = self.head.weights
        return bool(np.any(weights.query_bias) or np.any(weights.key_bias) or np.any(weights.value_bias))

    @property
    def plus_bias(self) -> str:
        """What is said of the bias where the matrices are named."""
        return ", plus a learned bias" if self.has_bias else "; this model adds no bias"

    @property
    def and_bias(self) -> str:
        """What is said of the bias where the products are added up."""
        return " and a bias" if self.has_bias else ""

    def text(self) -> str:
        return (
            "A [[head|attention head]] begins by making three shorter [[vectors|vector]] of every token’s vector x: "
            f"a [[query]], a [[key]] and a [[value]]. Each is x times a learned matrix{self.plus_bias}. This is layer "
            f"{self.case.layer + 1}, head {self.case.head + 1}."
        )

    def ask(self) -> Choice:
        width, size = self.head.weights.query.shape
        return Choice(
            f"x has {width} numbers, and the matrix W_Q has {width} rows and {size} columns. How many numbers does "
            "the query have?",
            options.numbers(
                (size, "Every column of the matrix makes one number: x times that column, added up."),
                (width, "That many go in. Every column turns all of them into one number."),
                (width * size, "That is how many numbers the matrix has. They are summed column by column."),
                (len(self.tokens), "That is the number of tokens. Each of them gets a query of its own."),
            ),
        )

    def reveal(self) -> None:
        weights, vector = self.head.weights, self.head.vector
        value = self.head.value[self.followed]
        rows = [
            Strip("x, which enters the head", vector),
            Strip(
                "query: x W_Q + b",
                _projected(vector, weights.query, weights.query_bias),
                _explain_products(vector, weights.query, weights.query_bias, "W_Q"),
            ),
            Strip(
                "key: x W_K + b",
                _projected(vector, weights.key, weights.key_bias),
                _explain_products(vector, weights.key, weights.key_bias, "W_K"),
            ),
            Strip("value: x W_V + b", value, _explain_products(vector, weights.value, weights.value_bias, "W_V")),
        ]
        pictures.strips("query-key-value", rows)

    def why(self) -> str:
        weights, vector = self.head.weights, self.head.vector
        first = float(_projected(vector, weights.query, weights.query_bias)[0])
        return (
            "The matrix picks out of x what this head compares tokens by: the first number of the query of "
            f"{self.token}, {signed(first, 4)}, is the sum of {len(vector)} products{self.and_bias}. Point at a "
            "number, or tap it, to see what it is made of."
        )

    def numbers(self) -> pd.DataFrame:
        weights, vector = self.head.weights, self.head.vector
        return pd.DataFrame(
            {
                "dimension": range(1, weights.query.shape[1] + 1),
                "query": _projected(vector, weights.query, weights.query_bias),
                "key": _projected(vector, weights.key, weights.key_bias),
                "value": self.head.value[self.followed],
            }
        )


class Scores(HeadStep):
    title = "Query times keys: scores"
    terms = ("score", "dot product")
    sources = (VASWANI,)

    def products(self, place: int) -> FloatArray:
        """Query times key, number by number, scaled (d,): they add up to the score."""
        head = self.head
        return (head.query * head.key[place] * np.float32(head.weights.scaling)).astype(np.float32)

    def of_products(self, place: int) -> list[str]:
        """What each of these products is made of."""
        head = self.head
        pairs = zip(head.query, head.key[place], strict=True)
        return [f"= {signed(query, 3)} · {signed(other, 3)} · {head.weights.scaling:.4f}" for query, other in pairs]

    def text(self) -> str:
        return (
            f"The query of {self.token} is multiplied with every key, number by number, and the products are added "
            "up: the [[dot product]]. Divided by √d it is the [[score]]. Long vectors that point the same way give a "
            "high score. You can picture it like this: the query asks, and a key that fits answers."
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
            raise InvalidInput(f"{self.token} can see only one token. Follow another token, or type more words.")
        best = seen[0]
        others = [self.followed, seen[-1], seen[len(seen) // 2], *seen[1:]]

        def reply(place: int) -> str:
            if place == best:
                return f"Its score is {signed(scores[place])}, the highest."
            if not np.isfinite(scores[place]):
                return "This token is hidden by the attention mask: there is no score."
            itself = (
                " A token’s own key need not fit its query: they come from two different matrices."
                if place == self.followed
                else ""
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
        pictures.strips("products", rows, unit="product")

    def why(self) -> str:
        scores = self.head.scores
        best = int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))
        total = float(self.products(best).astype(np.float64).sum())
        bias = float(scores[best]) - total
        added = f", plus {signed(bias, 3)} that the model adds for their positions" if abs(bias) > 1e-3 else ""
        return (
            f"The products of {self.token} with {self.quoted(best)}, scaled, add up to "
            f"{signed(total, 3)}{added}; no other key gives more."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"score": self.head.scores, "weight": self.head.shares})


class Shares(HeadStep):
    title = "Softmax: shares of 100%"
    terms = ("softmax", "attention weight")
    sources = (VASWANI,)

    def text(self) -> str:
        return (
            "[[Softmax|softmax]] turns the [[scores|score]] of one query into shares: e to the power of each score, "
            f"divided by the sum of all. These are the [[attention weights|attention weight]] of {self.token}. “It "
            "looks at a token” means no more than this: the token gets a share."
        )

    def figure(self) -> None:
        places = [place for place in self.compared if np.isfinite(self.head.scores[place])]
        scores = [float(score) for score in self.head.scores[places]]
        label = f"score above the lowest shown ({signed(min(scores))})"
        pictures.bars("scores", self.labels(places), [(label, [score - min(scores) for score in scores])])

    def ask(self) -> Sketch:
        names, truth = tuple(self.labels(self.compared)), tuple(self.head.shares[self.compared].tolist())

        def reply(drawn: Sequence[float]) -> str:
            total, most = sum(drawn), options.highest(names, truth)
            start = f"Your shares add up to {total:.0%}; the model’s to 100%. "
            if total == 0:
                return start + f"The largest share, {max(truth):.0%}, is that of {quote(most)}."
            shared = sum(min(mine / total, its) for mine, its in zip(drawn, truth, strict=True))
            where = "Like you, it gave most to" if options.highest(names, drawn) == most else "It gave most to"
            start += f"Rescaled to 100%, yours overlaps the model’s by {shared:.0%}. "
            return start + f"{where} {quote(most)}: {max(truth):.0%}."

        return Sketch(f"Draw how {self.token} divides its 100%.", names, truth, reply, unit="%")

    def reveal(self) -> None:
        shares = self.head.shares[self.compared].tolist()
        pictures.shares("shares", self.labels(self.compared), [("attention weight", shares)])

    def why(self) -> str:
        scores, weights = self.head.scores, self.head.shares
        order = np.argsort(-weights, kind="stable")
        best = int(order[0])
        if len(order) < 2 or weights[order[1]] == 0:
            return f"{self.token} can see only one token, so that one gets 100%."
        second = int(order[1])
        gap = float(scores[best] - scores[second])
        return (
            f"Softmax depends only on differences: the score of {self.quoted(best)} is {gap:.2f} higher than that of "
            f"{self.quoted(second)}, so its share is e^{gap:.2f} = {np.exp(gap):.2f} times as large, "
            f"{weights[best]:.1%} to {weights[second]:.1%}."
        )

    def numbers(self) -> pd.DataFrame:
        return Scores(self.case).numbers()


class Scaling(HeadStep):
    title = "Without the scaling"
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
            f"Why divide by √d? A [[dot product]] of two vectors with {size} random numbers, each of variance 1, has "
            f"a standard deviation of √{size} = {np.sqrt(size):.1f}: longer vectors, larger scores. This head "
            f"multiplies by {weights.scaling:.4f}. What if it did not?"
        )

    def ask(self) -> Choice:
        scaled = self.scaled
        before, after = float(scaled.shares.max()), float(scaled.without.max())
        change = after - before
        fact = f"It goes from {before:.1%} to {after:.1%}."
        return Choice(
            f"Without the scaling, what happens to the largest share of {self.token}?",
            (
                Option("It grows", f"Larger differences between scores, sharper shares. {fact}", change > 1e-4),
                Option(
                    "It shrinks",
                    f"Larger scores do not even out: softmax makes them sharper. {fact}",
                    change < -1e-4,
                ),
                Option(
                    "It stays the same",
                    (
                        "That happens only if all scores are equal, one token has everything, or nothing was "
                        f"scaled. {fact}"
                    ),
                    -1e-4 <= change <= 1e-4,
                ),
            ),
        )

    def reveal(self) -> None:
        scaled, places = self.scaled, self.compared[:9]
        series = [("scaled", scaled.shares[places].tolist()), ("without", scaled.without[places].tolist())]
        pictures.shares("scaling", self.labels(places), series)

    def why(self) -> str:
        scaled = self.scaled
        if scaled.gradient_without < scaled.gradient:
            then = "less of the gradient reaches queries and keys, and a head learns more slowly (Vaswani et al. 2017)"
        else:
            then = (
                "on this row it does not shrink, since the shares were far from one-sided; the risk is the "
                "opposite case"
            )
        return (
            f"The size of the softmax’s derivative goes from {scaled.gradient:.3f} to {scaled.gradient_without:.3f} "
            f"without the scaling: {then}."
        )

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"share": self.scaled.shares, "share without scaling": self.scaled.without})


class Values(HeadStep):
    title = "Shares times values"
    terms = ("context vector", "attention")
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
            "Last, the head adds up the [[values|value]] of all tokens, each multiplied by its share: the [[context "
            f"vector]] of {self.token}. How much a token contributes depends on its share and on the length of its "
            "value."
        )

    def ask(self) -> Choice:
        brought, weights = self.brought, self.head.shares
        order = [int(place) for place in np.argsort(-brought, kind="stable")]
        best = order[0]
        others = [int(np.argmax(weights)), *order[1:]]
        if len(order) < 2:
            raise InvalidInput("This text has only one token. Type more words, or take an example.")

        def reply(place: int) -> str:
            start = f"It contributes a vector of length {brought[place]:.3f}, with a share of {weights[place]:.1%}."
            if place == best:
                return start
            if place == int(np.argmax(weights)):
                return (
                    f"{start} It has the largest share, but {self.quoted(best)} contributes more: {brought[best]:.3f}."
                )
            return f"{start} {self.quoted(best)} contributes {brought[best]:.3f}."

        return Choice(
            f"Which token contributes most, that is the longest vector, to the context vector of {self.token}?",
            options.tokens(self.case, best, others, reply),
        )

    def reveal(self) -> None:
        places, total = self.compared[:9], float(self.brought.sum()) or 1.0
        series = [
            ("share of attention", self.head.shares[places].tolist()),
            ("share of the lengths contributed", [length / total for length in self.brought[places].tolist()]),
        ]
        pictures.shares("values", self.labels(places), series)

    def why(self) -> str:
        most, looked = int(np.argmax(self.brought)), int(np.argmax(self.head.shares))
        length = float(np.linalg.norm(self.head.context.astype(np.float64)))
        same = (
            "Here the token with the largest share also contributes most, which need not be so"
            if most == looked
            else f"Here {self.quoted(looked)} has the largest share and {self.quoted(most)} contributes most"
        )
        return (
            f"{same}: the context vector, of length {length:.3f}, is the sum of shares times values, so a large share "
            "of a short value is little, and weights alone do not say what was passed on. (This compares ‖αv‖; "
            f"Kobayashi et al. 2020 measure the same after W_O.) {_NO_EXPLANATION}"
        )

    def numbers(self) -> pd.DataFrame:
        columns = {"weight": self.head.shares, "length of value": self.lengths, "length brought": self.brought}
        return self.by_token(columns)


LESSON = Lesson(
    name="head",
    title="One head by hand",
    question="How does a head distribute its attention?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The dog ran into the garden and barked at the cat.", ""),
    ),
    controls=("token", "layer", "head"),
    pages=("attention", "cause"),
    aims=(
        "name query, key and value, and say where they come from",
        "compute a score and an attention weight by hand",
        "explain why scores are divided by √d",
        "say what an attention weight does not tell",
    ),
    terms=(
        "self-attention",
        "attention head",
    ),
    steps=(
        Projections,
        Scores,
        Shares,
        Scaling,
        Values,
        *recalled(
            "heads",
            Recall(
                "How does a head get from scores to attention weights?",
                (
                    Option("By softmax", "e to the power of each score, divided by the sum.", True),
                    Option("By dividing each score by the largest", "The weights would not add up to 1."),
                    Option("By rounding to 0 or 1", "Weights are graded; that is why it is called soft."),
                ),
                "Query times key, divided by √d, is a score; softmax turns a token’s scores into weights that add up "
                "to 1.",
            ),
            Recall(
                "Which two vectors are multiplied to give a score?",
                (
                    Option("The query of one token and the key of another", "The dot product of the two.", True),
                    Option("The values of both tokens", "Values are only mixed afterwards, with the weights."),
                    Option("The embeddings of both tokens", "They are projected first, by different matrices."),
                ),
                "A head makes a query, a key and a value of every token, each by a matrix of its own.",
            ),
            Recall(
                "A token gets 60% of the attention. What follows?",
                (
                    Option(
                        "It explains 60% of the prediction", "A weight says nothing about the prediction by itself."
                    ),
                    Option(
                        "Its value enters the sum multiplied by 0.6",
                        "How much that is depends on the value, too.",
                        True,
                    ),
                    Option("It is the most important word", "Its value may be short, and other paths exist."),
                ),
                "The head’s output is the sum of all values, each times its weight; a weight alone does not explain "
                "a prediction.",
            ),
        ),
    ),
)
