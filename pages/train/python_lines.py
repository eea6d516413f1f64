"""The lines of Python that train what the views of the page "Train" show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isnan

import numpy as np

from jobs.tuning import Run, Tuning
from pages.train.own_data import UserData
from reading import Choices, read
from training import finetune
from training.finetuning.data import Data
from training.finetuning.prepare import KIND_OF, prepare
from training.finetuning.results import Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_python, how_read
from ui.as_python import Lines, literal

_EXAMPLE = "# The page shows an example that came with the app: trained again, it may come out a little differently.\n"


def tune(tuned: Tuned, user_data: UserData | None) -> Lines:
    """Lines that bind ``tuned`` to a model as it was tuned."""
    reading, data = _read_data([tuned], tuned.data, tuned.settings, user_data)
    return reading + f"tuned = {_call(data, literal(tuned.base), tuned.settings)}\n"


def tune_seeds(every: Sequence[Tuned], user_data: UserData | None) -> Lines:
    """Lines that bind ``outcome`` to what a training came to; ``outcomes``, of several seeds that differ in no other
    setting.
    """
    model, settings = literal(every[0].base), every[0].settings
    reading, data = _read_data(every, every[0].data, settings, user_data)
    if len(every) == 1:
        return reading + f"outcome = {_call(data, model, settings)}.outcome\n"
    call = _call(data, model, settings, "seed=seed", without=("seed",))
    seeds = literal([tuned.settings.seed for tuned in every])
    return reading + f"outcomes = [{call}.outcome for seed in {seeds}]\n"


def of_outcomes(attribute: str, noun: str, *, several: bool) -> str:
    """An expression: the items of an outcome's attribute, each a ``noun``, of all seeds if there are ``several``."""
    listed = f"[{noun} for outcome in outcomes for {noun} in outcome.{attribute}]"
    return listed if several else f"outcome.{attribute}"


def put_scores(
    job: Tuning | None, runs: Sequence[Run], user_data: UserData | None, part: str = "", drawn: int | None = None
) -> None:
    """The scores of all candidates with their intervals as Python, once all are trained. Of the data so many training
    items were ``drawn`` before, or all.
    """
    outcomes = [run.tuned for run in runs if run.tuned is not None]
    if not runs or (job is not None and job.running) or len(outcomes) < len(runs):
        return
    lines = _tune_candidates(runs, outcomes, user_data, drawn)
    if runs[0].candidate.settings.seconds is not None:
        lines += "# Scores differ from run to run: how far training gets in so many seconds is chance.\n"
        lines += "numbers = np.array([outcome.n_parameters for outcome in outcomes], dtype=float)"
        numbers = np.array([outcome.n_parameters for outcome in outcomes], dtype=float)
    else:
        lines += "scores = [outcome.score() for outcome in outcomes]\n"
        lines += "numbers = np.array([(score.value, score.low, score.high) for score in scores])"
        scores = [outcome.score() for outcome in outcomes]
        numbers = np.array([(score.value, score.low, score.high) for score in scores])
    as_python.put(lines, lambda: numbers, part=part)


def _tune_candidates(
    runs: Sequence[Run], outcomes: Sequence[Tuned], user_data: UserData | None, drawn: int | None
) -> Lines:
    """Lines that bind ``outcomes`` to those of models trained on the same data, some of them with a teacher."""
    candidates = [run.candidate for run in runs]
    settings = candidates[0].settings
    reading, data = _read_data(outcomes, candidates[0].data, settings, user_data)
    if drawn is not None:
        if candidates[0].data.name in SETS:
            reading, data = reading + Lines("", (_SETS,)), f"SETS[{data}].build()"
        reading += f"items = {data}.first({drawn}, {settings.seed})\n"
        data = "items"
    models = [candidate.model for candidate in candidates]
    examples = [candidate.settings.examples for candidate in candidates]
    if any(candidate.teacher for candidate in candidates):
        names = {candidate.name: f"model_{number}" for number, candidate in enumerate(candidates, start=1)}
        for candidate in candidates:
            teacher = [f"teacher={names[candidate.teacher]}"] if candidate.teacher else []
            reading += f"{names[candidate.name]} = "
            reading += f"{_call(data, literal(candidate.model), candidate.settings, *teacher)}\n"
        return reading + f"outcomes = [model.outcome for model in ({', '.join(names.values())})]\n"
    if len(set(examples)) == 1:
        call = _call(data, "model", settings)
        return reading + f"models = {literal(models)}\noutcomes = [{call}.outcome for model in models]\n"
    call = _call(data, "model", settings, "examples=examples", without=("examples",))
    pairs = as_python.list_literal([*zip(models, examples, strict=True)])
    return reading + f"trained = {pairs}\noutcomes = [{call}.outcome for model, examples in trained]\n"


def _call(data: str, model: str, settings: Settings, *more: str, without: Collection[str] = ()) -> str:
    """The call that trains a model on data, both expressions, with the settings that are not the defaults, and
    ``more``. Only with a teacher do the settings about it count.
    """
    taught = any(argument.startswith("teacher=") for argument in more)
    left_out = (*without, *(() if taught else ("alpha", "temperature")))
    changed = {name: value for name, value in as_python.changed(settings).items() if name not in left_out}
    return f"finetune({', '.join(filter(None, (data, model, 'engine=engine', *more, as_python.arguments(**changed))))})"


_SETS = "from look_inside_bert.training.finetuning.sets import SETS"


def _read_data(
    outcomes: Sequence[Tuned], data: Data, settings: Settings, user_data: UserData | None
) -> tuple[Lines, str]:
    """Lines that read the data, if it is the user's, and the data as an expression."""
    lines = Lines(_EXAMPLE * any(isnan(tuned.seconds) for tuned in outcomes), (finetune,))
    if data.name in SETS:
        return lines, literal(data.name)
    uploaded, content, choices = True, b"", Choices()
    if user_data is not None and user_data.data.name == data.name:
        uploaded, content, choices = user_data.uploaded, user_data.file.data, user_data.choices
    (kind,) = (read_as for read_as, task in KIND_OF.items() if task == data.kind)
    arguments = f"{as_python.arguments(kind, name=data.title)}{how_read.in_python(choices)}"
    lines += as_python.read_bytes(data.title, content, uploaded=uploaded)
    lines += Lines(f"items = prepare(read(data, {arguments}), seed={settings.seed})\n", (read, prepare))
    return lines, "items"
