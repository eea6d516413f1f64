"""The walk: a text's way through a model, from characters to probabilities, drawn by a component that shows
the numbers of each part in a table.

``payload`` makes what the component reads, ``SOURCE`` holds its files. What the component reports, each as a trigger:

- ``stage``: the name of the part whose numbers were opened, a ``Stage.name`` or one of ``PLACES``; the last stage of
  the layer is "layer output", because "output" is the model's;
- ``token``: the place in the text of a token whose name was clicked, which may be followed now;
- ``layer``: a layer of the stack that was clicked, counted from 0.

With ``opens`` the text runs through the picture by itself, and a click reports only ``open``: the name of the part, a
``Stage.name`` or one of ``RUN_PLACES``.

The picture is saved as SVG or PNG by the component itself, in the reader's browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from analysis.words import written
from model_zoo.types import Anatomy, FloatArray, MaskPrediction, Stage, softmax
from viz import component
from viz.layout import visible_text
from viz.palette import diverging, sequential

SOURCE = component.source("anatomy", styles=("picture",))

MOST_TOKENS: Final = 24  # beyond, rows are too low to tell apart, and those around the token that is followed are drawn
MOST_CELLS: Final = 384  # a strip; a wider vector's dimensions share cells
STATE_CELLS: Final = 64  # a strip of a folded layer
RUN_CELLS: Final = 96  # a strip of a picture that has no tables
MOST_WORDS: Final = 6  # of the output
MASKED: Final = -1e4  # scores below are of tokens that may not be attended to
EQUAL: Final = 0.01  # of a stage's largest number; what a half-precision sum may be beside the sum

# Where a visitor can be beside the stages. "output" is the model's where predictions are drawn, else the layer's, which
# is "layer output", too.
PLACES: Final = ("pieces", "embeddings", "layers", "layer", "heads", "head", "output", "layer output")

# What can be clicked beside the stages where a click opens something; "layer" is that of any layer of the stack.
RUN_PLACES: Final = ("pieces", "layer", "head", "output", "layer output")

# How a stage comes from those it is made of: "sum" and "same" are found in the numbers.
How = Literal["looked up", "sum", "same", "other"]
Group = Literal["embeddings", "layer"]


_BIASED: Final = ("query", "key", "value")


class Strips(TypedDict):
    """A stage: a strip a token, ``cells`` of ``per`` dimensions each (fewer in the last)."""

    name: str
    group: Group
    size: int
    cells: int
    per: int
    scale: float  # the largest size of its numbers
    made_of: list[str]
    how: How
    part: tuple[int, int] | None  # the dimensions of the chosen head, from and up to


class Payload(TypedDict):
    """What the component reads; a number of a cell is scale · q · |q| / 127², q an int8.

    ``weights`` holds, one after the other: the numbers of the followed token, float32, ``size`` of every stage, then
    its row of attention (n) and, with ``scores``, of scores (n); then q of every stage, int8 (n, cells), and of every
    state (n, cells), in which several dimensions of a cell give the one farthest from zero; then the attention, uint8
    (n, n), of which a weight is (level / 255)², and with ``flows`` that of every layer, (layers, n, n). With ``opens``
    the numbers of the followed token's stages are left out.
    """

    weights: bytes
    model: str
    tokens: list[str]
    ids: list[int]
    characters: list[str]  # that were typed of each token, "" for one that nobody typed
    first: int  # place in the text of the first token shown
    n_tokens: int  # of the text
    position: int  # of the followed token among those shown
    stages: list[Strips]
    states: list[float]  # the scale of what each layer is given, and of what the last one gives
    state_cells: int
    counts: int  # what the first layer, head, token and dimension are called, 0 or 1
    layer: int
    head: int
    n_layers: int
    n_heads: int
    scores: bool  # whether attention is their softmax
    biases: list[str]  # which of query, key and value have one
    scaling: float | None  # of q · k, where that is all of a score
    why_not: str
    words: list[tuple[str, float]]  # the likeliest at ``predicted``, and their probabilities
    predicted: int | None  # place among the tokens shown, None where it is not
    hidden: bool  # whether the token at ``predicted`` was masked for them, and not by who typed the text
    flows: bool
    opens: dict[str, str]  # what a click on a part opens, in words
    at: str
    scale: list[str]  # evenly spaced colours from the most negative to the most positive, "#rrggbb"
    dark_scale: list[str]
    weight_scale: list[str]
    dark_weight_scale: list[str]
    file: str  # name of saved pictures, without their ending


def payload(
    anatomy: Anatomy,
    *,
    predictions: MaskPrediction | None = None,
    at: str = "",
    position: int = 0,
    flows: FloatArray | None = None,
    opens: Mapping[str, str] | None = None,
    counts: int = 1,
) -> Payload:
    """One text in one layer and head. ``position`` is the token that is followed, whose numbers are sent whole.
    ``flows`` (layers, n, n) are the attention weights that are drawn between the layers. ``opens`` says of parts what a
    click on them opens; the numbers of tables are then not sent. What is written ``counts`` from 1, or
    from 0.

    Other numbers are rounded to 255 steps, even in the root of their size, and at most ``MOST_CELLS`` of a vector and
    ``MOST_TOKENS`` of a text are sent. ``at`` is the place where the visitor is, the name of a stage or one of
    ``PLACES``; one that this model does not have is dropped, because links outlive a model.

    Raises ValueError where the opened layer or head is none of the model's, where ``position`` is no token of the text,
    and where a number is not finite.
    """
    encoding, n_layers, n_heads = anatomy.encoding, len(anatomy.states) - 1, anatomy.model.n_heads
    if not (0 <= anatomy.layer < n_layers and 0 <= anatomy.head < n_heads):
        raise ValueError(
            f"layer {anatomy.layer} and head {anatomy.head} are not among {n_layers} layers of {n_heads} heads"
        )
    if not 0 <= position < len(encoding):
        raise ValueError(f"position {position} is not among {len(encoding)} tokens")
    first = min(max(0, position - MOST_TOKENS // 2), max(0, len(encoding) - MOST_TOKENS))
    window = slice(first, first + MOST_TOKENS)
    followed = position - first

    groups: tuple[tuple[Group, Sequence[Stage]], ...] = (("embeddings", anatomy.embeddings), ("layer", anatomy.stages))
    strips: list[Strips] = []
    exact, rounded = [], []
    for group, stage in ((group, stage) for group, stages in groups for stage in stages):
        values = stage.values[window]
        cells, per = binned(values, RUN_CELLS if opens else MOST_CELLS)
        quantized, scale = quantize(cells)
        if not opens:
            exact.append(values[followed])
        rounded.append(quantized)
        strips.append(
            Strips(
                name=stage.name,
                group=group,
                size=values.shape[1],
                cells=cells.shape[1],
                per=per,
                scale=scale,
                made_of=list(stage.made_of),
                how=_how(anatomy, stage),
                part=_part(anatomy, stage, n_heads),
            )
        )
    states = [quantize(binned(state[window], STATE_CELLS)[0]) for state in anatomy.states]
    exact.append(anatomy.attention[position, window])
    scores = anatomy.scores
    if scores is not None and not _close(softmax(scores), anatomy.attention):
        scores = None
    if scores is not None:
        exact.append(np.maximum(scores[position, window], np.finfo(np.float32).min))  # -∞ where it is masked
    levels = _levels(anatomy.attention[window, window])
    weights = anatomy.weights
    predicted = predictions.position - first if predictions is not None else -1
    best = predictions.best[:MOST_WORDS] if predictions is not None else ()
    characters = ["" if special else written(encoding, place) for place, special in enumerate(encoding.special)]
    return Payload(
        weights=b"".join(
            [
                np.concatenate(exact).astype("<f4").tobytes(),
                *(part.tobytes() for part in rounded),
                *(state.tobytes() for state, _ in states),
                levels.tobytes(),
                b"" if flows is None else _levels(flows[:, window, window]).tobytes(),
            ]
        ),
        model=anatomy.model.id,
        tokens=[visible_text(token) for token in encoding.tokens[window]],
        ids=list(encoding.ids[window]),
        characters=characters[window],
        first=first,
        n_tokens=len(encoding),
        position=followed,
        stages=strips,
        states=[scale for _, scale in states],
        state_cells=states[0][0].shape[1],
        counts=counts,
        layer=anatomy.layer,
        head=anatomy.head,
        n_layers=n_layers,
        n_heads=n_heads,
        scores=scores is not None,
        biases=[] if weights is None else [name for name in _BIASED if getattr(weights, f"{name}_bias").any()],
        scaling=_scaling(anatomy),
        why_not=anatomy.why_not or "",
        words=[(visible_text(word.token), word.probability) for word in best],
        predicted=predicted if 0 <= predicted < len(levels) else None,
        hidden=predictions is not None and predictions.original is not None,
        flows=flows is not None,
        opens=dict(opens or {}),
        at=at if at in PLACES or anatomy.has(at) else "",
        scale=[colour for _, colour in diverging(dark=False)],
        dark_scale=[colour for _, colour in diverging(dark=True)],
        weight_scale=[colour for _, colour in sequential(dark=False)],
        dark_weight_scale=[colour for _, colour in sequential(dark=True)],
        file=f"anatomy_L{anatomy.layer + counts}H{anatomy.head + counts}",
    )


def _levels(weights: FloatArray) -> npt.NDArray[np.uint8]:
    """Attention weights in 256 steps that are even in their root, which keeps small ones apart."""
    return np.rint(255 * np.sqrt(np.clip(weights, 0, 1))).astype(np.uint8)


def binned(values: FloatArray, most: int) -> tuple[FloatArray, int]:
    """Values (n, size) as (n, at most ``most`` cells), and how many dimensions share a cell: it holds the one of them
    that is farthest from zero.
    """
    n, size = values.shape
    per = -(-size // most)
    padded = np.pad(values, ((0, 0), (0, -size % per))).reshape(n, -1, per)
    farthest = np.abs(padded).argmax(axis=-1, keepdims=True)
    return np.take_along_axis(padded, farthest, axis=-1)[..., 0], per


def quantize(values: FloatArray) -> tuple[npt.NDArray[np.int8], float]:
    """Values of any shape as q, int8 of that shape, and the scale, the largest size: a value is about
    scale · q · |q| / 127², off by at most scale / 127. Even steps of the root keep small numbers apart beside a few
    large ones, which the hidden states of transformers have. Raises ValueError where a number is not finite.
    """
    scale = float(np.abs(values).max(initial=0.0))
    if not np.isfinite(scale):
        raise ValueError("numbers must be finite")
    roots = np.sqrt(np.abs(values) / np.float32(scale or 1.0))
    return np.rint(127 * np.sign(values) * roots).astype(np.int8), scale


def _how(anatomy: Anatomy, stage: Stage) -> How:
    if not stage.made_of:
        return "looked up" if stage.name in ("token", "position", "segment") else "other"
    sources = [anatomy.stage(name).values for name in stage.made_of if anatomy.has(name)]
    if len(sources) < len(stage.made_of) or any(source.shape != stage.values.shape for source in sources):
        return "other"
    if not _close(sum(sources[1:], sources[0]), stage.values):
        return "other"
    return "same" if len(sources) == 1 else "sum"


def _scaling(anatomy: Anatomy) -> float | None:
    query, key, scores, weights = anatomy.query, anatomy.key, anatomy.scores, anatomy.weights
    if query is None or key is None or scores is None or weights is None or query.shape != key.shape:
        return None
    seen = scores > MASKED
    product = query @ key.T * np.float32(weights.scaling)
    return weights.scaling if _close(product[seen], scores[seen]) else None


def _close(computed: FloatArray, values: FloatArray) -> bool:
    return bool(np.abs(computed - values).max(initial=0.0) <= EQUAL * np.abs(values).max(initial=0.0))


def _part(anatomy: Anatomy, stage: Stage, n_heads: int) -> tuple[int, int] | None:
    """The dimensions of the head among those of all; where queries outnumber keys, several heads share a part."""
    of_the_head = {"query": anatomy.query, "key": anatomy.key, "value": anatomy.value, "context": anatomy.context}
    head_values = of_the_head.get(stage.name.removeprefix("turned "))
    if head_values is None:
        return None
    size, d = stage.values.shape[1], head_values.shape[1]
    if size % d or n_heads % (size // d):
        return None
    place = anatomy.head * (size // d) // n_heads
    return place * d, (place + 1) * d
