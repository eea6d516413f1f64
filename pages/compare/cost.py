"""View "Cost": models timed side by side, and how good they are, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from analysis.intervals import wilson
from analysis.latency import ModelCost, doubling, frame, latencies, spread
from jobs.measurement import Measurement
from model_zoo.types import CostSample, CostSubject, Quality
from pages.compare.scene import Scene, call_each, successes
from ui import Field, View, as_python, as_text, figures, one_of, precomputed, save, start_button, watch, widgets, within
from ui.as_python import Lines
from ui.tables import per_cent
from viz.curves import Measure, by_length
from viz.intervals import Entry, score_by_cost
from web.background import desk
from web.engine import engine

_PEAK = "extra memory per pass, MB"
_NOISY = 0.5  # of the median: where half of the passes lie further apart, something else was at work
_MEASURES: Mapping[Measure, str] = {
    "latency": "Time per text",
    "tokens": "Tokens per second",
    "words": "Words per second",
}

MEASURE: Field[Measure] = Field("measure", "latency", one_of("the measure", _MEASURES), of="compare")
LENGTH: Field[int] = Field("length", 128, within("the length", 1, 99_999), of="compare")

_NOT_IN_LINK = "Not in it: the measured times, which are valid for one machine at one moment only."
_METHOD = (Path(__file__).parent / "cost.md").read_text(encoding="utf-8")


def draw(scene: Scene) -> None:
    measurement = desk().current(Measurement)
    with widgets.controls():
        if measurement is None or not measurement.running:
            _start(scene)
        timed = [] if measurement is None else _timed_costs(measurement)
        measure = None
        if timed:
            measure = widgets.choice("Show", MEASURE)
        with widgets.popover("How it is measured", ":material/straighten:"):
            st.markdown(_METHOD)
    if measurement is not None:
        watch(measurement)
        _describe(measurement, timed, scene)
    if measurement is None or measure is None:
        _before_timing(scene, measurement is None)
        return
    _put_python(scene, [cost.subject for cost in timed], timed=True)
    names = {cost.subject.model: scene.name(cost.subject.model) for cost in timed}
    curves, numbers = st.columns(2, gap="medium")
    with curves:
        _curves(timed, measure, names)
        _notes(timed, names, measurement.running)
    with numbers:
        _table(timed, names)
        save.table("Everything measured", lambda: frame(timed), "cost")


def _put_python(scene: Scene, subjects: Sequence[CostSubject], *, timed: bool = False) -> None:
    """What is counted; times differ from one measurement to the next, so they are not among the numbers."""
    columns = ["parameters", "bytes", "pieces per word"]
    lines = Lines(scene.of_each([subject.model for subject in subjects], "subject", "engine.cost_subject(model)"))
    if timed:
        lines += Lines(
            "passes = [sample for sample in engine.measure_cost(models) if isinstance(sample, CostSample)]\n"
            "curves = latencies(passes)  # of each model by length; other times than those on the page\n",
            (latencies, CostSample),
        )
    else:
        lines += "# How fast they are: engine.measure_cost(models), which gives one pass after the other.\n"
    as_python.put(
        lines + "# How good they are: engine.ask(MeasureQuality(model)), which takes up to half a minute a model.\n"
        "counts = [(subject.info.parameters, subject.n_bytes, subject.pieces_per_word) for subject in subjects]\n"
        f"numbers = pd.DataFrame(counts, columns={as_python.literal(columns)})",
        lambda: pd.DataFrame(
            [(subject.info.parameters, subject.n_bytes, subject.pieces_per_word) for subject in subjects],
            columns=columns,
        ),
        "from look_inside_bert.training.measure_quality import MeasureQuality",  # which a comment names
    )


def _start(scene: Scene) -> None:
    n = len(scene.models)
    start_button(
        "Measure this model" if n == 1 else f"Measure these {n} models",
        lambda: Measurement(engine(), scene.models),
        icon=":material/timer:",
        primary=True,
        key="measure-cost",
    )


def _timed_costs(measurement: Measurement) -> list[ModelCost]:
    """The models that have been timed; none while some still are, which would change all curves."""
    return (
        []
        if measurement.running and measurement.stage != "evaluating"
        else [cost for cost in measurement.costs if cost.curve]
    )


def _describe(measurement: Measurement, timed: Sequence[ModelCost], scene: Scene) -> None:
    """What is to be said of a measurement: what failed, that it was stopped, that it is of other models."""
    for failure in measurement.failures:
        st.warning(as_text(f"{scene.name(failure.model)}: {failure.reason}"), icon=":material/error:")
    if measurement.stopping and not measurement.running and not measurement.failures:
        st.info(
            "Stopped. What was measured so far is shown." if timed else "Stopped before anything was measured.",
            icon=":material/stop_circle:",
        )
    if timed and set(measurement.models) != set(scene.models):
        last = ", ".join(scene.name(model) for model in measurement.models)
        st.info(
            as_text(f"This is the last measurement ({last}), but other models are chosen above now. Measure again."),
            icon=":material/history:",
        )


def _before_timing(scene: Scene, untouched: bool) -> None:
    """What is known of the models without timing them; their quality where it came with the app."""
    subjects = successes(call_each(scene.models, engine().cost_subject))  # without those that could not be timed
    _put_python(scene, [*subjects.values()])
    costs = [ModelCost(subject, (), precomputed.quality(subject.info)) for subject in subjects.values()]
    if not costs:
        return
    names = {cost.subject.model: scene.name(cost.subject.model) for cost in costs}
    _size_and_quality(costs, names)
    numbers, words = st.columns([2, 1], gap="medium")
    with numbers:
        rows = _table(costs, names)
    lines = [
        "Times are valid for one machine at one moment, so they are measured here: this takes half a minute to a few "
        "minutes, and can be stopped."
    ] * untouched
    lines += [
        "A dash means not measured, or not possible with this model. Parameters, weights and pieces per word are "
        "counted, not timed."
    ]
    if any(cost.quality is not None for cost in costs):
        lines.append(
            "The MLM and NSP figures of the bundled models ship with the app: measured with these weights on all "
            "held-out pairs."
        )
    with words:
        st.caption("  \n".join(as_text(line) for line in lines))
        _reasons(costs)
        save.table("This table", lambda: rows, "cost")


def _size_and_quality(costs: Sequence[ModelCost], names: Mapping[str, str]) -> None:
    """The picture of what is known without timing: right predictions of masked tokens against the size."""
    known = [(cost, cost.quality.mlm_accuracy) for cost in costs if cost.quality is not None]
    entries = [
        Entry(names[cost.subject.model], cost.subject.n_bytes / 1e6, share, *wilson(share, cost.quality.n_masked))
        for cost, share in known
        if share is not None and cost.quality is not None
    ]
    if entries:
        figure = partial(score_by_cost, entries, "weights, MB", "masked tokens predicted correctly", percent=True)
        figures.show(figure, "size and quality", "size-and-quality")


def _curves(timed: Sequence[ModelCost], measure: Measure, names: Mapping[str, str]) -> None:
    curves = {cost.subject.model: cost.curve for cost in timed}
    figures.show(partial(by_length, curves, measure, names=names), "cost", f"cost-{measure}")
    if spread(curves.values()) > _NOISY:
        st.warning(
            "Equal passes took very different times, as happens when something else keeps the machine busy, so the "
            "medians are unreliable. Measure again when it is idle.",
            icon=":material/blur_on:",
        )


def _length(lengths: Sequence[int]) -> int | None:
    """The length of text for the table, of those that were measured; None where none was."""
    if not lengths:
        return None
    wanted = LENGTH.value
    if wanted not in lengths:
        LENGTH.value = min(lengths, key=lambda length: abs(length - wanted))
    options = {length: str(length) for length in lengths}
    return int(st.select_slider("Tokens in the text, for the table", **LENGTH.offering(options)))


# What a row of the table is called, how its numbers are written, and what stands behind them in brackets.
_ROWS: Sequence[tuple[str, str, str | None]] = (
    ("parameters, M", "{:,.1f}", None),
    ("weights, MB", "{:,.1f}", None),
    (_PEAK, "{:,.1f}", None),
    ("time, ms", "{:,.2f}", "middle half, ms"),
    ("tokens/s", "{:,.0f}", None),
    ("words/s", "{:,.0f}", None),
    ("× per doubling", "{:.2f}", None),
    ("pieces/word", "{:.2f}", None),
    ("masked correct", "{:.1f}%", "masked correct, 95%"),
    ("replaced correct", "{:.1f}%", None),
    ("kept correct", "{:.1f}%", None),
    ("NSP correct", "{:.1f}%", "NSP correct, 95%"),
)


def _table(costs: Sequence[ModelCost], names: Mapping[str, str]) -> pd.DataFrame:
    """Draws one column per model, so that no number is out of sight; returns the numbers, one row per model."""
    length = _length(sorted({latency.n_tokens for cost in costs for latency in cost.curve}))
    rows = pd.DataFrame([_row(cost, names[cost.subject.model], length) for cost in costs])
    if rows[_PEAK].isna().all():  # only a GPU tells
        rows = rows.drop(columns=_PEAK)
    st.table(
        pd.DataFrame(
            {
                model: {
                    label: _written(row, label, pattern, behind) for label, pattern, behind in _ROWS if label in rows
                }
                for model, row in rows.set_index("model").iterrows()
            }
        )
    )
    st.caption(
        "Times are medians, with the middle half of the passes in brackets; shares have their 95% interval in "
        "brackets. “× per doubling” is the factor by which time grows when the longest texts double in length: 2 for "
        "linear growth, 4 for quadratic."
    )
    return rows


def _written(row: Any, label: str, pattern: str, behind: str | None) -> str:
    if pd.isna(row[label]):
        return "–"
    return pattern.format(row[label]) + ("" if behind is None else f" ({row[behind]})")


def _row(cost: ModelCost, name: str, length: int | None) -> dict[str, object]:
    here = None if length is None else cost.at(length)
    quality = cost.quality or Quality(n_total=0)
    return {
        "model": name,
        "parameters, M": cost.subject.info.parameters / 1e6,
        "weights, MB": cost.subject.n_bytes / 1e6,
        _PEAK: None if here is None or here.peak_bytes is None else here.peak_bytes / 1e6,
        "time, ms": None if here is None else 1000 * here.median,
        "masked correct": per_cent(quality.mlm_accuracy),
        "NSP correct": per_cent(quality.nsp_accuracy),
        "tokens/s": None if here is None else here.tokens_per_second,
        "words/s": None if here is None else here.words_per_second,
        "pieces/word": cost.subject.pieces_per_word,
        "× per doubling": doubling(cost.curve),
        "middle half, ms": None if here is None else f"{1000 * here.low:.2f}–{1000 * here.high:.2f}",
        "masked correct, 95%": _ends(quality.mlm_accuracy, quality.n_masked),
        "NSP correct, 95%": _ends(quality.nsp_accuracy, quality.n_pairs),
        "replaced correct": per_cent(quality.replaced_accuracy),
        "kept correct": per_cent(quality.kept_accuracy),
    }


def _ends(share: float | None, n: int) -> str | None:
    if share is None:
        return None
    low, high = wilson(share, n)
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _notes(timed: Sequence[ModelCost], names: Mapping[str, str], running: bool) -> None:
    infos = [cost.subject.info for cost in timed]
    where = sorted({f"{info.dtype} on {info.device}" for info in infos})
    threads = f", {timed[0].subject.n_threads} threads" if any(info.device == "cpu" for info in infos) else ""
    passes = sorted({latency.n for cost in timed for latency in cost.curve})
    counts = f"{passes[0]}" if len(passes) == 1 else f"{passes[0]} to {passes[-1]}"
    lines = [f"{', '.join(where)}{threads}; {counts} passes per model and length, warm-up not counted."]
    if running:
        lines.append("The held-out sentences are still being read; these are the shares so far.")
    for cost in timed:
        model = names[cost.subject.model]
        if cost.quality is None:
            if not running:
                lines.append(f"{model} did not reach the held-out sentences.")
            continue
        if cost.quality.n_done < cost.quality.n_total and not running:
            lines.append(
                f"{model} read {cost.quality.n_done} of {cost.quality.n_total} held-out texts and pairs; its shares "
                "are of these."
            )
    st.caption("  \n".join(as_text(line) for line in lines))
    _reasons(timed)


def _reasons(costs: Sequence[ModelCost]) -> None:
    explanations = [why for cost in costs if cost.quality for why in (cost.quality.no_mlm, cost.quality.no_nsp)]
    reasons = [f"- {as_text(why)}" for why in explanations if why is not None]
    if reasons:
        with st.expander("Why some models have no figure for MLM or NSP", icon=":material/help:"):
            st.markdown("\n".join(dict.fromkeys(reasons)))


VIEW = View(
    "cost",
    "Cost",
    draw,
    about="What each model costs in time and memory, timed here and now; the text above is not used.",
    more="All models get the same running text. Quality is shown beside cost.",
    fields=(MEASURE, LENGTH),
    left_out=lambda _scene: "" if desk().current(Measurement) is None else _NOT_IN_LINK,
    tab=50,
)
