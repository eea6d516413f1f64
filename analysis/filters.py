"""What part of attention is looked at: which heads, words, sentences, special tokens, threshold, top-k.

Every view of the app draws what ``view`` returns, so that a filter means the same everywhere and what is
hidden or cut is counted in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from analysis.views import AttentionView
from analysis.words import Unit, merge, token_units, word_units
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, Encoding, FloatArray, counted

Direction = Literal["all", "A->A", "A->B", "B->A", "B->B"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Combination = Literal["mean", "max", "sum", "norm"]
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)

# A row that holds one key only should survive a threshold of 1 although float32 sums round to 0.9999999.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What to show of an attention matrix; the defaults show everything.

    ``direction`` names the sentences of query and key: "A->B" is how the first text looks at the second. A special
    token belongs to the sentence its segment id says. ``hide_special`` takes special tokens out of rows and
    columns; ``renormalize`` scales the rows of what is left to sum to 1. Cells below ``threshold`` (0 to 1), and
    all but the ``top_k`` strongest cells of a row, become 0. ``words`` merges tokens into words.

    Raises InvalidInput for values outside these ranges.
    """

    direction: Direction = "all"
    hide_special: bool = False
    renormalize: bool = False
    threshold: float = 0.0
    top_k: int | None = None
    words: bool = False

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            known = ", ".join(DIRECTIONS)
            raise InvalidInput(f"Attention has no direction {self.direction!r}. Choose {known}.")
        if not 0 <= self.threshold <= 1:
            raise InvalidInput(f"The threshold is {self.threshold}. Choose a number from 0 to 1.")
        if self.top_k is not None and self.top_k < 1:
            raise InvalidInput(f"The strongest {self.top_k} cells of a row cannot be shown. Choose 1 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """What a filter leaves of an attention matrix, and an account of what it took away.

    ``weights`` is float32 (..., queries, keys), cut cells 0. ``queries`` and ``keys`` say which tokens each
    row and column stands for. ``n_hidden_special`` special tokens were taken out; ``share_hidden`` is the
    part of the attention of the rows shown that went to columns not shown (nan where they have none). Of
    the cells that held attention, ``n_below_threshold`` and ``n_beyond_top_k`` were cut, which is
    ``share_cut`` of the attention that was left before (after renormalizing, if asked for). Counts and
    shares are over all leading axes together. ``n_silent`` rows could not be renormalized because nothing
    was left in them. ``reason`` says why there is nothing to see, None if there is.
    """

    weights: FloatArray = field(repr=False)
    queries: tuple[Unit, ...] = field(repr=False)
    keys: tuple[Unit, ...] = field(repr=False)
    filter: Filter
    n_hidden_special: int
    share_hidden: float
    n_silent: int
    n_below_threshold: int
    n_beyond_top_k: int
    share_cut: float
    reason: str | None

    @property
    def query_labels(self) -> tuple[str, ...]:
        return tuple(unit.label for unit in self.queries)

    @property
    def key_labels(self) -> tuple[str, ...]:
        return tuple(unit.label for unit in self.keys)

    def summary(self) -> str:
        """What is shown, hidden and cut, in plain English; the reason alone if there is nothing to see."""
        if self.reason is not None:
            return self.reason
        unit = "word" if self.filter.words else "token"
        sentences = []
        if self.filter.words:
            sentences.append("Tokens are merged into words: sum over the keys of a word, mean over its queries.")
        if self.filter.direction != "all":
            source, target = self.filter.direction.split("->")
            target = "itself" if source == target else f"sentence {target}"
            sentences.append(f"This shows how sentence {source} attends to {target}.")
        if self.n_hidden_special:
            sentences.append(f"Hidden: {counted(self.n_hidden_special, 'special token')}.")
        if len(self.keys) and (self.n_hidden_special or self.filter.direction != "all"):
            sentences.append(f"{self.share_hidden:.1%} of the weight of the {unit}s shown goes to what is hidden.")
        if self.filter.renormalize:
            sentences.append("Each row is scaled to sum to 1.")
            if self.n_silent:
                sentences.append(f"Rows with nothing left to scale, kept at zero: {self.n_silent}.")
        elif self.share_hidden > _ROUNDING:
            sentences.append("The rest is not scaled up.")
        cut = []
        if self.n_below_threshold:
            cut.append(f"{counted(self.n_below_threshold, 'cell')} below {self.filter.threshold:g}")
        if self.n_beyond_top_k:
            cut.append(f"{counted(self.n_beyond_top_k, 'cell')} beyond the {self.filter.top_k} strongest of each row")
        if cut:
            sentences.append(f"Left out: {' and '.join(cut)}, {self.share_cut:.1%} of the weight otherwise shown.")
        return " ".join(sentences) or "All attention is shown."


def apply_filter(encoding: Encoding, weights: FloatArray, chosen: Filter, keys: Encoding | None = None) -> Filtered:
    """Apply a filter to attention (..., n, m): words, special tokens, direction, scaling, threshold, top-k.

    ``keys`` are the m tokens looked at; without them, or if they are ``encoding`` itself, those that look.
    The order matters: words are merged before the threshold is applied, and top-k picks among what
    passed it. Of equal weights top-k keeps the earlier key. If nothing is left the view is empty and says
    why; that is not an error, because the controls that led there must stay usable. Raises InvalidInput if
    ``chosen.direction`` needs a second sentence and there is none, or picks sentences out of cross-attention.
    """
    keys = encoding if keys is None else keys
    if weights.shape[-2:] != (len(encoding), len(keys)):
        raise ValueError(f"weights {weights.shape} do not fit {len(encoding)} queries and {len(keys)} keys")
    if keys is not encoding and chosen.direction != "all":
        raise InvalidInput(
            "Cross-attention always goes from the decoder's text to the encoder's, "
            f"so {chosen.direction} picks nothing out of it. Show all attention."
        )
    if "B" in chosen.direction and 1 not in encoding.segment_ids:
        raise InvalidInput(_no_second_sentence(encoding, chosen.direction))
    as_units = word_units if chosen.words else token_units
    of_queries = as_units(encoding)
    of_keys = of_queries if keys is encoding else as_units(keys)
    merged = merge(weights, of_queries, of_keys)

    sides: list[int | None] = [None, None]
    if chosen.direction != "all":
        sides = ["AB".index(side) for side in chosen.direction.split("->")]
    hide = chosen.hide_special
    rows, columns = (
        [index for index, unit in enumerate(units) if not (hide and unit.special) and side in (None, unit.segment)]
        for units, side in zip((of_queries, of_keys), sides, strict=True)
    )
    units = of_queries if keys is encoding else (*of_queries, *of_keys)
    of_rows = merged[..., rows, :]
    visible = np.array(of_rows[..., columns], dtype=np.float32)  # own memory: it is changed below
    total = of_rows.sum(dtype=np.float64)
    share_hidden = float(max(0.0, 1 - visible.sum(dtype=np.float64) / total)) if total > 0 else float("nan")

    n_silent = 0
    if chosen.renormalize:
        sums = visible.sum(axis=-1, keepdims=True)
        n_silent = int((sums == 0).sum())
        np.divide(visible, sums, out=visible, where=sums > 0)

    uncut = visible.sum(dtype=np.float64)
    largest = float(visible.max(initial=0))
    below = (visible > 0) & (visible < chosen.threshold - _ROUNDING)
    visible[below] = 0
    beyond = np.zeros_like(below)
    if chosen.top_k is not None and chosen.top_k < len(columns):
        weaker = np.argsort(-visible, axis=-1, kind="stable")[..., chosen.top_k :]
        np.put_along_axis(beyond, weaker, True, axis=-1)
        beyond &= visible > 0
        visible[beyond] = 0

    return Filtered(
        weights=visible,
        queries=tuple(of_queries[index] for index in rows),
        keys=tuple(of_keys[index] for index in columns),
        filter=chosen,
        n_hidden_special=sum(unit.special for unit in units) if hide else 0,
        share_hidden=share_hidden,
        n_silent=n_silent,
        n_below_threshold=int(below.sum()),
        n_beyond_top_k=int(beyond.sum()),
        share_cut=float(max(0.0, 1 - visible.sum(dtype=np.float64) / uncut)) if uncut > 0 else 0.0,
        reason=_reason(chosen, len(units), len(rows), len(columns), largest),
    )


def combine(view: AttentionView, maps: Sequence[tuple[int, int]], how: Literal["mean", "max", "sum"]) -> FloatArray:
    """Mean, maximum or sum, cell by cell, over chosen maps given as (layer, number): float32 (n, m).

    One named twice counts once. Raises InvalidInput if none is chosen or one does not exist.
    """
    _some(maps)
    chosen = sorted(set(maps))
    result = np.zeros_like(view.map(*chosen[0]), dtype=np.float64)  # nothing that is shown is ever below 0
    for place in chosen:
        (np.maximum if how == "max" else np.add)(result, view.map(*place), out=result)
    return (result / len(chosen) if how == "mean" else result).astype(np.float32)


def norm_of_sum(run: AttentionRun, heads: Sequence[tuple[int, int]]) -> FloatArray:
    """``AttentionRun.norms_of_sum`` of heads (layer, head) of one layer, each of which counts once.

    Raises InvalidInput if no head is chosen, one does not exist, or they are of different layers; NotSupported where
    value norms are not available.
    """
    _some(heads)
    layers = {layer for layer, _ in heads}
    if len(layers) > 1:
        raise InvalidInput(
            "The norm of the sum belongs to a layer: its heads' vectors are added up, "
            "those of different layers are not. Choose heads of one layer, or combine them in another way."
        )
    return run.norms_of_sum(layers.pop(), [head for _, head in heads])


def _some(heads: Sequence[tuple[int, int]]) -> None:
    if not heads:
        raise InvalidInput("All heads are switched off. Switch on at least one to see attention.")


def _no_second_sentence(encoding: Encoding, noun: str) -> str:
    if encoding.text_pair:
        return (
            f"{noun} needs the second sentence, which was cut off entirely at the model's limit. "
            "Shorten the first sentence, or show all attention."
        )
    return f"{noun} needs a second sentence, and there is none. Type one, or show all attention."


def _reason(chosen: Filter, n_units: int, n_rows: int, n_columns: int, largest: float) -> str | None:
    if n_units == 0:
        return "The text has no tokens. Type a word or a sentence."
    if not (n_rows and n_columns):
        return (
            "Nothing is left to show: all tokens here are special tokens, and these are hidden. "
            "Show special tokens, or type more text."
        )
    if largest == 0:
        return "There is no attention in this part: these tokens do not attend there. Show another part."
    if largest < chosen.threshold - _ROUNDING:
        return (
            f"Nothing is left to show: the strongest cell holds {largest:.3f}, "
            f"the threshold is {chosen.threshold:g}. Lower the threshold."
        )
    return None
