"""View "All layers": every task at every layer in one picture, and what its numbers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.probing import Settings, frame
from analysis.probing.classifier import ProbeKind
from jobs.study import Finished, Study
from pages.layers import python_lines
from pages.layers.fields import PIECES, POOLING
from pages.layers.own_data import OwnData
from pages.layers.scene import Scene
from ui import View, as_python, caption, figures, notes, save, work
from viz.probing import layers_by_tasks

_PROBES: Final[Mapping[ProbeKind, tuple[str, str]]] = {
    "linear": ("a linear probe", "in linear form"),
    "mlp": ("a probe with a hidden layer", "in a form such a probe can read"),
}
_MEANING: Final = (Path(__file__).parent / "meaning.md").read_text(encoding="utf-8")


def draw(scene: Scene) -> None:
    if scene.probed:
        _picture(scene.probed, scene.choice.user_data)
    elif scene.trees:
        st.info("The trees are under “Syntax trees”.", icon=":material/park:")
    else:
        status = "being measured" if work.running(Study) else "not measured yet"
        figures.empty_figure(f"Results will appear here: {status}.", "layers to come")


def _picture(tasks: Sequence[Finished], user_data: OwnData | None) -> None:
    """The tasks found, of which there is at least one, of one model and with the same settings."""
    results = [task.result for task in tasks]
    notes.warn_beyond_training({tasks[0].model.id: max(result.longest for result in results)})
    figures.show(partial(layers_by_tasks, results, [task.title for task in tasks]), "layers", "layers-by-tasks")
    st.caption(
        "Percentage of held-out items classified correctly, with the 95% interval below. Colour runs from each "
        "task's majority baseline to 100%, so that tasks can be compared. *No model* is the best of the baselines "
        "that see only words, word pairs or a position: a layer that is no better need not hold more. The best "
        "layer, in bold, was chosen on other items than these."
    )
    settings, model = results[0].settings, tasks[0].model
    st.markdown(_meaning(settings.kind))
    vectors = []
    if any(result.level == "sentence" for result in results):
        vectors.append(f"Vector of a sentence: {_within_sentence(POOLING.labels[settings.pooling])}.")
    if any(result.level == "token" for result in results):
        vectors.append(f"Vector of a word: {_within_sentence(PIECES.labels[settings.pieces])}.")
    caption(
        f"{model.id}, revision {model.revision[:14]}, {model.n_layers} layers of width {model.width}. "
        f"{settings.sentences:,} sentences per task. {' '.join(vectors)} {_seeds(settings)}.{_came_with_app(tasks)}"
    )
    for task in tasks:
        for note in task.result.notes:
            caption(f"{task.title}: {note}")
    lines = python_lines.bind_results(tasks, user_data)
    as_python.put(lines + "numbers = frame(results)", lambda: frame(results))
    save.table("All results", lambda: table_of(tasks), "layers")


def _meaning(kind: ProbeKind) -> str:
    """What a number on the page says and what it does not, for a probe of this kind."""
    probe, form = _PROBES[kind]
    return _MEANING.format(probe=probe, form=form)


def _within_sentence(label: str) -> str:
    return label[0].lower() + label[1:]


def _seeds(settings: Settings) -> str:
    if settings.seeds == 1:
        return f"Seed {settings.seed}"
    return f"Seeds {settings.seed} to {settings.seed + settings.seeds - 1}"


def _came_with_app(tasks: Sequence[Finished]) -> str:
    came = [task for task in tasks if task.precomputed]
    if not came:
        return ""
    which = "These results" if len(came) == len(tasks) else f"The results of {', '.join(task.title for task in came)}"
    return f" {which} ship with the app, measured in {came[0].model.dtype} on a {came[0].model.device.upper()}."


def table_of(tasks: Sequence[Finished]) -> pd.DataFrame:
    """All results as one table, with a row for each task and layer, and the model in each row."""
    table = frame([task.result for task in tasks])
    rows = [len(task.result.layers) for task in tasks]
    table.insert(0, "model", np.repeat([task.model.id for task in tasks], rows))
    table.insert(1, "revision", np.repeat([task.model.revision for task in tasks], rows))
    return table


VIEW = View(
    "layers",
    "All layers",
    draw,
    "Probe accuracy (%) on held-out items: the stronger the colour, the higher.",
    "A **probe** is a small classifier that reads a label off a layer's vectors.",
    tab=10,
    terms=("probe", "majority baseline"),
)
