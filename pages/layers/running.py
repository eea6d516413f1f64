"""Starting a run, stopping it, watching how far it is, and what results there are without one."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import streamlit as st

from analysis.probing import LayerResult, StructuralTask
from jobs.study import Finished, FoundTrees, Key, Results, Study
from model_zoo import registry
from model_zoo.types import counted, duration
from pages.layers import own_data
from pages.layers.choice import Choice
from ui import as_text, join_names, notes, precomputed, work
from web.background import desk
from web.engine import engine

# Measured on two processor cores with nothing else to do, sentences of ten tokens: nearly all of it is the model.
_SECONDS_A_SENTENCE = 0.4e-3
_SECONDS_A_SENTENCE_AND_WEIGHT = 0.3e-9
# The structural probe, a layer and an entry of its matrix; sentences of 20 words. CPU time, on cores that others used.
_SECONDS_A_TREE = 0.6e-3
_SECONDS_A_TREE_AND_ENTRY = 80e-9


def last() -> Study | None:
    """This visitor's last run, at work or over."""
    return desk().current(Study)


def _mine() -> Results:
    """The results of this visit's runs, which each run hands on to the next."""
    study = last()
    return {} if study is None else study.results


def known(keys: Iterable[Key]) -> list[Finished | FoundTrees]:
    """The results there are for these: of this visit's runs, else those that came with the app."""
    mine = _mine()
    results = [mine.get(key) or precomputed.probing(key.model).get(key) for key in keys]
    return [result for result in results if result is not None]


def of_last_run() -> list[Finished | FoundTrees]:
    """The results there are for all that the last run was asked for."""
    study = last()
    return [] if study is None else known(study.requested)


def left_out_of_link(choice: Choice) -> str:
    """What is on the screen and not in the address, in a sentence; nothing if there is no such thing."""
    left_out = ["the file you uploaded"] if own_data.OWN.uploaded() else []
    if not all(result.precomputed for result in known(choice.tasks) or of_last_run()):
        left_out.append(
            "results of your own runs: whoever opens the link has to run the tasks again, on the same sentences"
        )
    return notes.not_in_link(left_out)


def button(choice: Choice) -> None:
    """The button that runs what is chosen, in the line of what is asked; none while something runs."""
    missing, shipped = _to_run(choice)
    to_run = missing or shipped
    if not choice.tasks:
        explanation = "Choose at least one task, or upload your own data."
    elif missing:
        explanation = _must_be_run(choice, missing)
    elif shipped:
        came = "These results" if len(shipped) == len(choice.tasks) else f"The results of {_titles(choice, shipped)}"
        explanation = f"{came} ship with the app. Press Run to measure them again."
    else:
        explanation = "Everything chosen has been run. You can add tasks, models or settings; nothing is lost."
    work.button(
        f"Run {counted(len(to_run), 'task')}" if to_run else "Run",
        Study,
        choice.model,
        key="run-tasks",
        primary=bool(missing),
        disabled=not to_run,
        help=as_text(explanation),
    )


def _to_run(choice: Choice) -> tuple[list[Key], list[Key]]:
    """What has no results yet; and what has results that came with the app."""
    missing = [key for key in choice.tasks if not known([key])]
    return missing, [key for key in choice.tasks if key not in _mine() and key not in missing]


def draw(choice: Choice) -> None:
    """While something runs how far it is; else what has to be run, and what was asked for is begun."""
    study, mine = last(), _mine()
    if study is not None and study.running:
        work.watch(study, _standings, stop=False)
        return
    missing, shipped = _to_run(choice)
    to_run = missing or shipped
    if not choice.tasks:
        st.info("Choose at least one task, or upload your own data.", icon=":material/quiz:")
    elif missing:
        st.info(as_text(_must_be_run(choice, missing)), icon=":material/layers:")

    def make() -> Study:
        return Study(
            engine().info(choice.model),
            functools.partial(engine().iter_hidden_states, choice.model),
            functools.partial(engine().iter_hidden_states, f"{registry.UNTRAINED}{choice.model}"),
            choice.tasks,
            choice.titles,
            choice.settings,
            mine,
            shipped if missing else (),
        )

    work.begin(Study, choice.model if to_run else None, [choice.model], make)
    if study is not None:
        _aftermath(study)


def _must_be_run(choice: Choice, missing: Sequence[Key]) -> str:
    """What has no results, and about how long it takes to have them."""
    spec, single = registry.find(choice.model), len(missing) == 1
    task = "this task" if single else "them"
    if spec is None:
        takes = f"how long running {task} takes depends on the model"
    else:
        weights = 12 * spec.layers * spec.width**2  # of a usual layer: four matrices of attention, two of four widths
        sentences = choice.settings.sentences * len(missing) * (choice.settings.seeds + choice.settings.untrained)
        seconds = sentences * (_SECONDS_A_SENTENCE + _SECONDS_A_SENTENCE_AND_WEIGHT * weights)
        trees = [
            structural_task
            for structural_task in map(choice.tasks.get, missing)
            if isinstance(structural_task, StructuralTask)
        ]
        for structural_task in trees:
            entries = min(structural_task.rank or spec.width, spec.width) * spec.width
            a_layer = _SECONDS_A_TREE + _SECONDS_A_TREE_AND_ENTRY * entries
            seconds += sentences / len(missing) * (spec.layers + 1) * a_layer
        roughly = "a few seconds" if seconds < 10 else f"about {duration(round(seconds, -1))}"
        takes = f"running {task} takes {roughly} on two processor cores"
        if not engine().has(choice.model):
            takes += ", once the model is downloaded"
    return f"There are no results yet for {_titles(choice, missing)} with this model and these settings; {takes}."


def _titles(choice: Choice, keys: Sequence[Key]) -> str:
    """What the screen calls these tasks: "A, B and C"."""
    return join_names(choice.titles[choice.tasks[key].name] for key in keys)


def _standings(study: Study) -> None:
    lines = []
    for task in study.tasks:
        standing = study.standing(task)
        shares = [
            layer.accuracy if isinstance(layer, LayerResult) else layer.scores.uuas.value for layer in standing.layers
        ]
        right = ", ".join(f"{100 * share:.0f}" for share in shares)
        so_far = f" · correct in the embeddings and layers so far: {right}%" if right else ""
        lines.append(f"- **{as_text(study.titles[task])}**: {standing.words}{so_far}")
    st.markdown("\n".join(lines))


def _aftermath(study: Study) -> None:
    for task, reason in study.failed.items():
        st.warning(as_text(f"{study.titles[task]}: {reason}"), icon=":material/edit:")
    stopped = [study.titles[task] for task in study.tasks if study.standing(task).words == "stopped"]
    if stopped:
        st.info(
            as_text(
                f"Stopped before {', '.join(stopped)} {'was' if len(stopped) == 1 else 'were'} done. What was "
                "finished is kept; press Run to continue with the rest."
            ),
            icon=":material/stop_circle:",
        )
