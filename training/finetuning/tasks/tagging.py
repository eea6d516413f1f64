"""Tags of words: softmax over the tags for every token; a word's tag is that of its first piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from model_zoo.text import word_spans
from model_zoo.types import Encoding
from training.finetuning.data import OUTSIDE, Item, Tagged, cast_all
from training.finetuning.entities import first_pieces
from training.finetuning.results import Prediction, TaggedWords
from training.finetuning.tasks.base import IGNORED, Batch, Span, Task


class Tagging(Task):
    kind = "tagging"

    def targets(self, batch: Batch, items: Sequence[Item]) -> torch.Tensor:
        numbers = batch.numbers
        targets = torch.full((len(items), max(map(len, batch.encodings))), IGNORED)
        for row, (encoding, item) in enumerate(zip(batch.encodings, cast_all(Tagged, items), strict=True)):
            for tag, piece in zip(item.tags, first_pieces(encoding, item.spans), strict=True):
                if piece is not None:
                    targets[row, piece] = numbers[tag]
        return targets

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(output.logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED)

    def read(self, output: Any, batch: Batch) -> list[Prediction]:
        shares = output.logits.float().softmax(dim=-1)
        return [
            _read(row.tolist(), encoding, word_spans(encoding.text) if spans is None else spans, batch.labels)
            for row, encoding, spans in zip(shares, batch.encodings, batch.words, strict=True)
        ]


def _read(shares: list[list[float]], encoding: Encoding, words: Sequence[Span], labels: Sequence[str]) -> TaggedWords:
    tags, probabilities = [], []
    for piece in first_pieces(encoding, words):
        best = None if piece is None else max(range(len(labels)), key=shares[piece].__getitem__)
        tags.append(OUTSIDE if best is None else labels[best])
        probabilities.append(0.0 if piece is None or best is None else shares[piece][best])
    return TaggedWords(tuple(encoding.text[start:end] for start, end in words), tuple(tags), tuple(probabilities))


TASK = Tagging()
