"""What every view of the page "Layers" is given: the results of what is chosen, or of the last run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from analysis.probing import StructuralTask
from jobs.study import Finished, FoundTrees
from pages.layers import choice, running
from pages.layers.choice import Choice
from pages.layers.fields import TASK
from ui import Need, View, as_text, widgets
from ui.own_texts import warn_of_unknown

_METHOD = (Path(__file__).parent / "method.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Scene:
    """``found`` are the results of tasks with labels, ``trees`` those of the structural probe."""

    choice: Choice
    probed: tuple[Finished, ...]
    trees: tuple[FoundTrees, ...]

    def lacks(self, need: Need) -> str | None:
        assert need == "results", need
        if self.probed:
            return None
        return "This opens with the first result of a task with labels. The trees are under “Syntax trees”."

    def ask_task(self) -> Finished:
        """The task to look at closely."""
        by_name = {task.result.task: task for task in self.probed}
        if TASK.value not in by_name:
            TASK.value = next(iter(by_name))
        titles = {name: task.title for name, task in by_name.items()}
        return by_name[st.selectbox("Task", **TASK.offering(titles), width=340)]


def make(_view: View[Scene]) -> Scene:
    """Ask what to probe, run it or show how far the run is, and gather the results there are."""
    with widgets.input_line():
        chosen = choice.draw()
        running.button(chosen)
    if chosen.user_data is not None:
        task = chosen.user_data.task
        texts = task.treebank.words.texts if isinstance(task, StructuralTask) else task.texts
        warn_of_unknown(chosen.model, ((text, None) for text in texts))
    running.draw(chosen)
    results = _results(chosen)
    probed = tuple(result for result in results if isinstance(result, Finished))
    trees = tuple(result for result in results if isinstance(result, FoundTrees))
    return Scene(chosen, probed, trees)


def how(_scene: Scene) -> None:
    """How it is measured, under every view."""
    with st.expander("How it is measured", icon=":material/straighten:"):
        st.markdown(_METHOD)


def _results(choice: Choice) -> list[Finished | FoundTrees]:
    """The results of what is chosen; where there are none, those of the last run, and a word about that."""
    results = running.known(choice.tasks)
    if results:
        return results
    last = running.of_last_run()
    if last and choice.tasks:
        settings = last[0].result.settings
        st.info(
            as_text(
                f"These are the results of the last run ({last[0].model.id}, {settings.sentences:,} sentences, seed "
                f"{settings.seed}); the settings above have changed since. Press Run to update them."
            ),
            icon=":material/history:",
        )
    return last
