"""The view "Many pairs" of the page "Next sentence": a list, run in batches that can be stopped."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from analysis import pairs
from analysis.export import CSV_NOTE, table_to_csv
from ui import figures, notes, state
from ui.engine import engine
from ui.theme import is_dark
from viz.calibration import calibration

_BATCH = "pairs being judged"


@dataclass(slots=True)
class Batch:
    """A list and what is known of it so far: ``p_next`` is nan where a pair has not had its turn.

    ``longest`` are the tokens of the longest pair judged.
    """

    model: str
    pairs: pairs.Pairs
    p_next: list[float] = field(default_factory=list)
    longest: int = 0
    running: bool = True

    def __post_init__(self) -> None:
        self.p_next = [float("nan")] * len(self.pairs.rows)

    @property
    def waiting(self) -> list[int]:
        return [place for place, p in enumerate(self.p_next) if np.isnan(p)]


def draw(model: str) -> None:
    """Paste or upload, run, stop, read, take away."""
    st.caption(
        f"CSV with the columns a and b, and label (1 if B follows A, else 0) if you know it; "
        f"at most {pairs.MAX_PAIRS:,} pairs."
    )
    pasted, uploaded = st.columns(2, gap="large")
    typed = pasted.text_area("Paste CSV", **state.PAIRS.bound, height=190)
    file = uploaded.file_uploader("or upload a file", type=["csv", "tsv", "txt"], key="pairs file")
    content = pairs.decode(file.getvalue()) if file is not None else typed
    batch: Batch | None = st.session_state.get(_BATCH)

    found = pairs.read(content)

    def start() -> None:
        st.session_state[_BATCH] = Batch(model, found)

    running = batch is not None and batch.running
    if not running:
        st.button(f"Judge {len(found.rows):,} pairs", on_click=start, type="primary", icon=":material/play_arrow:")
    left_out = [
        f"{found.n_empty:,} rows without an a or a b" if found.n_empty else "",
        f"{found.n_beyond:,} rows beyond the first {pairs.MAX_PAIRS:,}" if found.n_beyond else "",
    ]
    if any(left_out):
        st.warning(f"Left out: {' and '.join(part for part in left_out if part)}.", icon=":material/content_cut:")
    if batch is None:
        return
    if running:
        _run(batch)
    _show(batch)


def _run(batch: Batch) -> None:
    """Judge what is waiting; a click anywhere interrupts between batches, and what is done stays."""

    def stop() -> None:
        batch.running = False

    st.button("Stop", on_click=stop, icon=":material/stop:")
    total = len(batch.p_next)
    bar = st.progress(0.0)
    waiting = batch.waiting
    try:
        scores = engine().next_sentences(batch.model, [batch.pairs.rows[place] for place in waiting])
        done = total - len(waiting)
        for place, score in scores:
            batch.p_next[waiting[place]] = score.p_next
            batch.longest = max(batch.longest, len(score.encoding))
            done += 1
            if done % 16 == 0 or done == total:
                bar.progress(done / total, f"{done:,} of {total:,} pairs")
    except Exception:  # no model, no head, a broken character: the list must not start again with every click
        batch.running = False
        raise
    batch.running = False
    st.rerun()


def _show(batch: Batch) -> None:
    n_waiting = len(batch.waiting)
    if n_waiting:
        st.info(f"Stopped: {n_waiting:,} of {len(batch.p_next):,} pairs were not judged.", icon=":material/stop:")
    notes.beyond_training({batch.model: batch.longest})
    table = pd.DataFrame(
        {
            "a": [a for a, _ in batch.pairs.rows],
            "b": [b for _, b in batch.pairs.rows],
            "p_next": batch.p_next,
        }
    )
    labels = batch.pairs.labels
    if labels is not None:
        table["label"] = pd.array([None if label is None else int(label) for label in labels], dtype="Int64")
    table["model"] = batch.model
    judged_pairs = table[table["p_next"].notna()]
    st.dataframe(
        judged_pairs,
        hide_index=True,
        column_order=[name for name in table.columns if name != "model"],
        column_config={"p_next": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.3f")},
    )
    st.download_button(
        "Results as CSV", table_to_csv(judged_pairs), "pairs.csv", "text/csv",
        icon=":material/download:", help=CSV_NOTE, on_click="ignore",
    )  # fmt: skip
    if labels is None:
        return
    known = judged_pairs.index.tolist()
    judged = pairs.judge([batch.p_next[place] for place in known], [labels[place] for place in known])
    if judged is None:
        return
    numbers, curve = st.columns([1, 2], gap="large")
    numbers.metric("Accuracy at P > 0.5", f"{judged.accuracy:.1%}")
    numbers.metric("Calibration error", f"{judged.calibration_error:.3f}")
    numbers.caption(
        f"Over {judged.n:,} labelled pairs. The error is how far the shares lie from the probabilities, on average."
    )
    with curve:
        figures.show(calibration(judged, dark=is_dark()), "calibration", "calibration")
