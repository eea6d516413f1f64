"""One head by hand, from the vectors that enter to the mixture of values that leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property

from analysis.softmax import Unscaled, unscaled
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray, HeadWeights, signed
from pages.learn import pictures
from pages.learn.lesson import Choice, Option, Sketch, Step, read_lesson
from viz.strips import Strip

_MOST_KEYS: Final = 12  # that a picture compares


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

    def tokens_to_choose(self, right: int, others: Iterable[int], reply: Callable[[int], str]) -> tuple[Option, ...]:
        """The right token and three others by their places, in the order of the text; ``reply`` says what is said to
        who chooses the token at a place.
        """
        wrong = [place for place in dict.fromkeys(others) if place != right]
        kept = sorted([right, *wrong[:3]])
        return tuple(Option(self.case.label(place), reply(place), place == right) for place in kept)


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
    stage = "query"

    @property
    def has_bias(self) -> bool:
        """Whether a bias is added to what the matrices make; ModernBERT has none."""
        weights = self.head.weights
        return bool(np.any(weights.query_bias) or np.any(weights.key_bias) or np.any(weights.value_bias))

    def text(self) -> str:
        plus_bias = ", plus a learned bias" if self.has_bias else "; this model adds no bias"
        return self.say("text", plus_bias=plus_bias, layer=self.case.layer + 1, head=self.case.head + 1)

    @property
    def vectors(self) -> dict[str, FloatArray]:
        """What the head makes of the vector that enters: the query, the key and the value of the token, (d,)."""
        weights, vector = self.head.weights, self.head.vector
        return {
            "query": _projected(vector, weights.query, weights.query_bias),
            "key": _projected(vector, weights.key, weights.key_bias),
            "value": self.head.value[self.followed],
        }

    def ask(self) -> Choice:
        width, size = self.head.weights.query.shape
        return self.choice(width=width, size=size, size_of_matrix=width * size, n_tokens=len(self.tokens))

    def reveal(self) -> None:
        weights, vector = self.head.weights, self.head.vector
        rows = [Strip("x, which enters the head", vector)]
        for (name, values), matrix, bias in zip(
            self.vectors.items(),
            (weights.query, weights.key, weights.value),
            (weights.query_bias, weights.key_bias, weights.value_bias),
            strict=True,
        ):
            matrix_name = f"W_{name[0].upper()}"
            explanations = _explain_products(vector, matrix, bias, matrix_name)
            rows.append(Strip(f"{name}: x {matrix_name} + b", values, explanations))
        pictures.strips("query-key-value", rows)

    def why(self) -> str:
        first, n_products = self.vectors["query"][0], len(self.head.vector)
        return self.say("why", first=first, n_products=n_products, and_bias=" and a bias" if self.has_bias else "")

    def numbers(self) -> pd.DataFrame:
        return self.by_dimension(self.vectors)


class Scores(HeadStep):
    def products(self, place: int) -> FloatArray:
        """Query times key, number by number, scaled (d,): they add up to the score."""
        head = self.head
        return (head.query * head.key[place] * np.float32(head.weights.scaling)).astype(np.float32)

    def of_products(self, place: int) -> list[str]:
        """What each of these products is made of."""
        head = self.head
        pairs = zip(head.query, head.key[place], strict=True)
        return [f"= {signed(query, 3)} · {signed(other, 3)} · {head.weights.scaling:.4f}" for query, other in pairs]

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
            raise InvalidInput(self.say("alone"))
        best = seen[0]
        others = [self.followed, seen[-1], seen[len(seen) // 2], *seen[1:]]

        def reply(place: int) -> str:
            if place == best:
                return self.say("reply_right", score=scores[place])
            if not np.isfinite(scores[place]):
                return self.say("reply_hidden")
            itself = self.say("itself") if place == self.followed else ""
            return self.say("reply_wrong", score=scores[place], best_score=scores[best], itself=itself)

        return Choice(
            self.say("ask"),
            self.tokens_to_choose(best, [place for place in others if np.isfinite(scores[place])], reply),
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
        added = self.say("added", bias=bias) if abs(bias) > 1e-3 else ""
        return self.say("why", best=self.quoted(best), total=total, added=added)

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"score": self.head.scores, "weight": self.head.shares})


class Shares(HeadStep):
    def figure(self) -> None:
        places = [place for place in self.compared if np.isfinite(self.head.scores[place])]
        scores = [float(score) for score in self.head.scores[places]]
        label = f"score above the lowest shown ({signed(min(scores))})"
        columns = {"token": self.labels(places), label: [score - min(scores) for score in scores]}
        pictures.bars("scores", columns)

    def ask(self) -> Sketch:
        return self.sketch(self.labels(self.compared), self.head.shares[self.compared], unit="%")

    def reply(self, compared: Mapping[str, Any]) -> str:
        drawn, total = compared["drawn"], sum(compared["drawn"])
        if total == 0:
            return self.say("reply_nothing", **compared, total=total)
        shared = np.minimum(np.divide(drawn, total), compared["truth"]).sum()
        where = self.say("like_you" if compared["guessed"] == compared["most"] else "unlike_you")
        return self.say("reply", **compared, total=total, shared=shared, where=where)

    def reveal(self) -> None:
        columns = {"token": self.labels(self.compared), "attention weight": self.head.shares[self.compared]}
        pictures.shares("shares", columns)

    def why(self) -> str:
        scores, weights = self.head.scores, self.head.shares
        order = np.argsort(-weights, kind="stable")
        best = int(order[0])
        if len(order) < 2 or weights[order[1]] == 0:
            return self.say("why alone")
        second = int(order[1])
        gap = float(scores[best] - scores[second])
        return self.say(
            "why",
            best=self.quoted(best),
            gap=gap,
            second=self.quoted(second),
            ratio=np.exp(gap),
            share=weights[best],
            second_share=weights[second],
        )

    def numbers(self) -> pd.DataFrame:
        return Scores(self.case).numbers()


class Scaling(HeadStep):
    after = Shares

    @cached_property
    def scaled(self) -> Unscaled:
        """The shares with the scaling and without."""
        return unscaled(self.head.scores, self.head.weights.scaling)

    def text(self) -> str:
        weights = self.head.weights
        size = weights.query.shape[1]
        return self.say("text", size=size, deviation=np.sqrt(size), weights=weights)

    def ask(self) -> Choice:
        scaled = self.scaled
        before, after = float(scaled.shares.max()), float(scaled.without.max())
        change = after - before
        grows, shrinks = change > 0.0001, change < -0.0001
        return self.choice(grows=grows, before=before, after=after, shrinks=shrinks, stays=not (grows or shrinks))

    def reveal(self) -> None:
        scaled, places = self.scaled, self.compared[:9]
        columns = {"scaled": scaled.shares[places], "without": scaled.without[places]}
        pictures.shares("scaling", {"token": self.labels(places), **columns})

    def why(self) -> str:
        scaled = self.scaled
        then = self.say("slower" if scaled.gradient_without < scaled.gradient else "not_slower")
        return self.say("why", scaled=scaled, then=then)

    def numbers(self) -> pd.DataFrame:
        return self.by_token({"share": self.scaled.shares, "share without scaling": self.scaled.without})


class Values(HeadStep):
    after = Shares

    @property
    def lengths(self) -> npt.NDArray[np.float64]:
        """How long the value of each token is, (n,)."""
        return np.linalg.norm(self.head.value.astype(np.float64), axis=1)

    @cached_property
    def brought(self) -> FloatArray:
        """‖α v‖ (n,): how long a vector each token contributes to the mixture."""
        return (self.head.shares * self.lengths).astype(np.float32)

    def ask(self) -> Choice:
        brought, weights = self.brought, self.head.shares
        order = [int(place) for place in np.argsort(-brought, kind="stable")]
        if len(order) < 2:
            raise InvalidInput(self.say("alone"))
        best, looked = order[0], int(np.argmax(weights))

        def reply(place: int) -> str:
            name = "contribution" if place == best else "reply_looked" if place == looked else "reply_other"
            values = {"length": brought[place], "share": weights[place]}
            return self.say(name, **values, best=self.quoted(best), best_length=brought[best])

        return Choice(self.say("ask"), self.tokens_to_choose(best, [looked, *order[1:]], reply))

    def reveal(self) -> None:
        places, total = self.compared[:9], float(self.brought.sum()) or 1.0
        columns = {
            "token": self.labels(places),
            "share of attention": self.head.shares[places],
            "share of the lengths contributed": self.brought[places] / total,
        }
        pictures.shares("values", columns)

    def why(self) -> str:
        most, looked = int(np.argmax(self.brought)), int(np.argmax(self.head.shares))
        length = float(np.linalg.norm(self.head.context.astype(np.float64)))
        agree = most == looked
        same = self.say("agree" if agree else "disagree", looked=self.quoted(looked), most=self.quoted(most))
        # The figures of “no_explanation” are those of ``python -m benchmarks.faithfulness --only areas``.
        return self.say("why", same=same, length=length)

    def numbers(self) -> pd.DataFrame:
        columns = {"weight": self.head.shares, "length of value": self.lengths, "length brought": self.brought}
        return self.by_token(columns)


LESSON = read_lesson(__file__, Projections, Scores, Shares, Scaling, Values)
