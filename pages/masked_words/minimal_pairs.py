"""View "Minimal pairs": how often a model prefers the right one of two sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st

from analysis.minimal_pairs import Accuracy, MinimalPair, accuracies
from model_zoo.text import check
from model_zoo.types import EQUAL_NATS, Scheme, counted
from pages.masked_words.scene import Scene
from reading import read_files
from ui import Field, View, as_python, caption, figures, how_read, notes, save, say_cut, widgets
from ui.as_python import Lines
from ui.batch import Batch, left_out, offer, run_in_turn
from ui.messages import also_at
from ui.own_file import minimal_pairs, read_pairs
from viz.intervals import accuracy_bars
from web import uploads
from web.engine import engine
from web.uploads import File

MINIMAL_PAIRS: Field[str] = Field(
    "minimal_pairs",
    (Path(__file__).parent / "minimal_pairs.csv").read_text(encoding="utf-8"),
    of="masked_words",
)

READ = how_read.choices_field("minimal_pairs_read", "masked_words")

_MAX_PAIRS = 10_000
_AT_ONCE = 16  # pairs that are asked for together, between which a click can stop the list
_SCHEMES: dict[Scheme, str] = {
    "causal": "log-likelihoods (of every token given those before it)",
    "word l2r": "pseudo-log-likelihoods (PLL-word-l2r, Kauf & Ivanova 2023)",
}
_FILES = "pair files"
_BATCH = "minimal pairs being judged"


class Judgement(NamedTuple):
    """Of one pair: the sums of ln P of its sentences (nats), by which scheme, the tokens of the longer one, and whether
    the model's limit cut either.
    """

    good: float
    bad: float
    scheme: Scheme
    n_tokens: int
    cut: bool


def draw(scene: Scene) -> None:
    with widgets.controls():
        with widgets.popover("The pairs", ":material/table_rows:"):
            typed = st.text_area("Paste pairs", **MINIMAL_PAIRS.bound, height=190)
            uploaded = uploads.ask_files("or upload files", _FILES, st.container())
            files = uploaded or [uploads.pasted(typed)]
            st.caption(
                "A table with the columns good and bad, and phenomenon if you know it, or the JSON lines of BLiMP "
                f"(Warstadt et al. 2020); at most {_MAX_PAIRS:,} pairs."
            )
            problem = st.empty()
            with also_at(problem), how_read.choosing(READ):
                data = read_pairs(files, _MAX_PAIRS, READ)
            if uploaded or typed != MINIMAL_PAIRS.default:
                how_read.draw(data.report, READ)
        begin = st.container()
    for remark in data.report.remarks:
        say_cut(remark)
    pairs = minimal_pairs(data)
    with begin:
        example = not uploaded and typed == MINIMAL_PAIRS.default and (scene.causal or scene.info.mlm)
        batch: Batch[MinimalPair, Judgement] | None = offer(_BATCH, scene.model, pairs, example=example)
    rows = [(pair.good, pair.bad, pair.phenomenon) for pair in pairs]

    def show(model: str, judged: list[tuple[MinimalPair, Judgement]]) -> None:
        _show(model, judged)
        if [pair for pair, _ in judged] == list(pairs):
            _put_python(model, judged, files, uploaded=bool(uploaded))

    run_in_turn(batch, _judged, show, pd.DataFrame(rows, columns=["good", "bad", "phenomenon"]))
    st.caption("The text above is not used here.")


def _judged(model: str, rows: list[MinimalPair]) -> Iterator[tuple[int, Judgement]]:
    scheme: Scheme | None = None if engine().info(model).lm else "word l2r"
    for number, pair in enumerate(rows, start=1):  # before the first is run, and by its place in the whole list
        check(pair.good, f"The good sentence of pair {number}")
        check(pair.bad, f"The bad sentence of pair {number}")
    for first in range(0, len(rows), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        preferences = engine().prefer(model, [(pair.good, pair.bad) for pair in some], scheme=scheme)
        for place, preference in enumerate(preferences, start=first):
            a, b = preference.a, preference.b
            n_tokens = max(len(a.encoding), len(b.encoding))
            cut = bool(a.encoding.n_dropped or b.encoding.n_dropped)
            yield place, Judgement(a.log_likelihood, b.log_likelihood, a.scheme, n_tokens, cut)


def _show(model: str, judged: list[tuple[MinimalPair, Judgement]]) -> None:
    if not judged:
        return
    notes.warn_beyond_training({model: max(result.n_tokens for _, result in judged)})
    n_cut = sum(result.cut for _, result in judged)
    if n_cut:
        say_cut(
            f"In {counted(n_cut, 'pair')} a sentence was cut at the model's limit; only the part that "
            "was read is compared."
        )
    rows = _accuracies(judged)
    overall = rows[0]
    figures.show(partial(accuracy_bars, rows), "minimal pairs", "minimal-pairs")
    ties = f", {overall.n_ties:,} of them tied and counted as half" if overall.n_ties else ""
    st.metric("Correct sentence preferred", f"{overall.accuracy:.1%}")
    caption(
        f"{model}, over {counted(overall.n, 'pair')}{ties}. 95% interval: {overall.low:.0%} to {overall.high:.0%}; "
        "guessing gets 50%."
    )
    st.dataframe(
        _table(rows),
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="percent") for name in ("right", "from", "to")},
    )
    how = _SCHEMES[judged[0][1].scheme]
    st.caption(
        f"This compares the {how} of the two sentences, in nats; a difference of less than {EQUAL_NATS} is a tie. "
        "“From” and “to” bound the 95% interval (Wilson). If the two sentences have different numbers of tokens, the "
        "longer one is at a disadvantage."
    )
    save.table("Accuracy", lambda: _table(rows), "accuracy")
    save.table("Every pair", lambda: _every_pair(model, judged), "minimal-pairs")


def _put_python(model: str, judged: list[tuple[MinimalPair, Judgement]], files: list[File], *, uploaded: bool) -> None:
    """How often the right sentence is preferred, where the pairs that were judged are those of these files."""
    scheme = judged[0][1].scheme
    if uploaded:
        paths = ", ".join(f"Path({as_python.literal(file.name)})" for file in files)
        lines, data = Lines(f"files = [{paths}]  # that you uploaded\n", (Path,)), "file.name, file.read_bytes()"
        contents = f"[({data}) for file in files]"
    else:
        lines = as_python.read_bytes(files[0].name, files[0].data, uploaded=False)
        contents = f"[({as_python.literal(files[0].name)}, data)]"
    most = f", most={_MAX_PAIRS}" if len(judged) == _MAX_PAIRS else ""
    choices, needed = how_read.choices_in_python(READ.value)
    by = "" if scheme == "causal" else f', scheme="{scheme}"'
    as_python.put(
        lines + f'pairs = read_files({contents}, "minimal pairs"{choices}{most}).items\n'
        f"judged = engine.prefer({as_python.literal(model)}, [(pair.good, pair.bad) for pair in pairs]{by})\n"
        "numbers = pd.DataFrame(accuracies(pairs, [preference.difference for preference in judged]))",
        lambda: pd.DataFrame(_accuracies(judged)),
        read_files,
        *needed,
    )


def _accuracies(judged: list[tuple[MinimalPair, Judgement]]) -> tuple[Accuracy, ...]:
    return accuracies([pair for pair, _ in judged], [result.good - result.bad for _, result in judged])


def _table(rows: tuple[Accuracy, ...]) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "phenomenon": [row.phenomenon or "all pairs" for row in rows],
            "paradigm": [row.paradigm for row in rows],
            "pairs": [row.n for row in rows],
            "ties": [row.n_ties for row in rows],
            "right": [row.accuracy for row in rows],
            "from": [row.low for row in rows],
            "to": [row.high for row in rows],
            "mean difference (nats)": [row.mean_difference for row in rows],
        }
    )
    return table if table["paradigm"].any() else table.drop(columns="paradigm")


def _every_pair(model: str, judged: list[tuple[MinimalPair, Judgement]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "phenomenon": pair.phenomenon,
                "paradigm": pair.paradigm,
                "good": pair.good,
                "bad": pair.bad,
                "scheme": result.scheme,
                "ln_p_good": result.good,
                "ln_p_bad": result.bad,
                "difference": result.good - result.bad,
            }
            for pair, result in judged
        ]
    )


VIEW = View(
    "pairs",
    "Minimal pairs",
    draw,
    (
        "Two sentences differ in one point, and only one is acceptable: how often does the model find that one "
        "more probable?"
    ),
    fields=(MINIMAL_PAIRS, READ),
    left_out=lambda _scene: left_out(_FILES, _BATCH),
    tab=80,
    terms=("minimal pair",),
)
