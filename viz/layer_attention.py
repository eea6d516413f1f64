"""One token's attention in every layer: one row per layer, one column per token."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from model_zoo.types import FloatArray
from viz.layout import axis, root_title, scale_bar, token_text, tokens_across, weight_marks
from viz.marks import cells, cells_layout
from viz.palette import sequential, square_root

_LONGEST_TOKEN = 12  # characters of a label
_CAMERA = 30  # px that the button which saves the figure takes at its upper right
_SLANT = 3.6  # px that a character of a slanted label reaches to the right: the last one must end before the button


def layer_attention(
    weights: FloatArray, tokens: Sequence[str], *, rows: str = "layer", dark: bool = False
) -> go.Figure:
    """Weights float32 (layers, n), each row a distribution over the tokens; colour follows the square root.

    ``rows`` says what a row is: "layer", or "head" for the heads of one.
    """
    if weights.shape[-1] != len(tokens):
        raise ValueError(f"weights of shape {weights.shape} do not fit {len(tokens)} tokens")
    n_layers, n = weights.shape
    last = token_text(tokens[-1], _LONGEST_TOKEN)
    return go.Figure(
        data=[
            cells(
                weights,
                square_root(sequential(dark)),
                0,
                1,
                f"{rows} %{{y}} → %{{text}}<br>weight <b>%{{z:.4f}}</b><extra></extra>",
                y=list(range(1, n_layers + 1)),
                xgap=1 if n <= 60 else 0,
                text=[[token_text(token) for token in tokens]] * n_layers,
            ),
        ],
        layout=cells_layout(
            tokens_across(tokens, dark, "key: the token attended to", _LONGEST_TOKEN, tickangle=-60),
            axis(dark, rows, autorange="reversed", dtick=1),
            scale_bar(sequential(dark), weight_marks(1.0), root_title("attention weight"), dark),
            dark,
            height=28 * n_layers + 108,
            right=_CAMERA + round(_SLANT * len(last)),
        ),
    )
