"""Where a model family differs from the rest: one entry a family, nothing for those that follow the rule.

The rule: load the class that holds the masked-word head, take attention from the fused kernel's inputs, and
read ``output_attentions`` as it is where a family does not go through that kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch

Maps = tuple[torch.Tensor, ...]


def as_they_are(maps: Maps) -> Maps:
    """Finished attention, one (batch, heads, n, n) a layer."""
    return maps


def softmaxed(maps: Maps) -> Maps:
    """SqueezeBERT hands out the scores before softmax."""
    return tuple(scores.softmax(dim=-1) for scores in maps)


def from_window(maps: Maps) -> Maps:
    """Longformer gives (batch, heads, n, window + 1): the weight of the key at each distance from the query."""
    return tuple(_unrolled(windowed) for windowed in maps)


def _unrolled(windowed: torch.Tensor) -> torch.Tensor:
    n, reach = windowed.shape[-2], windowed.shape[-1] // 2
    full = windowed.new_zeros(*windowed.shape[:-1], n + 2 * reach)  # room for keys before the first and after the last
    keys = torch.arange(n)[:, None] + torch.arange(2 * reach + 1)  # (n, window + 1)
    full.scatter_(-1, keys.to(full.device).expand(windowed.shape), windowed)
    return full[..., reach : reach + n]


@dataclass(frozen=True, slots=True)
class Family:
    """``head`` is the Auto class that holds the most: "pretraining" where one class has both the masked-word and
    the sentence head. ``nsp`` names the sentence objective of that class. ``maps`` turns ``output_attentions``
    into weights (used only for families outside the fused kernel). ``type_ids`` is set where a config does not say
    that its network was trained with token types. ``restores`` is set where the decoder was trained to write the
    encoder's text again (BART), and not another text or parts of it (T5).
    """

    head: Literal["pretraining", "masked", "causal", "none"] = "masked"
    nsp: Literal["NSP", "SOP"] | None = None
    maps: Callable[[Maps], Maps] = as_they_are
    type_ids: bool = False
    restores: bool = False


FAMILIES: dict[str, Family] = {
    "albert": Family(head="pretraining", nsp="SOP"),
    "bart": Family(restores=True),
    "bert": Family(head="pretraining", nsp="NSP"),
    "big_bird": Family(head="pretraining", nsp="NSP"),
    "ernie": Family(head="pretraining", nsp="NSP"),
    "fnet": Family(head="pretraining", nsp="NSP"),
    "gpt2": Family(head="causal"),
    "longformer": Family(maps=from_window),
    "megatron-bert": Family(head="pretraining", nsp="NSP"),
    "mobilebert": Family(head="pretraining", nsp="NSP"),
    "squeezebert": Family(maps=softmaxed),
    "t5": Family(head="none"),
    "xlnet": Family(head="none", type_ids=True),
}


def family_of(model_type: str) -> Family:
    return FAMILIES.get(model_type, Family())
