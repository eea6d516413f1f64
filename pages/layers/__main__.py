"""``python -m pages.layers [--check]``: measure anew what comes with the app, or tell what has changed since.

Everything runs on the CPU in float32. ``--check`` writes nothing, and its exit status is 1 where a number differs by
more than processors do: see the tolerances below.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import NormalDist
from typing import Any, Final

from analysis.probing import (
    TASKS,
    Failed,
    Settings,
    StructuralResult,
    StructuralTask,
    TaskMap,
    TaskResult,
    readers,
    run,
    structural_study,
)
from analysis.probing.template_trees import template_conllu
from model_zoo import Engine
from model_zoo.registry import UNTRAINED
from pages.layers import fields
from reading import read
from training.measure_quality import MeasureQuality
from ui.precomputed import EMBEDDED, PARTS, command, file_of, heldout_fingerprint, pack_task, pack_trees

# Processors round differently, which moves a probability by less than a thousandth and, rarely, an item to the other
# side: three of the 120 that judge a probe, three of 300 pairs, three of about 100 replaced or kept tokens. An item
# that moves can push another one out of the list of those misclassified.
TOLERANCE: Final = 0.001
TOLERANCES: Final = {
    **dict.fromkeys(
        ("accuracy", "low", "high", "control_accuracy", "selectivity", "untrained_accuracy", "accuracies"), 0.026
    ),
    "development_accuracy": 0.051,  # of 40 items
    "p": 0.2,
    "c": 1.0,  # whose accuracies are equal but for an item
    **dict.fromkeys(("mlm_accuracy", "nsp_accuracy"), 0.011),
    **dict.fromkeys(("replaced_accuracy", "kept_accuracy"), 0.031),
    **dict.fromkeys(("expected_layer", "centre_of_gravity"), 0.2),
    # Of the structural probe: its training ends where the loss on few sentences no longer falls.
    **dict.fromkeys(("value", "root_accuracy", "development_uuas", "uuas_of_seeds"), 0.05),
    **dict.fromkeys(("p_chain", "p_untrained"), 0.5),  # as standard deviations: of a tie, a few edges move p by 0.3
}
MOVED_EXAMPLES: Final = 4
_DEVIATE: Final = NormalDist().inv_cdf


def settings() -> Settings:
    """Those with which the page "Layers" opens."""
    return Settings(**{name: field.default for name, field in fields.OF_SETTINGS.items()})


def measured(engine: Engine, model: str) -> str:
    """All that comes with the app of a model, as its file holds it."""
    probing = list(_probed(engine, model, settings()))
    judged = engine.ask(MeasureQuality(model))
    content = {
        "parts": PARTS,
        "model": asdict(engine.info(model)),
        "heldout": heldout_fingerprint(),
        "quality": asdict(judged),
        "probing": probing,
        "trees": trees_of(engine, model, settings()),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _probed(engine: Engine, model: str, chosen: Settings) -> Iterator[dict[str, Any]]:
    pictures: dict[str, TaskMap] = {}
    tasks = [TASKS[name] for name in fields.TASKS.default]
    encode, untrained = (functools.partial(engine.iter_hidden_states, name) for name in (model, f"{UNTRAINED}{model}"))
    for event in run(encode, tasks, chosen, untrained=untrained):
        match event:
            case TaskMap():
                pictures[event.task] = event
            case TaskResult():
                data = TASKS[event.task].build(chosen.sentences, chosen.seed)
                yield pack_task(event, pictures[event.task], data)
            case Failed():
                raise ValueError(f"{event.task} cannot be probed on {model}: {event.reason}")


def trees_of(engine: Engine, model: str, chosen: Settings) -> dict[str, Any]:
    """The structural probe on the sentences made from templates."""
    encode, untrained = (functools.partial(engine.iter_hidden_states, name) for name in (model, f"{UNTRAINED}{model}"))
    sentences = read(template_conllu().encode(), "trees", name="template-trees.conllu")
    treebank = readers.treebank(sentences, seed=chosen.seed)
    for event in structural_study.run(
        encode, [StructuralTask(treebank, fields.RANK.default)], chosen, untrained=untrained
    ):
        if isinstance(event, StructuralResult):
            return pack_trees(event)
        if isinstance(event, Failed):
            raise ValueError(f"Trees cannot be probed on {model}: {event.reason}")
    raise AssertionError("the study ends with a result")


def differences(stored: Any, fresh: Any, where: str = "") -> Iterator[str]:
    """Where two files, read as plain data, differ by more than the tolerances; a line each."""
    name = where.rpartition(".")[2].partition("[")[0]
    if where.endswith((".trees.result.sentences", ".epochs")):
        return  # a tree that is found turns on the least difference of distances
    if where.endswith("].wrong") and isinstance(stored, list) and isinstance(fresh, list):
        yield from _differences_of_examples(stored, fresh, where)
    elif isinstance(stored, dict) and isinstance(fresh, dict):
        for key in {**stored, **fresh}:
            yield from differences(stored.get(key), fresh.get(key), f"{where}.{key}")
    elif isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        for place, (before, now) in enumerate(zip(stored, fresh, strict=True)):
            yield from differences(before, now, f"{where}[{place}]")
    elif isinstance(stored, float) and isinstance(fresh, float):
        if name == "points":  # which way an axis of the plane points means nothing
            stored, fresh = abs(stored), abs(fresh)
        a, b = (_DEVIATE(p / 2) if name in ("p_chain", "p_untrained") else p for p in (stored, fresh))
        if abs(a - b) > max(TOLERANCES.get(part, TOLERANCE) for part in re.split(r"[.\[]", where)):
            yield f"{where} was {stored:.4g} and is {fresh:.4g}"
    elif stored != fresh:
        yield f"{where} was {stored!r:.80} and is {fresh!r:.80}"


def _differences_of_examples(stored: Any, fresh: Any, where: str) -> Iterator[str]:
    """How the misclassified examples of one layer differ, which come in an order that rounding can change."""
    before, now = _probabilities(stored), _probabilities(fresh)
    moved = before.keys() ^ now.keys()
    if len(moved) > MOVED_EXAMPLES:
        yield f"{where} has {len(moved)} examples that only one of the two has"
    for example in before.keys() & now.keys():
        yield from differences(before[example], now[example], f"{where}{list(example)}.probability")


def _probabilities(examples: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], float]:
    """The probability of each example, by everything else there is of it."""
    return {
        tuple(value for name, value in example.items() if name != "probability"): example["probability"]
        for example in examples
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""

    def changed(model: str, text: str) -> Iterator[str]:
        file = file_of(model)
        stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        return differences(stored, json.loads(text))

    return command.run(
        "look_inside_bert.pages.layers",
        __doc__,
        arguments,
        EMBEDDED,
        file_of=file_of,
        make=measured,
        content=lambda _, __, text: text.encode(),
        changed=changed,
    )


if __name__ == "__main__":
    sys.exit(main())
