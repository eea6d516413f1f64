"""Lesson 2: the vectors that are added up for a token before the first layer, and the first norm."""

from __future__ import annotations

import numpy as np
import pandas as pd

from model_zoo.errors import InvalidInput
from model_zoo.types import FloatArray, Stage
from pages.learn import options, walk
from pages.learn.case import Case
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures
from viz.bars import bars
from viz.strips import Strip, strips
from web.engine import engine

_PARTS = {
    "token": "token: which piece it is",
    "position": "position: where it stands",
    "segment": "segment: in which text it stands",
}
_NEAREST = 8

_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")


def _parts(case: Case) -> dict[str, FloatArray]:
    """The vectors (d,) that are looked up for the followed token, by the names of their stages."""
    known = [stage for stage in case.anatomy.embeddings if stage.name in _PARTS]
    if not known:
        raise InvalidInput(case.anatomy.why_not or f"{case.model} has no embeddings to look up. Choose another model.")
    return {stage.name: stage.values[case.followed] for stage in known}


def _sum(case: Case) -> FloatArray:
    return np.sum(list(_parts(case).values()), axis=0, dtype=np.float32)


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


# ---- one token, many numbers ------------------------------------------------------------------------------------


def _many_text(case: Case) -> str:
    return (
        f"A model cannot calculate with {_token(case)}. For each [[token]] it looks up a [[vector]], a list of "
        "numbers, in a table that it learned: the [[embedding]] matrix. Colours stand for numbers here: one hue below "
        "zero, the other above."
    )


def _width(case: Case) -> int:
    return len(next(iter(_parts(case).values())))


def _many_ask(case: Case) -> Choice:
    width, n = _width(case), len(case.encoding)
    letters = max(len(case.written(case.followed)), 1)
    return Choice(
        f"How many numbers does this model look up for {_token(case)}?",
        options.numbers(
            (width, f"Every token gets {width}, long or short: it is the [[width]] of the model’s table."),
            (1, "One number, the id, only says which row of the table to take. The row itself is longer."),
            (letters, "The number of letters plays no part: the model never sees them, only the token’s id."),
            (n, "That is how many tokens your text has. Each of them gets a vector of its own."),
        ),
    )


def _many_reveal(case: Case) -> None:
    stage = _first(case)
    places = _around(case)
    tokens = case.encoding.tokens
    figures.show(
        strips([Strip(f"{place + 1} · {tokens[place]}", stage.values[place]) for place in places], dark=case.dark),
        "learn strips",
        "token-vectors",
    )


def _first(case: Case) -> Stage:
    _parts(case)  # which raises where there are none
    return case.anatomy.stage("token")


