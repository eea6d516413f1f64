"""The visitor's own data to train on: a file or pasted lines, read for one of the tasks, and what was read of them."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import streamlit as st

from model_zoo.types import counted
from reading import Choices, Report
from training.finetuning.data import SPLITS, Data, Item, Kind, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.prepare import prepare_file
from ui import Field, as_text, caption, failures_as_messages, how_read, one_of, widgets
from ui.own_file import OwnFile, read
from web.uploads import File

_KINDS: Mapping[Kind, str] = {
    "classification": "Classification",
    "tagging": "Entities",
    "answering": "Question answering",
    "similarity": "Similarity",
}
KIND: Field[Kind] = Field("own_kind", "classification", one_of("the task of your own data", _KINDS), of="train")
TEXT: Field[str] = Field("own_text", "", of="train")
READ = how_read.choices_field("own_read", "train")
FIELDS = (KIND, TEXT, READ)

_TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "own_data.toml").read_text(encoding="utf-8"))


_OWN = OwnFile(upload="training upload", in_use="training file", pasted=TEXT, choices=READ)


@dataclass(frozen=True, slots=True)
class UserData:
    """What was read of a ``file``, which was ``uploaded`` or pasted, by these ``choices``."""

    data: Data
    file: File
    uploaded: bool
    choices: Choices


def draw(seed: int) -> UserData | None:
    """Controls for the visitor's own data; what they hold, or None if that is nothing or cannot be used."""
    kind = widgets.choice("Task", KIND)
    st.caption(_TEXTS[kind]["about"])
    st.code(_TEXTS[kind]["example"], language=None)
    st.caption(_TEXTS["split"])
    user_data: UserData | None = None
    with failures_as_messages():
        file = _OWN.draw()
        if file is not None:
            choices = READ.value
            with how_read.choosing(READ):
                data, report = read([file], partial(prepare_file, file.data, file.name, kind, seed, choices))
            user_data = UserData(data, file, uploaded(), choices)
            _describe(data, report)
    return user_data


def uploaded() -> bool:
    """Whether a file is in use: the one uploaded last, until it is removed."""
    return _OWN.uploaded()


def _describe(data: Data, report: Report) -> None:
    train, dev, test = (len(data.split(split)) for split in SPLITS)
    st.success(
        as_text(
            f"{data.title}: {counted(train + dev + test, 'item')}: {train:,} for training, {dev:,} for development "
            f"and {test:,} for testing."
        ),
        icon=":material/check:",
    )
    how_read.draw(report, READ)
    for note in (_describe_labels([item for split in SPLITS for item in data.split(split)]), *data.notes):
        caption(note)


def _describe_labels(items: list[Item]) -> str:
    """What the items are labelled with, in a sentence."""
    scores = [item.score for item in items if isinstance(item, Scored)]
    questions = [item for item in items if isinstance(item, PassageQuestion)]
    if scores:
        return f"Scores from {min(scores):.3g} to {max(scores):.3g}, on average {fmean(scores):.3g}."
    if questions:
        passages, unanswered = len({item.pair for item in questions}), sum(not item.answers for item in questions)
        return f"{counted(passages, 'passage')}; {counted(unanswered, 'question')} without an answer."
    labels = Counter(item.label for item in items if isinstance(item, Labelled))
    entities = Counter(
        tag.removeprefix("B-") for item in items if isinstance(item, Tagged) for tag in item.tags if tag[:2] == "B-"
    )
    counts = labels or entities
    noun = counted(len(counts), "label") if labels else f"Entities of {counted(len(counts), 'type')}"
    return f"{noun}: {', '.join(f'{label} ({n:,})' for label, n in counts.most_common())}."
