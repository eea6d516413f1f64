"""Lesson 3: one head by hand, from the vectors that enter to the mixture of values that leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from analysis.softmax_scaling import Unscaled, unscaled
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import Anatomy, FloatArray, HeadWeights
from pages.learn import options, walk
from pages.learn.case import Case
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures
from viz.bars import bars
from viz.strips import Strip, strips

MOST_KEYS: Final = 12  # that a picture compares

# The figures are those of ``python -m benchmarks.cause --only areas --markdown``.
_NO_EXPLANATION: Final = (
    "Nor does it say which words a prediction depends on. With the BERT that comes with this app and 100 built-in "
    "sentences, hiding words in the order of attention (mean of all heads) does hardly better than hiding the words "
    "nearest to the mask first: the area under the curve of P is 0.227 against 0.237, a difference of −0.011 (95% "
    "interval −0.031 to +0.010). When words are shown again in that order, it is 0.671 against 0.623, a difference of "
    "+0.048 (+0.017 to +0.079). Try it on the page Cause, under “Which word did it?”."
)

_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_KOBAYASHI = Source("Kobayashi et al.", 2020, "Attention is Not Only a Weight")


def _by_hand(case: Case) -> tuple[Anatomy, HeadWeights]:
    """The chosen head with all its matrices. Raises NotSupported where they are not known part by part."""
    found = case.anatomy
    if found.weights is None:
        raise NotSupported(found.why_not or f"The matrices of {case.model} are not known here. Choose another model.")
    return found, found.weights


def _row(case: Case) -> tuple[FloatArray, FloatArray]:
    """Scores and weights (n,) of the followed token."""
    found, _ = _by_hand(case)
    assert found.scores is not None
    return found.scores[case.followed], found.attention[case.followed]


def shown(weights: FloatArray, followed: int) -> list[int]:
    """The places that a picture compares, in the order of the text: the largest weights, and the token itself."""
    strongest = np.argsort(-weights, kind="stable")[:MOST_KEYS].tolist()
    return sorted({*strongest[: MOST_KEYS - (followed not in strongest)], followed})


def _names(case: Case, places: Sequence[int]) -> list[str]:
    return [f"{place + 1} · {case.encoding.tokens[place]}" for place in places]


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


def _where(case: Case) -> str:
    return f"layer {case.layer + 1}, head {case.head + 1}"


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


# ---- from x to query, key, value --------------------------------------------------------------------------------


def _query_text(case: Case) -> str:
    return (
        f"A [[head]] begins by making three shorter [[vectors|vector]] of every token’s vector x: a [[query]], a "
        f"[[key]] and a [[value]]. Each is x times a learned matrix, plus a learned bias. This is {_where(case)}."
    )


def _query_ask(case: Case) -> Choice:
    found, weights = _by_hand(case)
    width, size = weights.query.shape
    return Choice(
        f"x has {width} numbers and the matrix W_Q {width} rows and {size} columns. How many numbers has the query?",
        options.numbers(
            (size, "Every column of the matrix makes one number: x times that column, added up."),
            (width, "So many go in. Every column takes them all and makes one number of them."),
            (width * size, "So many numbers are in the matrix. They are used up in sums."),
            (len(found.encoding), "That is the number of tokens. Each of them gets a query of its own."),
        ),
    )


def _query_reveal(case: Case) -> None:
    found, weights = _by_hand(case)
    at = case.followed
    assert found.value is not None
    given = _given(found)[at]
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
        Strip("value: x W_V + b", found.value[at], _said(given, weights.value, weights.value_bias, "W_V")),
    ]
    figures.show(strips(rows, dark=case.dark), "learn strips", "query-key-value")


def _given(found: Anatomy) -> FloatArray:
    """What the head is given (n, width): the layer's input, normalized first in models that do so."""
    return found.stage("normed before" if found.has("normed before") else "input").values


def _projected(given: FloatArray, matrix: FloatArray, bias: FloatArray) -> FloatArray:
    exact = given.astype(np.float64) @ matrix.astype(np.float64) + bias
    return exact.astype(np.float32)


def _said(given: FloatArray, matrix: FloatArray, bias: FloatArray, name: str) -> list[str]:
    """For every number of a projection, the products that weigh most in it."""
    products = given[:, None].astype(np.float64) * matrix
    said = []
    for column in range(matrix.shape[1]):
        largest = np.argsort(-np.abs(products[:, column]))[:2]
        parts = [f"{_signed(given[row], 3)} · {_signed(matrix[row, column], 3)}" for row in largest]
        rest = products[:, column].sum() - products[largest, column].sum()
        said.append(
            f"= {' + '.join(f'({part})' for part in parts)}\n+ {_signed(rest, 3)} from {len(given) - len(parts)} more"
            f" + bias {_signed(bias[column], 3)}\ncolumn {column + 1} of {name}"
        )
    return said