def _around(case: Case, n: int = 6) -> range:
    """Places around the followed token, as many as fit a picture."""
    start = max(0, min(case.followed - n // 2, len(case.encoding) - n))
    return range(start, min(start + n, len(case.encoding)))


def _many_why(case: Case) -> str:
    rows = sum(1 for _ in engine().vocabulary(case.model).tokens)
    return (
        f"The table has {rows:,} rows, one for each token of the vocabulary, and {_width(case)} columns; training set "
        "every number in it, and none has a meaning that anybody wrote down."
    )


def _many_numbers(case: Case) -> pd.DataFrame:
    vectors = _first(case).values
    rows = [
        {"place": place + 1, "token": token} | {f"{at + 1}": value for at, value in enumerate(vector.tolist())}
        for place, (token, vector) in enumerate(zip(case.encoding.tokens, vectors, strict=True))
    ]
    return pd.DataFrame(rows)


# ---- several vectors are added ----------------------------------------------------------------------------------


def _added_text(case: Case) -> str:
    return (
        f"The row of {_token(case)} is the same wherever it stands. But order matters, and in a pair of texts it "
        "matters which one a token belongs to. BERT adds a vector for each of these to the token’s own, number by "
        "number. Other models do less here."
    )


def _added_figure(case: Case) -> None:
    walk.draw(case, "embeddings")


def _added_ask(case: Case) -> Choice:
    n = len(_parts(case))
    told = {
        1: "Then the vector would say nothing of the place: a model that does so must bring the place in later, as "
        "ModernBERT does inside its layers.",
        2: "Token and position: GPT-2 and DistilBERT do so.",
        3: "Token, position, and segment, which tells the first text from the second: BERT does so.",
    }
    found = " and ".join(_parts(case))
    return Choice(
        "How many vectors does this model add up to make the first vector of a token?",
        tuple(
            Option(f"{many}", f"{said}" + (f" Here: {found}." if many == n else " This model is another."), many == n)
            for many, said in told.items()
        ),
    )


def _added_reveal(case: Case) -> None:
    parts = _parts(case)
    rows = [Strip(name, values, sign="+" if place else "") for place, (name, values) in enumerate(parts.items())]
    if len(parts) > 1:
        rows.append(Strip("sum", _sum(case), _sums(parts), "="))
    figures.show(strips(rows, dark=case.dark), "learn strips", "embeddings")


def _sums(parts: dict[str, FloatArray]) -> list[str]:
    """For every dimension, what was added."""
    return [
        " + ".join(f"{value:.4f}" for value in column).replace("-", "−") for column in zip(*parts.values(), strict=True)
    ]


def _added_why(case: Case) -> str:
    parts = _parts(case)
    at = int(np.argmax(np.abs(_sum(case))))
    if len(parts) == 1:
        return (
            "There is nothing to add: this model looks up the token’s vector alone, and where a token stands enters "
            "later, inside the layers."
        )
    summands = " + ".join(f"({values[at]:.3f})".replace("-", "−") for values in parts.values())
    return (
        f"Adding is enough to keep them apart, since there are many directions to choose from; in dimension {at + 1} "
        f"of {_token(case)}, {summands} = {_sum(case)[at]:.3f}.".replace("= -", "= −")
    )


def _added_numbers(case: Case) -> pd.DataFrame:
    parts = _parts(case)
    columns = {"dimension": np.arange(1, _width(case) + 1), **parts}
    return pd.DataFrame(columns | ({"sum": _sum(case)} if len(parts) > 1 else {}))


# ---- how long they are ------------------------------------------------------------------------------------------


def _lengths(case: Case) -> dict[str, float]:
    parts = _parts(case)
    vectors = parts | ({"sum": _sum(case)} if len(parts) > 1 else {})
    return {name: float(np.linalg.norm(values.astype(np.float64))) for name, values in vectors.items()}


def _long_text(_case: Case) -> str:
    return (
        "A [[vector]] is also an arrow, with a length: the root of the sum of its squared numbers. What is added as a "
        "long arrow moves the result more than what is added as a short one."
    )


def _long_ask(case: Case) -> Sketch:
    lengths = _lengths(case)
    top = _round_up(max(lengths.values()) * 1.3)

    def reply(drawn: object) -> str:
        heights = [float(height) for height in drawn]  # type: ignore[attr-defined]
        names = list(lengths)
        longest, guessed = max(lengths, key=lengths.__getitem__), names[int(np.argmax(heights))]
        off = float(np.mean(np.abs(np.array(heights) - np.array(list(lengths.values())))))
        said = f"Your heights are {off:.2f} off, on average. "
        if longest == guessed:
            return said + f"You drew “{guessed}” longest, and it is."
        return said + f"You drew “{guessed}” longest; the model’s longest is “{longest}”."

    return Sketch(
        f"Draw how long you expect each vector of {_token(case)} to be.",
        tuple(lengths),
        tuple(lengths.values()),
        reply,
        top=top,
    )


def _round_up(value: float) -> float:
    """The next number with one digit that counts."""
    unit = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / unit) * unit)


def _long_reveal(case: Case) -> None:
    lengths = _lengths(case)
    figures.show(bars(list(lengths), [("length", list(lengths.values()))], dark=case.dark), "learn bars", "lengths")


