"""The lines of Python that measure what the views of the page "Layers" show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from analysis.probing import TASKS, Settings, TaskMap, TaskResult, probe, readers, run, structural_probe
from analysis.probing.structural import RANK
from jobs.study import Finished, FoundTrees
from model_zoo.registry import UNTRAINED
from pages.layers.fields import FORMAT, TARGET
from pages.layers.own_data import OwnData, read_lines
from reading import Choices, read
from ui import as_python, how_read
from ui.as_python import Lines, literal

_PRECOMPUTED: Final = "# The page shows what came with the app: measured again, a few items may come out differently.\n"
_TASKS: Final = "from look_inside_bert.analysis.probing import TASKS"
_OF_PICTURES: Final = ("sentences", "pooling", "pieces", "seed", "map_items")
"""The settings on which the picture of a task depends."""
_OF_TREES: Final = ("sentences", "pieces", "untrained", "seed", "seeds", "bootstrap_draws", "map_items")


def bind_results(tasks: Sequence[Finished], user_data: OwnData | None) -> Lines:
    """Lines that bind ``results`` to those of these tasks, in their order."""
    settings = tasks[0].result.settings
    lines = _encoders(tasks[0], untrained=settings.untrained)
    listed = []
    built_in = [task.result.task for task in tasks if task.result.task in TASKS]
    if built_in:
        listed.append(f"*[TASKS[name] for name in {literal(built_in)}]")
        lines += Lines("", (_TASKS,))
    for task in tasks:
        if task.result.task not in TASKS:
            reading, expression = _task(task.result.task, settings.seed, user_data)
            lines += reading
            listed.append(expression)
    all_tasks = listed[0].removeprefix("*") if len(built_in) == len(tasks) else f"[{', '.join(listed)}]"
    untrained = ", untrained=untrained" if settings.untrained else ""
    return lines + Lines(
        f"tasks = {all_tasks}\n"
        f"settings = {literal(settings)}\n"
        f"events = run(encode, tasks, settings{untrained})\n"
        "by_task = {event.task: event for event in events if isinstance(event, TaskResult)}\n"
        "results = [by_task[task.name] for task in tasks]\n",
        (Settings, TaskResult, run),
    )


def bind_result(task: Finished, user_data: OwnData | None) -> Lines:
    """Lines that bind ``result`` to that of one task."""
    settings = task.result.settings
    reading, expression = _task(task.result.task, settings.seed, user_data)
    call = _call("probe", expression, settings)
    return _encoders(task, untrained=settings.untrained) + reading + Lines(f"result = {call}\n", (probe,))


def bind_picture(task: Finished, user_data: OwnData | None) -> Lines:
    """Lines that bind ``picture`` to the held-out items of one task in every layer."""
    reading, expression = _task(task.result.task, task.result.settings.seed, user_data)
    settings = as_python.arguments(**as_python.changed(task.result.settings, _OF_PICTURES))
    return (
        _encoders(task, untrained=False)
        + reading
        + Lines(
            f"events = run(encode, [{expression}], Settings({settings}))\n"
            "picture = next(event for event in events if isinstance(event, TaskMap))\n",
            (Settings, TaskMap, run),
        )
    )


def bind_tree_result(trees: FoundTrees, user_data: OwnData | None) -> Lines:
    """Lines that bind ``result`` to that of the structural probe."""
    result, settings = trees.result, trees.result.settings
    rank = as_python.arguments(rank=None if result.rank == RANK else result.rank)
    call = _call("structural_probe", "bank", settings, rank, names=_OF_TREES)
    return (
        _encoders(trees, untrained=settings.untrained)
        + read_lines(result.task, user_data)
        + Lines(
            f"bank = treebank({_read_call(result.task, 'trees', user_data)}{_seed(settings.seed)})\nresult = {call}\n",
            (readers.treebank, read, structural_probe),
        )
    )


def _encoders(probed: Finished | FoundTrees, *, untrained: bool) -> Lines:
    """Lines that bind ``encode``, and ``untrained`` for random weights."""
    models = {"encode": probed.model.id} | ({"untrained": f"{UNTRAINED}{probed.model.id}"} if untrained else {})
    bound = [f"{name} = partial(engine.iter_hidden_states, {literal(model)})\n" for name, model in models.items()]
    return Lines(_PRECOMPUTED * probed.precomputed + "".join(bound), (partial,))


def _call(function: str, data: str, settings: Settings, *more: str, names: Sequence[str] = ()) -> str:
    """The call of a probe with the settings, of these ``names`` or all, that are not the defaults of the library."""
    untrained = "untrained_encode=untrained" if settings.untrained else ""
    changed = as_python.arguments(**as_python.changed(settings, names))
    return f"{function}({', '.join(filter(None, ('encode', data, *more, untrained, changed)))})"


def _task(name: str, seed: int, user_data: OwnData | None) -> tuple[Lines, str]:
    """Lines that read a task of the user's data, and the task, or a built-in one, as an expression."""
    if name in TASKS:
        return Lines("", (_TASKS,)), f"TASKS[{literal(name)}]"
    if FORMAT.value == "conllu":
        reader, kind, target = "words", "trees", f", {literal(TARGET.value)}"
    else:
        reader, kind, target = "labelled_sentences", "labelled", ""
    expression = f"{reader}({_read_call(name, kind, user_data)}{target}{_seed(seed)})"
    return read_lines(name, user_data) + Lines("", (getattr(readers, reader), read)), expression


def _read_call(name: str, kind: str, user_data: OwnData | None) -> str:
    """The call that reads ``data``, which has this name."""
    choices = user_data.choices if user_data is not None and user_data.task.name == name else Choices()
    return f"read(data, {as_python.arguments(kind, name=name)}{how_read.in_python(choices)})"


def _seed(seed: int) -> str:
    return f", seed={seed}" if seed else ""
