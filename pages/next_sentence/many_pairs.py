"""View "Many pairs": a list, run in batches that can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st

from analysis import pairs
from model_zoo.types import counted
from pages.next_sentence.scene import WHAT_SOP_IS, Scene
from reading import read, read_files
from reading.items import SentencePair
from ui import Field, View, as_python, caption, figures, how_read, notes, own_file, save, say_cut, tables, widgets
from ui.batch import Batch, left_out, offer, run_in_turn
from ui.messages import also_at
from viz.curves import calibration
from web import uploads
from web.engine import engine
from web.uploads import File

PAIRS: Field[str] = Field(
    "pairs",
    (Path(__file__).parent / "many_pairs.csv").read_text(encoding="utf-8"),
    of="next_sentence",
)

READ = how_read.choices_field("pairs_read", "next_sentence")

_BATCH = "pairs being judged"
_FILE = "pairs file"


class Judgement(NamedTuple):
    """Of one pair: P(B follows A), or with ``in_order`` P(A and B are in order), and how many tokens it has."""

    p_next: float
    n_tokens: int
    in_order: bool


Row = tuple[str, str, bool | None]
"""A, B and whether B follows A, None where the file does not say."""


def draw(scene: Scene) -> None:
    with widgets.controls():
        with widgets.popover("The pairs", ":material/table_rows:"):
            typed = st.text_area("Paste CSV", **PAIRS.bound, height=190)
            file = uploads.ask_file("or upload a file", _FILE, st.container())
            uploaded = file is not None
            custom = uploaded or typed != PAIRS.default
            file = file or uploads.pasted(typed)
            problem = st.empty()
            with also_at(problem), how_read.choosing(READ):
                call = partial(read_files, [(file.name, file.data)], "pairs", READ.value, most=pairs.MAX_PAIRS)
                data = own_file.read([file], call)
            if custom:
                how_read.draw(data.report, READ)
        begin = st.container()
    for remark in data.report.remarks:
        say_cut(remark)
    rows = [(pair.a, pair.b, pair.label) for pair in data.items if isinstance(pair, SentencePair)]
    with begin:
        example = not custom and scene.lacks("nsp") is None
        batch: Batch[Row, Judgement] | None = offer(_BATCH, scene.model, rows, example=example)
    before = pd.DataFrame(rows, columns=["a", "b", "label"]).dropna(axis="columns", how="all")

    def show(model: str, judged: list[tuple[Row, Judgement]]) -> None:
        _show(model, judged)
        if [row for row, _ in judged] == rows:
            _put_python(model, judged, file, uploaded=uploaded)

    run_in_turn(batch, _judged, show, before)


def _judged(model: str, rows: list[Row]) -> Iterator[tuple[int, Judgement]]:
    for place, score in engine().iter_next_sentences(model, [(a, b) for a, b, _ in rows]):
        yield place, Judgement(score.p_next, len(score.encoding), score.kind == "SOP")


def _show(model: str, judged: list[tuple[Row, Judgement]]) -> None:
    notes.warn_beyond_training({model: max((result.n_tokens for _, result in judged), default=0)})
    caption(f"Answers by {model}.")
    if any(result.in_order for _, result in judged):
        st.info(WHAT_SOP_IS, icon=":material/info:")
    table = pd.DataFrame(
        {
            "a": [a for (a, _, _), _ in judged],
            "b": [b for (_, b, _), _ in judged],
            "p_next": [result.p_next for _, result in judged],
        }
    )
    labels = [label for (_, _, label), _ in judged]
    if any(label is not None for label in labels):
        table["label"] = pd.array([None if label is None else int(label) for label in labels], dtype="Int64")
    table["model"] = model
    quality = pairs.judge([result.p_next for _, result in judged], labels)
    if quality is not None:
        _draw_quality(quality)
    tables.draw(
        table,
        column_order=[name for name in table.columns if name != "model"],
        column_config={"p_next": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.3f")},
    )
    save.table("Results", lambda: table, "pairs")


def _put_python(model: str, judged: list[tuple[Row, Judgement]], file: File, *, uploaded: bool) -> None:
    """P(B follows A) of every pair, where those that were judged are the pairs of this file."""
    arguments = f'data, "pairs", name={as_python.literal(file.name)}{how_read.in_python(READ.value)}'
    beyond = f"[:{pairs.MAX_PAIRS}]" if len(judged) == pairs.MAX_PAIRS else ""
    columns = ["a", "b", "p_next"]
    as_python.put(
        as_python.read_bytes(file.name, file.data, uploaded=uploaded)
        + f"pairs = [(pair.a, pair.b) for pair in read({arguments}).items]{beyond}\n"
        f"scores = engine.next_sentence({as_python.literal(model)}, pairs)\n"
        'numbers = pd.DataFrame(pairs, columns=["a", "b"]).assign(p_next=[score.p_next for score in scores])',
        lambda: pd.DataFrame([(a, b, judgement.p_next) for (a, b, _), judgement in judged], columns=columns),
        read,
    )


def _draw_quality(quality: pairs.Judged) -> None:
    numbers, curve = st.columns([1, 2], gap="large")
    numbers.metric("Accuracy at P > 0.5", f"{quality.accuracy:.1%}")
    numbers.metric("Calibration error", f"{quality.calibration_error:.3f}")
    numbers.caption(
        f"Over {counted(quality.n, 'labelled pair')}. The error is the mean gap between predicted probability and "
        "observed share (ECE)."
    )
    with curve:
        figures.show(partial(calibration, quality), "calibration", "calibration")


VIEW = View(
    "many pairs",
    "Many pairs",
    draw,
    "Test a list: a table or JSON with the columns a and b, and label (1 if B follows A, else 0) if you know it; "
    f"at most {pairs.MAX_PAIRS:,} pairs.",
    fields=(PAIRS, READ),
    left_out=lambda _scene: left_out(_FILE, _BATCH),
    tab=40,
    terms=("expected calibration error", "calibration"),
)
