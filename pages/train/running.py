"""The button that trains, stopping and going on, and what the last training left to say."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from jobs.tuning import Candidate, Training, Tuning
from model_zoo import registry
from pages.train import fields
from pages.train.choice import Choice
from pages.train.fields import LEARN
from training.finetuning.results import Tuned
from training.finetuning.scores import MEASURES
from training.finetuning.seeds import scores_of_seeds
from training.finetuning.settings import Settings
from ui import as_text, caption, enumerated, work
from web.background import desk
from web.engine import engine

SEEDS_TO_COMPARE = 3


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
    found = []
    for seed in range(choice.settings.seed, choice.settings.seed + choice.seeds):
        settings: Settings = replace(choice.settings, seed=seed)
        found.append(
            Candidate(f"{name}, seed {seed}" if choice.seeds > 1 else name, choice.model, choice.data, settings)
        )
    return found


def button(choice: Choice, *, main: bool) -> None:
    """The button, in the line of what is asked; none while it trains. ``main``: the one to press in this view."""
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


def draw(choice: Choice) -> None:
    """While it trains how far it is; else what was asked for is begun, and what went wrong before is said."""
    training, wanted = last(), candidates(choice)
    if training is not None and training.running:
        work.watch(training, _standing)
        return

    def make() -> Training:
        new = Training(engine(), wanted)
        if training is not None:
            new.take_over(training)
        return new

    work.begin(Training, choice.model if wanted else None, [choice.model], make)
    if training is not None:
        outcome_of(training)


def another_seed(found: Tuned) -> str:
    """How far other seeds of what was trained were from each other, in a sentence; "" where that is not known."""
    known = scores_of_seeds(found.data, found.base, found.settings)
    if not known:
        return ""
    measure = MEASURES[found.data.measure]
    return (
        f"Another seed may differ: {len(known)} seeds of this model with these settings reached "
        f"{measure.written(min(known))} to {measure.written(max(known))} ({measure.title})."
    )


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
        st.button("Train two more seeds", key="more seeds", on_click=begin, icon=":material/casino:")
        st.caption(another_seed(run.tuned) or "One seed does not show how much of the score is chance.")


def _failures(job: Tuning) -> None:
    """What could not be trained and why, each reason once; of several models, which of them."""
    names: dict[str, list[str]] = {}
    for run in job.runs:
        if run.failed is not None:
            names.setdefault(run.failed, []).append(run.candidate.name)
    for reason, of in names.items():
        said = reason if len(job.runs) == 1 else f"{enumerated(of)}: {reason}"
        st.warning(as_text(said), icon=":material/edit:")


def outcome_of(job: Tuning) -> None:
    """How far a training is, what it could not do, and a button to go on with one that was stopped."""
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


def _standing(job: Training) -> None:
    """The last loss, in a line: the curves stand below."""
    for run in job.runs:
        if run.over or not run.steps:
            continue
        step = run.steps[-1]
        total = f" of {run.begun.n_steps:,}" if run.begun is not None and run.begun.n_steps else ""
        caption(f"Step {step.step:,}{total}: loss {step.loss:.3f}, learning rate {step.learning_rate:.2g}.")
