"""The lines of Python that train what the views of the page "Train" show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from math import isnan

from jobs.tuning import Run
from pages.train.own_data import UserData
from reading import Choices
from training.finetuning.data import Data
from training.finetuning.prepare import KIND_OF
from training.finetuning.results import Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Settings
from ui import as_python, how_read

FINETUNE = "from training import finetune"
_EXAMPLE = "# The page shows an example that came with the app: trained again, it may come out a little differently.\n"


def one(found: Tuned, own: UserData | None) -> tuple[str, list[str]]:
    """Lines that bind ``tuned`` to a model as it was tuned, and what they import."""
    read, data, imports = _data(found.data, own, found.settings.seed)
    read = _EXAMPLE * isnan(found.seconds) + read
    return f"{read}tuned = {call(data, found.base, found.settings)}\n", [FINETUNE, *imports]


def seeds(every: Sequence[Tuned], own: UserData | None) -> tuple[str, list[str]]:
    """Lines that bind ``found`` to the outcome, or to those of several seeds, which are the same but for the seed; and
    what they import.
    """
    model, settings = every[0].base, every[0].settings
    read, data, imports = _data(every[0].data, own, settings.seed)
    read = _EXAMPLE * isnan(every[0].seconds) + read
    if len(every) == 1:
        return f"{read}found = {call(data, model, settings)}.outcome\n", [FINETUNE, *imports]
    asked = call(data, model, settings, "seed=seed", without=("seed",))
    numbers = as_python.literal([each.settings.seed for each in every])
    return f"{read}found = [{asked}.outcome for seed in {numbers}]\n", [FINETUNE, *imports]


def each(name: str, *, several: bool) -> str:
    """What ``found`` has under a name, of all seeds if there are ``several``, as an expression."""
    return f"[each for one in found for each in one.{name}]" if several else f"found.{name}"


def candidates(runs: Sequence[Run], own: UserData | None, drawn: int | None = None) -> tuple[str, list[str]]:
    """Lines that bind ``found`` to the outcomes of some models trained on one set of data, some of them by a teacher;
    and what they import. Of the data so many training items were ``drawn`` before, or all.
    """
    of = [run.candidate for run in runs]
    read, data, imports = _data(of[0].data, own, of[0].settings.seed)
    if any(run.tuned is not None and isnan(run.tuned.seconds) for run in runs):
        read = f"{_EXAMPLE}{read}"
    if drawn is not None:
        if of[0].data.name in SETS:
            data = f"SETS[{data}].build()"
            imports.append("from training.finetuning.sets import SETS")
        read += f"items = {data}.first({drawn}, {of[0].settings.seed})\n"
        data = "items"
    settings = of[0].settings
    models, examples = [one.model for one in of], [one.settings.examples for one in of]
    if any(one.teacher for one in of):
        names = [f"model_{number}" for number in range(1, len(of) + 1)]
        by_name = {candidate.name: name for candidate, name in zip(of, names, strict=True)}
        for one, name in zip(of, names, strict=True):
            by = [f"teacher={by_name[one.teacher]}"] if one.teacher else []
            read += f"{name} = {call(data, one.model, one.settings, *by)}\n"
        lines = f"{read}found = [one.outcome for one in ({', '.join(names)})]\n"
    elif len(set(examples)) == 1:
        asked = call(data, None, settings)
        lines = f"{read}models = {as_python.literal(models)}\nfound = [{asked}.outcome for model in models]\n"
    else:
        asked = call(data, None, settings, "examples=examples", without=("examples",))
        both = as_python.list_literal([*zip(models, examples, strict=True)])
        lines = f"{read}asked = {both}\nfound = [{asked}.outcome for model, examples in asked]\n"
    return lines, [FINETUNE, *imports]


def call(data: str, model: str | None, settings: Settings, *more: str, without: Collection[str] = ()) -> str:
    """The call that trains a model, or what is called ``model``, on ``data``, an expression, with the settings that are
    not the defaults, and ``more``. Only with a teacher do the settings about it count.
    """
    taught = any(one.startswith("teacher=") for one in more)
    left_out = (*without, *(() if taught else ("alpha", "temperature")))
    default = Settings()
    chosen = {field.name: getattr(settings, field.name) for field in fields(Settings) if field.name not in left_out}
    changed = {name: of for name, of in chosen.items() if of != getattr(default, name)}
    given = (data, "model" if model is None else as_python.literal(model), "engine=engine", *more)
    return f"finetune({', '.join(filter(None, (*given, as_python.arguments(**changed))))})"


def _data(data: Data, own: UserData | None, seed: int) -> tuple[str, str, list[str]]:
    """Lines that read the data, where it is the visitor's; the data as an expression; and what they import."""
    if data.name in SETS:
        return "", as_python.literal(data.name), []
    uploaded, content, choices = True, b"", Choices()
    if own is not None and own.data.name == data.name:
        uploaded, content, choices = own.uploaded, own.file.data, own.choices
    read, imports = as_python.file(data.title, content, uploaded=uploaded)
    (kind,) = (read_as for read_as, task in KIND_OF.items() if task == data.kind)
    given = f"{as_python.arguments(kind, name=data.title)}{how_read.in_python(choices)}"
    return (
        f"{read}\nitems = prepare(read(data, {given}), {as_python.arguments(seed=seed)})\n",
        "items",
        [*imports, "from reading import read", "from training.finetuning.prepare import prepare"],
    )