def _long_why(case: Case) -> str:
    lengths = _lengths(case)
    if len(lengths) == 1:
        return "There is one vector only, so its length is that of what enters the first layer."
    of_parts = sum(length for name, length in lengths.items() if name != "sum")
    return (
        f"The parts’ lengths add up to {of_parts:.2f}, their sum has a length of {lengths['sum']:.2f}: arrows that "
        "point in different directions make up less than their lengths together."
    )


def _long_numbers(case: Case) -> pd.DataFrame:
    lengths = _lengths(case)
    return pd.DataFrame({"vector": lengths.keys(), "length": lengths.values()})


# ---- the first norm ---------------------------------------------------------------------------------------------


def _normed(case: Case) -> tuple[FloatArray, FloatArray]:
    """What the first norm of the model is given of the followed token, and what it makes of it, both (width,)."""
    found = engine().dissect(case.model, case.text, layer=0)
    names = [stage.name for stage in (*found.embeddings, *found.stages)]
    norm = next(
        (name for name in ("normed", "normed before", "normed after attention", "normed between") if name in names),
        None,
    )
    if norm is None:
        raise InvalidInput(
            found.why_not or f"No norm of {case.model} is known here. Choose another model, such as BERT."
        )
    stage = found.stage(norm)
    given = found.stage(stage.made_of[-1])
    return given.values[case.followed], stage.values[case.followed]


def _standard(values: FloatArray) -> FloatArray:
    """The same numbers moved and scaled to mean 0 and variance 1."""
    exact = values.astype(np.float64)
    return ((exact - exact.mean()) / (exact.std() or 1.0)).astype(np.float32)


def _norm_text(_case: Case) -> str:
    return (
        "Sums of vectors come in all sizes. [[LayerNorm]] brings each token’s numbers to one size before they go on: "
        "it subtracts their mean and divides by their standard deviation. Then every dimension is multiplied by a "
        "learned scale and moved by a learned shift."
    )


def _norm_figure(case: Case) -> None:
    before, _ = _normed(case)
    figures.show(strips([Strip("before the norm", before)], dark=case.dark), "learn strips", "norm")


def _norm_ask(case: Case) -> Choice:
    before, _ = _normed(case)
    return Choice(
        f"The numbers of {_token(case)} have a mean of {_signed(before.mean())} and a standard deviation of "
        f"{before.std():.3f}. What holds after the norm, before scale and shift?",
        (
            Option("They add up to 1", "That is [[softmax]], which makes shares. A norm keeps negative numbers."),
            Option("They lie between 0 and 1", "Nothing bounds them: a number far from the mean stays far from it."),
            Option(
                "Their mean is 0 and their standard deviation 1",
                "So a token’s numbers come in one size, whatever they were before.",
                right=True,
            ),
            Option("The largest one is 1", "It does not divide by the largest number, but by the typical distance."),
        ),
    )


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _norm_reveal(case: Case) -> None:
    before, after = _normed(case)
    rows = [
        Strip("before the norm", before),
        Strip("mean 0, deviation 1", _standard(before)),
        Strip("after scale and shift", after),
    ]
    figures.show(strips(rows, dark=case.dark), "learn strips", "norm")


def _norm_why(case: Case) -> str:
    _, after = _normed(case)
    return (
        "The layers behind it then meet numbers of one size, however large the sums were, which makes training "
        f"steadier (Ba et al. 2016); scale and shift give {_token(case)} a mean of {_signed(after.mean())} and a "
        f"deviation of {after.std():.3f}."
    )


def _norm_numbers(case: Case) -> pd.DataFrame:
    before, after = _normed(case)
    return pd.DataFrame(
        {
            "dimension": np.arange(1, len(before) + 1),
            "before": before,
            "standardized": _standard(before),
            "after scale and shift": after,
        }
    )


