"""Longformer: outside the fused kernel; every token looks at a window around it."""

import torch

from model_zoo.capture import Call
from model_zoo.eager_attention import Captured, Projections
from model_zoo.families.roberta import WITHOUT_NSP
from model_zoo.families.rule import Family


def _call(captured: Captured) -> Call:
    """Its states are (n, batch, width), padded to whole windows, and it has divided its queries by √d in place."""
    query, key, value = (
        # A copy: a view would keep the padding.
        states[: captured.n_tokens].unflatten(-1, (captured.n_heads, -1)).permute(1, 2, 0, 3).clone()
        for states in captured.states
    )
    scaling = query.shape[-1] ** -0.5
    reach = captured.attention.get_submodule("self").one_sided_attn_window_size
    return Call(query / scaling, key, value, scaling, mask=_window(captured, reach))


def _window(captured: Captured, reach: int) -> torch.Tensor | None:
    """Which keys are within reach of each query, (1, 1, n, n), or None where all are: the same for all such layers."""
    if captured.n_tokens <= reach + 1:
        return None
    if reach not in captured.shared:
        places = torch.arange(captured.n_tokens, device=captured.query.device)
        captured.shared[reach] = ((places[:, None] - places).abs() <= reach)[None, None]
    return captured.shared[reach]


class Longformer(Family):
    model_types = ("longformer",)
    without_nsp = f"It starts from RoBERTa. {WITHOUT_NSP}"
    projections = Projections(call=_call)
