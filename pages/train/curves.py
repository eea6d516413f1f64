"""Trainings as curves: from what a job knows to what the figures take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from jobs.tuning import Run
from training.finetuning.data import Data
from training.finetuning.scores import MEASURES, always_alike, value
from ui import figures, save
from viz.training_curves import Curve, Over, losses, scores


def curve(run: Run, name: str) -> Curve:
    """One training; ``name`` is that of its line."""
    seconds = {step.step: step.seconds for step in run.steps}
    return Curve(
        name,
        [(step.epoch, step.seconds, step.loss) for step in run.steps],
        [(each.epoch, seconds.get(each.step, 0.0), each.loss, each.score) for each in run.evaluated],
    )


def draw(runs: Sequence[Run], names: Sequence[str], data: Data, key: str, *, over: Over) -> None:
    """Losses and scores side by side, and their numbers to save; nothing before the first judgement."""
    curves = [curve(run, name) for run, name in zip(runs, names, strict=True) if run.evaluated]
    if not curves:
        return
    measure = MEASURES[data.measure]
    left, right = st.columns(2, gap="medium")
    with left:
        unit = "squared error" if data.kind == "similarity" else "nats"
        figures.show(partial(losses, curves, over, unit=unit), f"{key} losses", f"{key}-losses")
    with right:
        figure = partial(scores, curves, measure.title, over, baseline=_baseline(data), percent=measure.percent)
        figures.show(figure, f"{key} scores", f"{key}-scores")
    if len(set(names)) > 1:
        st.caption("Thin lines: training loss. Lines with markers: the development split.")
    save.table("Curves", lambda: table(runs, names), f"{key}-curves")


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
                "step": each.step,
                "epoch": each.epoch,
                "loss": each.loss,
                run.candidate.data.measure: each.score,
            }
            for each in run.evaluated
        ]
    return pd.DataFrame(rows)
