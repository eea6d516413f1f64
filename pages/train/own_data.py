"""The visitor's own data to train on: a file or pasted lines, read for one of the tasks, and what was read of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean

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

_ABOUT: Mapping[Kind, str] = {
    "classification": "A table (CSV, TSV, Parquet) or JSON with a `text` and its `label`; for pairs, a second text in "
    "`text_pair`. The usual other names of columns, as in GLUE and SNLI, are known.",
    "tagging": "CoNLL columns: each line has a word first and its tag last, with an empty line after each sentence. "
    "Or a table, Parquet or JSON with lists of `tokens` and `tags`. Tags look like B-PERSON, I-PERSON, O.",
    "answering": "SQuAD’s JSON (1.1 or 2.0), or a table, Parquet or JSON lines with `question`, `context` and "
    "`answer`: the answer is copied exactly from the passage, and empty if the passage has none.",
    "similarity": "A table (CSV, TSV, Parquet) or JSON with two texts, `text` and `text_pair`, and their `score`: from "
    "0 (nothing in common) to 5 (the same meaning). Other scales are converted to this one.",
}
_EXAMPLE: Mapping[Kind, str] = {
    "classification": 'text,label\n"Warm, funny, and over too soon.",positive\nI fell asleep.,negative',
    "tagging": "Maria\tB-PERSON\nRossi\tI-PERSON\nsleeps\tO\n\nOslo\tB-PLACE\nfroze\tO",
    "answering": 'question,context,answer\nWhere is the mill?,"The mill stands by a river.",by a river',
    "similarity": "text,text_pair,score\nA dog barks.,A dog is barking.,5\nA dog barks.,The bank is shut.,0",
}
_ABOUT_PARTS = (
    "A column `split` (train, dev or test) keeps your own split, as do the names of files in a zip. Without it the "
    "data is split at random into 70% training, 10% development and 20% test: texts that differ only in case and "
    "spaces stay together, as do questions on one passage, and pairs with the same first text if there are at least "
    "ten different ones."
)

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
    st.caption(_ABOUT[kind])
    st.code(_EXAMPLE[kind], language=None)
    st.caption(_ABOUT_PARTS)
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
