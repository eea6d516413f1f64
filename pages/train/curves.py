"""Trainings as curves: from what a job knows to what the figures take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log

import numpy as np
import pandas as pd
import streamlit as st

from jobs.tuning import Run, Tuning
from training.finetuning.data import Data, Scored
from training.finetuning.scores import MEASURES, always_alike, value
from ui import figures, fragment, save
from ui.work import SECONDS_BETWEEN_LOOKS
from viz.training_curves import Curve, Over, losses, scores


def curve(run: Run, name: str) -> Curve:
    """One training; ``name`` is that of its line."""
    seconds = {step.step: step.seconds for step in run.steps}
    return Curve(
        name,
        [(step.epoch, step.seconds, step.loss) for step in run.steps],
        [
            (evaluation.epoch, seconds.get(evaluation.step, 0.0), evaluation.loss, evaluation.score)
            for evaluation in run.evaluated
        ],
        run.begun.n_steps if run.begun is not None else 0,
        run.best,
    )


def draw(
    runs: Sequence[Run], names: Sequence[str], key: str, *, over: Over = "epochs", job: Tuning | None = None
) -> None:
    """Losses and scores side by side, and their numbers to save. While the ``job`` that makes them is running they are
    drawn anew every second, in axes that stay.
    """
    if job is not None and job.running:
        fragment(_figures, run_every=SECONDS_BETWEEN_LOOKS)(runs, names, key, over)
    else:
        _figures(runs, names, key, over)
    sentences = ["Thin lines: training loss. Lines with markers: the development split."] * (len(set(names)) > 1)
    if len(set(names)) == len(names):
        sentences.append("The large marker is the best epoch on the development split, whose weights are kept.")
    if sentences:
        st.caption(" ".join(sentences))
    save.table("Curves", lambda: table(runs, names), f"{key}-curves")


def _figures(runs: Sequence[Run], names: Sequence[str], key: str, over: Over) -> None:
    data = runs[0].candidate.data
    curves = [curve(run, name) for run, name in zip(runs, names, strict=True)]
    measure, until = MEASURES[data.measure], _until(runs, over)
    left, right = st.columns(2, gap="medium")
    with left:
        unit = "squared error" if data.kind == "similarity" else "nats"
        figure = partial(losses, curves, over, until=until, chance=_chance(data), unit=unit)
        figures.show(figure, f"{key} losses", f"{key}-losses")
    with right:
        baseline, percent = _baseline(data), measure.percent
        figure = partial(scores, curves, measure.title, over, until=until, baseline=baseline, percent=percent)
        figures.show(figure, f"{key} scores", f"{key}-scores")


def _until(runs: Sequence[Run], over: Over) -> float | None:
    """Where the x axis ends: at the budget, if it is one of what the axis shows."""
    settings = runs[0].candidate.settings
    if over == "seconds":
        return settings.seconds
    return float(settings.epochs) if settings.seconds is None else None


def _chance(data: Data) -> float | None:
    """The loss on the development split of who knows nothing: all labels alike, or always the mean score."""
    if data.labels:
        return log(len(data.labels))
    rated = [item.score for item in data.dev if isinstance(item, Scored)]
    return float(np.var(rated)) if rated else None


def _baseline(data: Data) -> float | None:
    """The score on the development split of answering always alike; None where there is none."""
    alike = always_alike(data, "dev")
    return None if alike is None else value(data.measure, data.dev, alike)


def table(runs: Sequence[Run], names: Sequence[str]) -> pd.DataFrame:
    """Every step and every judgement, a row each."""
    rows: list[dict[str, object]] = []
    for run, name in zip(runs, names, strict=True):
        about = {"name": name, "model": run.candidate.model, "seed": run.candidate.settings.seed}
        rows += [
            about
            | {
                "split": "train",
                "step": step.step,
                "epoch": step.epoch,
                "seconds": step.seconds,
                "loss": step.loss,
                "learning rate": step.learning_rate,
            }
            for step in run.steps
        ]
        rows += [
            about
            | {
                "split": "development",
                "step": evaluation.step,
                "epoch": evaluation.epoch,
                "loss": evaluation.loss,
                run.candidate.data.measure: evaluation.score,
            }
            for evaluation in run.evaluated
        ]
    return pd.DataFrame(rows)
