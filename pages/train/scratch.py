"""View "What pretraining buys": the same architecture pretrained and from scratch, on few and on more examples."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby

import streamlit as st

from jobs.tuning import Candidate, Run, Tuning
from model_zoo import tuned
from model_zoo.registry import UNTRAINED
from pages.train import side_by_side
from pages.train.scene import Scene
from training.finetuning.scores import MEASURES
from ui import View, ask_for, figures, widgets
from ui.tuned import short_name
from viz.training_curves import Point, by_examples
from web.background import desk

_EXAMPLES = (50, 200, 600)
_PRETRAINED, _FROM_SCRATCH = "pretrained", "from scratch"


class Scratch(Tuning):
    """A model and its like with random weights."""


def draw(scene: Scene) -> None:
    candidates = _candidates(scene)
    with widgets.controls():
        side_by_side.button(Scratch, f"Train {len(candidates)} times", candidates, key="scratch")
    if tuned.is_id(scene.model):
        ask_for("This model has been fine-tuned here. Choose the pretrained model it was made from.")
    job = side_by_side.current(Scratch, candidates)
    if job is None:
        side_by_side.to_come(
            f"{short_name(scene.model)} is trained from its pretrained weights and from random weights, on 50, 200 "
            "and 600 examples, or on all there are if the data has fewer."
        )
        return
    _draw(job)


def _draw(job: Tuning) -> None:
    done = [run for run in job.runs if run.tuned is not None]
    if not done:
        return
    measure = MEASURES[done[0].candidate.data.measure]
    points = [_point(run) for run in done]
    baseline = done[0].tuned.score().baseline if done[0].tuned else None
    figure = partial(by_examples, points, measure.title, percent=measure.percent, baseline=baseline)
    figures.show(figure, "pretrained and from scratch", "pretrained-and-from-scratch")
    for _, pair in groupby(sorted(done, key=_examples), key=_examples):
        said = _said(list(pair))
        if said:
            st.markdown(f"- {said}")
    most = max(len(run.candidate.data.train) for run in done)
    if most < max(_EXAMPLES):
        st.caption(f"This data has only {most:,} training examples.")
    side_by_side.show_table(job.runs, "pretrained-and-from-scratch")


def _examples(run: Run) -> int:
    return 0 if run.tuned is None else len(run.tuned.data.train)


def _line(run: Run) -> str:
    return _FROM_SCRATCH if run.candidate.model.startswith(UNTRAINED) else _PRETRAINED


def _point(run: Run) -> Point:
    assert run.tuned is not None
    score = run.tuned.score()
    return Point(_line(run), len(run.tuned.data.train), score.value, score.low, score.high)


def _said(pair: list[Run]) -> str:
    """What the two of one size came to, in a sentence; nothing until both have."""
    by_line = {_line(run): run.tuned for run in pair}
    with_, without = by_line.get(_PRETRAINED), by_line.get(_FROM_SCRATCH)
    if with_ is None or without is None:
        return ""
    a, b = map(side_by_side.reached, (with_, without))
    return (
        f"**{len(with_.data.train):,} examples**: {a} pretrained, {b} from scratch, on this data and with this seed; "
        f"{side_by_side.differ(with_, without)}."
    )


def _candidates(scene: Scene) -> list[Candidate]:
    if scene.data is None or tuned.is_id(scene.model):
        return []
    model = scene.model.removeprefix(UNTRAINED)
    counts = sorted({min(count, len(scene.data.train)) for count in _EXAMPLES})
    return [
        Candidate(f"{line}, {count:,}", which, scene.data, replace(scene.settings, examples=count), keep=False)
        for count in counts
        for line, which in ((_PRETRAINED, model), (_FROM_SCRATCH, f"{UNTRAINED}{model}"))
    ]


VIEW: View[Scene] = View(
    "scratch",
    "What pretraining buys",
    draw,
    about="The same network, once pretrained and once randomly initialized, on few and on more examples.",
    more="Whatever a model knows about words that are not in the training examples comes from pretraining. Where the "
    "test split uses different words, as in most built-in sets (see “About the data”), random weights may never "
    "beat the majority baseline, however many examples there are.",
    left_out=lambda _scene: "" if desk().current(Scratch) is None else side_by_side.NOT_IN_LINK,
    starts=True,
    tab=70,
    terms=("transfer learning",),
)
