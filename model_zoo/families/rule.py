"""The rule that families follow, and all that one may do differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import torch

from model_zoo.eager_attention import Projections
from model_zoo.types import Stack

Item = TypeVar("Item")

Head = Literal["pretraining", "masked", "causal", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Where a family keeps the parts of its layers, by the paths of submodules, for ``model_zoo.anatomy``.

    ``embeddings`` are the tables whose rows are added up, by the names of their stages, ``embedding_norm`` the norm
    after them, ``embedding_projection`` the matrix after that where tables are narrower than layers. ``layer`` is the
    path of one from the encoder, with "{}" for its number; the others lead on from there. ``query_key_value`` are three
    matrices or one that makes all three. With ``pre_norm`` each norm comes before its block and not after the addition.
    ``gated``: the inner matrix makes a gate, too. ``rotary`` holds the frequencies by which queries and keys are
    rotated, for each kind of layer.
    """

    embeddings: tuple[tuple[str, str], ...]
    embedding_norm: str | None = None
    embedding_projection: str | None = None
    layer: str
    query_key_value: tuple[str, ...]
    output: str
    attention_norm: str
    inner: str
    activation: str
    outer: str
    feed_forward_norm: str
    pre_norm: bool = False
    gated: bool = False
    rotary: str | None = None


class Family:
    """The rule: load the class that holds the masked-word head, take attention from the fused kernel's inputs, and read
    ``output_attentions`` where a family does not go through that kernel. A subclass says what is different.
    """

    model_types: ClassVar[tuple[str, ...]] = ()
    """The ``model_type`` of its configs; the first is the name of its file."""

    head: ClassVar[Head | None] = None
    """The Auto class that holds the most: "pretraining" where one class has both the masked-word and the sentence
    head, "none" where heads are not for masked words or next tokens; None where the checkpoint's own class tells.
    """

    nsp: ClassVar[Literal["NSP", "SOP"] | None] = None
    """What the sentence head of that class was trained on: next sentences, or the order of two (SOP)."""

    sentence_head: ClassVar[str] = "cls.seq_relationship"
    """The submodule that turns the pooled vector into two scores; the first is that of "is next", or "in order"."""

    without_nsp: ClassVar[str] = (
        "Its checkpoint holds no weights for such a head, and with random ones its answer would mean nothing."
    )
    """What is said where a checkpoint has no sentence head."""

    projections: ClassVar[Projections | None] = None
    """Where a family outside the fused kernel makes its queries, keys and values; without it such a family gives
    finished maps only.
    """

    type_ids: ClassVar[bool | None] = None
    """Whether its network was trained with token types, where its config is wrong; None where it is right."""

    restores: ClassVar[bool] = False
    """Whether its decoder was trained to write the encoder's text again (BART), and not another text or parts of it."""

    anatomy: ClassVar[Parts | None] = None
    """Where its layers' parts are, so that every step through them can be computed by hand; None where nobody has said.
    """

    half: ClassVar[bool] = True
    """False where the network's own code mixes number formats and fails in half precision."""

    sums_up_last: ClassVar[bool] = False
    """Whether its head for labels of texts reads the last token, where padding would stand."""

    def configure(self, config: Any) -> None:
        """Change settings of a checkpoint's config before the network is built."""

    def max_tokens(self, config: Any) -> int | None:  # noqa: ARG002 (for families whose limit is in their config)
        """A limit of tokens beside that of positions and tokenizer; None where there is none."""
        return None

    def padded_length(self, config: Any) -> int:  # noqa: ARG002 (for families that take one length alone)
        """The number of tokens that every text is padded to; 0 where its own number is right."""
        return 0

    def mask(self, tokens: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:  # noqa: ARG002 (for families with a choice)
        """What its network is given as attention mask, where ``tokens`` (batch, n) are 1 and padding is 0."""
        return tokens

    def projections_of(self, config: Any) -> Projections | None:  # noqa: ARG002 (for families with a choice)
        """``projections``, unless the config has settings with which queries and keys do not explain attention."""
        return self.projections

    def select_stack(self, stack: Stack, calls: Sequence[Item]) -> Sequence[Item]:
        """Those of a stack's attention calls, in order, that belong to a part. A layer of the decoder looks at its own
        text first, then at the encoder's.
        """
        if stack == "encoder":
            return calls
        return calls[0::2] if stack == "decoder" else calls[1::2]