def _query_why(case: Case) -> str:
    found, weights = _by_hand(case)
    given = _given(found)[case.followed]
    first = float(_projected(given, weights.query, weights.query_bias)[0])
    return (
        f"A matrix takes from x what this head compares by and leaves the rest: the first number of the query of "
        f"{_token(case)} is the sum of {len(given)} products and a bias, {_signed(first, 4)}. Point at a number to see "
        "what it is made of."
    )


def _query_numbers(case: Case) -> pd.DataFrame:
    found, weights = _by_hand(case)
    assert found.value is not None
    given = _given(found)[case.followed]
    return pd.DataFrame(
        {
            "dimension": np.arange(1, weights.query.shape[1] + 1),
            "query": _projected(given, weights.query, weights.query_bias),
            "key": _projected(given, weights.key, weights.key_bias),
            "value": found.value[case.followed],
        }
    )


# ---- query times keys -------------------------------------------------------------------------------------------


def _score_text(case: Case) -> str:
    return (
        f"The query of {_token(case)} is multiplied with every key, number by number, and the products are added up: "
        "the [[dot product|dot product]]. Divided by √d it is the [[score]]. Vectors that point the same way give a "
        "high one. In a figure of speech: the query asks, and a key that fits answers."
    )


def _score_figure(case: Case) -> None:
    found, _ = _by_hand(case)
    assert found.query is not None
    assert found.key is not None
    _, weights = _row(case)
    places = shown(weights, case.followed)[:6]
    rows = [Strip(f"query of {case.encoding.tokens[case.followed]}", found.query[case.followed])]
    rows += [
        Strip(f"key of {name}", found.key[place]) for place, name in zip(places, _names(case, places), strict=True)
    ]
    figures.show(strips(rows, dark=case.dark), "learn strips", "query-keys")


def _score_ask(case: Case) -> Choice:
    scores, _ = _row(case)
    finite = np.where(np.isfinite(scores), scores, -np.inf)
    order = np.argsort(-finite, kind="stable")
    seen = [int(place) for place in order if np.isfinite(scores[place])]
    if len(seen) < 2:
        raise InvalidInput(f"{_token(case)} may look at one token only. Follow another token, or type more words.")
    best = seen[0]
    others = [case.followed, seen[-1], seen[len(seen) // 2], *seen[1:]]

    def reply(place: int) -> str:
        if place == best:
            return f"Its score is {_signed(scores[place])}, the highest."
        if not np.isfinite(scores[place]):
            return "This token is hidden from it: there is no score."
        itself = " A token’s own key need not fit its query: two matrices made them." if place == case.followed else ""
        return f"Its score is {_signed(scores[place])}; the highest is {_signed(scores[best])}.{itself}"

    return Choice(
        f"Which token’s key fits the query of {_token(case)} best in this head?",
        options.tokens(case, best, [place for place in others if np.isfinite(scores[place])], reply),
    )


def _score_reveal(case: Case) -> None:
    scores, weights = _row(case)
    places = sorted(np.argsort(-weights, kind="stable")[:8].tolist())
    rows = [
        Strip(f"{name}: score {_signed(scores[place])}", _products(case, place), _of_products(case, place))
        for place, name in zip(places, _names(case, places), strict=True)
        if np.isfinite(scores[place])
    ]
    figures.show(strips(rows, what="product", dark=case.dark), "learn strips", "products")


def _products(case: Case, place: int) -> FloatArray:
    """Query times key, number by number, scaled (d,): they add up to the score."""
    found, weights = _by_hand(case)
    assert found.query is not None
    assert found.key is not None
    return (found.query[case.followed] * found.key[place] * np.float32(weights.scaling)).astype(np.float32)


def _of_products(case: Case, place: int) -> list[str]:
    found, weights = _by_hand(case)
    assert found.query is not None
    assert found.key is not None
    return [
        f"= {_signed(one, 3)} · {_signed(other, 3)} · {weights.scaling:.4f}"
        for one, other in zip(found.query[case.followed], found.key[place], strict=True)
    ]


def _score_why(case: Case) -> str:
    scores, _ = _row(case)
    best = int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))
    total = float(_products(case, best).astype(np.float64).sum())
    bias = float(scores[best]) - total
    added = f", plus {_signed(bias, 3)} that the model adds for the places of the two" if abs(bias) > 1e-3 else ""
    return (
        f"The products of {_token(case)} with {quoted(case.encoding.tokens[best])}, scaled, add up to "
        f"{_signed(total, 3)}{added}; no other key gives more."
    )


def _score_numbers(case: Case) -> pd.DataFrame:
    scores, weights = _row(case)
    return pd.DataFrame(
        {
            "place": np.arange(1, len(scores) + 1),
            "token": case.encoding.tokens,
            "score": scores,
            "weight": weights,
        }
    )


