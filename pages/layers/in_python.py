"""The lines of Python that measure what the views of the page "Layers" show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields as fields_of
from typing import Final

from analysis.probing import TASKS, Settings, StructuralResult
from analysis.probing.structural import RANK
from jobs.study import Finished, FoundTrees
from model_zoo.registry import UNTRAINED
from pages.layers import own_data
from pages.layers.fields import FORMAT, TARGET
from pages.layers.own_data import OwnData
from reading import Choices
from ui import as_python, how_read

_PARTIAL: Final = "from functools import partial"
_CAME: Final = "# The page shows what came with the app: measured again, a few items may come out differently.\n"
_OF_PICTURES: Final = ("sentences", "pooling", "pieces", "seed", "map_items")
"""The settings on which the picture of a task depends."""
_OF_TREES: Final = ("sentences", "pieces", "untrained", "seed", "seeds", "bootstrap_draws", "map_items")


def several(found: Sequence[Finished], own: OwnData | None) -> tuple[str, list[str]]:
    """Lines that bind ``results`` to those of these tasks, in their order; and what they import."""
    settings, default = found[0].result.settings, "untrained=untrained" if found[0].result.settings.untrained else ""
    tasks, imports = _tasks([one.result.task for one in found], settings.seed, own)
    run = ", ".join(filter(None, ("encode, tasks, settings", default)))
    return (
        f"{_encoders(found[0].model.id, untrained=settings.untrained, came=found[0].precomputed)}"
        f"{tasks}"
        f"settings = Settings({_changed(settings)})\n"
        f"found = {{one.task: one for one in run({run}) if isinstance(one, TaskResult)}}\n"
        "results = [found[task.name] for task in tasks]\n"
    ), [_PARTIAL, "from analysis.probing import Settings, TaskResult, run", *imports]


def one(found: Finished, own: OwnData | None) -> tuple[str, list[str]]:
    """Lines that bind ``result`` to that of one task; and what they import."""
    settings = found.result.settings
    read, task, imports = _task(found.result.task, settings.seed, own)
    random = "untrained_encode=untrained" if settings.untrained else ""
    asked = ", ".join(filter(None, ("encode", task, random, _changed(settings))))
    return (
        f"{_encoders(found.model.id, untrained=settings.untrained, came=found.precomputed)}"
        f"{read}result = probe({asked})\n",
        [_PARTIAL, "from analysis.probing import probe", *imports],
    )


def picture(found: Finished, own: OwnData | None) -> tuple[str, list[str]]:
    """Lines that bind ``picture`` to the held-out items of one task in every layer; and what they import."""
    read, task, imports = _task(found.result.task, found.result.settings.seed, own)
    settings = _changed(found.result.settings, _OF_PICTURES)
    return (
        f"{_encoders(found.model.id, untrained=False, came=found.precomputed)}"
        f"{read}"
        f"events = run(encode, [{task}], Settings({settings}))\n"
        "picture = next(one for one in events if isinstance(one, TaskMap))\n"
    ), [_PARTIAL, "from analysis.probing import Settings, TaskMap, run", *imports]


def trees(found: FoundTrees, own: OwnData | None) -> tuple[str, list[str]]:
    """Lines that bind ``result`` to that of the structural probe; and what they import."""
    result: StructuralResult = found.result
    settings = result.settings
    read, imports = own_data.in_python(result.task, own)
    random = "untrained_encode=untrained" if settings.untrained else ""
    rank = as_python.arguments(rank=None if result.rank == RANK else result.rank)
    asked = ", ".join(filter(None, ("encode", "bank", rank, random, _changed(settings, _OF_TREES))))
    return (
        f"{_encoders(found.model.id, untrained=settings.untrained, came=found.precomputed)}"
        f"{read}\n"
        f"bank = treebank({_read_call(result.task, 'trees', own)}{_seed(settings.seed)})\n"
        f"result = structural_probe({asked})\n"
    ), [
        _PARTIAL,
        "from analysis.probing import structural_probe",
        "from analysis.probing.readers import treebank",
        "from reading import read",
        *imports,
    ]


def _encoders(model: str, *, untrained: bool, came: bool) -> str:
    """Lines that bind ``encode``, and ``untrained`` where random weights are asked for."""
    names = {"encode": model} | ({"untrained": f"{UNTRAINED}{model}"} if untrained else {})
    return _CAME * came + "".join(
        f"{name} = partial(engine.iter_hidden_states, {as_python.literal(of)})\n" for name, of in names.items()
    )


def _changed(settings: Settings, names: Sequence[str] = ()) -> str:
    """The settings, of these ``names`` or all, that are not the defaults of the library, as arguments."""
    chosen = names or [field.name for field in fields_of(Settings)]
    default = Settings()
    values = {name: getattr(settings, name) for name in chosen}
    return as_python.arguments(**{name: of for name, of in values.items() if of != getattr(default, name)})


def _tasks(names: Sequence[str], seed: int, own: OwnData | None) -> tuple[str, list[str]]:
    """A line that binds ``tasks``."""
    built_in, others = [name for name in names if name in TASKS], [name for name in names if name not in TASKS]
    lines, imports = "", []
    listed = [f"*[TASKS[name] for name in {as_python.literal(built_in)}]"] if built_in else []
    for name in others:
        read, task, needed = _task(name, seed, own)
        lines += read
        imports += needed
        listed.append(task)
    if built_in:
        imports.append("from analysis.probing import TASKS")
    tasks = listed[0].removeprefix("*") if built_in and not others else f"[{', '.join(listed)}]"
    return f"{lines}tasks = {tasks}\n", imports


def _task(name: str, seed: int, own: OwnData | None) -> tuple[str, str, list[str]]:
    """A task, built-in or of the visitor's data: lines that read this, an expression, and what they import."""
    if name in TASKS:
        return "", f"TASKS[{as_python.literal(name)}]", ["from analysis.probing import TASKS"]
    read, imports = own_data.in_python(name, own)
    if FORMAT.value == "conllu":
        reader, kind, target = "words", "trees", f", {as_python.literal(TARGET.value)}"
    else:
        reader, kind, target = "labelled_sentences", "labelled", ""
    return (
        f"{read}\n",
        f"{reader}({_read_call(name, kind, own)}{target}{_seed(seed)})",
        [f"from analysis.probing.readers import {reader}", "from reading import read", *imports],
    )


def _read_call(name: str, kind: str, own: OwnData | None) -> str:
    """The call that reads ``data``, which has this name."""
    choices = own.choices if own is not None and own.task.name == name else Choices()
    return f"read(data, {as_python.arguments(kind, name=name)}{how_read.in_python(choices)})"


def _seed(seed: int) -> str:
    return f", {as_python.arguments(seed=seed)}" if seed else ""
