"""Smaller and newer models: soft targets, shared layers, ModernBERT's changes, and what length costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from propcache.api import cached_property

from analysis.cross_entropy import softened
from analysis.focus import reach
from analysis.latency import ModelCost, spread
from analysis.operations import layer_operations, lstm_operations, outweighing
from analysis.weights_by_part import weights_by_part
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
    at = "guess"

    @cached_property
    def guesses(self) -> tuple[list[str], list[float]]:
        """The best guesses at the followed token and the logarithms of their probabilities."""
        best = self.case.guesses(self.followed, _SHARED).best
        return [p.token for p in best], [float(np.log(max(p.probability, 1e-30))) for p in best]

    def text(self) -> str:
        return self.say("text", shared=_SHARED)

    def figure(self) -> None:
        names, logs = self.guesses
        pictures.shares("soft-targets", names, [("share among these, T = 1", softened(logs, 1))])

    def ask(self) -> Choice:
        _, logs = self.guesses
        sharp, soft = max(softened(logs, 1)), max(softened(logs, 4))
        return self.choice(
            falls=soft < sharp - 1e-9,
            sharp=sharp,
            soft=soft,
            rises=soft > sharp + 1e-9,
            stays=abs(soft - sharp) <= 1e-9,
        )

    def reveal(self) -> None:
        names, logs = self.guesses
        series = [(f"T = {temperature}", softened(logs, temperature)[:6]) for temperature in (1, 2, 4)]
        pictures.shares("soft-targets", names[:6], series)

    def why(self) -> str:
        names, _ = self.guesses
        return self.say("why", names=names)

    def numbers(self) -> pd.DataFrame:
        names, logs = self.guesses
        return pd.DataFrame({"token": names} | {f"T = {t}": softened(logs, t) for t in (1, 2, 4)})


class SizesStep(Step):
    """A step about the sizes of models."""

    at = "layers"

    def figure(self) -> None:
        table = _sizes()
        rows = table["model"].isin([name for name, _ in _smaller()])
        st.dataframe(table[["model", "layers", "heads", "width"]][rows], hide_index=True)

    def numbers(self) -> pd.DataFrame:
        return _sizes()


def _sizes() -> pd.DataFrame:
    """The models of the registry."""
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
    def text(self) -> str:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        return self.say("text", albert=albert, parameters_millions=base.parameters / 1e6)

    def ask(self) -> Choice:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        right = round(albert.parameters / 1e6)
        share = albert.parameters / base.parameters
        return self.choice(
            right=right,
            share=share,
            twelfth=round(base.parameters / 12e6),
            half=round(base.parameters / 2e6),
            all=round(base.parameters / 1e6),
        )

    def reveal(self) -> None:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        sizes = {base.name: base.parameters, f"{albert.name}, unshared": _unshared(), albert.name: albert.parameters}
        millions = [size / 1e6 for size in sizes.values()]
        pictures.bars("parameters", list(sizes), [("million parameters", millions)], written=".1f")
        st.caption("In the middle: ALBERT if each layer had its own matrices, computed from their shapes.")

    def why(self) -> str:
        spec = registry.MODELS[_ALBERT]
        table = spec.vocabulary * spec.width - (spec.vocabulary + spec.width) * _TABLE
        return self.say(
            "why",
            saved_by_sharing=(_unshared() - spec.parameters) / 1e6,
            table=_TABLE,
            spec=spec,
            saved_by_table=table / 1e6,
        )


def _dissected(model: str) -> Anatomy:
    """A layer of a model part by part."""
    return engine().dissect(model, "The cat sat on the mat.", layer=1)


def _differences() -> pd.DataFrame:
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
        pictures.bars("reach", names, [(label, reaches)], written=".0f")

    def why(self) -> str:
        _, reaches = _reaches()
        local = sum(layer_reach == min(reaches) for layer_reach in reaches)
        return self.say("why", local=local, n_reaches=len(reaches), nearest_reach=min(reaches))

    def numbers(self) -> pd.DataFrame:
        return _differences()


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
    at = "heads"

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

    def text(self) -> str:
        width, inner, _ = self.shape
        return self.say("text", width=width, inner=inner)

    def figure(self) -> None:
        st.table(
            [
                {
                    "tokens": f"{n:,}",
                    "pairs": f"{n * n:,}",
                    "times as many as before": "" if place == 0 else f"{(n // _LENGTHS[place - 1]) ** 2}",
                }
                for place, n in enumerate(_LENGTHS)
            ]
        )

    def ask(self) -> Choice:
        width, inner, gated = self.shape
        right = outweighing(width, inner, gated=gated)
        return self.choice(right=right, width=width, fourfold=right * 4)

    def reveal(self) -> None:
        """The shares by counting, and the times of the visitor's model and an LSTM, measured when asked for."""
        width, inner, gated = self.shape
        counts = [layer_operations(n, width, inner, gated=gated) for n in _LENGTHS]
        shares = [parts["pairs"] / sum(parts.values()) for parts in counts]
        series = [("share of the pairs in a layer’s multiplications", shares)]
        pictures.shares("pairs", [f"{n:,} tokens" for n in _LENGTHS], series, written=".0%")
        self.measured()

    def why(self) -> str:
        width, inner, gated = self.shape
        short, two = (sum(layer_operations(n, width, inner, gated=gated).values()) for n in (1024, 4096))
        return self.say(
            "why", times=two / short, times_of_lstm=lstm_operations(4096, width) / lstm_operations(1024, width)
        )

    def numbers(self) -> pd.DataFrame:
        width, inner, gated = self.shape
        rows = [{"tokens": n, **layer_operations(n, width, inner, gated=gated)} for n in _LENGTHS]
        return pd.DataFrame([row | {"lstm": lstm_operations(row["tokens"], width)} for row in rows])


class Savings(SizesStep):
    def text(self) -> str:
        return self.say("text", base_millions=registry.MODELS[_BASE].parameters / 1e6)

    def ask(self) -> Sketch:
        names, truth = zip(*_smaller(), strict=True)

        def reply(drawn: Sequence[float]) -> str:
            off = np.abs(np.subtract(drawn, truth))
            worst = int(off.argmax())
            return self.say("reply", gap=off.mean(), worst=names[worst], share=truth[worst])

        top = float(np.ceil(max(truth) * 4) / 4)
        return Sketch(self.say("ask"), names, truth, reply, top=top, unit="%")

    def reveal(self) -> None:
        names, shares = zip(*_smaller(), strict=True)
        pictures.bars("sizes", names, [("share of BERT-base’s parameters", shares)], written=".0%")


LESSON = read_lesson(__file__, SoftTargets, SharedLayers, Modern, Length, Savings)
