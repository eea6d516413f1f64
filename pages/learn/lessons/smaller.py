"""Smaller and newer models: soft targets, shared layers, ModernBERT's changes, and what length costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.focus import reach
from analysis.latency import ModelCost, spread
from analysis.operations import layer_operations, lstm_operations, outweighing, weights_by_part
from analysis.softmax import softened
from jobs.measurement import Measurement
from model_zoo import DEFAULT_MODEL, heldout, registry
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy
from pages.learn import pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Sketch, Step, read_lesson
from ui import as_text, start_button, watch
from viz.curves import by_length
from web.background import desk
from web.engine import engine

_BASE: Final = "google-bert/bert-base-uncased"
_ALBERT: Final = "albert/albert-base-v2"
_TABLE: Final = 128  # numbers a token in ALBERT's table of embeddings, which a matrix then widens
_MODERN: Final = "embedded/modernbert"
_LSTM: Final = "embedded/bilstm"
_LENGTHS: Final = (16, 64, 256, 1024, 4096)
_NOISY: Final = 0.5  # of the median: where half of the passes lie further apart, something else was at work
_SHARED: Final = 10  # best guesses that the softened shares are divided among
_PAIRS: Final = 6  # of the built-in ones, as a text that is longer than a local layer reaches
_SMALL: Final = (
    "distilbert/distilbert-base-uncased",
    "huawei-noah/TinyBERT_General_4L_312D",
    _ALBERT,
    "answerdotai/ModernBERT-base",
)


class SoftTargets(Step):
    shared = _SHARED

    @cached_property
    def guesses(self) -> tuple[list[str], list[float]]:
        """The best guesses at the followed token and the logarithms of their probabilities."""
        best = self.case.guesses(self.followed, _SHARED).best
        return [p.token for p in best], [float(np.log(max(p.probability, 1e-30))) for p in best]

    def figure(self) -> None:
        names, logs = self.guesses
        pictures.shares("soft-targets", {"token": names, "share among these, T = 1": softened(logs, 1)})

    def ask(self) -> Choice:
        _, logs = self.guesses
        sharp, soft = max(softened(logs, 1)), max(softened(logs, 4))
        falls, rises = soft < sharp - 1e-9, soft > sharp + 1e-9
        return self.choice(falls=falls, sharp=sharp, soft=soft, rises=rises, stays=not (falls or rises))

    def reveal(self) -> None:
        pictures.shares("soft-targets", self.numbers()[:6])

    def numbers(self) -> pd.DataFrame:
        names, logs = self.guesses
        return pd.DataFrame({"token": names} | {f"T = {t}": softened(logs, t) for t in (1, 2, 4)})


class SizesStep(Step):
    """A step about the sizes of models."""

    base_millions: ClassVar[float] = registry.MODELS[_BASE].parameters / 1e6

    def figure(self) -> None:
        table = SizesStep.numbers(self)
        rows = table["model"].isin([name for name, _ in _smaller()])
        st.dataframe(table[["model", "layers", "heads", "width"]][rows], hide_index=True)

    def numbers(self) -> pd.DataFrame:
        columns = ["model", "layers", "heads", "width", "parameters", "longest text"]
        specs = registry.MODELS.values()
        rows = [(spec.name, spec.layers, spec.heads, spec.width, spec.parameters, spec.max_tokens) for spec in specs]
        return pd.DataFrame(rows, columns=columns)


def _smaller() -> list[tuple[str, float]]:
    """Names of models, and their parameters as a share of BERT-base's."""
    specs = [registry.MODELS[model] for model in _SMALL if model in registry.MODELS]
    return [(spec.name, spec.parameters / registry.MODELS[_BASE].parameters) for spec in specs]


def _unshared() -> float:
    """Parameters of ALBERT if each of its layers had weights of its own: the matrices of all layers but one more."""
    spec = registry.MODELS[_ALBERT]
    parts = weights_by_part(vocabulary=0, positions=0, width=spec.width, inner=4 * spec.width, layers=spec.layers - 1)
    return spec.parameters + sum(parts.values())