# ---- nearest rows -----------------------------------------------------------------------------------------------


def _nearest(case: Case) -> list[tuple[str, float]]:
    found = engine().nearest_tokens(case.model, case.encoding.ids[case.followed], _NEAREST)
    return [(near.token, near.cosine) for near in found]


def _near_text(case: Case) -> str:
    return (
        f"Which rows of the table point in nearly the same direction as that of {_token(case)}? The [[cosine]] of the "
        "angle between two vectors says how alike their directions are: 1 for the same one, 0 for a right angle."
    )


def _near_ask(case: Case) -> Choice:
    nearest = _nearest(case)
    if len(nearest) < 4:
        raise InvalidInput("The vocabulary of this model is too small to compare rows. Choose another model.")
    picked = sorted({0, 2, 4, len(nearest) - 1} & set(range(len(nearest))))
    shown = sorted((nearest[place] for place in picked), key=lambda near: near[0])
    best, cosine = nearest[0]
    return Choice(
        f"Which of these tokens has the row most like that of {_token(case)}?",
        tuple(
            Option(
                as_answer(token),
                f"Its cosine is {value:.3f}, the highest of all tokens."
                if token == best
                else f"Its cosine is {value:.3f}; {quoted(best)} has {cosine:.3f}.",
                token == best,
            )
            for token, value in shown
        ),
    )


def as_answer(token: str) -> str:
    """A token as an answer to choose."""
    return quoted(token)


def _near_reveal(case: Case) -> None:
    nearest = _nearest(case)
    figures.show(
        bars(
            [token for token, _ in nearest],
            [("cosine", [max(value, 0.0) for _, value in nearest])],
            top=1,
            dark=case.dark,
        ),
        "learn bars",
        "nearest",
    )


def _near_why(case: Case) -> str:
    return (
        "Training moves the rows of tokens that stand in similar contexts in similar directions, so neighbours in the "
        "table often go together in language, by meaning, by form, or by what stands beside them (Mikolov et al. "
        f"2013); whether that is so for {_token(case)}, you see from the list."
    )


def _near_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(_nearest(case), columns=["token", "cosine"])


LESSON = Lesson(
    name="embeddings",
    title="Three vectors, one sum",
    question="How does a token become numbers?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("The old man gave the old dog an old shoe.", ""),
    ),
    controls=("token",),
    pages=("layers",),
    steps=(
        Step(
            title="One token, many numbers",
            at="embeddings",
            text=_many_text,
            figure=lambda case: walk.draw(case, "embeddings"),
            ask=_many_ask,
            reveal=_many_reveal,
            why=_many_why,
            numbers=_many_numbers,
            sources=(_DEVLIN,),
            wide=True,
        ),
        Step(
            title="Vectors are added",
            at="embeddings",
            text=_added_text,
            figure=_added_figure,
            ask=_added_ask,
            reveal=_added_reveal,
            why=_added_why,
            numbers=_added_numbers,
            sources=(_DEVLIN,),
            wide=True,
        ),
        Step(
            title="How long each is",
            at="embeddings",
            text=_long_text,
            figure=_added_reveal,
            ask=_long_ask,
            reveal=_long_reveal,
            why=_long_why,
            numbers=_long_numbers,
        ),
        Step(
            title="One size for all: LayerNorm",
            at="embeddings",
            text=_norm_text,
            figure=_norm_figure,
            ask=_norm_ask,
            reveal=_norm_reveal,
            why=_norm_why,
            numbers=_norm_numbers,
            sources=(Source("Ba et al.", 2016, "Layer Normalization"),),
        ),
        Step(
            title="Neighbours in the table",
            at="embeddings",
            text=_near_text,
            figure=_many_reveal,
            ask=_near_ask,
            reveal=_near_reveal,
            why=_near_why,
            numbers=_near_numbers,
            sources=(Source("Mikolov et al.", 2013, "Efficient Estimation of Word Representations in Vector Space"),),
        ),
    ),
)
