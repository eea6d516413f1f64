"""Fields of the page "Train" that no view has alone: the data, and how a model is tuned."""

from __future__ import annotations

from training.finetuning.settings import MOST_EPOCHS, Learns
from ui import Field, number, one_of, optional, pattern, view_field, within

_PAGE = "train"

OWN = "own"
"""In the place of a set's name: the visitor's own data."""

SHOWN_VIEW = view_field(_PAGE, "train")

SET: Field[str] = Field(
    "set", "sentiment", pattern("[a-z][a-z_]{0,39}", "is not the name of a set of data."), of=_PAGE, always=True
)
_LEARNS: dict[Learns, str] = {"all": "All weights", "top": "The top layers", "lora": "LoRA", "head": "Task head only"}
LEARN: Field[Learns] = Field("learns", "all", one_of("the weights to train", _LEARNS), of=_PAGE)
LAYERS: Field[int] = Field("layers", 2, within("the number of layers", 1, 99), of=_PAGE)
RANK: Field[int] = Field("rank", 8, within("the rank", 1, 64), of=_PAGE)
HEAD_FIRST: Field[int] = Field("head_first", 0, within("the epochs of the head", 0, MOST_EPOCHS), of=_PAGE)
RATE: Field[float | None] = Field("rate", None, optional(number("the learning rate", 1e-7, 1, step=1e-5)), of=_PAGE)
BATCH: Field[int] = Field("batch", 16, within("the batch", 1, 128), of=_PAGE)
EPOCHS: Field[int] = Field("epochs", 5, within("the number of epochs", 1, MOST_EPOCHS), of=_PAGE)
PATIENCE: Field[int | None] = Field("patience", None, optional(within("the patience", 1, MOST_EPOCHS)), of=_PAGE)
WARMUP: Field[float] = Field("warmup", 0.1, number("the warm-up", 0, 1, step=0.02), of=_PAGE)
DECAY: Field[float] = Field("decay", 0.01, number("the weight decay", 0, 1, step=0.01), of=_PAGE)
SEED: Field[int] = Field("seed", 0, within("the seed", 0, 999_999), of=_PAGE)
SEEDS: Field[int] = Field("seeds", 1, within("the number of seeds", 1, 5), of=_PAGE)
TOKENS: Field[int] = Field("tokens", 128, within("the length", 8, 512), of=_PAGE)
EXAMPLES: Field[int | None] = Field("examples", None, optional(within("the examples", 2, 100_000)), of=_PAGE)
HOW = (LEARN, LAYERS, RANK, HEAD_FIRST, RATE, BATCH, EPOCHS, PATIENCE, WARMUP, DECAY, SEED, SEEDS, TOKENS, EXAMPLES)
ASKED = (SET, *HOW)
