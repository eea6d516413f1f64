"""The button that trains, stopping and going on, and what the last training left to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from jobs.tuning import Candidate, Training, Tuning
from model_zoo import registry
from model_zoo.types import duration
from pages.train import fields
from pages.train.choice import Choice
from pages.train.fields import LEARN
from training.finetuning.seeds import describe_seeds
from training.finetuning.settings import Settings
from ui import as_text, caption, join_names, work
from web.background import desk
from web.engine import engine

SEEDS_TO_COMPARE = 3
# Rough: a pass and its gradients on two processor cores, texts of twelve tokens.
_SECONDS_AN_ITEM = 2e-3
_SECONDS_AN_ITEM_AND_WEIGHT = 0.9e-9


def last() -> Training | None:
    """This visitor's last training, at work or over."""
    return desk().current(Training)


def candidates(choice: Choice) -> list[Candidate]:
    """What the button trains: the model once for each seed. Empty where there is nothing to train on."""
    if choice.data is None:
        return []
    spec = registry.find(choice.model)
    name = f"{spec.short_name if spec else choice.model}, fine-tuned: {choice.data.title}"
    if choice.settings.learns != "all":
        name += f", {LEARN.labels[choice.settings.learns].lower()}"
    wanted = []
    for seed in range(choice.settings.seed, choice.settings.seed + choice.seeds):
        settings: Settings = replace(choice.settings, seed=seed)
        wanted.append(
            Candidate(f"{name}, seed {seed}" if choice.seeds > 1 else name, choice.model, choice.data, settings)
        )
    return wanted


def button(choice: Choice, *, main: bool) -> None:
    """The button, in the line of what is asked; while it trains, the one that stops it. ``main``: the one to press in
    this view.
    """
    training = last()
    done = training is not None and [run.candidate for run in training.runs if run.tuned] == candidates(choice)
    work.button(
        "Train",
        Training,
        choice.model,
        key="train",
        primary=main and not done,
        disabled=choice.data is None,
        help="Upload your own data first." if choice.data is None else None,
    )


def draw(choice: Choice, *, example: str | None) -> None:
    """While it trains how far it is; else what was asked for is begun, and what went wrong before is said. Until there
    is a training, what the view shows as an ``example``, and how long one takes; None where it has a button and such a
    line of its own. All of it has one place, so that the page below stays where it is.
    """
    training, wanted = last(), candidates(choice)
    if training is None and example is None and not work.is_requested(Training):
        return
    at = place()
    if training is not None and training.running:
        with at.container():
            work.watch(training, stop=False)
        return

    def make() -> Training:
        new = Training(engine(), wanted)
        if training is not None:
            new.take_over(training)
        return new

    if work.is_requested(Training):
        with at.container():  # where its model has to be downloaded first, or cannot be had, that stands here
            work.begin(Training, choice.model if wanted else None, [choice.model], make)
        return
    with at:
        if training is None:
            st.caption(" ".join(filter(None, (example, takes(wanted)))))
        elif training.tuned:
            caption(f"Trained last: {training.runs[0].candidate.name}.")
    if training is not None:
        outcome_of(training)


def place(name: str = "") -> DeltaGenerator:
    """Where one thing at a time is said of how far a training is. A second one has a name."""
    return st.container(key=f"standing {name}".strip()).empty()


def takes(wanted: Sequence[Candidate]) -> str:
    """How long a training of these takes, roughly, in a sentence."""
    seconds = 0.0
    for candidate in wanted:
        spec, settings = registry.find(candidate.model.removeprefix(registry.UNTRAINED)), candidate.settings
        if spec is None:
            return "How long training takes depends on the model."
        weights = 12 * spec.layers * spec.width**2  # of a usual layer: four matrices of attention, two of four widths
        n = (
            len(candidate.data.train)
            if settings.examples is None
            else min(settings.examples, len(candidate.data.train))
        )
        an_item = _SECONDS_AN_ITEM + _SECONDS_AN_ITEM_AND_WEIGHT * weights
        learns = settings.seconds if settings.seconds is not None else n * settings.epochs * an_item
        seconds += learns + (len(candidate.data.dev) * settings.epochs + len(candidate.data.test)) * an_item / 3
    if not wanted:
        return ""
    roughly = "a few seconds" if seconds < 10 else f"about {duration(round(seconds, -1))}"
    return f"What is chosen takes {roughly} on two cores."


def offer_more_seeds(training: Training) -> None:
    """Say beside the outcome of one seed how far others may be, with a button that trains two more."""
    (run,) = training.runs
    assert run.tuned is not None
    first = run.candidate.settings.seed
    seeds = range(first, first + SEEDS_TO_COMPARE)
    wanted = [
        replace(
            run.candidate,
            name=f"{run.candidate.name}, seed {seed}",
            settings=replace(run.candidate.settings, seed=seed),
        )
        for seed in seeds
    ]

    def begin() -> None:
        fields.SEEDS.value = len(wanted)
        desk().start(training.with_more(wanted))

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Train two more seeds", key="more-seeds", on_click=begin, icon=":material/casino:")
        known = describe_seeds(run.tuned.data, run.tuned.base, run.tuned.settings)
        st.caption(known or "One seed does not show how much of the score is chance.")


def _failures(job: Tuning) -> None:
    """What could not be trained and why, each reason once; of several models, which of them."""
    names: dict[str, list[str]] = {}
    for run in job.runs:
        if run.failed is not None:
            names.setdefault(run.failed, []).append(run.candidate.name)
    for reason, of in names.items():
        message = reason if len(job.runs) == 1 else f"{join_names(of)}: {reason}"
        st.warning(as_text(message), icon=":material/edit:")


def outcome_of(job: Tuning) -> None:
    """What a training could not do, and a button to go on with one that was stopped."""
    if job.failure is not None:
        work.watch(job)
    _failures(job)
    if job.can_go_on:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Continue",
                key=f"go on {type(job).__name__}",
                on_click=lambda: desk().start(job.resumed()),
                icon=":material/resume:",
            )
            steps = max((run.steps[-1].step for run in job.runs if run.steps), default=0)
            st.caption(f"Stopped after {steps:,} steps. The model so far is kept until you leave or train again.")
