"""Lesson 8: how a model is told where tokens stand, and what it notices when words are shuffled."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from analysis.sinusoids import frequencies, sinusoids, turned
from model_zoo import registry
from model_zoo.errors import InvalidInput
from model_zoo.types import MaskPrediction, PositionKind, Positions
from pages.learn import options
from pages.learn.case import Case, name_of
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures
from ui.messages import as_text
from viz.bars import bars
from viz.matrices import matrices
from viz.predictions import predictions
from web.engine import engine

_SHOWN: Final = 32  # positions in a picture
_COMPARED: Final = 16  # positions in each of two pictures
_WIDTH: Final = 64  # of the vectors that the formula makes here
_APART: Final = (0, 1, 2, 3, 4, 6, 8, 12, 16)
_SEED: Final = 3  # of the shuffle, the same for everybody

_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_DEVLIN = Source("Devlin et al.", 2019, "BERT: Pre-training of Deep Bidirectional Transformers")
_SU = Source("Su et al.", 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding")
_SHAW = Source("Shaw et al.", 2018, "Self-Attention with Relative Position Representations")
_RAFFEL = Source("Raffel et al.", 2020, "Exploring the Limits of Transfer Learning (T5)")
_WARNER = Source("Warner et al.", 2024, "Smarter, Better, Faster, Longer (ModernBERT)")
_SALAZAR = Source("Salazar et al.", 2020, "Masked Language Model Scoring")


# ---- how this model is told -------------------------------------------------------------------------------------


def _positions(case: Case) -> Positions:
    return engine().read_positions(case.model, _SHOWN)


def _told_text(_case: Case) -> str:
    return (
        "Attention adds up values, and sums do not care for order: without help a transformer would read a text as a "
        "bag of words. So every such model brings in the [[position]] of each token somehow. How does this one do it?"
    )


_KINDS: Final[Mapping[PositionKind, tuple[str, str, str]]] = {
    "learned": (
        "A learned vector for each position is added to the embeddings",
        "BERT, RoBERTa and GPT-2 do so: a table with a row for every place up to the longest text.",
        "Its embeddings have no table of positions.",
    ),
    "rotary": (
        "Queries and keys are turned by an angle that grows with the position",
        "ModernBERT does so in every layer: rotary positions (Su et al. 2021, Warner et al. 2024).",
        "Its queries and keys are compared as the matrices make them, without being turned.",
    ),
    "relative": (
        "A number for the distance of two tokens is added to their score",
        "T5 does so (Raffel et al. 2020), in the line of Shaw et al. 2018: relative positions.",
        "Its scores have no such number added.",
    ),
    "none": (
        "Not by any table or angle that is known here",
        "An LSTM reads one word after the other, so order needs no table; XLNet and DeBERTa compare with vectors of "
        "distances.",
        "It is told, and you can see how.",
    ),
}


def _told_ask(case: Case) -> Choice:
    kind = _positions(case).kind
    unknown = "Nothing of that kind was found in this model."
    return Choice(
        "How is this model told where a token stands?",
        tuple(
            Option(text, right if name == kind else unknown if kind == "none" else wrong, name == kind)
            for name, (text, right, wrong) in _KINDS.items()
        ),
    )


def _told_figure(case: Case) -> None:
    tokens = case.encoding.tokens[:_SHOWN]
    st.markdown(" ".join(f"`{place + 1}`&nbsp;{as_text(token)}" for place, token in enumerate(tokens)))


def _told_reveal(case: Case) -> None:
    found = _positions(case)
    names = [str(place + 1) for place in range(_SHOWN)]
    if found.table is not None:
        rows = [names[place] for place in range(len(found.table))]
        figure = matrices(
            [("learned vectors of positions", _cosines(found.table))],
            rows,
            rows,
            what="cosine",
            signed=True,
            dark=case.dark,
        )
        figures.show(figure, "learn positions", "positions")
    elif found.frequencies is not None:
        angles = np.cos(np.arange(_SHOWN)[:, None] * found.frequencies[0][None]).astype(np.float32)
        pairs = [str(pair + 1) for pair in range(angles.shape[1])]
        figure = matrices(
            [("cosine of the angle, by position and pair", angles)],
            names,
            pairs,
            what="cosine",
            signed=True,
            dark=case.dark,
        )
        figures.show(figure, "learn positions", "positions")
    elif found.bias is not None:
        figure = matrices(
            [("bias of head 1 by places", found.bias[0])],
            names,
            names,
            what="added to the score",
            signed=True,
            dark=case.dark,
        )
        figures.show(figure, "learn positions", "positions")
    else:
        st.info("There is no table to show for this model.", icon=":material/block:")


def _cosines(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    found: npt.NDArray[np.float32] = (unit @ unit.T).astype(np.float32)
    return found


def _told_why(case: Case) -> str:
    found = _positions(case)
    if found.table is not None:
        cosines = _cosines(found.table)
        near, far = float(np.diagonal(cosines, 1).mean()), float(np.diagonal(cosines, len(cosines) // 2).mean())
        return (
            "Nobody told the table which places are neighbours: after training, neighbouring rows have a [[cosine]] "
            f"of {near:.2f} on average, rows {len(cosines) // 2} places apart {far:.2f}.".replace(" -", " −")
        )
    if found.frequencies is not None:
        slow = 2 * np.pi / float(found.frequencies[0].min())
        return (
            f"The first pair of dimensions turns once in {2 * np.pi / float(found.frequencies[0].max()):.1f} "
            f"positions, the last in {slow:,.0f}: quick hands for near places and slow ones for far places, like "
            "those of a clock."
        )
    if found.bias is not None:
        return "The number depends on the distance alone, so every diagonal of the picture has one colour."
    return "Order enters this model in another way, for example by reading word after word."


def _told_numbers(case: Case) -> pd.DataFrame:
    found = _positions(case)
    if found.table is not None:
        return pd.DataFrame(found.table, columns=[str(at + 1) for at in range(found.table.shape[1])])
    if found.frequencies is not None:
        return pd.DataFrame(found.frequencies.T, columns=[f"layer {at + 1}" for at in range(len(found.frequencies))])
    if found.bias is not None:
        return pd.DataFrame(found.bias[0])
    return pd.DataFrame({"positions": [found.kind]})


# ---- the formula ------------------------------------------------------------------------------------------------


def _alike() -> list[float]:
    """How alike the formula's vectors are by their distance, 1 for the same place."""
    vectors = sinusoids(64, _WIDTH)
    first = vectors[20]
    return [float(vectors[20 + apart] @ first / (first @ first)) for apart in _APART]


