"""A text on its way through a model, computed stage by stage from the model's own weights.

In float64, so that what differs from the model's own numbers is the model's rounding. What differs between families is
data: ``Family.anatomy``.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from model_zoo import running
from model_zoo.errors import NotSupported
from model_zoo.families.rule import Parts
from model_zoo.loading import LoadedModel
from model_zoo.types import (
    Anatomy,
    AttentionRun,
    DoubleArray,
    Encoding,
    FloatArray,
    HeadWeights,
    IntArray,
    QueryKeyLayer,
    Stage,
    softmax,
)
from model_zoo.types.wording import check_range


def dissect(loaded: LoadedModel, text: str, text_pair: str | None, layer: int, head: int) -> Anatomy:
    """The answer of ``questions.dissect``."""
    info = loaded.info
    if not info.n_heads:
        return _dissect_without_attention(loaded, text, text_pair, layer)
    run = running.attend(loaded, text, text_pair, states_of=True)
    attention_map = run.head(layer, head)  # raises InvalidInput where there is no such head
    states = run.states.states
    if run.states.last_unnormed is not None:
        states = np.concatenate([states[:-1], run.states.last_unnormed[None]])
    parts = loaded.family.anatomy
    anatomy = Anatomy(
        encoding=run.encoding,
        model=info,
        embeddings=(),
        stages=_ends(states, layer),
        states=states,
        layer=layer,
        head=head,
        attention=attention_map,
        why_not=_why_not(loaded),
    )
    if parts is None:
        return anatomy
    attention = OneLayer(loaded, parts, run, layer)
    stages = attention.stages(states[layer].astype(np.float64))
    of_head = slice(head * attention.size, (head + 1) * attention.size)
    by_name = {stage.name: stage.values for stage in stages}
    query, key = (by_name.get(f"turned {name}", by_name[name])[:, of_head] for name in ("query", "key"))
    return replace(
        anatomy,
        embeddings=tuple(embeddings(loaded, parts, run.encoding)),
        stages=tuple(stages),
        attention=attention.weights[head].astype(np.float32),
        weights=attention.select_head(of_head),
        query=query,
        key=key,
        value=by_name["value"][:, of_head],
        scores=attention.scores[head].astype(np.float32),
        context=by_name["context"][:, of_head],
        why_not=None,
    )


def _why_not(loaded: LoadedModel) -> str:
    return (
        f"The layers of {loaded.info.id} ({loaded.info.family}) are not known here part by part. Its vectors after "
        "each layer and its attention are shown; choose BERT, DistilBERT, RoBERTa, ModernBERT or GPT-2 for every step."
    )


def parts_of(loaded: LoadedModel, so: str, instead: str = "Choose") -> Parts:
    """Where a model keeps the parts of its layers. Raises NotSupported where nobody has said: ``so`` is what cannot be
    had then, and ``instead`` begins what to do.
    """
    parts = loaded.family.anatomy
    if parts is None or loaded.model.config.is_encoder_decoder:
        raise NotSupported(
            f"The layers of {loaded.info.id} ({loaded.info.family}) are not known here part by part, so {so}. "
            f"{instead} BERT, DistilBERT, RoBERTa, ModernBERT or GPT-2."
        )
    return parts


def _dissect_without_attention(loaded: LoadedModel, text: str, text_pair: str | None, layer: int) -> Anatomy:
    ((_, states),) = running.hidden_states(loaded, [(text, text_pair)])
    n_layers = len(states.states) - 1
    check_range(loaded.info.id, "layer", layer, n_layers)
    return Anatomy(
        encoding=states.encoding,
        model=loaded.info,
        embeddings=(),
        stages=_ends(states.states, layer),
        states=states.states,
        layer=layer,
        head=0,
        attention=np.zeros((0, 0), dtype=np.float32),
        why_not=_why_not(loaded),
    )


def _ends(states: FloatArray, layer: int) -> tuple[Stage, ...]:
    return Stage("input", states[layer]), Stage("output", states[layer + 1], ("input",))


def inside(module: Any, path: str) -> Any:
    """A part of a module, by its path."""
    return attrgetter(path)(module)


def numbers(tensor: torch.Tensor) -> DoubleArray:
    """float64 on the CPU: a Mac's GPU has none."""
    return tensor.detach().cpu().double().numpy()


