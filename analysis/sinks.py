"""Why does everybody look at [SEP]? A stated rule says what a head's attention to a special token does.

Clark et al. 2019 (section 3.2) supposed that heads look at [SEP] when they have nothing to do (a "no-op"). Kobayashi et
al. 2020 found the vectors that come from there short: such attention adds next to nothing. Xiao et al. 2024 call a
token that draws attention whatever it means a sink; a sink may also act as a bias, one and the same vector for all
tokens (Sun et al. 2024; Gu et al. 2025). The rule tells these apart by what is added, and not by where attention goes.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import pandas as pd

from model_zoo.types import BoolArray, Sinks

Verdict = Literal["does nothing", "broadcasts", "neither"]

MUCH: Final = 0.5
"""Of the way from uniform attention (0) to all attention (1), as for the kinds of heads (``analysis.heads``): more than
half of the attention goes there, however few tokens the text has.
"""
NOTHING: Final = 0.03
"""What comes from the token is at most so long, as a share of the vectors that it is added to: it turns them by less
than two degrees, and is about what a whole head of the same shape with random weights adds (2 to 4% in the bundled
BERT). The heads of the trained one add 9% in the median.
"""
SHORT: Final = 0.5
"""Of the mean length of an ordinary token's value: next to nothing is added because the value is short, and not because
every head of a large model adds little. In the bundled BERT 95% of the values that get much attention are shorter than
0.25, in the bundled TinyBERT all are longer than 0.35.
"""
COUNTS: Final = 0.05
"""From so long on, what comes from the token counts: half of what a whole head of the bundled BERT adds in the median.
Between the two, the rule says neither.
"""
SAME: Final = 0.8
"""So much of the head's update, in squared length, is the same for all queries."""
MOST: Final = 0.5
"""What comes from the token is at least so long, as a share of the head's whole update: it is the token's vector that
is the same for all, and not what other tokens have in common.
"""
FEWEST: Final = 4
"""Queries, for "broadcasts": of n vectors that have nothing in common 1/n is the same for all."""


FALSE_ALARMS: Final = 0.004
"""At most so often a head of a network with random weights gets a name for a special token, by ``python -m
benchmarks.sinks``: in ten networks of the shape of each bundled model, none of 208,000 cases (a head, a special token,
one of 100 built-in sentences); the 95% interval over their 1,040 heads ends at 0.37%. Random weights spread attention
nearly evenly; where their scores are stretched until they vary as much as the trained ones, 988 cases have much
attention, and none gets a name either.
"""


def much_attention(sinks: Sinks) -> BoolArray:
    """Which heads give which special tokens much attention, (layers, heads, k)."""
    even = sinks.even[:, None].astype(np.float64)
    much: BoolArray = sinks.share - even >= MUCH * (1 - even)  # nan, a head that does not exist, is False
    return much & (even < 1)


def does_nothing(sinks: Sinks) -> BoolArray:
    """Much attention, and next to nothing is added, since the value is short: (layers, heads, k)."""
    short = sinks.value <= SHORT * sinks.ordinary_value[..., None]
    nothing: BoolArray = much_attention(sinks) & (sinks.added <= NOTHING) & short
    return nothing


def broadcasts(sinks: Sinks) -> BoolArray:
    """Much attention, and one vector of a length that counts is added to all tokens: (layers, heads, k)."""
    same = (sinks.common >= SAME) & (sinks.n_queries >= FEWEST)
    counts = (sinks.added >= COUNTS) & (sinks.added >= MOST * sinks.update[..., None])
    broadcasting: BoolArray = much_attention(sinks) & counts & same[..., None]
    return broadcasting


def strongest(sinks: Sinks, layer: int, head: int) -> int:
    """Which of the k special tokens gets most of a head's attention, of several the first; layer and head from 0."""
    return int(sinks.share[layer, head].argmax())


def verdict(sinks: Sinks, layer: int, head: int, token: int) -> Verdict:
    """What the rule says of a head and one of the k special tokens; all count from 0."""
    if does_nothing(sinks)[layer, head, token]:
        return "does nothing"
    return "broadcasts" if broadcasts(sinks)[layer, head, token] else "neither"


def frame(sinks: Sinks) -> pd.DataFrame:
    """One row per head and special token: layer, head, place (from 0), token, what the rule says, and the numbers."""
    names = np.where(does_nothing(sinks), "does nothing", np.where(broadcasts(sinks), "broadcasts", "neither"))
    table = sinks.to_frame()
    table.insert(4, "rule", names[np.isfinite(sinks.share)].astype(object))
    return table