def _wave_text(_case: Case) -> str:
    return (
        "The first transformer learned no table: it used a formula. PE(pos, 2i) = sin(pos / 10000^(2i/k)), and cos for "
        f"the odd dimensions, of k in all; here k is {_WIDTH}. Low dimensions swing fast, high ones slowly."
    )


def _wave_figure(case: Case) -> None:
    table = sinusoids(_SHOWN, _WIDTH).astype(np.float32)
    rows, columns = ([str(at + 1) for at in range(size)] for size in table.shape)
    figures.show(
        matrices(
            [("PE: positions down, dimensions across", table)],
            list(rows),
            list(columns),
            what="PE",
            signed=True,
            dark=case.dark,
        ),
        "learn waves",
        "sinusoids",
    )


def _wave_ask(_case: Case) -> Sketch:
    truth = _alike()
    names = ["the same place" if apart == 0 else f"{apart} apart" for apart in _APART]

    def reply(drawn: Sequence[float]) -> str:
        off = float(np.mean(np.abs(np.array(drawn) - np.array(truth))))
        return (
            f"You are {off:.2f} off, on average. It falls slowly: {truth[1]:.2f} at 1 place apart, {truth[-1]:.2f} at "
            f"{_APART[-1]} apart."
        )

    return Sketch(
        "Draw how alike the vectors of two places are (dot product, 1 for the same place).",
        tuple(names),
        tuple(truth),
        reply,
    )


def _wave_reveal(case: Case) -> None:
    table = sinusoids(_SHOWN, _WIDTH).astype(np.float32)
    names = [str(place + 1) for place in range(_SHOWN)]
    figures.show(
        matrices(
            [("how alike two places are", _cosines(table))], names, names, what="likeness", signed=True, dark=case.dark
        ),
        "learn waves",
        "sinusoids-alike",
    )


def _wave_why(_case: Case) -> str:
    vectors = sinusoids(64, _WIDTH)
    one, other = float(vectors[3] @ vectors[8]), float(vectors[33] @ vectors[38])
    return (
        f"The product depends on the distance alone: places 4 and 9 give {one:.4f}, places 34 and 39 give "
        f"{other:.4f}, which should make it easy to learn “five places back” once for all (Vaswani et al. 2017)."
    )


