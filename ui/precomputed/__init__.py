"""What was measured before the app was given out: probes and quality of the bundled models, one file a model.

``python -m pages.layers`` measures all of it anew, with ``--check`` it tells what has changed since. A result
is handed out only where it was measured on the weights, the sentences and the settings that there are now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter

from analysis.probing import TASKS, Baseline, Dataset, Depth, LayerResult, Settings, TaskMap, TaskResult, WrongExample
from analysis.probing.structural_results import Estimate, ParsedSentence, Scores, StructuralLayer, StructuralResult
from analysis.probing.template_trees import template_conllu
from jobs.study import Finished, FoundTrees, Key
from model_zoo import heldout, registry
from model_zoo.errors import ModelZooError
from model_zoo.types import ModelInfo, Quality
from web.engine import engine
from web.process import process_cache

FOLDER = Path(__file__).parent
EMBEDDED: Final = tuple(model for model, spec in registry.MODELS.items() if spec.hub_id is None)
"""The models that there are results of: those that ship with the app."""
PARTS: Final = {
    kind.__name__: [field.name for field in fields(kind)]
    for kind in (
        *(ModelInfo, Quality, Settings, TaskResult, Baseline, Depth, LayerResult, WrongExample, TaskMap),
        *(StructuralResult, StructuralLayer, Scores, Estimate, ParsedSentence),
    )
}
"""What a file is made of. Results made of other parts are those of another version of the app."""
_MODEL, _TASK, _TREES = TypeAdapter(ModelInfo), TypeAdapter(TaskResult), TypeAdapter(StructuralResult)
DIGITS: Final = 4  # of what is drawn or listed only: points, similarities, probabilities
TREES_KEPT: Final = 6  # sentences whose trees are drawn


def probing(model: str) -> Mapping[Key, Finished]:
    """The results of probing a model that came with the app; those that hold for what it is made of now."""
    return _probing(model) if model in EMBEDDED else {}


def quality(info: ModelInfo) -> Quality | None:
    """How well a model does on the held-out sentences, if that came with the app for these weights and sentences."""
    if info.id not in EMBEDDED:
        return None
    stored = _stored(info.id)
    if stored is None or stored["model"]["revision"] != info.revision or stored["heldout"] != heldout_fingerprint():
        return None
    return Quality(**stored["quality"])


def trees(model: str) -> FoundTrees | None:
    """The structural probe on the sentences made from templates, of a model that came with the app, if it holds."""
    return _trees(model) if model in EMBEDDED else None


def file_of(model: str) -> Path:
    """Where a model's results lie: those of "embedded/bert" in embedded-bert.json."""
    return FOLDER / f"{model.replace('/', '-')}.json"


def data_fingerprint(dataset: Dataset) -> str:
    """Tells a task's sentences, labels and split from any others."""
    spans = None if dataset.spans is None else dataset.spans.tolist()
    items = [dataset.level, dataset.texts, dataset.split.tolist(), dataset.text_of.tolist(), dataset.labels, spans]
    return _fingerprint(json.dumps(items).encode())


def heldout_fingerprint() -> str:
    """Tells the held-out pairs of sentences from any others."""
    return _fingerprint(json.dumps([asdict(pair) for pair in heldout.written_pairs()]).encode())


def _fingerprint(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()[:12]}"


def pack_task(result: TaskResult, picture: TaskMap, dataset: Dataset) -> dict[str, Any]:
    """A task's results as plain data; texts become their numbers in the task's own data, which makes them again."""
    number = {text: place for place, text in enumerate(dataset.texts)}
    stored = asdict(result)
    for layer in stored["layers"]:
        for example in layer["wrong"]:
            example["text"] = number[example["text"]]
            example["probability"] = round(example["probability"], DIGITS)
    return {
        "data": data_fingerprint(dataset),
        "result": stored,
        "picture": {
            "task": picture.task,
            "points": _rounded(picture.points),
            "explained": _rounded(picture.explained),
            "cka": _rounded(picture.cka),
            "texts": [number[text] for text in picture.texts],
            "words": picture.words,
            "labels": picture.labels,
        },
    }


def trees_fingerprint() -> str:
    """Tells the sentences made from templates, with their trees, from any others."""
    return _fingerprint(template_conllu().encode())


def pack_trees(result: StructuralResult) -> dict[str, Any]:
    """A structural probe as plain data, with the trees of the first few test sentences."""
    stored: dict[str, Any] = json.loads(
        json.dumps(asdict(result)), parse_float=lambda number: float(f"{float(number):.{DIGITS}g}")
    )
    return {"data": trees_fingerprint(), "result": stored | {"sentences": stored["sentences"][:TREES_KEPT]}}


def _rounded(numbers: Any) -> Any:
    return np.round(numbers.astype(np.float64), DIGITS).tolist()


@process_cache(most=32)
def _stored(model: str) -> dict[str, Any] | None:
    """A model's file, None where there is none or it is of another version of the app."""
    try:
        stored: dict[str, Any] = json.loads(file_of(model).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return stored if stored["parts"] == PARTS else None


def _of_these_weights(model: str) -> dict[str, Any] | None:
    """A model's file, None where it was made of other weights than there are now."""
    stored = _stored(model)
    try:
        revision = engine().revision(model)
    except ModelZooError:
        return None  # running the tasks says what is wrong with the model
    return stored if stored is not None and stored["model"]["revision"] == revision else None


@process_cache(most=32)
def _probing(model: str) -> Mapping[Key, Finished]:
    stored = _of_these_weights(model)
    if stored is None:
        return {}
    info = _MODEL.validate_python(stored["model"])
    results: dict[Key, Finished] = {}
    for entry in stored["probing"]:
        name, settings = entry["result"]["task"], entry["result"]["settings"]
        if name not in TASKS:
            continue
        dataset = TASKS[name].build(settings["sentences"], settings["seed"])
        if data_fingerprint(dataset) == entry["data"]:
            result = _result(entry["result"], dataset.texts)
            picture = _picture(entry["picture"], dataset.texts)
            task = Finished(TASKS[name].title, info, picture, result, precomputed=True)
            results[Key(model, name, result.settings)] = task
    return results


@process_cache(most=32)
def _trees(model: str) -> FoundTrees | None:
    stored = _of_these_weights(model)
    if stored is None or stored["trees"]["data"] != trees_fingerprint():
        return None
    info, result = _MODEL.validate_python(stored["model"]), _TREES.validate_python(stored["trees"]["result"])
    return FoundTrees("sentences made from templates", info, result, precomputed=True)


def _result(stored: Mapping[str, Any], texts: Sequence[str]) -> TaskResult:
    """``texts`` are those of the task's data, which a file names by their places."""
    layers = [
        {**layer, "wrong": [{**wrong, "text": texts[wrong["text"]]} for wrong in layer["wrong"]]}
        for layer in stored["layers"]
    ]
    return _TASK.validate_python({**stored, "layers": layers})


def _picture(stored: Mapping[str, Any], texts: Sequence[str]) -> TaskMap:
    arrays = {name: np.array(stored[name], dtype=np.float32) for name in ("points", "explained", "cka")}
    tuples = {
        "texts": tuple(texts[place] for place in stored["texts"]),
        "words": None if stored["words"] is None else tuple(stored["words"]),
        "labels": tuple(stored["labels"]),
    }
    return TaskMap(**{**stored, **arrays, **tuples})
