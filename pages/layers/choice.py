"""Choosing what to probe: model, tasks, how many sentences, which vectors, which controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from analysis.probing import TASKS, Settings
from jobs.study import Key, Probed
from pages.layers import fields, own_data
from ui import caption, notes, widgets


@dataclass(frozen=True, slots=True)
class Choice:
    """What the controls ask for. ``titles`` names tasks by their name, all built-in ones and the visitor's, of whose
    data ``own`` holds what was read.
    """

    model: str
    tasks: Mapping[Key, Probed]
    settings: Settings
    titles: Mapping[str, str]
    user_data: own_data.OwnData | None


def draw() -> Choice:
    """All controls of the page, in the line of what is asked; what they ask for."""
    model = widgets.model()
    chosen = _tasks()
    with widgets.popover("How", ":material/tune:"):
        settings = _settings()
    tasks: dict[Key, Probed] = {Key(model, name, settings): TASKS[name] for name in chosen}
    titles = {name: task.title for name, task in TASKS.items()}
    with widgets.popover("Your own data", ":material/upload_file:"):
        user_data = own_data.draw(settings.seed)
    if user_data is not None:
        tasks[Key(model, user_data.fingerprint, settings)] = user_data.task
        titles[user_data.task.name] = user_data.task.name
    return Choice(model, tasks, settings, titles, user_data)


def _settings() -> Settings:
    st.number_input(
        "Sentences per task",
        **fields.SENTENCES.bound,
        help="In total: 60% train the probe, 10% choose its regularization and the best layer, 30% are held out for "
        "testing. A file with its own split keeps it. More sentences give narrower intervals.",
    )
    left, right = st.columns(2)
    left.number_input(
        "Seed",
        **fields.SEED.bound,
        help="Sets which sentences and which split are drawn. A task's numbers depend on "
        "its own sentences, the model, the settings and the seed, not on the other tasks.",
    )
    right.number_input(
        "Seeds",
        **fields.SEEDS.bound,
        help="Repeats everything with the next seeds and shows the range of results: with different sentences of a "
        "built-in task, or a different split of your own data. A split that came with a file stays.",
    )
    widgets.choice(
        "The vector of a sentence",
        fields.POOLING,
        help="Mean and maximum leave out special tokens such as [CLS] and [SEP], whatever a model’s own pooling is.",
    )
    widgets.choice("The vector of a word", fields.PIECES)
    widgets.choice("The probe", fields.PROBE)
    st.toggle(
        "Control task and selectivity",
        **fields.CONTROL_TASK.bound,
        help="The same probe on labels assigned to words at random (Hewitt & Liang 2019).",
    )
    st.toggle(
        "Random weights",
        **fields.UNTRAINED.bound,
        help="The same probes on an untrained model of the same shape. Takes twice as long.",
    )
    st.toggle(
        "Description length (MDL)",
        **fields.MDL.bound,
        help="How many bits it takes to encode the labels while the probe learns them (Voita & Titov 2020). Takes "
        "longer.",
    )
    return Settings(**{name: field.value for name, field in fields.OF_SETTINGS.items()})


def _tasks() -> list[str]:
    requested = fields.TASKS.value
    known = tuple(name for name in requested if name in TASKS)
    if len(known) < len(requested):
        unknown = ", ".join(f"“{name}”" for name in requested if name not in TASKS)
        notes.complain([f"The link names tasks that do not exist ({unknown}); they were ignored."])
    fields.TASKS.value = known
    with widgets.popover(f"Tasks ({len(known)})", ":material/quiz:"):
        picked = st.pills(
            "Tasks",
            list(TASKS),
            selection_mode="multi",
            **fields.TASKS.bound,
            format_func=lambda name: TASKS[name].title,
        )
        _explain_tasks()
    return [name for name in TASKS if name in picked]


def _explain_tasks() -> None:
    items = {"sentence": "sentences", "token": "words"}
    rows = [f"| {task.title} | {task.kind}, {items[task.level]} | {task.question} |" for task in TASKS.values()]
    st.markdown("\n".join(["| task | kind, items | question |", "|---|---|---|", *rows]))
    caption(
        "The sentences come from grammars written for this app, so every label is correct by construction; labels "
        "are balanced, and training and test sentences have different content words where the task allows it. The "
        "baselines in the results show how far single words or word pairs give the label away."
    )
