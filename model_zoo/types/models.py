"""What is known of a model: before it is loaded, as it was loaded, and while it is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from model_zoo.types.shows import Shows
from model_zoo.types.wording import counted

# In which number format weights are held and computed with.
DType = Literal["float32", "bfloat16", "float16"]
DTYPES: tuple[DType, ...] = get_args(DType)

# Where models run; the first that there is, where nobody chose.
Device = Literal["cuda", "mps", "cpu"]
DEVICES: tuple[Device, ...] = get_args(Device)

# Whose pickles are converted: nobody's, those of listed models, anybody's.
Pickles = Literal["never", "listed", "any"]

# What a network with a head of its own for a task was tuned for: labels of texts, tags of words, answers in a passage,
# how alike two texts are.
TunedFor = Literal["classification", "tagging", "answering", "similarity"]

# How tokens' vectors become one, by the names of sentence-transformers: the first token's; the largest of each number;
# the mean; the sum over the square root of how many they are; the mean, the k-th counting k times; the last token's.
PoolingMode = Literal["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


@dataclass(frozen=True, slots=True)
class NamedPooling:
    """How a sentence becomes one vector, by a checkpoint's own files: over all tokens, special ones included.

    The vectors of several ``modes`` are put one after the other; there are none where the files name what nobody here
    can follow. ``max_tokens`` are those that count of a longer text, None where all do. ``besides`` is what else the
    files ask for and nobody here does, as nouns of a sentence.
    """

    modes: tuple[PoolingMode, ...]
    max_tokens: int | None = None
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec(Shows):
    """What is known of a model before anything is loaded; one entry of the registry.

    ``nsp`` is "NSP" (next sentence, BERT), "SOP" (sentence order, ALBERT) or None. ``heads`` is 0 where the
    model has no attention. ``parameters`` counts all weights of the published checkpoint. ``trained_tokens``
    are those of the longest text in training, where the model takes longer ones and has positions that training
    did not reach; None where it has not, or nobody says. ``package`` ships it, in its folder "model": where that is
    installed, no hub is needed.
    """

    id: str
    hub_id: str | None
    name: str
    family: str
    layers: int
    heads: int
    width: int
    parameters: int
    vocabulary: int
    max_tokens: int | None
    trained_tokens: int | None = None
    mlm: bool
    nsp: Literal["NSP", "SOP"] | None
    cross_attention: bool = False
    causal: bool = False
    package: str | None = None
    licence: str
    note: str

    @property
    def attention(self) -> bool:
        """Whether it has attention to look at."""
        return self.heads > 0

    @property
    def short_name(self) -> str:
        """The name without "(bundled)", for sentences, pictures and lists."""
        return self.name.removesuffix(" (bundled)")


@dataclass(frozen=True, slots=True)
class ModelStatus(Shows):
    """A registry entry and whether it can be used here and now; ``reason`` says why not, or how."""

    spec: ModelSpec
    usable: bool
    reason: str

    def __repr__(self) -> str:
        return f"<ModelStatus {self.spec.id}: {'usable' if self.usable else 'not usable'}. {self.reason}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo(Shows):
    """A model as it was really loaded: what ran, where, and in which number format.

    ``revision`` is the hub's commit, or the sha256 of the weights for a folder. ``max_tokens`` is None where
    the architecture sets no limit. ``mlm``, ``lm`` and ``nsp`` tell the heads whose weights the checkpoint holds: for
    masked words, for the next token (a causal language model, GPT-2) and for pairs of sentences.
    With ``cross_attention`` there is a decoder beside the encoder; layers and heads are then the encoder's.
    ``tuned_for`` names the task that it has a trained head for, and no other head; ``labels`` are
    the names of that head's outputs, where they have names. ``converted`` tells that its weights were published as a
    pickle and converted here. ``pooling`` is how it makes vectors of sentences, where its files say so. Where
    ``n_heads`` is 0, ``why_no_attention`` is the predicate of a sentence that says why; where some layers alone have
    attention, ``attention_layers`` are their numbers.
    """

    id: str
    revision: str
    family: str
    n_layers: int
    n_heads: int
    width: int
    parameters: int
    max_tokens: int | None
    mlm: bool
    nsp: Literal["NSP", "SOP"] | None
    device: str
    dtype: str
    cross_attention: bool = False
    lm: bool = False
    tuned_for: TunedFor | None = None
    labels: tuple[str, ...] = ()
    converted: bool = False
    pooling: NamedPooling | None = None
    why_no_attention: str = "has no attention to show"
    attention_layers: tuple[int, ...] = ()

    @property
    def attention_refusal(self) -> str:
        """What is said where it has no attention that can be shown; empty where it has."""
        return "" if self.n_heads else f"{self.id} ({self.family}) {self.why_no_attention}. Choose another model."

    @property
    def size(self) -> str:
        """Layers and heads in words: "6 layers × 12 heads"."""
        layers = counted(self.n_layers, "layer")
        if self.attention_layers:
            these = ", ".join(str(layer + 1) for layer in self.attention_layers)
            return f"{layers} (with attention: {these}) × {counted(self.n_heads, 'head')}"
        return f"{layers} × {counted(self.n_heads, 'head')}" if self.n_heads else f"{layers}, no attention maps"


@dataclass(frozen=True, slots=True)
class HeldModel(Shows):
    """One model in the engine's memory: its size in bytes and the seconds since it was last used."""

    info: ModelInfo
    n_bytes: int
    idle_seconds: float
    in_use: bool
