"""The visitor's own data: a file or pasted lines, in one of three formats, as a data set to be probed."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from analysis.probing import Dataset, StructuralTask, Treebank, readers
from analysis.probing.data import TEST
from analysis.probing.template_trees import template_conllu
from model_zoo.types import counted
from pages.layers import fields
from reading import Choices, Report
from ui import as_python, as_text, caption, failures_as_messages, how_read, save, widgets
from ui.as_python import Lines
from ui.own_file import OwnFile, read
from web.uploads import File

_TEXTS: Mapping[str, str] = tomllib.loads((Path(__file__).parent / "own_data.toml").read_text(encoding="utf-8"))
_EXAMPLE = "template-trees"
OWN = OwnFile(
    upload="probing upload",
    in_use="probing file",
    pasted=fields.DATA,
    choices=fields.READ,
    ready={_EXAMPLE: lambda: File(f"{_EXAMPLE}.conllu", template_conllu().encode())},
)


@dataclass(frozen=True, slots=True)
class OwnData:
    """``fingerprint`` tells this data, read by the ``choices``, from any other. ``file`` was ``uploaded`` or pasted."""

    fingerprint: str
    task: Dataset | StructuralTask
    file: File = field(repr=False)
    uploaded: bool
    choices: Choices


def draw(seed: int) -> OwnData | None:
    """Controls for the visitor's own data; what they hold, or None if that is nothing or cannot be used."""
    format_ = widgets.choice("Format", fields.FORMAT)
    st.caption(_TEXTS[format_])
    target, rank = "", 0
    if format_ == "conllu":
        target = widgets.choice("What to predict", fields.TARGET)
    if target == "trees":
        rank = _about_trees()
    user_data: OwnData | None = None
    with failures_as_messages():
        file = OWN.draw()
        if file is None:
            return None
        with how_read.choosing(fields.READ):
            user_data, report = _read(file, target, rank, seed)
        _describe(user_data.task, report)
    return user_data


def read_lines(name: str, user_data: OwnData | None) -> Lines:
    """A line that binds ``data`` to the bytes of what has this name: a file, unless it is the user's data of now."""
    if name == f"{_EXAMPLE}.conllu":
        return Lines("data = template_conllu().encode()\n", (template_conllu,))
    if user_data is None or user_data.task.name != name:
        return as_python.read_bytes(name, b"", uploaded=True)
    return as_python.read_bytes(name, user_data.file.data, uploaded=user_data.uploaded)


def _about_trees() -> int:
    st.caption(_TEXTS["trees"])
    rank, download, use = st.columns([1, 1, 1], vertical_alignment="bottom")
    requested_rank = rank.number_input(
        "Rank of the probe",
        **fields.RANK.bound,
        help="The number of rows of the linear map, at most the width of the model. More rows take longer; on "
        "sentences made from templates, all 384 of the bundled BERT found no more than 64 did.",
    )
    with download:
        save.button(
            "Example file",
            template_conllu,
            _EXAMPLE,
            "conllu",
            "400 sentences with their trees, made from templates written for this app; not a treebank of real text.",
        )

    use.button("Use the example", on_click=OWN.use, args=(_EXAMPLE,), icon=":material/park:")
    return int(requested_rank)


def _read(file: File, target: str, rank: int, seed: int) -> tuple[OwnData, Report]:
    """What is to be probed, and how it was read."""
    choices = fields.READ.value
    parts = (
        hashlib.sha256(file.data).hexdigest(),
        file.name,
        f"{target} {rank}" if target == "trees" else target,
        how_read.written(choices),
        str(seed),
    )
    call = partial(readers.read_file, file.data, file.name, cast(readers.Target, target), seed, choices)
    data, report = read([file], call)
    task = StructuralTask(data, rank) if isinstance(data, Treebank) else data
    return OwnData("own data " + " ".join(parts), task, file, OWN.uploaded(), choices), report


def _describe(task: Dataset | StructuralTask, report: Report) -> None:
    dataset = task.treebank.words if isinstance(task, StructuralTask) else task
    n_test = int((dataset.split == TEST).sum())
    items = f", {counted(len(dataset), 'word')}" if dataset.level == "token" else ""
    labels = "with trees" if isinstance(task, StructuralTask) else counted(len(set(dataset.labels)), "label")
    st.success(
        as_text(
            f"{dataset.name}: {len(dataset.texts):,} different sentences{items}, {labels}; "
            f"{counted(n_test, 'sentence')} held out for testing. They are probed together with the tasks chosen "
            "above."
        ),
        icon=":material/check:",
    )
    how_read.draw(report, fields.READ)
    for note in dataset.notes:
        caption(note)
