"""Held-out figures of models: ``python -m training.evaluate [ID ...] [--corpus FILE.jsonl.xz]``.

Prints one JSON object per model: id, parameters, mlm_loss (nats) and mlm_accuracy of the masked tokens,
replaced_accuracy, kept_accuracy, nsp_accuracy and tokens_per_second; under "intervals" the 95% interval of each over
documents of the corpus, or subjects of the sentences written for this project; and of a model that was asked about the
same tokens, or pairs, as the first one, under "than_first" how much higher it is, with its interval and, of accuracies,
the p of an exact paired test. Models are evaluated as they are on disk, in float32. All draws come from fixed seeds, so
the same weights give the same figures. A model without a head has null for its figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from transformers import PreTrainedModel

from analysis.corpus.moments import Moments
from analysis.paired import sign_flip_p
from model_zoo import loading, registry, sources
from model_zoo.errors import ModelZooError
from model_zoo.types import DoubleArray
from training.evaluation_sets import EvaluationSet, corpus_set, written_set
from training.measure_quality import measure_quality
from training.tallies import BATCH_ROWS, Count, Encode, Inputs, loaded_encoder, scores_of

FIGURES: Final = {
    "mlm_loss": "masked",
    "mlm_accuracy": "masked",
    "replaced_accuracy": "replaced",
    "kept_accuracy": "kept",
    "nsp_accuracy": "pairs",
}
"""Those of ``Quality`` that are printed, a loss in nats and accuracies, and which of its counts they are of."""
Units = dict[str, DoubleArray]
"""Each figure's sum and number of tokens or pairs, (units, 2): a document or subject each."""


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


def evaluate(
    model_id: str, held_out: EvaluationSet, device: torch.device, first: Units | None = None
) -> tuple[dict[str, Any], Units]:
    """Measure a model from disk: what the command prints, beside the ``first`` model's units, and its own. Raises as
    ``sources.find`` and ``loading.load`` do.
    """
    loaded = loading.load(sources.find(model_id), device, "float32")
    counts: dict[str, Count] = {}
    *_, quality = measure_quality(loaded, held_out, counts)
    units = {figure: _units(figure, counts[kind], held_out) for figure, kind in FIGURES.items() if kind in counts}
    values: dict[str, float | None] = {name: getattr(quality, name) for name in FIGURES}
    figures = {
        "id": model_id,
        "parameters": loaded.info.parameters,
        **{name: None if value is None else round(value, 4) for name, value in values.items()},
        "intervals": {name: _interval(units[name], shares=name != "mlm_loss") for name in units},
        "tokens_per_second": round(speed(loaded.model, loaded_encoder(loaded), held_out.texts), 1),
    }
    if first is not None:
        figures["than_first"] = {
            name: _difference(units[name], first[name], shares=name != "mlm_loss")
            for name in units
            if name in first and np.array_equal(units[name][:, 1], first[name][:, 1])
        }
    return figures, units


def _units(figure: str, count: Count, held_out: EvaluationSet) -> DoubleArray:
    n, right, loss = count.by_item.T
    unit = held_out.of_pairs if figure == "nsp_accuracy" else held_out.of_texts
    sums = (np.bincount(unit, weights=numbers) for numbers in (loss if figure == "mlm_loss" else right, n))
    return np.stack(list(sums), axis=1)


def _interval(units: DoubleArray, *, shares: bool) -> list[float] | None:
    ends = np.concatenate(Moments.from_sums(units[:, :1], units[:, 1:]).intervals(shares=shares))
    return None if np.isnan(ends).any() else ends.round(4).tolist()  # of one document alone


def _difference(units: DoubleArray, first: DoubleArray, *, shares: bool) -> dict[str, Any]:
    higher = np.stack([units[:, 0] - first[:, 0], units[:, 1]], axis=1)
    by = {"by": round(float(higher[:, 0].sum() / higher[:, 1].sum()), 4), "interval": _interval(higher, shares=False)}
    return by | ({"p": float(f"{sign_flip_p(higher[:, 0].astype(np.int64)):.2g}")} if shares else {})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 0, or 2 when a model or the corpus could not be used."""
    parser = argparse.ArgumentParser(f"python -m {__spec__.name}", description="Held-out figures of models.")
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
    first: Units | None = None
    for model_id in options.models or embedded:
        try:
            figures, units = evaluate(model_id, held_out, options.device, first)
            print(json.dumps(figures), flush=True)
            first = first or units
        except ModelZooError as error:
            print(error, file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
