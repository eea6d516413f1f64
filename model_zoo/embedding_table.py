"""What can be read off a model's tables without running it: neighbours of a token, and what tells positions."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import torch

from model_zoo.capture import as_array
from model_zoo.errors import InvalidInput
from model_zoo.loading import LoadedModel
from model_zoo.types import Neighbour, Positions

_KNOWN = ("position_embeddings", "embed_positions", "wpe")
_RELATIVE = "relative_attention_bias"


def nearest(loaded: LoadedModel, token: int, top_k: int) -> tuple[Neighbour, ...]:
    """The answer of ``questions.nearest_tokens``."""
    table = loaded.encoder.get_input_embeddings().weight.detach()
    n = min(len(table), len(loaded.tokenizer))
    if not 0 <= token < n:
        raise InvalidInput(f"{loaded.info.id} has tokens 0 to {n - 1:,}, and none with the number {token:,}.")
    rows = table[:n].float()
    cosines = torch.nn.functional.cosine_similarity(rows, rows[token][None]).cpu()
    names = loaded.tokenizer.convert_ids_to_tokens(list(range(n)))
    special = set(loaded.tokenizer.all_special_ids)
    left_out = [place for place in range(n) if place in special | {token} or _is_unused(names[place])]
    cosines[left_out] = -torch.inf
    best = cosines.topk(min(top_k, n - len(left_out)))
    return tuple(
        Neighbour(names[place], place, cosine)
        for cosine, place in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    )


def _is_unused(token: str | None) -> bool:
    """Whether a row of the table belongs to no token: BERT's kept some free."""
    return token is None or (token.startswith("[unused") and token.endswith("]"))


def positions(loaded: LoadedModel, n: int) -> Positions:
    """The answer of ``questions.read_positions``."""
    encoder, parts = loaded.encoder, loaded.family.anatomy
    if parts is not None and parts.rotary is not None:
        rotary = attrgetter(parts.rotary)(encoder)
        kinds = loaded.model.config.layer_types
        turned = torch.stack([getattr(rotary, f"{kind}_inv_freq") for kind in kinds])
        return Positions("rotary", frequencies=as_array(turned))
    modules: dict[str, Any] = dict(encoder.named_modules())
    for name, module in modules.items():
        if name.endswith(_RELATIVE) and isinstance(module, torch.nn.Embedding):
            layer = modules[name.removesuffix(f".{_RELATIVE}")]
            with torch.inference_mode():
                if hasattr(layer, "compute_bias"):  # T5
                    bias = layer.compute_bias(n, n)[0]
                else:  # MPNet
                    bias = layer.compute_position_bias(torch.zeros(1, n, device=module.weight.device))[0]
            return Positions("relative", bias=as_array(bias))
    table = _learned(encoder)
    if table is None:
        return Positions("none")
    first = first_position(loaded)
    return Positions("learned", table=as_array(table.weight[first : first + n]).copy())


def _learned(encoder: Any) -> torch.nn.Embedding | None:
    """The table of learned positions."""
    for name, module in encoder.named_modules():
        if name.rsplit(".", 1)[-1] in _KNOWN and isinstance(module, torch.nn.Embedding):
            return module
    return None


def first_position(loaded: LoadedModel) -> int:
    """The number of the first position: some tables begin with rows that stand for padding."""
    table = _learned(loaded.encoder)
    if table is None:
        return 0
    return int(getattr(table, "offset", 0)) if table.padding_idx is None else table.padding_idx + 1