def matrix(module: Any) -> tuple[DoubleArray, DoubleArray]:
    """Weight (in, out) and bias (out,) of a linear module; GPT-2's holds its weight the other way round."""
    weight = numbers(module.weight)
    if isinstance(module, torch.nn.Linear):
        weight = weight.T
    return weight, np.zeros(weight.shape[1]) if module.bias is None else numbers(module.bias)


def _normed(module: Any, states: DoubleArray) -> DoubleArray:
    """LayerNorm (Ba et al. 2016) over the last axis, with its learned scale and shift."""
    centred = states - states.mean(axis=-1, keepdims=True)
    standard = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + module.eps)
    shift = 0.0 if module.bias is None else numbers(module.bias)
    return standard * numbers(module.weight) + shift


def _stage(name: str, values: DoubleArray, *made_of: str) -> Stage:
    return Stage(name, values.astype(np.float32), made_of)


def embeddings(loaded: LoadedModel, parts: Parts, encoding: Encoding) -> list[Stage]:
    """The stages from the tokens to what the first layer is given."""
    encoder = loaded.encoder
    looked_up: dict[str, DoubleArray] = {}
    for name, path in parts.embeddings:
        table = inside(encoder, path)
        looked_up[name] = numbers(table.weight)[_rows(loaded, table, name, encoding)]
    stages = [_stage(name, values) for name, values in looked_up.items()]
    now, total = "token", np.sum(list(looked_up.values()), axis=0)
    if len(looked_up) > 1:
        now = "sum"
        stages.append(_stage(now, total, *looked_up))
    if parts.embedding_norm is not None:
        total = _normed(inside(encoder, parts.embedding_norm), total)
        stages.append(_stage("normed", total, now))
        now = "normed"
    if parts.embedding_projection is not None and looked_up["token"].shape[1] != loaded.info.width:
        weight, bias = matrix(inside(encoder, parts.embedding_projection))
        stages.append(_stage("projected", total @ weight + bias, now))
    return stages


def _rows(loaded: LoadedModel, table: Any, name: str, encoding: Encoding) -> IntArray:
    """Which row of a table each token looks up."""
    ids = np.array(encoding.ids)
    if name == "token":
        return ids
    if name == "segment":
        known = loaded.takes_type_ids and encoding.type_ids is not None
        return np.array(encoding.type_ids) if known else np.zeros(len(ids), dtype=np.int64)
    if table.padding_idx is None:
        return np.arange(len(ids))
    real = ids != table.padding_idx  # RoBERTa and its kin count from behind the padding's row, and only what is no pad
    return np.cumsum(real) * real + table.padding_idx


