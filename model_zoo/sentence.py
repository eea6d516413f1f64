"""Whether one sentence follows another, as far as a model was trained to tell (NSP), or in which order
(SOP).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from model_zoo import registry
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.running import batches
from model_zoo.types import Encoding, SentenceScore

# Pairs that are tokenized, sorted by length and run before the next ones are looked at.
_WINDOW = 256

_DROPPED = (
    "Its authors left next-sentence prediction out of training: on full-length texts the model did as well "
    "or better "
    "on its tasks without it (Liu et al. 2019)."
)
_WHY_NOT = {
    "roberta": _DROPPED,
    "xlm-roberta": _DROPPED,
    "camembert": _DROPPED,
    "longformer": f"It starts from RoBERTa. {_DROPPED}",
    "albert": "ALBERT was trained on sentence order (SOP), but this checkpoint does not hold that head.",
    "distilbert": "DistilBERT was distilled from BERT without its next-sentence head and without segments.",
    "electra": "ELECTRA was trained on masked and replaced words, without next-sentence prediction.",
    "modernbert": "ModernBERT was trained on masked words only, and takes no segments.",
    "deberta": "DeBERTa was trained without next-sentence prediction.",
    "deberta-v2": "DeBERTa was trained without next-sentence prediction.",
    "mpnet": "MPNet was trained without next-sentence prediction.",
    "gpt2": "A decoder such as GPT-2 predicts the next word; it was never asked about pairs of sentences.",
}


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported, with the reason, for a checkpoint without a sentence head of its own."""
    if loaded.info.nsp is not None:
        return
    spec = registry.find(loaded.info.id)
    reason = _WHY_NOT.get(
        loaded.info.family,
        "Its checkpoint holds no weights for such a head, and with random ones its answer would mean nothing.",
    )
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} cannot say whether one sentence follows another. {reason} "
        "Choose a "
        f"BERT with a next-sentence head, such as {registry.DEFAULT_MODEL}."
    )


def next_sentences(loaded: LoadedModel, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, SentenceScore]]:
    """Scores of many pairs, batched by length; yields (index of the pair, score) as batches are done."""
    refuse_without_head(loaded)
    for first in range(0, len(pairs), _WINDOW):
        window = range(first, min(first + _WINDOW, len(pairs)))
        encodings = [loaded.encode(*pairs[index]) for index in window]
        for batch in batches(encodings):
            scores = _scored(loaded, [encodings[place] for place in batch])
            yield from zip((window[place] for place in batch), scores, strict=True)


def _scored(loaded: LoadedModel, encodings: Sequence[Encoding]) -> list[SentenceScore]:
    """The sentence head on one batch; index 0 of its two logits is "is next" (ALBERT: "in order")."""
    kind = loaded.info.nsp
    assert kind is not None
    with torch.inference_mode():
        pooled = loaded.model.base_model(**loaded.inputs(encodings))[1]
        head = loaded.model.sop_classifier if kind == "SOP" else loaded.model.cls.seq_relationship
        logits = head(pooled).float()
        p_next = logits.softmax(dim=-1)[:, 0].tolist()
    return [
        SentenceScore(p, (scores[0], scores[1]), kind, encoding, loaded.info)
        for p, scores, encoding in zip(p_next, logits.tolist(), encodings, strict=True)
    ]
