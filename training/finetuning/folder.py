"""A tuned model as a folder: safetensors, config, tokenizer, and a card that says what it is; and the folder zipped."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_zoo import named_pooling
from model_zoo.errors import InvalidInput
from training.finetuning.results import Tuned
from training.finetuning.scores import MEASURES, too_few_to_choose_by
from training.finetuning.seeds import describe_seeds
from training.finetuning.settings import Settings

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel

CARD = "README.md"

_HOW = {
    "all": "all weights trained",
    "top": "the top {layers} layers and the task head trained",
    "lora": "LoRA of rank {rank} on queries and values, and the task head, trained; what LoRA learned is merged in",
    "head": "the task head alone trained",
}
_CLASSES = {
    "classification": "AutoModelForSequenceClassification",
    "similarity": "AutoModelForSequenceClassification",
    "tagging": "AutoModelForTokenClassification",
    "answering": "AutoModelForQuestionAnswering",
}


@contextmanager
def raise_os_errors() -> Iterator[None]:
    """Errors of safetensors while it writes a file, raised as Python's own OSError."""
    from safetensors import SafetensorError  # a process whose models stand on a cluster need not have it

    try:
        yield
    except SafetensorError as error:
        raise OSError(str(error)) from error


def save(network: Any, loaded: LoadedModel, outcome: Tuned, folder: Path) -> None:
    """Write a folder that transformers loads by itself. Raises OSError."""
    with raise_os_errors():
        network.save_pretrained(folder)
    with loaded.tokenizer_lock:
        loaded.tokenizer.save_pretrained(folder)
    if loaded.info.pooling is not None:
        named_pooling.write(loaded.info.pooling, folder, loaded.info.width)
    (folder / CARD).write_text(card(outcome), encoding="utf-8")


def learned(settings: Settings) -> str:
    """Which weights were trained, in words."""
    return _HOW[settings.learns].format(layers=settings.layers, rank=settings.rank)


def epoch_kept(outcome: Tuned) -> str:
    """Which epoch's weights were kept: "epoch 3 of 5"."""
    return f"epoch {outcome.best.epoch:.3g} of {outcome.steps[-1].epoch:.3g}"


def chosen_by(outcome: Tuned) -> str:
    """The same, and why, in sentences."""
    measure, few = MEASURES[outcome.data.measure], too_few_to_choose_by(outcome.data)
    return (
        f"The weights are those of {epoch_kept(outcome)}, the best on the development split ({measure.title} "
        f"{measure.format(outcome.best.score)}).{f' {few}' if few else ''}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def card(outcome: Tuned) -> str:
    """What the model is, what it was tuned on and how, and how good it is, in Markdown."""
    data, settings = outcome.data, outcome.settings
    rows = [
        f"| {score.measure} | {score.value:.3f} | {score.low:.3f} to {score.high:.3f} | "
        f"{_number(score.baseline)} | {_number(score.strongest_baseline)} |"
        for score in outcome.scores
    ]
    labels = f" Labels: {', '.join(data.labels)}." if data.labels else ""
    sizes = f"{len(data.train):,} items to train, {len(data.dev):,} for development, {len(data.test):,} for the test"
    scale = " The network's output times 5 is the score." if data.kind == "similarity" else ""
    first = f", {settings.head_first} of them the task head alone" if settings.head_first else ""
    early = (
        f", ended early after {settings.patience} without a higher score on the development split"
        if settings.patience is not None and outcome.steps[-1].epoch < settings.epochs
        else ""
    )
    return (
        Path(__file__)
        .with_name("card.md")
        .read_text(encoding="utf-8")
        .format(
            title=data.title,
            base=outcome.base,
            task=data.kind,
            sizes=sizes,
            labels=labels,
            scale=scale,
            auto_class=_CLASSES[data.kind],
            rows="\n".join(rows),
            seeds=describe_seeds(data, outcome.base, settings) or "Another seed may change a score by more.",
            strongest=outcome.strongest_baseline or "not known",
            learned=learned(settings),
            rate=outcome.rate,
            settings=settings,
            first=first,
            early=early,
            chosen_by=chosen_by(outcome),
            outcome=outcome,
        )
    )


def zipped(folder: Path, target: Path, name: str) -> None:
    """Write a file with those of a folder, in a folder of that name; not compressed, since weights do not shrink."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, f"{name}/{file.relative_to(folder)}")


def copy(folder: Path, target: Path) -> Path:
    """The files of a folder in another that is new or empty. Raises InvalidInput where they cannot be written."""
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidInput(f"{target} is there already and is not empty. Name another folder.")
        shutil.copytree(folder, target, dirs_exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError for what can be no path
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{target} cannot be written ({reason}). Name another folder.") from error
    return target
