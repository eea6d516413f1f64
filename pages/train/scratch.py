"""View "What pretraining buys": the same architecture pretrained and from scratch, on few and on more examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

import streamlit as st

from jobs.tuning import Candidate, Run, Tuning
from model_zoo import tuned
from model_zoo.registry import UNTRAINED
from pages.train import side_by_side
from pages.train.scene import Scene
from training.finetuning.data import Data
from training.finetuning.scores import MEASURES
from training.finetuning.settings import Settings
from ui import View, ask_for, figures, widgets
from viz.training_curves import Point, by_examples
from web.background import desk

_EXAMPLES = (50, 200, 600)
_PRETRAINED, _FROM_SCRATCH = "pretrained", "from scratch"


class Scratch(Tuning):
    """A model and its like with random weights."""


def draw(scene: Scene) -> None:
    twice = candidates(scene.data, scene.settings, scene.model)
    with widgets.controls():
        side_by_side.button(Scratch, f"Train {len(twice)} times", twice, key="scratch")
    if tuned.is_id(scene.model):
        ask_for("This model has been fine-tuned here. Choose the pretrained model it was made from.")
    job, runs = side_by_side.current(Scratch, twice, "scratch")
    side_by_side.put_python(job, runs, scene.user_data)
    _draw(runs)


def _draw(runs: Sequence[Run]) -> None:
    done = [run for run in runs if run.tuned is not None]
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
    side_by_side.show_table(runs, "pretrained-and-from-scratch")


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


def candidates(data: Data | None, settings: Settings, model: str) -> list[Candidate]:
    """Pretrained and from scratch, on each number of examples; none without data, or for a model that was tuned."""
    if data is None or tuned.is_id(model):
        return []
    model = model.removeprefix(UNTRAINED)
    counts = sorted({min(count, len(data.train)) for count in _EXAMPLES})
    return [
        Candidate(f"{line}, {count:,}", which, data, replace(settings, examples=count), keep=False)
        for count in counts
        for line, which in ((_PRETRAINED, model), (_FROM_SCRATCH, f"{UNTRAINED}{model}"))
    ]


VIEW: View[Scene] = View(
    "scratch",
    "What pretraining buys",
    draw,
    about="The same network, once pretrained and once randomly initialized, on few and on more examples.",
    more="The model is trained from its pretrained weights and from random weights, on 50, 200 and 600 examples, or on "
    "all there are if the data has fewer. Whatever a model knows about words that are not in the training examples "
    "comes from pretraining. Where the "
    "test split uses different words, as in most built-in sets (see “About the data”), random weights may never "
    "beat the majority baseline, however many examples there are.",
    left_out=lambda _scene: "" if desk().current(Scratch) is None else side_by_side.NOT_IN_LINK,
    starts=True,
    tab=70,
    terms=("transfer learning",),
)
