"""View "Compare runs": models trained side by side, their curves while they run, and the table of their results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from jobs.tuning import Candidate, Run, Tuning
from model_zoo.registry import UNTRAINED
from model_zoo.types import counted
from pages.train import presets, python_lines, running
from pages.train.presets import PRESETS, Preset, reached, timed
from pages.train.scene import Scene
from training.finetuning.folder import epoch_kept
from training.finetuning.results import Tuned
from training.finetuning.scores import MEASURES
from ui import Field, View, as_text, ask_for, one_of, save, widgets, work
from ui.precomputed import trainings
from web.background import desk
from web.engine import engine

_TITLES = {name: preset.title for name, preset in PRESETS.items()}
PRESET: Field[str] = Field("preset", "race", one_of("what is compared", _TITLES), of="train", step=True)
_TIMES = ("time of one text, ms", "seconds of training")


def draw(scene: Scene) -> None:
    with widgets.controls("preset"):
        name: str = st.selectbox("Compare", **PRESET.bound, label_visibility="collapsed", width=214)
        preset = PRESETS[name]
        candidates, label = preset.ask(scene)
        first = desk().current(preset.kind) is None
        work.button(label, preset.kind, tuple(candidates), key=name, primary=first, disabled=not candidates)
    if not candidates and (scene.data is None) == (name == "race"):  # a race needs nothing but data
        ask_for(preset.requires)
    job, runs = _current(preset, candidates, name)
    preset.draw(job, runs)
    st.caption(preset.about)
    python_lines.put_scores(job, runs, scene.user_data)
    _show_table(runs, preset.file)


def _current(preset: Preset, candidates: Sequence[Candidate], name: str) -> tuple[Tuning | None, tuple[Run, ...]]:
    """The job that there is, below the line of controls, and its runs: how far it is, what it could not do, or that it
    was of something else. If there is none, None, and the runs of an example that came with the app, of which there may
    be none. What was requested is begun once every model is here.
    """
    job, place = desk().current(preset.kind), running.place(name)
    requested = work.is_requested(preset.kind)
    if requested and (job is None or not job.running):
        models = dict.fromkeys(candidate.model.removeprefix(UNTRAINED) for candidate in candidates)
        with place.container():
            work.begin(preset.kind, tuple(candidates), models, lambda: preset.kind(engine(), candidates))
    if job is None:
        runs = trainings.runs(name)
        example = f"**An example, computed before**: {as_text(trainings.data().title)}." if runs else ""
        if not requested:
            place.caption(f"{example} {running.takes(candidates)}".strip())
        return None, runs
    if job.running:
        with place.container():
            work.watch(job, stop=False)
    elif job.tuned and not requested:
        place.caption(f"{counted(len(job.tuned), 'model')} trained.")
    running.outcome_of(job)
    if not job.running and candidates and [run.candidate for run in job.runs] != list(candidates):
        st.info("These are the last results; the choices above have changed since.", icon=":material/history:")
    return job, job.runs


def _show_table(runs: Sequence[Run], file: str) -> None:
    """The table on the screen, and to save."""
    outcomes = {run.candidate.name: run.tuned for run in runs if run.tuned is not None}
    if not outcomes:
        return
    st.table(pd.DataFrame({as_text(name): _column(tuned) for name, tuned in outcomes.items()}))
    times = "; each time is the median over single texts on this machine, measured just now"
    sentences = [
        "Choose a model by the development split, as its epoch was. The score with an interval is on the test split: "
        f"the best of several there may only be the luckiest{times if all(map(timed, outcomes.values())) else ''}. The "
        "majority baseline always gives the most frequent answer; the strongest baseline is the best on the "
        "development split of several that need no fine-tuning."
    ]
    if len({tuned.rate for tuned in outcomes.values()}) > 1:
        sentences.append(
            "The learning rates differ: each is the one recommended for the model’s width, or for an LSTM. Set one "
            "under “How” to use it for all."
        )
    st.caption(" ".join(sentences))
    save.table("This table", lambda: pd.DataFrame([_row(name, tuned) for name, tuned in outcomes.items()]), file)


def _row(name: str, tuned: Tuned) -> dict[str, object]:
    """A candidate as a row of the saved table."""
    score = tuned.score()
    return {
        "name": name,
        "model": tuned.base,
        "examples": len(tuned.data.train),
        "seed": tuned.settings.seed,
        "score": score.measure,
        "development": tuned.best.score,
        "best epoch": tuned.best.epoch,
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "majority baseline": score.baseline,
        "strongest baseline": score.strongest_baseline,
        "which": tuned.strongest_baseline,
        "time of one text, ms": 1000 * tuned.latency,
        "weights, MB": tuned.n_bytes / 1e6,
        "parameters": tuned.n_parameters,
        "learning rate": tuned.rate,
        "epochs": tuned.steps[-1].epoch,
        "seconds of training": tuned.seconds,
    }


def _column(tuned: Tuned) -> dict[str, str]:
    """A candidate as a column of the table on the screen."""
    score, measure = tuned.score(), MEASURES[tuned.data.measure]
    interval = f"({measure.format(score.low)} to {measure.format(score.high)})"
    strongest = f"{measure.format(score.strongest_baseline)} ({tuned.strongest_baseline})"
    rows = {
        f"{measure.title}, development": f"{measure.format(tuned.best.score)} ({epoch_kept(tuned)})",
        f"{measure.title} (95% interval)": f"{reached(tuned)} {interval}",
        "majority baseline": measure.format(score.baseline),
        "strongest baseline": strongest if tuned.strongest_baseline else "–",
        "examples": f"{len(tuned.data.train):,}",
        "time of one text, ms": f"{1000 * tuned.latency:.1f}",
        "weights, MB": f"{tuned.n_bytes / 1e6:.1f}",
        "parameters, M": f"{tuned.n_parameters / 1e6:.1f}",
        "learning rate": f"{tuned.rate:.2g}",
        "epochs": f"{tuned.steps[-1].epoch:.3g}",
        "seconds of training": f"{tuned.seconds:.1f}",
    }
    return rows if timed(tuned) else {name: cell for name, cell in rows.items() if name not in _TIMES}


def _left_out(_scene: Scene) -> str:
    job = desk().current(PRESETS[PRESET.value].kind)
    return "" if job is None else "These results are not in the link: whoever opens it has to train again."


VIEW: View[Scene] = View(
    "runs",
    "Compare runs",
    draw,
    about="Models trained side by side: which one learns best, what pretraining buys, and what a teacher adds.",
    more=(Path(__file__).parent / "compare_runs.md").read_text(encoding="utf-8"),
    fields=(PRESET, *presets.FIELDS),
    left_out=_left_out,
    starts=True,
    tab=60,
    terms=("transfer learning", "distillation", "soft targets"),
)
