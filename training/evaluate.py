"""Held-out figures of models: ``python -m training.evaluate [ID ...] [--corpus FILE.jsonl.xz]``.

Prints one JSON object per model: id, parameters, mlm_loss (nats) and mlm_accuracy of the masked tokens,
replaced_accuracy, kept_accuracy, nsp_accuracy and tokens_per_second. Models are evaluated as they are on disk, in
float32. All draws come from fixed seeds, so the same weights give the same figures. A model without a head has null
for its figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from transformers import PreTrainedModel

from model_zoo import loading, registry, sources
from model_zoo.errors import ModelZooError
from training.evaluation_sets import EvaluationSet, corpus_set, written_set
from training.measure_quality import measure_quality
from training.tallies import BATCH_ROWS, Encode, Inputs, loaded_encoder, scores_of

FIGURES: Final = ("mlm_loss", "mlm_accuracy", "replaced_accuracy", "kept_accuracy", "nsp_accuracy")
"""Those of ``Quality`` that are printed: a loss in nats, and accuracies."""


@torch.no_grad()
def speed(model: PreTrainedModel, encode: Encode, texts: Sequence[str]) -> float:
    """Tokens per second of inference, padding not counted; the first batch runs once before, to warm up."""
    batches = [encode(texts[start : start + BATCH_ROWS], None) for start in range(0, len(texts), BATCH_ROWS)]
    _finish(model(**batches[0]))
    begun = time.perf_counter()
    for inputs in batches:
        _finish(model(**inputs))
    seconds = time.perf_counter() - begun
    return sum(_n_tokens(inputs) for inputs in batches) / seconds


def _n_tokens(inputs: Inputs) -> int:
    """A batch whose texts are equally long has no padding, and may come without a mask."""
    return int(inputs["attention_mask"].sum()) if "attention_mask" in inputs else inputs["input_ids"].numel()


def _finish(output: object) -> None:
    """Wait until a GPU has computed the output."""
    scores = scores_of(output, "prediction_logits", "logits", "last_hidden_state")
    if scores is not None:
        scores[0, 0].sum().item()


def evaluate(model_id: str, held_out: EvaluationSet, device: torch.device) -> dict[str, Any]:
    """Measure a model from disk: what the command prints. Raises as ``sources.find`` and ``loading.load`` do."""
    loaded = loading.load(sources.find(model_id), device, "float32")
    *_, quality = measure_quality(loaded, held_out)
    figures: dict[str, float | None] = {name: getattr(quality, name) for name in FIGURES}
    return {
        "id": model_id,
        "parameters": loaded.info.parameters,
        **{name: None if figure is None else round(figure, 4) for name, figure in figures.items()},
        "tokens_per_second": round(speed(loaded.model, loaded_encoder(loaded), held_out.texts), 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 0, or 2 when a model or the corpus could not be used."""
    parser = argparse.ArgumentParser(
        prog="python -m look_inside_bert.training.evaluate", description="Held-out figures of models."
    )
    embedded = [spec.id for spec in registry.MODELS.values() if spec.hub_id is None]
    parser.add_argument("models", nargs="*", metavar="ID", help="registry id, Hugging Face id or folder")
    parser.add_argument("--corpus", type=Path, metavar="FILE.jsonl.xz", help="measure on its held-out documents")
    parser.add_argument("--device", type=torch.device, default=loading.best_device(), help="cpu, cuda or mps")
    options = parser.parse_args(arguments)
    status = 0
    try:
        held_out = written_set() if options.corpus is None else corpus_set(options.corpus)
    except ModelZooError as error:
        print(error, file=sys.stderr)
        return 2
    for model_id in options.models or embedded:
        try:
            print(json.dumps(evaluate(model_id, held_out, options.device)), flush=True)
        except ModelZooError as error:
            print(error, file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
