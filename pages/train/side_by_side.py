"""Trainings side by side: starting them, their curves while they run, and the table of what came out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isnan

import numpy as np
import pandas as pd
import streamlit as st

from jobs.tuning import Candidate, Run, Tuning
from model_zoo import registry
from model_zoo.registry import UNTRAINED
from model_zoo.types import counted
from pages.train import curves, in_python, running
from pages.train.own_data import UserData
from training.finetuning.folder import epoch_kept
from training.finetuning.results import Tuned
from training.finetuning.scores import MEASURES
from ui import as_python, as_text, figures, save, work
from ui.precomputed import trainings
from viz.race import Entry, against
from viz.training_curves import Over
from web.background import desk
from web.engine import engine

_TIMES = ("time of one text, ms", "seconds of training")
NOT_IN_LINK = "These results are not in the link: whoever opens it has to train again."


def button(kind: type[Tuning], label: str, candidates: Sequence[Candidate], *, key: str) -> None:
    """The button that asks for a job of this kind, in the line of controls; none while there is one at work."""
    first = desk().current(kind) is None
    work.button(label, kind, tuple(candidates), key=key, primary=first, disabled=not candidates)


def current(kind: type[Tuning], candidates: Sequence[Candidate], example: str) -> tuple[Tuning | None, tuple[Run, ...]]:
    """The job that there is, below the line of controls, and its runs: how far it is, what it could not do, or that it
    was of something else. Where there is none, None, and the runs of an ``example`` that came with the app, of which
    there may be none. What was asked for is begun when every model is here.
    """
    job, at = desk().current(kind), running.place(example)
    asked = work.is_requested(kind)
    if asked and (job is None or not job.running):
        models = dict.fromkeys(candidate.model.removeprefix(UNTRAINED) for candidate in candidates)
        with at.container():
            work.begin(kind, tuple(candidates), models, lambda: kind(engine(), candidates))
    if job is None:
        runs = trainings.runs(example)
        said = f"**An example, computed before**: {as_text(trainings.data().title)}." if runs else ""
        if not asked:
            at.caption(f"{said} {running.takes(candidates)}".strip())
        return None, runs
    if job.running:
        with at.container():
            work.watch(job, stop=False)
    elif job.tuned and not asked:
        at.caption(f"{counted(len(job.tuned), 'model')} trained.")
    running.outcome_of(job)
    if not job.running and candidates and [run.candidate for run in job.runs] != list(candidates):
        st.info("These are the last results; the choices above have changed since.", icon=":material/history:")
    return job, job.runs


def encoders() -> list[str]:
    """The models of the registry that can be tuned: what has a decoder cannot."""
    return [model for model, spec in registry.MODELS.items() if not spec.causal and not spec.cross_attention]


def draw_curves(job: Tuning | None, runs: Sequence[Run], key: str, *, over: Over = "epochs") -> None:
    """The curves of all candidates that have been evaluated, or of all while they are trained by the ``job``."""
    live = job is not None and job.running
    drawn = [run for run in runs if live or run.evaluated]
    if drawn:
        curves.draw(drawn, [run.candidate.name for run in drawn], key, over=over, job=job)


def scatters(runs: Sequence[Run]) -> None:
    """The score against time and against memory, side by side."""
    done = [(run.candidate.name, run.tuned) for run in runs if run.tuned is not None]
    if len(done) < 2:
        return
    measure = MEASURES[done[0][1].data.measure]
    shown = [("time", "time of one text, ms"), ("memory", "weights, MB (4 bytes a parameter)")]
    if not all(_timed(each) for _, each in done):
        shown = shown[1:]
    for column, (what, title) in zip(st.columns(2, gap="medium"), shown, strict=False):
        entries = [
            Entry(
                name,
                1000 * each.latency if what == "time" else each.n_bytes / 1e6,
                each.score().value,
                each.score().low,
                each.score().high,
            )
            for name, each in done
        ]
        with column:
            figure = partial(against, entries, title, measure.title, percent=measure.percent)
            figures.show(figure, f"score against {what}", f"score-against-{what}")


def _timed(found: Tuned) -> bool:
    """Whether its times were measured here: those of an example were not."""
    return not isnan(found.seconds)


def reached(found: Tuned) -> str:
    """The score of a tuned model as the screen has it."""
    return MEASURES[found.data.measure].format(found.score().value)


def table(runs: Sequence[Run]) -> pd.DataFrame:
    """The results, a row a candidate."""
    return pd.DataFrame([_row(run.candidate.name, run.tuned) for run in runs if run.tuned is not None])


def _row(name: str, found: Tuned) -> dict[str, object]:
    score = found.score()
    return {
        "name": name,
        "model": found.base,
        "examples": len(found.data.train),
        "seed": found.settings.seed,
        "score": score.measure,
        "development": found.best.score,
        "best epoch": found.best.epoch,
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "majority baseline": score.baseline,
        "strongest baseline": score.strongest_baseline,
        "which": found.strongest_baseline,
        "time of one text, ms": 1000 * found.latency,
        "weights, MB": found.n_bytes / 1e6,
        "parameters": found.n_parameters,
        "learning rate": found.rate,
        "epochs": found.steps[-1].epoch,
        "seconds of training": found.seconds,
    }


def put_python(
    job: Tuning | None, runs: Sequence[Run], own: UserData | None, part: str = "", drawn: int | None = None
) -> None:
    """The scores of all candidates with their intervals as Python, once all are trained; ``drawn`` as for
    ``in_python.candidates``.
    """
    if not runs or (job is not None and job.running) or any(run.tuned is None for run in runs):
        return
    lines, imports = in_python.candidates(runs, own, drawn)
    scores = [run.tuned.score() for run in runs if run.tuned is not None]
    if runs[0].candidate.settings.seconds is not None:
        lines += "# Scores differ from run to run: how far training gets in so many seconds is chance.\n"
        lines += "numbers = np.array([one.n_parameters for one in found], dtype=float)"
        shown = np.array([run.tuned.n_parameters for run in runs if run.tuned is not None], dtype=float)
    else:
        lines += "scores = [one.score() for one in found]\n"
        lines += "numbers = np.array([(score.value, score.low, score.high) for score in scores])"
        shown = np.array([(score.value, score.low, score.high) for score in scores])
    as_python.put(lines, lambda: shown, imports=("import numpy as np", *imports), part=part)


def show_table(runs: Sequence[Run], file: str) -> None:
    """The table on the screen, and to save."""
    found = {run.candidate.name: run.tuned for run in runs if run.tuned is not None}
    if not found:
        return
    st.table(pd.DataFrame({as_text(of): _column(each) for of, each in found.items()}))
    timed = all(map(_timed, found.values()))
    times = "; each time is the median over single texts on this machine, measured just now" if timed else ""
    said = [
        "Choose a model by the development split, as its epoch was. The score with an interval is on the test split: "
        f"the best of several there may only be the luckiest{times}. The majority baseline always gives the most "
        "frequent answer; the strongest baseline is the best on the development split of several that need no "
        "fine-tuning."
    ]
    if len({each.rate for each in found.values()}) > 1:
        said.append(
            "The learning rates differ: each is the one recommended for the model’s width, or for an LSTM. Set one "
            "under “How” to use it for all."
        )
    st.caption(" ".join(said))
    save.table("This table", lambda: table(runs), file)


def _column(found: Tuned) -> dict[str, str]:
    score, measure = found.score(), MEASURES[found.data.measure]
    interval = f"({measure.format(score.low)} to {measure.format(score.high)})"
    rows = {
        f"{measure.title}, development": f"{measure.format(found.best.score)} ({epoch_kept(found)})",
        f"{measure.title} (95% interval)": f"{reached(found)} {interval}",
        "majority baseline": measure.format(score.baseline),
        "strongest baseline": f"{measure.format(score.strongest_baseline)} ({found.strongest_baseline})"
        if found.strongest_baseline
        else "–",
        "examples": f"{len(found.data.train):,}",
        "time of one text, ms": f"{1000 * found.latency:.1f}",
        "weights, MB": f"{found.n_bytes / 1e6:.1f}",
        "parameters, M": f"{found.n_parameters / 1e6:.1f}",
        "learning rate": f"{found.rate:.2g}",
        "epochs": f"{found.steps[-1].epoch:.3g}",
        "seconds of training": f"{found.seconds:.1f}",
    }
    return rows if _timed(found) else {name: cell for name, cell in rows.items() if name not in _TIMES}


def differ(a: Tuned, b: Tuned) -> str:
    """Whether the intervals of two scores overlap, in a sentence."""
    one, other = a.score(), b.score()
    apart = one.low > other.high or other.low > one.high
    return "their intervals do not overlap" if apart else "their intervals overlap, so the difference may be chance"
