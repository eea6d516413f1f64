"""Attention rollout: how much of each input token reaches each output token, traced through the layers."""

from __future__ import annotations

import numpy as np

from analysis.views import AttentionView, Weights
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import AttentionRun, FloatArray, rolled_out


def rollout(view: AttentionView, first: int = 0, last: int | None = None) -> FloatArray:
    """Rollout from layer ``first`` to layer ``last`` (both inclusive, by default all), float32 (n, n).

    Row i says how the token i leaving ``last`` draws on the tokens entering ``first``; rows sum to 1. Per layer, A is
    the mean of what is ``shown`` over heads, rows scaled to sum 1, and Â = 0.5 A + 0.5 I, the half for the residual
    stream; the result is Â_last · ... · Â_first (Abnar & Zuidema 2020). Where the maps are
    ``of_block``, Â is A.

    For a decoder this follows its self-attention alone: what comes in from the encoder is left out.

    One layer's maps are in memory at a time. Raises InvalidInput for layers that do not exist or are in the wrong
    order, NotSupported for cross-attention and where value norms are asked for and not available.
    """
    if isinstance(view, Weights):
        check_one_text(view.run)
    last = view.n_layers - 1 if last is None else last
    if not 0 <= first <= last < view.n_layers:
        raise InvalidInput(
            f"Rollout goes from a layer to the same or a higher one of the model's {view.n_layers}. Choose a first "
            "layer that is not above the last."
        )
    without = sum(not view.n_maps(layer) for layer in range(first, last + 1))
    if without:
        raise NotSupported(
            f"Rollout follows attention from layer to layer, and {without} of the {last + 1 - first} chosen have none: "
            "there, tokens are mixed in another way. Choose layers between these, or another model."
        )
    maps = (view.layer(layer).mean(axis=0, dtype=np.float64) for layer in range(first, last + 1))
    return rolled_out(maps, residual=not view.of_block).astype(np.float32)


def check_one_text(run: AttentionRun) -> None:
    """Raises NotSupported for cross-attention, which has no rollout."""
    if run.stack == "cross":
        raise NotSupported(
            "Rollout follows one text from layer to layer. Cross-attention leads from the encoder's text "
            "to the decoder's, and the next layer does not go on from there. Choose the encoder or the decoder."
        )