class SharedLayers(SizesStep):
    albert = registry.MODELS[_ALBERT]

    def ask(self) -> Choice:
        millions = self.base_millions
        return self.choice(
            right=round(self.albert.parameters / 1e6),
            share=self.albert.parameters / 1e6 / millions,
            twelfth=round(millions / 12),
            half=round(millions / 2),
            all=round(millions),
        )

    def reveal(self) -> None:
        names = [registry.MODELS[_BASE].name, f"{self.albert.name}, unshared", self.albert.name]
        millions = [self.base_millions, _unshared() / 1e6, self.albert.parameters / 1e6]
        pictures.bars("parameters", {"model": names, "million parameters": millions}, written=".1f")
        st.caption("In the middle: ALBERT if each layer had its own matrices, computed from their shapes.")

    def why(self) -> str:
        spec = self.albert
        by_table = (spec.vocabulary * spec.width - (spec.vocabulary + spec.width) * _TABLE) / 1e6
        by_sharing = (_unshared() - spec.parameters) / 1e6
        return self.say("why", saved_by_sharing=by_sharing, table=_TABLE, saved_by_table=by_table)


def _dissected(model: str) -> Anatomy:
    """A layer of a model part by part."""
    return engine().dissect(model, "The cat sat on the mat.", layer=1)


def _reaches() -> tuple[int, tuple[int, ...]]:
    """Tokens of a text of ours, and how far away the farthest token lies that gets weight in each layer."""
    text = " ".join(f"{pair.first} {pair.second}" for pair in heldout.written_pairs()[:_PAIRS])
    run = engine().attend(_MODERN, text)
    return run.n_tokens, reach(run)


class Modern(SizesStep):
    def ask(self) -> Choice:
        assert not _dissected(_MODERN).has("segment")
        return self.choice()

    def reveal(self) -> None:
        st.table(self.numbers().set_index("model").T)
        n, reaches = _reaches()
        names = [f"layer {layer}" for layer in range(1, len(reaches) + 1)]
        label = f"farthest token with any weight, on a text of {n} tokens"
        pictures.bars("reach", {"layer": names, label: reaches}, written=".0f")

    def why(self) -> str:
        _, reaches = _reaches()
        local = sum(layer_reach == min(reaches) for layer_reach in reaches)
        return self.say("why", local=local, n_reaches=len(reaches), nearest_reach=min(reaches))

    def numbers(self) -> pd.DataFrame:
        """What differs between the two that ship with the app, read off their stages and weights."""
        rows = []
        for model in (DEFAULT_MODEL, _MODERN):
            anatomy = _dissected(model)
            assert anatomy.weights is not None
            biases = (anatomy.weights.query_bias, anatomy.weights.key_bias, anatomy.weights.value_bias)
            rows.append(
                {
                    "model": name_of(model),
                    "positions": engine().read_positions(model).kind,
                    "segments": "yes" if anatomy.has("segment") else "no",
                    "norms": "before (pre-norm)" if anatomy.has("normed between") else "after (post-norm)",
                    "gate": "yes" if anatomy.has("gate") else "no",
                    "biases": "yes" if any(bias.any() for bias in biases) else "no",
                    "longest text": str(registry.MODELS[model].max_tokens or "no limit"),
                }
            )
        return pd.DataFrame(rows)


def _describe_costs(costs: Sequence[ModelCost]) -> str:
    """What was measured, in a sentence a model."""
    sentences = []
    for cost in costs:
        first, last = cost.curve[0], cost.curve[-1]
        times, longer = last.median / first.median, last.n_tokens / first.n_tokens
        sentences.append(
            f"{name_of(cost.subject.model)}: {longer:.0f} times the tokens ({first.n_tokens} to {last.n_tokens}) took "
            f"{times:.1f} times as long."
        )
    sentences.append("Measured on this machine; anything else running on it slows it down.")
    if spread([cost.curve for cost in costs]) > _NOISY:
        sentences.append("Equal passes took very different times, so these numbers are unreliable: measure again.")
    return as_text(" ".join(sentences))


