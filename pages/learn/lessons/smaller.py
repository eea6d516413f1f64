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
from pages.learn import options, pictures
from pages.learn.case import name_of
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
from ui import as_text, start_button, watch
from ui.glossary import quote
from ui.sources import HINTON, JIAO, LAN, SANH, VASWANI, WARNER
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
    terms = ("distillation", "soft targets", "temperature")
    at = "guess"
    sources = (HINTON, SANH, JIAO)

    @cached_property
    def guesses(self) -> tuple[list[str], list[float]]:
        """The best guesses at the followed token and the logarithms of their probabilities."""
        best = self.case.guesses(self.followed, _SHARED).best
        return [p.token for p in best], [float(np.log(max(p.probability, 1e-30))) for p in best]

    def text(self) -> str:
        return (
            "A small model can learn from a large one: not only which word is right, but how probable the teacher "
            "finds every word. That is [[distillation]]. With a [[temperature]] T the logits are first divided by T. "
            f"Here {self.token} is masked, and 100% is divided among the top {_SHARED} predictions."
        )

    def figure(self) -> None:
        names, logs = self.guesses
        pictures.shares("soft-targets", names, [("share among these, T = 1", softened(logs, 1))])

    def ask(self) -> Choice:
        _, logs = self.guesses
        sharp, soft = max(softened(logs, 1)), max(softened(logs, 4))
        fact = f"It goes from {sharp:.1%} at T = 1 to {soft:.1%} at T = 4."
        return Choice(
            "At a temperature of 4, what happens to the share of the top prediction?",
            (
                Option(
                    "It falls",
                    f"Differences between logits shrink, and with them the differences between shares. {fact}",
                    soft < sharp - 1e-9,
                ),
                Option("It rises", f"Dividing logits brings them closer together. {fact}", soft > sharp + 1e-9),
                Option("It stays", f"That happens only if all are equally probable. {fact}", abs(soft - sharp) <= 1e-9),
            ),
        )

    def reveal(self) -> None:
        names, logs = self.guesses
        series = [(f"T = {temperature}", softened(logs, temperature)[:6]) for temperature in (1, 2, 4)]
        pictures.shares("soft-targets", names[:6], series)

    def why(self) -> str:
        names, _ = self.guesses
        return (
            f"Softened, the teacher also shows what would be nearly as good ({quote(names[1])} after "
            f"{quote(names[0])}), and the student learns that (Hinton et al. 2015). DistilBERT adds the masked-word "
            "loss and a cosine loss between hidden states, and keeps 97% of BERT’s score on [[GLUE]], a benchmark of "
            "nine English tasks, with 40% fewer parameters (Sanh et al. 2019); TinyBERT matches the teacher layer by "
            "layer (Jiao et al. 2020)."
        )

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
    title = "One layer, twelve times"
    terms = ("cross-layer parameter sharing", "factorized embeddings")
    sources = (LAN,)

    def text(self) -> str:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        return (
            f"ALBERT has {albert.layers} layers, as BERT-base has, but all of them use the same weights "
            "([[cross-layer parameter sharing]]); and its embedding table is narrower than its layers ([[factorized "
            f"embeddings]]). BERT-base has {base.parameters / 1e6:.0f} million parameters."
        )

    def ask(self) -> Choice:
        base, albert = registry.MODELS[_BASE], registry.MODELS[_ALBERT]
        right = round(albert.parameters / 1e6)
        share = albert.parameters / base.parameters
        return Choice(
            "How many parameters does ALBERT-base have, in millions?",
            options.numbers(
                (right, f"{share:.0%} of BERT-base: a twelfth of the layers, and a smaller table."),
                (
                    round(base.parameters / 12e6),
                    "A twelfth of everything: but the embedding table is not shared among twelve layers.",
                ),
                (round(base.parameters / 2e6), "One set of weights instead of twelve saves far more than half."),
                (round(base.parameters / 1e6), "That is BERT-base. Sharing saves most of it."),
                unit=" million",
            ),
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
        return (
            f"Sharing saves {(_unshared() - spec.parameters) / 1e6:.0f} million parameters, and a table of {_TABLE} "
            f"numbers a token instead of {spec.width} saves {table / 1e6:.0f} million. That saves memory, not time: "
            f"the text still passes through {spec.layers} layers (Lan et al. 2020)."
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
    title = "ModernBERT"
    sources = (WARNER,)

    def text(self) -> str:
        return (
            "ModernBERT appeared in 2024: trained on far more text, for inputs of up to 8,192 tokens instead of "
            "BERT’s 512, with layers rebuilt from what had been learned since BERT. The app ships small versions of "
            "both (each for 512 tokens), so the differences can be read off their weights."
        )

    def ask(self) -> Choice:
        assert not _dissected(_MODERN).has("segment")
        return Choice(
            "Which of these does ModernBERT **not** have?",
            (
                Option(
                    "Queries and keys rotated by their positions",
                    "It has them: rotary positions replace the table of positions.",
                ),
                Option(
                    "A gate in the feed-forward network",
                    "It has one: a second matrix decides how much of each number passes (GeGLU).",
                ),
                Option("Norms inside the branches (pre-norm)", "It has them, as GPT-2 does."),
                Option(
                    "A table of segment vectors",
                    "It has none: its embeddings are those of the tokens alone. BERT adds one to each token.",
                    True,
                ),
            ),
        )

    def reveal(self) -> None:
        st.table(self.numbers().set_index("model").T)
        n, reaches = _reaches()
        names = [f"layer {layer}" for layer in range(1, len(reaches) + 1)]
        label = f"farthest token with any weight, on a text of {n} tokens"
        pictures.bars("reach", names, [(label, reaches)], written=".0f")

    def why(self) -> str:
        _, reaches = _reaches()
        local = sum(layer_reach == min(reaches) for layer_reach in reaches)
        return (
            f"In {local} of the {len(reaches)} layers here no token attends to anything farther away than "
            f"{min(reaches)} tokens, so long texts stay affordable; in the published model that is true of two layers "
            "out of three. Each of these changes had been tried before, in other models (Warner et al. 2024)."
        )

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
    title = "What length costs"
    at = "heads"
    sources = (VASWANI,)

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
            key="learn measure",
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
        return (
            "With full attention every token is compared with every other: n tokens make n² pairs. The rest of a "
            f"layer grows only in proportion to n. In this model ({width} numbers a token, {inner:,} in the "
            "feed-forward network), when do the pairs take over?"
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
            "At what length do the pairs need more multiplications than the rest of a layer?",
            options.numbers(
                (right, "The pairs need 2 n² · width, the rest grows in proportion to n: they meet late."),
                (2, "For short texts the matrices are nearly all of the work."),
                (width, "At that length W_Q, W_K, W_V and W_O alone still need twice as many as the pairs."),
                (right * 4, "By then the pairs need four times as many as the rest."),
                unit=" tokens",
            ),
        )

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
        more = lstm_operations(4096, width) / lstm_operations(1024, width)
        return (
            f"From 1,024 to 4,096 tokens a layer of this model needs {two / short:.1f} times the multiplications, an "
            f"LSTM of the same width {more:.0f} times. But an LSTM has to "
            "process one word after another, and a transformer takes all of them at once (Vaswani et al. 2017)."
        )

    def numbers(self) -> pd.DataFrame:
        width, inner, gated = self.shape
        rows = [{"tokens": n, **layer_operations(n, width, inner, gated=gated)} for n in _LENGTHS]
        return pd.DataFrame([row | {"lstm": lstm_operations(row["tokens"], width)} for row in rows])


class Savings(SizesStep):
    title = "What each saves"

    def text(self) -> str:
        return (
            "Fewer layers, narrower layers, shared layers, or newer ones that are not smaller at all. BERT-base has "
            f"{registry.MODELS[_BASE].parameters / 1e6:.0f} million parameters: take that as 100%."
        )

    def ask(self) -> Sketch:
        names, truth = zip(*_smaller(), strict=True)

        def reply(drawn: Sequence[float]) -> str:
            off = np.abs(np.subtract(drawn, truth))
            worst = int(off.argmax())
            named = f"{as_text(names[worst])}, which has {truth[worst]:.0%}"
            return f"You miss by {off.mean():.0%} on average, and most for {named}."

        top = float(np.ceil(max(truth) * 4) / 4)
        return Sketch(
            "Draw how many parameters each has, as a share of BERT-base’s.", names, truth, reply, top=top, unit="%"
        )

    def reveal(self) -> None:
        names, shares = zip(*_smaller(), strict=True)
        pictures.bars("sizes", names, [("share of BERT-base’s parameters", shares)], written=".0%")

    def why(self) -> str:
        return (
            "Parameters cost memory, layers cost time: fewer layers answer sooner, while shared layers only save "
            "memory. How much quality is lost depends on the task, so measure it on yours (the page Compare does)."
        )


LESSON = Lesson(
    name="smaller",
    title="Smaller and newer",
    question="What came after BERT, and what does it save?",
    examples=(("He drank a cup of coffee.", ""), ("The cat sat on the mat because it was tired.", "")),
    controls=("token",),
    pages=("compare",),
    aims=(
        "explain what a student learns from a teacher’s probabilities",
        "tell what saves memory and what saves time",
        "say what ModernBERT changed",
        "estimate when the cost of attention takes over",
    ),
    terms=("distillation",),
    steps=(
        SoftTargets,
        SharedLayers,
        Modern,
        Length,
        Savings,
        *recalled(
            "layers",
            Recall(
                "What does a higher temperature do to a teacher’s probabilities?",
                (
                    Option("It makes them more equal", "So the student also sees what was nearly right.", True),
                    Option("It makes the top one larger", "That is a lower temperature."),
                    Option("It adds noise", "Nothing random is added."),
                ),
                "In distillation a student learns a teacher’s softened probabilities, not only which word is right.",
            ),
            Recall(
                "ALBERT shares one layer’s weights among twelve layers. What does that save?",
                (
                    Option("Memory", "The weights are stored once.", True),
                    Option("Time", "The text still passes through twelve layers."),
                    Option("Both", "Only one of the two."),
                ),
                "Shared layers and a narrower embedding table save memory; fewer layers save time.",
            ),
            Recall(
                "Twice as many tokens: how does the number of pairs that attention compares change?",
                (
                    Option("It doubles", "That is the rest of the layer."),
                    Option("It is four times as large", "Twice the length, four times the pairs.", True),
                    Option("It stays the same", "Every token is compared with every other."),
                ),
                "The pairs of attention grow with the square of the length, which local layers as in ModernBERT avoid.",
            ),
        ),
    ),
)
