"""Choosing what to probe: model, tasks, how many sentences, which vectors, which controls."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from analysis.probing import TASKS, Settings
from jobs.study import Key, Probed
from pages.layers import fields, own_data
from ui import caption, notes, widgets

_TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "settings.toml").read_text(encoding="utf-8"))


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
    st.number_input(**_TEXTS["sentences"], **fields.SENTENCES.bound)
    for name, place in zip(("seed", "seeds"), st.columns(2), strict=True):
        place.number_input(**_TEXTS[name], **fields.OF_SETTINGS[name].bound)
    for name in ("pooling", "pieces", "kind"):
        widgets.choice(**_TEXTS[name], field=fields.OF_SETTINGS[name])
    for name in ("control", "untrained", "mdl"):
        st.toggle(**_TEXTS[name], **fields.OF_SETTINGS[name].bound)
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
