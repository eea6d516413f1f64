"""Attention rollout: how much of each input token reaches each output token, traced through the layers."""

from __future__ import annotations

import numpy as np

from analysis.filters import layer_weights
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, FloatArray, rolled_out


def rollout(run: AttentionRun, first: int = 0, last: int | None = None, *, value_weighted: bool = False) -> FloatArray:
    """Rollout from layer ``first`` to layer ``last`` (both inclusive, by default all), float32 (n, n).

    Row i says how the token i leaving ``last`` draws on the tokens entering ``first``; rows sum to 1. Per layer, A is
    the mean over heads and Â = 0.5 A + 0.5 I with rows scaled to sum 1, the half for the residual stream; the result is
    Â_last · ... · Â_first (Abnar & Zuidema 2020). With ``value_weighted`` A is the mean of ‖α f(x)‖ (Kobayashi et al.
    2020), rows scaled to sum 1 before the residual half is mixed in.

    For a decoder this follows its self-attention alone: what comes in from the encoder is left out.

    One layer's maps are in memory at a time. Raises InvalidInput for layers that do not exist or are in the wrong
    order, NotSupported for cross-attention and where value norms are asked for and not available.
    """
    check_one_text(run)
    last = run.n_layers - 1 if last is None else last
    if not 0 <= first <= last < run.n_layers:
        raise InvalidInput(
            f"Rollout cannot go from layer {first + 1} to layer {last + 1}: "
            f"{run.model.id} has layers 1 to {run.n_layers}. Choose a first layer that is not above the last."
        )
    maps = (
        layer_weights(run, layer, value_weighted).mean(axis=0, dtype=np.float64) for layer in range(first, last + 1)
    )
    return rolled_out(maps).astype(np.float32)


def check_one_text(run: AttentionRun) -> None:
    """Raises NotSupported for cross-attention, which has no rollout."""
    if run.stack == "cross":
        raise NotSupported(
            "Rollout follows one text from layer to layer. Cross-attention leads from the encoder's text "
            "to the decoder's, and the next layer does not go on from there. Choose the encoder or the decoder."
        )
