"""Measuring: the button, how far it is, and what there is without it."""

from __future__ import annotations

import streamlit as st

from analysis.corpus.results import Results
from jobs.measure_heads import MeasureHeadsJob
from model_zoo import registry
from model_zoo.types import ModelInfo, counted, duration
from pages.corpus.source import BUILT_IN, Source
from ui import as_text, work
from ui.precomputed.heads import HEADS
from ui.tuned import short_name
from web.background import desk
from web.engine import engine

# Measured on two processor cores, sentences of twenty tokens; three passes where there are trees.
_SECONDS_A_SENTENCE = 0.6e-3
_SECONDS_A_SENTENCE_AND_WEIGHT = 0.3e-9


def _mine(model: str, source: Source) -> Results | None:
    """What was found of a model on these sentences in this visit."""
    job = desk().current(MeasureHeadsJob)
    return job.results if job is not None and job.model == model and job.corpus is source.corpus else None


def results(info: ModelInfo, source: Source) -> Results | None:
    """What there is of a model on these sentences: from this visit, else what came with the app."""
    return _mine(info.id, source) or (HEADS.find(info) if source.fingerprint == BUILT_IN else None)


def button(model: str, source: Source) -> None:
    """The button that measures what is chosen, in the line of what is asked; none while something runs."""
    known = _mine(model, source) or (source.fingerprint == BUILT_IN and model in HEADS.models)
    work.button(
        f"Measure {counted(len(source.corpus), 'sentence')}",
        MeasureHeadsJob,
        (model, source.fingerprint),
        key="measure_corpus",
        primary=not known,
        disabled=not len(source.corpus),
        help=as_text(_takes(model, source)),
    )


def draw(model: str, source: Source) -> None:
    """While something runs how far it is; else what was asked for is begun."""
    job = desk().current(MeasureHeadsJob)
    if job is not None and job.running:
        work.watch(job, stop=False)
        return
    work.begin(
        MeasureHeadsJob, (model, source.fingerprint), [model], lambda: MeasureHeadsJob(engine(), model, source.corpus)
    )
    known = _mine(model, source)
    if job is not None and known is not None and job.stopping and known.statistics.n_texts < len(job.corpus):
        st.info(
            f"Stopped after {known.statistics.n_texts:,} of {len(job.corpus):,} sentences; what is shown is of these.",
            icon=":material/stop_circle:",
        )
    if job is not None and job.failure is not None:
        work.watch(job)


def _takes(model: str, source: Source) -> str:
    """About how long measuring takes."""
    spec = registry.find(model)
    n = counted(len(source.corpus), "sentence")
    if spec is None:
        return f"Measures all heads of {short_name(model)} on {n}. How long that takes depends on the model."
    weights = 12 * spec.layers * spec.width**2
    passes = 3 if source.corpus.has_trees else 1
    seconds = passes * len(source.corpus) * (_SECONDS_A_SENTENCE + 20 * _SECONDS_A_SENTENCE_AND_WEIGHT * weights)
    roughly = "a few seconds" if seconds < 10 else f"about {duration(round(seconds, -1))}"
    return f"Measures all heads of {spec.name} on {n}. On two processor cores that takes {roughly}."
