"""What a model makes of held-out texts: masked words and next sentences, tallied batch by batch.

All draws come from fixed seeds, so the same weights give the same figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from torch.nn import functional
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from model_zoo.errors import BadCheckpoint, InvalidInput
from model_zoo.loading import LoadedModel
from model_zoo.types import BoolArray, DoubleArray, FloatArray, IntArray
from training.batches import SpecialTokens, mask_tokens
from training.evaluation_sets import Pair

Item = TypeVar("Item")
Inputs = dict[str, torch.Tensor]
Encode = Callable[[Sequence[str], Sequence[str] | None], Inputs]
"""Texts, or texts and their second texts, as one padded batch for the model."""

MASK_RATE = 0.15
MAX_TOKENS = 128
BATCH_ROWS = 32
SEED = 0


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens or pairs were evaluated, and how many of these correctly.

    ``loss`` is summed, in nats; pairs have none. Shares and means of nothing are None. ``by_item`` (items, 3) has the
    three numbers of each text or pair.
    """

    n: int = 0
    n_right: int = 0
    loss: float = 0.0
    by_item: DoubleArray = field(default_factory=lambda: np.zeros((0, 3)), repr=False, compare=False)

    @classmethod
    def from_items(cls, by_item: DoubleArray) -> Count:
        """That of items (items, 3)."""
        n, n_right, loss = by_item.sum(axis=0).tolist()
        return cls(int(n), int(n_right), loss, by_item)

    @property
    def accuracy(self) -> float | None:
        return self.n_right / self.n if self.n else None

    @property
    def mean_loss(self) -> float | None:
        return self.loss / self.n if self.n else None

    def __add__(self, other: Count) -> Count:
        by_item = np.concatenate([self.by_item, other.by_item])
        return Count(self.n + other.n, self.n_right + other.n_right, self.loss + other.loss, by_item)


@dataclass(frozen=True, slots=True)
class WordTally:
    """After ``n_read`` of the texts: the chosen tokens by what the model saw in their place.

    That is the mask, another token, or the token itself. The last kind is kept apart because it asks for next to
    nothing: the answer is there to see.
    """

    n_read: int
    masked: Count = Count()
    replaced: Count = Count()
    kept: Count = Count()

    @property
    def n_chosen(self) -> int:
        return self.masked.n + self.replaced.n + self.kept.n


def _last(items: Iterator[Item]) -> Item:
    *_, last = items
    return last


def encoder(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Encode:
    """Encodes for a bare model and its tokenizer, as during training."""

    def encode(first: Sequence[str], second: Sequence[str] | None) -> Inputs:
        pairs = None if second is None else list(second)
        encoded = tokenizer(
            list(first), pairs, truncation=True, max_length=MAX_TOKENS, padding=True, return_tensors="pt"
        )
        return {name: tensor.to(model.device) for name, tensor in encoded.items()}

    return encode


def loaded_encoder(loaded: LoadedModel) -> Encode:
    """For a model as the app loads it: cut at its own limit, with the inputs its family takes, safe for threads."""

    def encode(first: Sequence[str], second: Sequence[str] | None) -> Inputs:
        partners: Sequence[str | None] = [None] * len(first) if second is None else second
        pairs = zip(first, partners, strict=True)
        return loaded.inputs([loaded.encode(text, partner, MAX_TOKENS) for text, partner in pairs])

    return encode


def scores_of(output: object, *names: str) -> torch.Tensor | None:
    """The first of the attributes ``names`` that a model's output has; None where it has none of them."""
    return next((scores for name in names if (scores := getattr(output, name, None)) is not None), None)


@torch.no_grad()
def iter_masked_words(
    model: PreTrainedModel, encode: Encode, special: SpecialTokens, texts: Sequence[str]
) -> Iterator[WordTally]:
    """What the model makes of the chosen 15% of the tokens, hidden 80/10/10 as in training; one tally per batch.

    Raises InvalidInput where no token of the texts was masked.
    """
    rng = np.random.default_rng(SEED)
    tally = WordTally(0)
    for start in range(0, len(texts), BATCH_ROWS):
        batch = texts[start : start + BATCH_ROWS]
        inputs = encode(batch, None)
        ids = inputs["input_ids"].cpu().numpy()
        hidden = mask_tokens(ids, special, MASK_RATE, rng)
        inputs["input_ids"] = torch.from_numpy(hidden.ids).to(model.device)
        scores = scores_of(model(**inputs), "prediction_logits", "logits")
        if scores is None:
            raise BadCheckpoint(f"{type(model).__name__} gives no scores for words. Evaluate a model that fills masks.")
        chosen = torch.from_numpy(hidden.chosen).to(model.device)
        before, seen = ids[hidden.chosen], hidden.ids[hidden.chosen]
        targets = torch.from_numpy(before).to(model.device)
        losses = functional.cross_entropy(scores[chosen].float(), targets, reduction="none").cpu().numpy()
        right = (scores[chosen].argmax(dim=-1) == targets).cpu().numpy()
        masked = seen == special.mask
        kept = seen == before  # also a token that was replaced by itself: the model sees no difference
        row, n_rows = np.nonzero(hidden.chosen)[0], len(batch)
        tally = WordTally(
            start + n_rows,
            tally.masked + _count(losses, right, masked, row, n_rows),
            tally.replaced + _count(losses, right, ~masked & ~kept, row, n_rows),
            tally.kept + _count(losses, right, kept, row, n_rows),
        )
        if tally.n_chosen:
            yield tally
    if tally.masked.n == 0:
        raise InvalidInput("The held-out texts are too short: no token was masked. Give a larger corpus.")


def _count(losses: FloatArray, right: BoolArray, among: BoolArray, row: IntArray, n_rows: int) -> Count:
    """The count of some of the chosen tokens, by the text (``row``) that each is in."""
    columns = (among, among & right, among * losses)
    return Count.from_items(
        np.stack([np.bincount(row, weights=column, minlength=n_rows) for column in columns], axis=1)
    )


def masked_words(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    special: SpecialTokens,
    texts: Sequence[str],
) -> tuple[float, float]:
    """Mean loss in nats and accuracy over the tokens that ``iter_masked_words`` masks; others do not count."""
    masked = _last(iter_masked_words(model, encoder(model, tokenizer), special, texts)).masked
    return masked.loss / masked.n, masked.n_right / masked.n


@torch.no_grad()
def iter_next_sentences(model: PreTrainedModel, encode: Encode, pairs: Sequence[Pair]) -> Iterator[Count]:
    """Pairs whose higher class is right (0 is "is next"): one count per batch, of all pairs so far."""
    count = Count()
    for start in range(0, len(pairs), BATCH_ROWS):
        batch = pairs[start : start + BATCH_ROWS]
        inputs = encode([p.first for p in batch], [p.second for p in batch])
        scores = scores_of(model(**inputs), "seq_relationship_logits", "logits")
        if scores is None:
            raise BadCheckpoint(f"{type(model).__name__} gives no scores for pairs. Evaluate a model with an NSP head.")
        guesses = scores.argmax(dim=-1).tolist()
        by_pair = [(1.0, (guess == 0) == pair.is_next, 0.0) for guess, pair in zip(guesses, batch, strict=True)]
        count += Count.from_items(np.array(by_pair))
        yield count


def next_sentences(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, pairs: Sequence[Pair]) -> float:
    """The share of pairs that are classified correctly."""
    evaluated = _last(iter_next_sentences(model, encoder(model, tokenizer), pairs))
    return evaluated.n_right / evaluated.n