class Length(Step):
    @cached_property
    def shape(self) -> tuple[int, int, bool]:
        """Width, inner width and gate of the visitor's model. Raises NotSupported where they are not known."""
        anatomy = engine().dissect(self.case.model, "The cat sat.")
        if anatomy.why_not is not None:
            raise NotSupported(anatomy.why_not)
        return self.case.info.width, anatomy.stage("active").values.shape[1], anatomy.has("gate")

    def measured(self) -> None:
        """Draw the times, the button that measures them, or how far that is."""
        job = desk().current(Measurement)
        if job is not None and job.running:
            watch(job)
            return
        models = tuple(dict.fromkeys((self.case.model, _LSTM)))
        if job is not None and job.models != models:  # of another model, or of the page Compare
            job = None
        start_button(
            "Measure it here, beside an LSTM",
            lambda: Measurement(engine(), models, evaluated=False),
            icon=":material/timer:",
            key="learn-measure",
        )
        for failure in () if job is None else job.failures:
            st.warning(as_text(failure.reason), icon=":material/error:")
        costs = [] if job is None else [cost for cost in job.costs if cost.curve]
        if costs:
            names = {cost.subject.model: name_of(cost.subject.model) for cost in costs}
            curves = {cost.subject.model: cost.curve for cost in costs}
            pictures.show("cost", partial(by_length, curves, "latency", names=names))
            st.caption(_describe_costs(costs))

    def figure(self) -> None:
        times = ["", *(f"{(n // before) ** 2}" for before, n in pairwise(_LENGTHS))]
        rows = zip(_LENGTHS, times, strict=True)
        st.table([{"tokens": f"{n:,}", "pairs": f"{n * n:,}", "times as many as before": more} for n, more in rows])

    def ask(self) -> Choice:
        width, inner, gated = self.shape
        right = outweighing(width, inner, gated=gated)
        return self.choice(right=right, width=width, fourfold=right * 4)

    def reveal(self) -> None:
        """The shares by counting, and the times of the visitor's model and an LSTM, measured when asked for."""
        width, inner, gated = self.shape
        counts = [layer_operations(n, width, inner, gated=gated) for n in _LENGTHS]
        shares = [parts["pairs"] / sum(parts.values()) for parts in counts]
        names = [f"{n:,} tokens" for n in _LENGTHS]
        columns = {"length": names, "share of the pairs in a layer’s multiplications": shares}
        pictures.shares("pairs", columns, written=".0%")
        self.measured()

    def why(self) -> str:
        width, inner, gated = self.shape
        short, long = (sum(layer_operations(n, width, inner, gated=gated).values()) for n in (1024, 4096))
        times_of_lstm = lstm_operations(4096, width) / lstm_operations(1024, width)
        return self.say("why", times=long / short, times_of_lstm=times_of_lstm)

    def numbers(self) -> pd.DataFrame:
        width, inner, gated = self.shape
        rows = [{"tokens": n, **layer_operations(n, width, inner, gated=gated)} for n in _LENGTHS]
        return pd.DataFrame([row | {"lstm": lstm_operations(row["tokens"], width)} for row in rows])


class Savings(SizesStep):
    def ask(self) -> Sketch:
        names, truth = zip(*_smaller(), strict=True)
        return self.sketch(names, truth, top=float(np.ceil(max(truth) * 4) / 4), unit="%")

    def reveal(self) -> None:
        columns = ["model", "share of BERT-base’s parameters"]
        pictures.bars("sizes", pd.DataFrame(_smaller(), columns=columns), written=".0%")


LESSON = read_lesson(__file__, SoftTargets, SharedLayers, Modern, Length, Savings)