def _wave_numbers(_case: Case) -> pd.DataFrame:
    return pd.DataFrame({"places apart": _APART, "likeness": _alike()})


# ---- only the distance ------------------------------------------------------------------------------------------


def _pair(case: Case) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A query and a key (d,) as a head of this model makes them, and the angles: the model's own where it turns them.

    Of a model whose heads are not known part by part they are drawn at random.
    """
    found = engine().dissect(case.model, case.text)
    if found.weights is None:
        size = 32
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=size), rng.normal(size=size)
    else:
        size = found.weights.query.shape[1]
        query = found.stage("query").values[case.followed][:size].astype(np.float64)
        key = found.stage("key").values[min(1, len(found.encoding) - 1)][:size].astype(np.float64)
    own = _positions(case).frequencies
    theta = frequencies(size) if own is None else own[0].astype(np.float64)
    return query, key, theta


def _product(case: Case, at: int, other: int) -> float:
    """Of the query at a place and the key at another, both turned."""
    query, key, theta = _pair(case)
    return float(turned(query, at, theta) @ turned(key, other, theta))


def _turn_text(case: Case) -> str:
    if _positions(case).kind == "rotary":
        which = "This model turns them."
    elif engine().dissect(case.model, case.text).weights is None:
        which = "This model does neither; here a query and a key drawn at random are turned."
    else:
        which = "Here a query and a key of your model are turned, though it does not do so itself."
    return (
        "Some newer models add nothing to the embeddings. [[Rotary positions]]: queries and keys are turned, one pair "
        "of numbers after the other, by an angle that grows with the place. [[Relative positions]]: a number for "
        f"the distance is added to each score. {which}"
    )


def _turn_ask(case: Case) -> Choice:
    before, after = _product(case, 2, 5), _product(case, 5, 8)
    told = f"At places 3 and 6 it is {_signed(before)}, at places 6 and 9 it is {_signed(after)}."
    return Choice(
        "A query and a key, both turned, move three places to the right. What happens to their product?",
        options.placed(
            2,
            Option(
                "It stays exactly the same",
                f"Both are turned further by the same angle, in every pair of numbers. {told}",
                True,
            ),
            Option("It grows with the place", f"Each is turned further, but turning makes no arrow longer. {told}"),
            Option("It shrinks with the place", f"It may with the distance, but here the distance stays. {told}"),
        ),
    )


def _turn_figure(case: Case) -> None:
    *_, theta = _pair(case)
    angles = np.cos(np.arange(_SHOWN)[:, None] * theta[None]).astype(np.float32)
    rows, columns = ([str(at + 1) for at in range(size)] for size in angles.shape)
    named = [("how far pairs are turned (across), by place (down)", angles)]
    figure = matrices(named, list(rows), list(columns), what="cosine of the angle", signed=True, dark=case.dark)
    figures.show(figure, "learn turns", "angles")


def _turn_reveal(case: Case) -> None:
    query, key, theta = _pair(case)
    places = range(_COMPARED)
    queries = np.array([turned(query, at, theta) for at in places])
    keys = np.array([turned(key, at, theta) for at in places])
    cosines = queries @ keys.T / max(float(np.linalg.norm(query) * np.linalg.norm(key)), 1e-12)
    far = np.abs(np.subtract.outer(places, places)) / (_COMPARED - 1)
    named = [("rotary: cosine of q and k", cosines), ("relative: −distance (made up)", -far)]
    names = [str(at + 1) for at in places]
    figure = matrices(
        [(name, values.astype(np.float32)) for name, values in named],
        names,
        names,
        what="value",
        signed=True,
        dark=case.dark,
    )
    figures.show(figure, "learn turns", "by-distance")
    st.caption("Rows are the query’s place, columns the key’s. Every diagonal, one distance, has one colour.")


def _signed(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def _turn_why(case: Case) -> str:
    return (
        f"Three places apart give {_signed(_product(case, 2, 5))} wherever the two stand, seven apart "
        f"{_signed(_product(case, 2, 9))}: such scores tell distances and no places (Su et al. 2021; for numbers "
        "that are added, Shaw et al. 2018 and T5, Raffel et al. 2020)."
    )


def _turn_numbers(case: Case) -> pd.DataFrame:
    places = ((2, 5), (5, 8), (12, 15), (2, 9), (5, 12))
    rows = [(at + 1, other + 1, other - at, _product(case, at, other)) for at, other in places]
    return pd.DataFrame(rows, columns=["query at place", "key at place", "places apart", "product"])


# ---- shuffled words ---------------------------------------------------------------------------------------------


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


def _surprises(case: Case) -> list[tuple[str, float, float]]:
    """Of each model that ships with the app: its name, and bits a token in order and shuffled."""
    return [
        (name_of(spec.id), _bits(spec.id, case.text), _bits(spec.id, _shuffled(case.text)))
        for spec in registry.MODELS.values()
        if spec.hub_id is None and spec.mlm
    ]


def _bits(model: str, text: str) -> float:
    logs = engine().token_scores(model, text).log_probabilities
    if not np.isfinite(logs).any():
        raise InvalidInput("There is nothing to guess in this text. Type a sentence of a few words.")
    return float(-np.nanmean(logs) / np.log(2))


def _mixed_text(case: Case) -> str:
    return (
        f"Shuffle the words: {quoted(_shuffled(case.text))}. Each model that ships with this app hides one token after "
        "the other and guesses it from the rest. We count its mean [[surprisal]], −log₂ P of the right token, in "
        "order and shuffled."
    )


_SLACK: Final = 0.25  # bits a token that are no difference to speak of


def _mixed_ask(case: Case) -> Choice:
    found = _surprises(case)
    worse = sum(shuffled - ordered > _SLACK for _, ordered, shuffled in found)
    told = f"{worse} of {len(found)} are surprised by more than {_SLACK} bits more a token."
    return Choice(
        f"How many of the {len(found)} models find the shuffled text more surprising (by more than {_SLACK} bits)?",
        (
            Option(
                "None of them",
                told if worse == 0 else f"So it would be if all were blind to order. {told}",
                worse == 0,
            ),
            Option(
                "Some of them",
                told if 0 < worse < len(found) else f"They are told places in different ways, and yet: {told}",
                0 < worse < len(found),
            ),
            Option(
                "All of them",
                told if worse == len(found) else f"On many sentences it is so, but not on this one. {told}",
                worse == len(found),
            ),
        ),
    )


def _mixed_figure(case: Case) -> None:
    st.markdown(f"In order: {quoted(case.text)}\n\nShuffled: {quoted(_shuffled(case.text))}")


def _mixed_reveal(case: Case) -> None:
    found = _surprises(case)
    series = [("in order", [one for _, one, _ in found]), ("shuffled", [other for _, _, other in found])]
    figures.show(bars([name for name, _, _ in found], series, dark=case.dark), "learn bars", "shuffled")


def _mixed_why(case: Case) -> str:
    most = max(_surprises(case), key=lambda one: one[2] - one[1])
    return (
        f"A model that uses order expects other tokens once order is gone: here {most[0]} changes most, from "
        f"{most[1]:.2f} to {most[2]:.2f} bits a token; one sentence says little, and some words need no order to be "
        "guessed."
    )


def _mixed_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(_surprises(case), columns=["model", "bits in order", "bits shuffled"])


# ---- positions taken away ---------------------------------------------------------------------------------------


def _blind(case: Case) -> list[tuple[str, MaskPrediction]]:
    """The guesses at the followed word: as ever, without positions, and without positions and shuffled."""
    words = case.text.split()
    written = case.written(case.followed)
    start = case.encoding.offsets[case.followed][0]
    at = len(case.text[:start].split()) - (0 if not case.text[:start] or case.text[start - 1].isspace() else 1)
    if not written or not 0 <= at < len(words) or written not in words[at]:
        raise InvalidInput("The followed token stands in no word. Follow another one.")
    if engine().vocabulary(case.model).mask_id in case.encoding.ids:
        raise InvalidInput("There is a mask in this text already, and here one word is hidden. Take the mask away.")
    hidden = words.copy()
    hidden[at] = words[at].replace(written, "[MASK]", 1)
    # With a blank before the first word, so that every word is written alike wherever it stands.
    ordered, mixed = f" {' '.join(hidden)}", f" {_shuffled(' '.join(hidden), at)}"
    if sorted(engine().encode(case.model, ordered).ids) != sorted(engine().encode(case.model, mixed).ids):
        raise InvalidInput("Shuffled, this text has other tokens. Take away signs between words, or take an example.")
    (usual,) = engine().fill_mask(case.model, ordered, 5)
    (without,) = engine().fill_without(case.model, ordered, without="positions", top_k=5)
    (shuffled,) = engine().fill_without(case.model, mixed, without="positions", top_k=5)
    return [("with positions", usual), ("no positions", without), ("no positions, shuffled", shuffled)]


def _blind_text(case: Case) -> str:
    return (
        f"Now take the positions away: tell the model that every token stands at the first place, and hide "
        f"{quoted(case.written(case.followed))}. Then shuffle the other words."
    )


def _blind_ask(case: Case) -> Choice:
    _, (_, without), (_, shuffled) = _blind(case)
    apart = max(
        abs(one.probability - other.probability) for one, other in zip(without.best, shuffled.best, strict=True)
    )
    same = apart < 1e-4
    told = f"The probabilities of the five best guesses differ by at most {apart:.1e}.".replace("e-", "e−")
    return Choice(
        "Without positions, does shuffling the other words change the guess?",
        (
            Option(
                "Yes, the sentence makes no sense any more",
                f"{told} By something else than their places it tells the words’ order."
                if not same
                else f"To us, who read from left to right. The model computes with a bag of tokens. {told}",
                not same,
            ),
            Option(
                "No, the probabilities stay as they are",
                f"{told} That is rounding: the very same numbers are added up in another order."
                if same
                else f"So it would be if places were all that tells the order. {told}",
                same,
            ),
        ),
    )


def _blind_figure(case: Case) -> None:
    (_, usual), *_ = _blind(case)
    figures.show(predictions(usual, "With positions", dark=case.dark), "learn guesses", "with-positions")


def _blind_reveal(case: Case) -> None:
    _, *blind = _blind(case)
    highest = max(answer.best[0].probability for _, answer in blind)
    for place, (column, (name, answer)) in enumerate(zip(st.columns(2), blind, strict=True)):
        figure = predictions(answer, name.capitalize(), dark=case.dark, highest=highest)
        with column:
            figures.show(figure, f"learn guesses {place}", name.replace(" ", "-").replace(",", ""))


def _blind_why(case: Case) -> str:
    (_, usual), (_, without), _ = _blind(case)
    first = without.best[0].token
    learned = _positions(case).kind == "learned" and case.encoding.special[0] and first == case.encoding.tokens[0]
    said = ", which alone ever stood at the first place in training" if learned else ""
    return (
        "Attention and the feed-forward network treat every place alike, so with equal positions only the set of "
        f"tokens is left; the best guess was {quoted(usual.best[0].token)} and is {quoted(first)} without "
        f"positions{said}, from a model that was never trained so."
    )


def _blind_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": name, "token": guess.token, "probability": guess.probability}
            for name, answer in _blind(case)
            for guess in answer.best
        ]
    )


LESSON = Lesson(
    name="positions",
    title="Where am I?",
    question="How does a model know the order of words?",
    examples=(
        ("The dog ran into the garden and barked at the cat.", ""),
        ("She gave the old book to her friend because it was good.", ""),
    ),
    controls=("token",),
    pages=("compare",),
    steps=(
        Step(
            title="How it is told",
            at="embeddings",
            text=_told_text,
            figure=_told_figure,
            ask=_told_ask,
            reveal=_told_reveal,
            why=_told_why,
            numbers=_told_numbers,
            sources=(_DEVLIN, _SU, _SHAW, _RAFFEL, _WARNER),
        ),
        Step(
            title="Waves",
            at="embeddings",
            text=_wave_text,
            figure=_wave_figure,
            ask=_wave_ask,
            reveal=_wave_reveal,
            why=_wave_why,
            numbers=_wave_numbers,
            sources=(_VASWANI,),
        ),
        Step(
            title="Only the distance",
            at="heads",
            text=_turn_text,
            figure=_turn_figure,
            ask=_turn_ask,
            reveal=_turn_reveal,
            why=_turn_why,
            numbers=_turn_numbers,
            sources=(_SU, _SHAW, _RAFFEL),
        ),
        Step(
            title="Words shuffled",
            at="guess",
            text=_mixed_text,
            figure=_mixed_figure,
            ask=_mixed_ask,
            reveal=_mixed_reveal,
            why=_mixed_why,
            numbers=_mixed_numbers,
            sources=(_SALAZAR,),
        ),
        Step(
            title="Positions taken away",
            at="embeddings",
            text=_blind_text,
            figure=_blind_figure,
            ask=_blind_ask,
            reveal=_blind_reveal,
            why=_blind_why,
            numbers=_blind_numbers,
        ),
    ),
)