# ---- softmax ----------------------------------------------------------------------------------------------------


def _share_text(case: Case) -> str:
    return (
        f"[[Softmax|softmax]] turns the [[scores|score]] of one query into shares: e to the power of each score, "
        f"divided by the sum of all. These are the [[attention weights|attention weight]] of {_token(case)}. People "
        "say it “looks at” a token: what happens is that the token gets a share."
    )


def _share_figure(case: Case) -> None:
    scores, weights = _row(case)
    places = [place for place in shown(weights, case.followed) if np.isfinite(scores[place])]
    lowest = min(float(scores[place]) for place in places)
    figures.show(
        bars(
            _names(case, places),
            [
                (
                    f"score, counted from the lowest shown ({_signed(lowest)})",
                    [float(scores[place]) - lowest for place in places],
                )
            ],
            dark=case.dark,
        ),
        "learn bars",
        "scores",
    )


def _share_ask(case: Case) -> Sketch:
    _, weights = _row(case)
    places = shown(weights, case.followed)
    truth = [float(weights[place]) for place in places]
    names = _names(case, places)

    def reply(drawn: Sequence[float]) -> str:
        total = sum(drawn)
        most = names[int(np.argmax(truth))]
        said = f"What you drew adds up to {total:.0%}; shares add up to 100%. "
        if total == 0:
            return said + f"The largest share, {max(truth):.0%}, is that of {quoted(most)}."
        shared = sum(min(mine / total, its) for mine, its in zip(drawn, truth, strict=True))
        where = "You, too, gave most to" if names[int(np.argmax(drawn))] == most else "Most went to"
        return (
            said
            + f"Brought to 100%, {shared:.0%} of it lies where the model’s lies. "
            + f"{where} {quoted(most)}: {max(truth):.0%}."
        )

    return Sketch(f"Draw how {_token(case)} divides its 100%.", tuple(names), tuple(truth), reply, top=1.0, unit="%")


def _share_reveal(case: Case) -> None:
    _, weights = _row(case)
    places = shown(weights, case.followed)
    figures.show(
        bars(
            _names(case, places),
            [("attention weight", [float(weights[place]) for place in places])],
            top=1,
            written=".1%",
            dark=case.dark,
        ),
        "learn bars",
        "shares",
    )


def _share_why(case: Case) -> str:
    scores, weights = _row(case)
    order = np.argsort(-weights, kind="stable")
    best = int(order[0])
    if len(order) < 2 or weights[order[1]] == 0:
        return f"{_token(case)} has one token to look at, so that one gets all of it."
    second = int(order[1])
    gap = float(scores[best] - scores[second])
    return (
        f"Softmax cares for differences: {quoted(case.encoding.tokens[best])} leads "
        f"{quoted(case.encoding.tokens[second])} by {gap:.2f}, so its share is e^{gap:.2f} = {np.exp(gap):.2f} times "
        f"as large, {weights[best]:.1%} to {weights[second]:.1%}."
    )


# ---- the scaling taken away -------------------------------------------------------------------------------------


def _scaled(case: Case) -> Unscaled:
    scores, _ = _row(case)
    _, weights = _by_hand(case)
    return unscaled(scores, weights.scaling)


def _scale_text(case: Case) -> str:
    _, weights = _by_hand(case)
    size = weights.query.shape[1]
    return (
        f"Why divide by √d? A [[dot product]] of two vectors with {size} random numbers, each of variance 1, has a "
        f"standard deviation of √{size} = {np.sqrt(size):.1f}: longer vectors, larger scores. This head multiplies by "
        f"{weights.scaling:.4f}. Take that away."
    )


