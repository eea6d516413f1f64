"""Smaller and newer models: soft targets, shared layers, ModernBERT's changes, and what length costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.cross_entropy import softened
from analysis.focus import reach
from analysis.latency import ModelCost, spread
from analysis.operations import of_layer, of_lstm, outweighing
from analysis.weights_by_part import weights_by_part
from jobs.measurement import Measurement
from model_zoo import DEFAULT_MODEL, heldout, registry
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Step
from ui import as_text, is_dark, start_button, watch
from ui.glossary import quoted
from ui.sources import HINTON, LAN, SANH, VASWANI, WARNER
from viz.by_length import by_length
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
    title = "Learning from a teacher"
    at = "guess"
    sources = (HINTON, SANH)

    @cached_property
    def guesses(self) -> tuple[list[str], list[float]]:
        """The best guesses at the followed token and the logarithms of their probabilities."""
        best = self.case.guesses(self.followed, _SHARED).best
        return [p.token for p in best], [float(np.log(max(p.probability, 1e-30))) for p in best]

    def text(self) -> str:
        return (
            "A small model can learn from a large one: not only which word is right, but how probable the teacher "
            "finds every word. That is [[distillation]]. At a [[temperature]] T the logits are divided by T first. "
            f"Here {self.token} is hidden, and 100% is divided among the {_SHARED} best guesses."
        )

    def figure(self) -> None:
        names, logs = self.guesses
        pictures.shares("soft-targets", names, [("share among these, T = 1", softened(logs, 1))])

    def ask(self) -> Choice:
        _, logs = self.guesses
        sharp, soft = max(softened(logs, 1)), max(softened(logs, 4))
        told = f"It goes from {sharp:.1%} at T = 1 to {soft:.1%} at T = 4."
        return Choice(
            "At a temperature of 4, what happens to the share of the best guess?",
            (
                Option(
                    "It falls",
                    f"Differences between logits shrink, and so do those of the shares. {told}",
                    soft < sharp - 1e-9,
                ),
                Option("It rises", f"Dividing logits brings them closer together. {told}", soft > sharp + 1e-9),
                Option("It stays", f"Only if all guesses were equally good. {told}", abs(soft - sharp) <= 1e-9),
            ),
        )

    def reveal(self) -> None:
        names, logs = self.guesses
        series = [(f"T = {temperature}", softened(logs, temperature)[:6]) for temperature in (1, 2, 4)]
        pictures.shares("soft-targets", names[:6], series)

    def why(self) -> str:
        names, _ = self.guesses
        return (
            f"Softened, the teacher also tells what would be nearly as good ({quoted(names[1])} after "
            f"{quoted(names[0])}), and that is what the student copies (Hinton et al. 2015); DistilBERT’s authors "
            "report 97% of BERT’s score on GLUE with 40% fewer parameters (Sanh et al. 2019)."
        )

    def numbers(self) -> pd.DataFrame:
        names, logs = self.guesses
        return pd.DataFrame({"token": names} | {f"T = {t}": softened(logs, t) for t in (1, 2, 4)})


class SizesStep(Step):
    """A step about the sizes of models."""

    at = "layers"

    def figure(self) -> None:
        table = _sizes()
        shown = table["model"].isin([name for name, _ in _smaller()])
        st.dataframe(table[["model", "layers", "heads", "width"]][shown], hide_index=True)

    def numbers(self) -> pd.DataFrame:
        return _sizes()


def _sizes() -> pd.DataFrame:
    """The models of the registry."""
    columns = ["model", "layers", "heads", "width", "parameters", "longest text"]
    found = registry.MODELS.values()
    rows = [(spec.name, spec.layers, spec.heads, spec.width, spec.parameters, spec.max_tokens) for spec in found]
    return pd.DataFrame(rows, columns=columns)


def _smaller() -> list[tuple[str, float]]:
    """Names of models, and their parameters as a share of BERT-base's."""
    found = [registry.MODELS[model] for model in _SMALL if model in registry.MODELS]
    return [(spec.name, spec.parameters / registry.MODELS[_BASE].parameters) for spec in found]


def _unshared() -> float:
    """Parameters of ALBERT if each of its layers had weights of its own: the matrices of all layers but one more."""
    spec = registry.MODELS[_ALBERT]
    parts = weights_by_part(vocabulary=0, positions=0, width=spec.width, inner=4 * spec.width, layers=spec.layers - 1)
    return spec.parameters + sum(parts.values())


