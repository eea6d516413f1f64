"""What a tiny checkpoint is made of and what it can do, and the sizes that several share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from checkpoints.block import Block, Watch
from checkpoints.sizes import N_HEADS, N_LAYERS, POSITIONS, WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one tiny checkpoint is made, and what it can do.

    ``head`` is the class of transformers that is saved. ``mlm`` and ``nsp`` tell the heads whose weights are in the
    file and were trained in the published checkpoints; ``cross_attention`` that there is a decoder; ``causal`` that no
    token sees a later one; ``attention`` and ``has_mask`` are False where there is none. ``interface`` is True where
    attention runs through transformers' AttentionInterface. ``max_tokens`` is None where nothing but the memory bounds
    the input; ``runs_beyond`` tells that the network itself would read more (rotary and relative positions, padded
    windows). ``type_ids`` tells that it is given which text a token is of, ``final_norm`` the norm after the encoder's
    last layer; ``biased`` tells that something is added to q·k for where two tokens stand. Outside the interface
    ``watch`` and ``block`` give what its attention is made from, by its own modules: see ``checkpoints.block``.
    """

    model_type: str
    head: str
    tokenizer: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    mlm: bool = False
    nsp: Literal["NSP", "SOP"] | None = None
    cross_attention: bool = False
    causal: bool = False
    interface: bool = True
    max_tokens: int | None = POSITIONS
    runs_beyond: bool = False
    attention: bool = True
    has_mask: bool = True
    type_ids: bool = False
    final_norm: str | None = None
    biased: bool = False
    watch: Callable[[Any, Watch], None] | None = None
    block: Callable[[Any, int, int, Any, Any], Block] | None = None


BERT_SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": N_LAYERS,
    "num_attention_heads": N_HEADS,
    "intermediate_size": 2 * WIDTH,
    "max_position_embeddings": POSITIONS,
    "initializer_range": 0.3,
}
# These count positions from the padding id on, which is 0 in their tiny tokenizers of RoBERTa's kind: 66 less 1.
ROBERTA_TOKENS = POSITIONS + 1
ROBERTA_SIZES = BERT_SIZES | {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
