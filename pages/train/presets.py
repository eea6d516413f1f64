"""What can be trained side by side: several models, one with and without its pretraining, a student beside its teacher.

Each preset says what its controls ask for and what it draws beyond the scores of all models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import streamlit as st

from jobs.tuning import Candidate, Run, Tuning
from model_zoo import DEFAULT_MODEL, registry
from model_zoo import tuned as tuned_models
from model_zoo.registry import UNTRAINED
from pages.train import curves
from pages.train.scene import Scene
from training.finetuning.data import Data
from training.finetuning.results import Tuned
from training.finetuning.scores import MEASURES
from training.finetuning.settings import Settings
from ui import MODELS, SWITCH, Field, figures, notes, number, number_repeats, one_of, tuned, widgets, within
from ui.precomputed import EMBEDDED
from ui.tuned import short_name
from viz.intervals import Entry, score_by_cost
from viz.training_curves import Over, Point, by_examples
from web.settings import settings as app_settings

MOST_MODELS = 8
_BUDGETS = {"epochs": "Epochs", "seconds": "Seconds"}
_EXAMPLES = (50, 200, 600)
_PRETRAINED, _FROM_SCRATCH = "pretrained", "from scratch"
_LOSS = (
    r"L = \alpha \,\mathrm{CE}(\text{labels}) + (1-\alpha)\, T^2 \,"
    r"\mathrm{KL}(\text{teacher}_T \,\|\, \text{student}_T)"
)

RACERS: Field[tuple[str, ...]] = Field("racers", EMBEDDED, MODELS, of="train")
BUDGET: Field[str] = Field("budget", "epochs", one_of("the budget", _BUDGETS), of="train")
BY_SECONDS: Field[bool] = Field("by_seconds", False, SWITCH, of="train")
SECONDS: Field[int] = Field("seconds", 20, within("the seconds", 1, 600), of="train")
STUDENT: Field[str] = Field("student", "embedded/tinybert", of="train")
ALPHA: Field[float] = Field("alpha", 0.3, number("the weight of the labels", 0, 1, step=0.1), of="train")
TEMPERATURE: Field[float] = Field("temperature", 2.0, number("the temperature", 0.1, 20, step=0.5), of="train")
FIELDS = (RACERS, BUDGET, SECONDS, BY_SECONDS, STUDENT, ALPHA, TEMPERATURE)


class Race(Tuning):
    """Models against each other."""


class FromScratch(Tuning):
    """A model and random weights of the same shape."""


class Distillation(Tuning):
    """A teacher and two students."""


@dataclass(frozen=True, slots=True)
class Preset:
    """``kind`` is the job that it starts. ``ask`` draws its controls; what they ask for, and the button's label.
    ``requires`` says what to do if nothing can be trained, ``draw`` the job and its runs, or those of the example.
    """

    title: str
    about: str
    kind: type[Tuning]
    ask: Callable[[Scene], tuple[list[Candidate], str]]
    requires: str
    draw: Callable[[Tuning | None, Sequence[Run]], None]
    file: str


def _encoders() -> list[str]:
    """The models of the registry that can be tuned: what has a decoder cannot."""
    return [model for model, spec in registry.MODELS.items() if not spec.causal and not spec.cross_attention]


def _draw_curves(job: Tuning | None, runs: Sequence[Run], key: str, *, over: Over = "epochs") -> None:
    """The curves of all candidates that have been evaluated, or of all while they are trained by the ``job``."""
    live = job is not None and job.running
    drawn = [run for run in runs if live or run.evaluated]
    if drawn:
        curves.draw(drawn, [run.candidate.name for run in drawn], key, over=over, job=job)


def reached(tuned: Tuned) -> str:
    """The score of a tuned model as the screen has it."""
    return MEASURES[tuned.data.measure].format(tuned.score().value)


def _difference(a: Tuned, b: Tuned) -> str:
    """Whether the intervals of two scores overlap, in a sentence."""
    first, second = a.score(), b.score()
    apart = first.low > second.high or second.low > first.high
    return "their intervals do not overlap" if apart else "their intervals overlap, so the difference may be chance"


# Several models, with the same data and the same budget.


def _ask_race(scene: Scene) -> tuple[list[Candidate], str]:
    with widgets.popover("Budget", ":material/timer:"):
        help_ = "The same number of epochs for each model, or the same number of seconds of training."
        budget = widgets.choice("Budget", BUDGET, help=help_)
        if budget == "seconds":
            st.number_input("Seconds each", **SECONDS.bound, width=220)
    models = _ask_models()
    seconds = float(SECONDS.value) if budget == "seconds" else None
    return race(scene.data, replace(scene.settings, seconds=seconds), models), "Race"


def _ask_models() -> dict[str, str]:
    """The models and what they are called, no two alike: curves of one name would be seeds of one model."""
    chosen = RACERS.value
    refused = [model for model in chosen if not widgets.may_be_named(model)]
    if refused:
        notes.complain([widgets.not_listed(refused)])
    chosen = tuple(dict.fromkeys(model for model in chosen if model not in refused))[:MOST_MODELS]
    RACERS.value = chosen
    options = list(dict.fromkeys((*_encoders(), *tuned.session_models(), *chosen)))
    names = dict(zip(options, number_repeats(map(short_name, options)), strict=True))
    st.multiselect(
        "Models",
        options,
        **RACERS.bound,
        format_func=lambda model: names.get(model, short_name(model)),
        accept_new_options=app_settings().any_model,
        max_selections=MOST_MODELS,
        label_visibility="collapsed",
        placeholder="Choose models",
    )
    return {model: names.get(model, short_name(model)) for model in RACERS.value}


def race(data: Data | None, settings: Settings, models: Mapping[str, str]) -> list[Candidate]:
    """One candidate for each model; ``models`` holds their names. None without data."""
    if data is None:
        return []
    return [Candidate(name, model, data, settings, keep=False) for model, name in models.items()]


def _draw_race(job: Tuning | None, runs: Sequence[Run]) -> None:
    over: Over = "epochs"
    if job is not None:
        by_epochs = job.runs[0].candidate.settings.seconds is None
        over = "epochs" if by_epochs and not st.toggle("Curves by seconds", **BY_SECONDS.bound) else "seconds"
    _draw_curves(job, runs, "race", over=over)
    _scatters([(run.candidate.name, run.tuned) for run in runs if run.tuned is not None])


def _scatters(done: Sequence[tuple[str, Tuned]]) -> None:
    """The score against time, if that was measured here, and against memory, side by side."""
    if len(done) < 2:
        return
    measure = MEASURES[done[0][1].data.measure]
    axes: list[tuple[str, str, Callable[[Tuned], float]]] = [
        ("time", "time of one text, ms", lambda tuned: 1000 * tuned.latency),
        ("memory", "weights, MB (4 bytes a parameter)", lambda tuned: tuned.n_bytes / 1e6),
    ]
    if not all(timed(tuned) for _, tuned in done):
        axes = axes[1:]
    for column, (name, title, cost) in zip(st.columns(2, gap="medium"), axes, strict=False):
        entries = [
            Entry(label, cost(tuned), score.value, score.low, score.high)
            for label, tuned in done
            for score in [tuned.score()]
        ]
        with column:
            figure = partial(score_by_cost, entries, title, measure.title, percent=measure.percent)
            figures.show(figure, f"score against {name}", f"score-against-{name}")


def timed(tuned: Tuned) -> bool:
    """Whether its times were measured here: those of an example were not."""
    return tuned.seconds == tuned.seconds


# One shape of network pretrained and from random weights, on few and on more examples.


def _ask_scratch(scene: Scene) -> tuple[list[Candidate], str]:
    both = scratch(scene.data, scene.settings, scene.model)
    return both, f"Train {len(both)} times"


def scratch(data: Data | None, settings: Settings, model: str) -> list[Candidate]:
    """Pretrained and from scratch, on each number of examples; none without data, or for a model that was tuned."""
    if data is None or tuned_models.is_id(model):
        return []
    model = model.removeprefix(UNTRAINED)
    counts = sorted({min(count, len(data.train)) for count in _EXAMPLES})
    return [
        Candidate(f"{line}, {count:,}", weights, data, replace(settings, examples=count), keep=False)
        for count in counts
        for line, weights in ((_PRETRAINED, model), (_FROM_SCRATCH, f"{UNTRAINED}{model}"))
    ]


def _draw_scratch(_job: Tuning | None, runs: Sequence[Run]) -> None:
    done = [(_line(run), run.tuned) for run in runs if run.tuned is not None]
    if not done:
        return
    data = runs[0].candidate.data
    measure, baseline = MEASURES[data.measure], done[0][1].score().baseline
    points = [
        Point(line, len(tuned.data.train), score.value, score.low, score.high)
        for line, tuned in done
        for score in [tuned.score()]
    ]
    figure = partial(by_examples, points, measure.title, percent=measure.percent, baseline=baseline)
    figures.show(figure, "pretrained and from scratch", "pretrained-and-from-scratch")
    for n, pair in groupby(sorted(done, key=_n_examples), key=_n_examples):
        by_line = dict(pair)
        if len(by_line) == 2:
            a, b = by_line[_PRETRAINED], by_line[_FROM_SCRATCH]
            st.markdown(
                f"- **{n:,} examples**: {reached(a)} pretrained, {reached(b)} from scratch, on this data and with this "
                f"seed; {_difference(a, b)}."
            )
    if len(data.train) < max(_EXAMPLES):
        st.caption(f"This data has only {len(data.train):,} training examples.")


def _line(run: Run) -> str:
    return _FROM_SCRATCH if run.candidate.model.startswith(UNTRAINED) else _PRETRAINED


def _n_examples(done: tuple[str, Tuned]) -> int:
    return len(done[1].data.train)


# A small model that learns from labels alone, and from the probabilities of a larger one as well.


def _ask_distillation(scene: Scene) -> tuple[list[Candidate], str]:
    models = _encoders()
    if not widgets.may_be_named(STUDENT.value):
        STUDENT.value = STUDENT.default
    if STUDENT.value not in models:
        models.append(STUDENT.value)
    student = str(st.selectbox("Student", models, **STUDENT.bound, format_func=short_name, width=260))
    with widgets.popover("Loss", ":material/functions:"):
        st.latex(_LOSS)
        st.number_input("α", **ALPHA.bound, help="The weight of the labels; the teacher loss gets the rest.")
        help_ = "Divides all logits before the softmax: the higher, the flatter the distribution."
        st.number_input("Temperature T", **TEMPERATURE.bound, help=help_)
    teacher = DEFAULT_MODEL if scene.model == student else scene.model
    candidates = distillation(scene.data, scene.settings, teacher, student, ALPHA.value, TEMPERATURE.value)
    return candidates, "Train teacher and students"


def distillation(
    data: Data | None, settings: Settings, teacher: str, student: str, alpha: float, temperature: float
) -> list[Candidate]:
    """The teacher, the student alone, and the student with its teacher; none without labels."""
    if data is None or data.kind != "classification":
        return []
    first = f"Teacher: {short_name(teacher)}"
    soft = replace(settings, alpha=alpha, temperature=temperature)
    return [
        Candidate(first, teacher, data, settings),
        Candidate(f"{short_name(student)}, labels alone", student, data, settings, keep=False),
        Candidate(f"{short_name(student)}, with the teacher", student, data, soft, teacher=first, keep=False),
    ]


def _draw_distillation(job: Tuning | None, runs: Sequence[Run]) -> None:
    _draw_curves(job, runs, "distillation")
    st.caption(
        "With the teacher, the training loss is the whole sum L, so its thin line is not comparable; on the "
        "development split every loss is the cross-entropy with the labels."
    )
    students = [run.tuned for run in runs[1:] if run.tuned is not None]
    if len(students) == 2:
        alone, taught = students
        st.markdown(
            f"On this data and with this seed the student reaches **{reached(alone)}** with labels alone and "
            f"**{reached(taught)}** with its teacher: {_difference(alone, taught)}."
        )


PRESETS: Mapping[str, Preset] = {
    "race": Preset(
        "The race",
        "Models on one task with the same data and the same budget: which is good, which is fast, which is small?",
        Race,
        _ask_race,
        "Upload your own data first, or choose a built-in set.",
        _draw_race,
        "race",
    ),
    "scratch": Preset(
        "What pretraining buys",
        "One shape of network, once pretrained and once with random weights, on few and on more examples.",
        FromScratch,
        _ask_scratch,
        "This model has been fine-tuned here. Choose the pretrained model it was made from.",
        _draw_scratch,
        "pretrained-and-from-scratch",
    ),
    "distillation": Preset(
        "Teacher and student",
        "A large model teaches a small one: the student learns the teacher’s probabilities, not only the right labels "
        "(Hinton et al. 2015).",
        Distillation,
        _ask_distillation,
        "Choose a classification task: distillation needs a teacher’s probabilities of labels.",
        _draw_distillation,
        "distillation",
    ),
}