class OneLayer:
    """One layer of a model whose parts are known, its attention hidden where the model's own run hid it."""

    def __init__(self, loaded: LoadedModel, parts: Parts, run: AttentionRun, layer: int) -> None:
        self.loaded, self.parts, self.run, self.layer = loaded, parts, run, layer
        self.module = inside(loaded.encoder, parts.layer.format(layer))
        matrices = [matrix(inside(self.module, path)) for path in parts.query_key_value]
        if len(matrices) == 1:  # all three as one
            ((weight, bias),) = matrices
            matrices = list(zip(np.split(weight, 3, axis=1), np.split(bias, 3), strict=True))
        self.projections = matrices
        self.output, self.output_bias = matrix(inside(self.module, parts.output))
        self.heads = run.layers[layer].n_heads
        self.size = self.output.shape[0] // self.heads
        captured = run.layers[layer]
        self.scaling = float(getattr(captured, "scaling", self.size**-0.5))
        self.scores: DoubleArray = np.zeros((0, 0, 0))
        self.weights = self.scores

    def select_head(self, columns: slice) -> HeadWeights:
        """The matrices of the head that takes these columns of the layer's."""
        (query, query_bias), (key, key_bias), (value, value_bias) = (
            (weight[:, columns].astype(np.float32), bias[columns].astype(np.float32))
            for weight, bias in self.projections
        )
        output = self.output[columns].astype(np.float32)
        return HeadWeights(query, query_bias, key, key_bias, value, value_bias, output, self.scaling)

    def stages(self, states: DoubleArray) -> list[Stage]:
        """The stages from what the layer is given, (n, width), to what it gives."""
        parts, stages = self.parts, [_stage("input", states)]
        entered, source = states, "input"
        norm = inside(self.module, parts.attention_norm)
        if parts.pre_norm and not isinstance(norm, torch.nn.Identity):  # which stands for the norm of the embeddings
            entered, source = _normed(norm, states), "normed before"
            stages.append(_stage(source, entered, "input"))
        query, key, value = (entered @ weight + bias for weight, bias in self.projections)
        for name, values in (("query", query), ("key", key), ("value", value)):
            stages.append(_stage(name, values, source))
        compared = ["query", "key"]
        frequencies = self._frequencies()
        if frequencies is not None:
            query, key = self._turned(query, frequencies), self._turned(key, frequencies)
            compared = ["turned query", "turned key"]
            stages += [_stage(compared[0], query, "query"), _stage(compared[1], key, "key")]
        context = self._attend(query, key, value)
        stages.append(_stage("context", context, *compared, "value"))
        attention = context @ self.output + self.output_bias
        stages.append(_stage("attention", attention, "context"))
        after = states + attention
        stages.append(_stage("after attention", after, "input", "attention"))
        main, source = after, "after attention"
        if not parts.pre_norm:
            main, source = _normed(norm, after), "normed after attention"
            stages.append(_stage(source, main, "after attention"))
        return stages + self._feed_forward(main, source)

    def _feed_forward(self, main: DoubleArray, source: str) -> list[Stage]:
        """The stages from behind attention to the end; ``source`` is the name of the stage that ``main`` is."""
        parts, stages = self.parts, []
        entered, at = main, source
        norm = inside(self.module, parts.feed_forward_norm)
        if parts.pre_norm:
            entered, at = _normed(norm, main), "normed between"
            stages.append(_stage(at, entered, source))
        weight, bias = matrix(inside(self.module, parts.inner))
        inner = entered @ weight + bias
        gate = None
        if parts.gated:
            inner, gate = np.split(inner, 2, axis=-1)
        stages.append(_stage("inner", inner, at))
        active = numbers(inside(self.module, parts.activation)(torch.from_numpy(inner)))
        if gate is not None:
            stages.append(_stage("gate", gate, at))
            active = active * gate
        stages.append(_stage("active", active, "inner", *(["gate"] if gate is not None else [])))
        weight, bias = matrix(inside(self.module, parts.outer))
        forward = active @ weight + bias
        stages.append(_stage("feed-forward", forward, "active"))
        after = main + forward
        if parts.pre_norm:
            return [*stages, _stage("output", after, source, "feed-forward")]
        stages.append(_stage("after feed-forward", after, source, "feed-forward"))
        return [*stages, _stage("output", _normed(norm, after), "after feed-forward")]

    def _attend(self, query: DoubleArray, key: DoubleArray, value: DoubleArray) -> DoubleArray:
        """softmax(q kᵀ · scaling) v of every head side by side, (n, heads · d); notes scores and weights."""
        n = len(query)
        q, k, v = (values.reshape(n, self.heads, self.size).swapaxes(0, 1) for values in (query, key, value))
        scores = q @ k.swapaxes(1, 2) * self.scaling
        captured = self.run.layers[self.layer]
        if isinstance(captured, QueryKeyLayer):  # what the mask hid when the model ran
            scores[np.isneginf(captured.scores(slice(None)))] = -np.inf
        self.scores, self.weights = scores, softmax(scores)
        return (self.weights @ v).swapaxes(0, 1).reshape(n, -1)

    def _frequencies(self) -> DoubleArray | None:
        """θ of each pair of dimensions (d/2,), where queries and keys are turned by their positions; None elsewhere."""
        if self.parts.rotary is None:
            return None
        rotary = inside(self.loaded.encoder, self.parts.rotary)
        return numbers(getattr(rotary, f"{self.module.attention_type}_inv_freq"))

    def _turned(self, values: DoubleArray, frequencies: DoubleArray) -> DoubleArray:
        """Turns every pair of dimensions (i, i + d/2) of each head by position · θ_i (RoFormer, Su et al. 2021)."""
        n = len(values)
        of_heads = values.reshape(n, self.heads, self.size)
        angles = np.arange(n)[:, None, None] * frequencies  # (n, 1, d/2)
        first, second = np.split(of_heads, 2, axis=-1)
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).reshape(n, -1)
