"""Whether one sentence follows another (NSP), or in which order two stand (SOP), as far as a model learned it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from model_zoo import registry
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.running import batches
from model_zoo.types import SentenceScore

# Pairs that are tokenized, sorted by length and run before the next ones are looked at.
_WINDOW = 256


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported, with the reason, for a checkpoint without a sentence head of its own."""
    if loaded.info.nsp is not None:
        return
    spec = registry.find(loaded.info.id)
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} cannot say whether one sentence follows another. "
        f"{loaded.family.without_nsp} Choose a BERT with a next-sentence head, such as {registry.DEFAULT_MODEL}."
    )


def next_sentences(loaded: LoadedModel, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, SentenceScore]]:
    """Scores of many pairs, batched by length; yields (index of the pair, score) as batches are done."""
    refuse_without_head(loaded)
    kind, head = loaded.info.nsp, loaded.model.get_submodule(loaded.family.sentence_head)
    assert kind is not None
    for first in range(0, len(pairs), _WINDOW):
        window = range(first, min(first + _WINDOW, len(pairs)))
        encodings = [loaded.encode(*pairs[index]) for index in window]
        for batch in batches(loaded, encodings):
            with torch.inference_mode():
                pooled = loaded.model.base_model(**loaded.inputs([encodings[place] for place in batch]))[1]
                logits = head(pooled).float()
                p_next = logits.softmax(dim=-1)[:, 0].tolist()
            for place, p, (yes, no) in zip(batch, p_next, logits.tolist(), strict=True):
                yield window[place], SentenceScore(p, (yes, no), kind, encodings[place], loaded.info)
