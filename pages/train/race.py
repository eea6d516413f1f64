"""View "The race": models on one task, with the same data and the same budget, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from jobs.tuning import Candidate, Tuning
from pages.train import side_by_side
from pages.train.scene import Scene
from training.finetuning.data import Data
from training.finetuning.settings import Settings
from ui import MODELS, SWITCH, Field, View, ask_for, notes, number_repeats, one_of, tuned, widgets, within
from ui.precomputed import EMBEDDED
from ui.tuned import short_name
from viz.training_curves import Over
from web.background import desk
from web.settings import settings

MOST = 8

_BUDGETS = {"epochs": "Epochs", "seconds": "Seconds"}


RACERS: Field[tuple[str, ...]] = Field("racers", EMBEDDED, MODELS, of="train")
BUDGET: Field[str] = Field("budget", "epochs", one_of("the budget", _BUDGETS), of="train")
BY_SECONDS: Field[bool] = Field("by_seconds", False, SWITCH, of="train")
SECONDS: Field[int] = Field("seconds", 20, within("the seconds", 1, 600), of="train")


class Race(Tuning):
    """Models against each other."""


def draw(scene: Scene) -> None:
    with widgets.controls():
        models = _ask()
        budget = widgets.choice(
            "Budget",
            BUDGET,
            help="The same number of epochs for each model, or the same number of seconds of training.",
        )
        if budget == "seconds":
            st.number_input("Seconds each", **SECONDS.bound, width=220)
        seconds = float(SECONDS.value) if budget == "seconds" else None
        racing = candidates(scene.data, replace(scene.settings, seconds=seconds), models)
        side_by_side.button(Race, "Race", racing, key="race")
    if scene.data is None:
        ask_for("Upload your own data first, or choose a built-in set.")
    job, runs = side_by_side.current(Race, racing, "race")
    over: Over = "epochs"
    if job is not None:
        asked = job.runs[0].candidate.settings.seconds is None
        over = "epochs" if asked and not st.toggle("Curves by seconds", **BY_SECONDS.bound) else "seconds"
    side_by_side.draw_curves(job, runs, "race", over=over)
    side_by_side.scatters(runs)
    side_by_side.put_python(job, runs, scene.user_data)
    side_by_side.show_table(runs, "race")


def _ask() -> dict[str, str]:
    """The models and what they are called, no two alike: curves of one name would be seeds of one model."""
    known = side_by_side.encoders()
    chosen = RACERS.value
    refused = [model for model in chosen if not widgets.may_be_named(model)]
    if refused:
        notes.complain([widgets.not_listed(refused)])
    chosen = tuple(dict.fromkeys(model for model in chosen if model not in refused))[:MOST]
    RACERS.value = chosen
    options = list(dict.fromkeys((*known, *tuned.session_models(), *chosen)))
    names = dict(zip(options, number_repeats(map(short_name, options)), strict=True))
    st.multiselect(
        "Models",
        options,
        **RACERS.bound,
        format_func=lambda model: names.get(model, short_name(model)),
        accept_new_options=settings().any_model,
        max_selections=MOST,
        label_visibility="collapsed",
        placeholder="Choose models",
    )
    return {model: names.get(model, short_name(model)) for model in RACERS.value}


def candidates(data: Data | None, settings: Settings, models: Mapping[str, str]) -> list[Candidate]:
    """One for each model; ``models`` says what they are called. None without data."""
    return [
        Candidate(called, model, data, settings, keep=False) for model, called in models.items() if data is not None
    ]


VIEW: View[Scene] = View(
    "race",
    "The race",
    draw,
    about="Models on one task with the same data and the same budget: which is good, which is fast, which is small?",
    more="Each model is trained on the same examples and tested on the same test split. Which one to take is chosen by "
    "the development split: the best of several on the test split may only be the luckiest there. With a budget in "
    "seconds a fast model sees the data more often. One seed and one test split: a difference within the intervals may "
    "be chance, and another seed may rank the models differently. Bundled models are small relatives of the published "
    "ones, so this is no ranking of those.",
    fields=(RACERS, BUDGET, SECONDS, BY_SECONDS),
    left_out=lambda _scene: "" if desk().current(Race) is None else side_by_side.NOT_IN_LINK,
    starts=True,
    tab=60,
    terms=("transfer learning",),
)