def _scale_ask(case: Case) -> Choice:
    found = _scaled(case)
    before, after = float(found.shares.max()), float(found.without.max())
    change = after - before
    told = f"It goes from {before:.1%} to {after:.1%}."
    return Choice(
        f"Without the scaling, what happens to the largest share of {_token(case)}?",
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


def _scale_reveal(case: Case) -> None:
    found = _scaled(case)
    _, weights = _row(case)
    places = shown(weights, case.followed)[:9]
    series = [
        ("scaled", [float(found.shares[place]) for place in places]),
        ("without", [float(found.without[place]) for place in places]),
    ]
    figures.show(bars(_names(case, places), series, top=1, written=".1%", dark=case.dark), "learn bars", "scaling")


def _scale_why(case: Case) -> str:
    found = _scaled(case)
    if found.gradient_without < found.gradient:
        then = "less of an error gets through to queries and keys, and a head learns more slowly (Vaswani et al. 2017)"
    else:
        then = "on this row it does not shrink, since the shares were far from one-sided; the danger is the other case"
    return (
        f"The size of the softmax’s derivative goes from {found.gradient:.3f} to {found.gradient_without:.3f} without "
        f"the scaling: {then}."
    )


def _scale_numbers(case: Case) -> pd.DataFrame:
    found = _scaled(case)
    return pd.DataFrame(
        {
            "place": np.arange(1, len(found.shares) + 1),
            "token": case.encoding.tokens,
            "share": found.shares,
            "share without scaling": found.without,
        }
    )


# ---- weights times values ---------------------------------------------------------------------------------------


def _brought(case: Case) -> FloatArray:
    """‖α v‖ (n,): how long a vector each token contributes to the mixture."""
    found, _ = _by_hand(case)
    assert found.value is not None
    lengths = np.linalg.norm(found.value.astype(np.float64), axis=1)
    return (found.attention[case.followed] * lengths).astype(np.float32)


def _value_text(case: Case) -> str:
    return (
        f"Last, the head adds up the [[values|value]] of all tokens, each multiplied by its share: the [[context]] of "
        f"{_token(case)}. How much a token brings depends on its share and on how long its value is."
    )


def _value_ask(case: Case) -> Choice:
    brought = _brought(case)
    _, weights = _row(case)
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
            return (
                said
                + " It has the largest share, but "
                + f"{quoted(case.encoding.tokens[best])} brings more: {brought[best]:.3f}."
            )
        return said + f" {quoted(case.encoding.tokens[best])} brings {brought[best]:.3f}."

    return Choice(
        f"Which token brings most, the longest vector, into the context of {_token(case)}?",
        options.tokens(case, best, others, reply),
    )


def _value_reveal(case: Case) -> None:
    _, weights = _row(case)
    brought = _brought(case)
    places = shown(weights, case.followed)[:9]
    total = float(brought.sum()) or 1.0
    series = [
        ("share of attention", [float(weights[place]) for place in places]),
        ("share of the lengths brought", [float(brought[place]) / total for place in places]),
    ]
    figures.show(bars(_names(case, places), series, top=1, written=".1%", dark=case.dark), "learn bars", "values")


def _value_why(case: Case) -> str:
    found, _ = _by_hand(case)
    assert found.context is not None
    brought = _brought(case)
    _, weights = _row(case)
    most, looked = int(np.argmax(brought)), int(np.argmax(weights))
    length = float(np.linalg.norm(found.context[case.followed].astype(np.float64)))
    same = (
        "Here the largest share also brings most, which need not be so"
        if most == looked
        else f"Here {quoted(case.encoding.tokens[looked])} has the largest share and "
        f"{quoted(case.encoding.tokens[most])} brings most"
    )
    return (
        f"{same}: the context, of length {length:.3f}, is the sum of shares times values, so a large share of a short "
        "value is little, and attention alone does not say what was passed on (Kobayashi et al. 2020). "
        f"{_NO_EXPLANATION}"
    )


def _value_numbers(case: Case) -> pd.DataFrame:
    found, _ = _by_hand(case)
    assert found.value is not None
    _, weights = _row(case)
    return pd.DataFrame(
        {
            "place": np.arange(1, len(weights) + 1),
            "token": case.encoding.tokens,
            "weight": weights,
            "length of value": np.linalg.norm(found.value.astype(np.float64), axis=1),
            "length brought": _brought(case),
        }
    )


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
    steps=(
        Step(
            title="Query, key, value",
            at="heads",
            text=_query_text,
            figure=lambda case: walk.draw(case, "query"),
            ask=_query_ask,
            reveal=_query_reveal,
            why=_query_why,
            numbers=_query_numbers,
            sources=(_VASWANI,),
            wide=True,
        ),
        Step(
            title="Query times keys: scores",
            at="heads",
            text=_score_text,
            figure=_score_figure,
            ask=_score_ask,
            reveal=_score_reveal,
            why=_score_why,
            numbers=_score_numbers,
            sources=(_VASWANI,),
        ),
        Step(
            title="Softmax: shares of 100%",
            at="heads",
            text=_share_text,
            figure=_share_figure,
            ask=_share_ask,
            reveal=_share_reveal,
            why=_share_why,
            numbers=_score_numbers,
            sources=(_VASWANI,),
        ),
        Step(
            title="The scaling taken away",
            at="heads",
            text=_scale_text,
            figure=_share_reveal,
            ask=_scale_ask,
            reveal=_scale_reveal,
            why=_scale_why,
            numbers=_scale_numbers,
            sources=(_VASWANI,),
        ),
        Step(
            title="Shares times values",
            at="heads",
            text=_value_text,
            figure=_share_reveal,
            ask=_value_ask,
            reveal=_value_reveal,
            why=_value_why,
            numbers=_value_numbers,
            sources=(_KOBAYASHI,),
        ),
    ),
)
