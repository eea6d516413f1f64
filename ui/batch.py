"""A list that is worked through in batches, can be stopped by a click anywhere, and keeps the results it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st

from model_zoo.types import counted
from ui import notes, tables

Row = TypeVar("Row")
Result = TypeVar("Result")


@dataclass(slots=True)
class Batch(Generic[Row, Result]):
    """A model, the rows it is asked about, their results, None before a row's turn. An ``example`` began by itself."""

    model: str
    rows: Sequence[Row]
    example: bool = False
    results: list[Result | None] = field(default_factory=list)
    running: bool = True

    def __post_init__(self) -> None:
        self.results = [None] * len(self.rows)

    @property
    def waiting(self) -> list[int]:
        return [place for place, result in enumerate(self.results) if result is None]


def offer(key: str, model: str, rows: Sequence[Row], *, example: bool) -> Batch[Row, Any] | None:
    """The batch that the session holds under ``key``, and a button that starts one on these rows if none runs. An
    ``example`` starts by itself, as long as nothing else was started.
    """
    batch: Batch[Row, Any] | None = st.session_state.get(key)
    if batch is not None and batch.example and not (example and batch.model == model):
        batch = st.session_state[key] = None
    if batch is None and example:
        batch = st.session_state[key] = Batch(model, rows, example=True)

    def start() -> None:
        st.session_state[key] = Batch(model, rows)

    if batch is None or not batch.running:
        st.button(f"Test {counted(len(rows), 'pair')}", on_click=start, type="primary", icon=":material/play_arrow:")
    return batch


def run_in_turn(
    batch: Batch[Row, Result] | None,
    answers: Callable[[str, list[Row]], Iterator[tuple[int, Result]]],
    show: Callable[[str, list[tuple[Row, Result]]], None],
    before: pd.DataFrame,
) -> None:
    """Answer what waits by ``answers(model, rows)``, and ``show(model, rows with their results)`` what there is; the
    table of what would be judged where no list was started.
    """
    with st.container(key="answer"):
        if batch is None:
            tables.draw(before)
            return
        if batch.running:
            _run(batch, lambda rows: answers(batch.model, rows))
        if batch.waiting:
            n = f"{len(batch.waiting):,} of {counted(len(batch.rows), 'pair')}"
            st.info(f"Stopped: {n} not tested.", icon=":material/stop:")
        judged = zip(batch.rows, batch.results, strict=True)
        show(batch.model, [(row, result) for row, result in judged if result is not None])


def _run(batch: Batch[Row, Result], answers: Callable[[list[Row]], Iterator[tuple[int, Result]]]) -> None:
    """Answer the waiting rows: ``answers`` yields (place among them, result). Ends the run of the page.

    A click anywhere interrupts between two results, and what is done stays.
    """

    def stop() -> None:
        batch.running = False

    button, bar = st.empty(), st.empty()
    button.button("Stop", on_click=stop, icon=":material/stop:")
    total = len(batch.rows)
    waiting = batch.waiting
    done = total - len(waiting)
    try:
        for place, result in answers([batch.rows[place] for place in waiting]):
            batch.results[waiting[place]] = result
            done += 1
            if done % 16 == 0 or done == total:
                bar.progress(done / total, f"{done:,} of {total:,} pairs")
    except Exception:  # no model, no head, a broken character: the list must not start again with every click
        batch.running = False
        button.empty()
        bar.empty()
        raise
    batch.running = False
    st.rerun()


def left_out(files: str, results: str) -> str:
    """A sentence on what is on the screen but not in the address; empty if everything is.

    ``files`` and ``results`` are the keys of the uploader and of the batch in the session.
    """
    parts = ["the file you uploaded"] if st.session_state.get(files) else []
    batch: Batch[Any, Any] | None = st.session_state.get(results)
    if batch is not None and not batch.example:
        parts.append("the results: whoever opens the link has to test the pairs again")
    return notes.not_in_link(parts)