class SharedLayers(SizesStep):
    title = "One layer, twelve times"
    sources = (LAN,)

    def text(self) -> str:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        return (
            f"ALBERT has {albert.layers} layers as BERT-base has, but only one set of weights, which a text passes "
            f"through {albert.layers} times; and its table of embeddings is narrower than its layers. BERT-base has "
            f"{base.parameters / 1e6:.0f} million parameters."
        )

    def ask(self) -> Choice:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        right = round(albert.parameters / 1e6)
        share = albert.parameters / base.parameters
        return Choice(
            "How many million parameters has ALBERT-base?",
            options.numbers(
                (right, f"{share:.0%} of BERT-base: a twelfth of the layers, and a smaller table."),
                (
                    round(base.parameters / 12e6),
                    "A twelfth of the whole: but the table of embeddings is not shared by twelve.",
                ),
                (round(base.parameters / 2e6), "One set instead of twelve saves far more than half of the layers."),
                (round(base.parameters / 1e6), "That is BERT-base. Sharing saves most of it."),
                unit=" million",
            ),
        )

    def reveal(self) -> None:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        sizes = {base.name: base.parameters, f"{albert.name}, unshared": _unshared(), albert.name: albert.parameters}
        millions = [size / 1e6 for size in sizes.values()]
        pictures.bars("parameters", list(sizes), [("million parameters", millions)], written=".1f")
        st.caption("In the middle: ALBERT if each layer had matrices of its own, computed from their shapes.")

    def why(self) -> str:
        spec = registry.MODELS[_ALBERT]
        table = spec.vocabulary * spec.width - (spec.vocabulary + spec.width) * _TABLE
        return (
            f"Sharing saves {(_unshared() - spec.parameters) / 1e6:.0f} million parameters, the table of {_TABLE} "
            f"numbers a token instead of {spec.width} saves {table / 1e6:.0f} million; that is memory, not time: the "
            f"text still passes through {spec.layers} layers (Lan et al. 2020)."
        )


def _dissected(model: str) -> Anatomy:
    """A layer of a model part by part."""
    return engine().dissect(model, "The cat sat on the mat.", layer=1)


def _differences() -> pd.DataFrame:
    """What differs between the two that ship with the app, read off their stages and weights."""
    rows = []
    for model in (DEFAULT_MODEL, _MODERN):
        found = _dissected(model)
        assert found.weights is not None
        biases = (found.weights.query_bias, found.weights.key_bias, found.weights.value_bias)
        rows.append(
            {
                "model": name_of(model),
                "positions": engine().read_positions(model).kind,
                "segments": "yes" if found.has("segment") else "no",
                "norms": "in front" if found.has("normed between") else "behind",
                "gate": "yes" if found.has("gate") else "no",
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
    title = "A layer rebuilt"
    sources = (WARNER,)

    def text(self) -> str:
        return (
            "In 2024 came ModernBERT: trained on far more text, for longer inputs, with a layer rebuilt from what was "
            "learned since BERT. Both stand in this app in small, so the differences can be read off their weights."
        )

    def ask(self) -> Choice:
        assert not _dissected(_MODERN).has("segment")
        return Choice(
            "Which of these does ModernBERT’s layer **not** have?",
            (
                Option(
                    "Queries and keys turned by their positions",
                    "It has: rotary positions take the place of the table.",
                ),
                Option(
                    "A gate in the feed-forward network",
                    "It has: a second matrix decides how much of each number passes (GeGLU).",
                ),
                Option("Norms in front of its parts", "It has: pre-norm, as GPT-2."),
                Option(
                    "A vector for the segment, added to each token",
                    "It takes no segments: its embeddings are those of the tokens alone.",
                    True,
                ),
            ),
        )

    def reveal(self) -> None:
        st.table(self.numbers().set_index("model").T)
        n, reaches = _reaches()
        names = [f"layer {layer}" for layer in range(1, len(reaches) + 1)]
        what = f"tokens away that get any weight, on a text of {n} tokens"
        pictures.bars("reach", names, [(what, reaches)], written=".0f")

    def why(self) -> str:
        _, reaches = _reaches()
        local = sum(each == min(reaches) for each in reaches)
        return (
            f"In {local} of the {len(reaches)} layers here no token takes anything from farther away than "
            f"{min(reaches)} tokens, so long texts stay affordable; in the published model that holds for two layers "
            "of three, and all these changes had been tried before, one by one (Warner et al. 2024)."
        )

    def numbers(self) -> pd.DataFrame:
        return _differences()


def _told(costs: Sequence[ModelCost]) -> str:
    """What was measured, in a sentence a model."""
    said = []
    for cost in costs:
        first, last = cost.curve[0], cost.curve[-1]
        times, longer = last.median / first.median, last.n_tokens / first.n_tokens
        said.append(
            f"{name_of(cost.subject.model)}: {longer:.0f} times the tokens ({first.n_tokens} to {last.n_tokens}) took "
            f"{times:.1f} times as long."
        )
    said.append("Measured on this machine; other work on it makes it slower.")
    if spread([cost.curve for cost in costs]) > _NOISY:
        said.append("Equal passes took very different times, so these numbers say little: measure again.")
    return as_text(" ".join(said))


class Length(Step):
    title = "What length costs"
    at = "heads"
    sources = (VASWANI,)

    @cached_property
    def shape(self) -> tuple[int, int, bool]:
        """Width, inner width and gate of the visitor's model. Raises NotSupported where they are not known."""
        found = engine().dissect(self.case.model, "The cat sat.")
        if found.why_not is not None:
            raise NotSupported(found.why_not)
        return self.case.info.width, found.stage("active").values.shape[1], found.has("gate")

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
            key="learn measure",
        )
        for failure in () if job is None else job.failures:
            st.warning(as_text(failure.reason), icon=":material/error:")
        costs = [] if job is None else [cost for cost in job.costs if cost.curve]
        if costs:
            names = {cost.subject.model: name_of(cost.subject.model) for cost in costs}
            curves = {cost.subject.model: cost.curve for cost in costs}
            pictures.show("cost", by_length(curves, "latency", names=names, dark=is_dark()))
            st.caption(_told(costs))

    def text(self) -> str:
        width, inner, _ = self.shape
        return (
            "With full attention every token is compared with every other: n tokens make n² pairs. The rest of a layer "
            f"grows with n only. In this model ({width} numbers a token, {inner:,} in the feed-forward network), when "
            "do the pairs take over?"
        )

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
        return Choice(
            "From how many tokens on do the pairs take more multiplications than all the rest of a layer?",
            options.numbers(
                (right, "The pairs take 2 n² · width, the rest grows with n: they meet late."),
                (2, "For short texts the matrices are nearly all of the work."),
                (width, "At so many tokens W_Q, W_K, W_V and W_O alone still take twice as much as the pairs."),
                (right * 4, "By then the pairs take four times as much as the rest."),
                unit=" tokens",
            ),
        )

    def reveal(self) -> None:
        """The shares by counting, and the times of the visitor's model and an LSTM, measured when asked for."""
        width, inner, gated = self.shape
        counts = [of_layer(n, width, inner, gated=gated) for n in _LENGTHS]
        shares = [parts["pairs"] / sum(parts.values()) for parts in counts]
        series = [("share of the pairs in a layer’s multiplications", shares)]
        pictures.shares("pairs", [f"{n:,} tokens" for n in _LENGTHS], series, written=".0%")
        self.measured()

    def why(self) -> str:
        width, inner, gated = self.shape
        one, two = (sum(of_layer(n, width, inner, gated=gated).values()) for n in (1024, 4096))
        return (
            f"From 1,024 to 4,096 tokens such a layer of this model needs {two / one:.1f} times the multiplications, "
            f"an LSTM of the same width {of_lstm(4096, width) / of_lstm(1024, width):.0f} times; but an LSTM must wait "
            "for each word, and a transformer takes all of them at once (Vaswani et al. 2017)."
        )

    def numbers(self) -> pd.DataFrame:
        width, inner, gated = self.shape
        return pd.DataFrame(
            [{"tokens": n, **of_layer(n, width, inner, gated=gated), "lstm": of_lstm(n, width)} for n in _LENGTHS]
        )


class Savings(SizesStep):
    title = "What each saves"

    def text(self) -> str:
        return (
            f"Fewer layers, narrower ones, shared ones, or newer ones that are not smaller at all. BERT-base has "
            f"{registry.MODELS[_BASE].parameters / 1e6:.0f} million parameters: take that as 100%."
        )

    def ask(self) -> Sketch:
        names, truth = zip(*_smaller(), strict=True)

        def reply(drawn: Sequence[float]) -> str:
            off = np.abs(np.subtract(drawn, truth))
            worst = int(off.argmax())
            named = f"{as_text(names[worst])}, which has {truth[worst]:.0%}"
            return f"You are {off.mean():.0%} off, on average, and most for {named}."

        top = float(np.ceil(max(truth) * 4) / 4)
        return Sketch(
            "Draw how many parameters each has, as a share of BERT-base’s.", names, truth, reply, top=top, unit="%"
        )

    def reveal(self) -> None:
        names, shares = zip(*_smaller(), strict=True)
        pictures.bars("sizes", names, [("share of BERT-base’s parameters", shares)], written=".0%")

    def why(self) -> str:
        return (
            "Parameters are memory, layers are time: few layers answer sooner, shared layers only take less room, and "
            "what is lost in quality depends on the task, so measure it on yours (the page Compare does)."
        )


LESSON = Lesson(
    name="smaller",
    title="Smaller and newer",
    question="What came after BERT, and what does it save?",
    examples=(("He drank a cup of coffee.", ""), ("The cat sat on the mat because it was tired.", "")),
    controls=("token",),
    pages=("compare",),
    steps=(SoftTargets, SharedLayers, Modern, Length, Savings),
)
