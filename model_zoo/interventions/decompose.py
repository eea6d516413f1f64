"""The logit of an answer as a sum of what every part of the model wrote: direct logit attribution.

In float64 up to the head. A part is followed along the residual stream alone, not through what later layers make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from model_zoo import running
from model_zoo.anatomy import OneLayer, embeddings, inside, matrix, numbers, parts_of
from model_zoo.families.rule import Parts
from model_zoo.interventions.frozen import frozen
from model_zoo.interventions.reading import Reader
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import HEAD_NUMBERS, head_of, scores_of
from model_zoo.types import AttentionRun, Contribution, Decomposition, DoubleArray, Stage

_Kind = Literal["token", "position", "segment", "head", "feed-forward"]


def decompose(read: Reader, top_k: int) -> Decomposition:
    """The parts of the logit that is read. Raises NotSupported for a model whose layers are not known part by part."""
    loaded = read.loaded
    parts = parts_of(loaded, "its prediction cannot be written as their sum")
    run = running.attend(loaded, read.encoding, states_of=True)
    stream = _stream(loaded, parts, run, read.row)
    with torch.inference_mode():
        return _decompose_logits(read, stream, top_k)


@dataclass(slots=True)
class _Stream:
    """What stands in the residual stream at one position, part by part, and all biases as one part."""

    kinds: list[tuple[_Kind, int | None, int | None]] = field(default_factory=list)
    vectors: list[DoubleArray] = field(default_factory=list)  # (width,) each
    bias: DoubleArray | float = 0.0

    def add(self, kind: _Kind, vector: DoubleArray, layer: int | None = None, head: int | None = None) -> None:
        self.kinds.append((kind, layer, head))
        self.vectors.append(vector)

    def map(self, weight: DoubleArray, bias: DoubleArray) -> None:
        """Puts all parts through a matrix (in, out)."""
        self.vectors = [vector @ weight for vector in self.vectors]
        self.bias = np.asarray(self.bias) @ weight + bias if np.ndim(self.bias) else bias

    def norm(self, module: Any, total: DoubleArray) -> None:
        """Puts all parts through a LayerNorm that divides by what it divides the ``total`` (width,) by."""
        spread = np.sqrt(total.var() + module.eps)
        weight = numbers(module.weight)

        def through(vector: DoubleArray) -> DoubleArray:
            return (vector - vector.mean()) * weight / spread

        self.vectors = [through(vector) for vector in self.vectors]
        self.bias = through(np.asarray(self.bias)) if np.ndim(self.bias) else 0.0
        if module.bias is not None:
            self.bias = self.bias + numbers(module.bias)


def _stream(loaded: LoadedModel, parts: Parts, run: AttentionRun, row: int) -> _Stream:
    """Everything that was written into the stream at one position, as it stands when the head reads it."""
    stream, states = _Stream(), run.states.states
    _begin(loaded, parts, stream, embeddings(loaded, parts, run.encoding), row)
    total: DoubleArray = states[0][row].astype(np.float64)
    for number in range(run.n_layers):
        layer = OneLayer(loaded, parts, run, number)
        by_name = {
            stage.name: stage.values[row].astype(np.float64)
            for stage in layer.stages(states[number].astype(np.float64))
        }
        for head in range(layer.heads):
            of_head = slice(head * layer.size, (head + 1) * layer.size)
            stream.add("head", by_name["context"][of_head] @ layer.output[of_head], number, head)
        stream.bias = stream.bias + layer.output_bias
        total = by_name["after attention"]
        if not parts.pre_norm:
            stream.norm(inside(layer.module, parts.attention_norm), total)
        stream.add("feed-forward", by_name["feed-forward"], number)
        if parts.pre_norm:
            total = by_name["output"]
        else:
            stream.norm(inside(layer.module, parts.feed_forward_norm), by_name["after feed-forward"])
    if loaded.final_norm is not None:
        stream.norm(loaded.final_norm, total)
    return stream


def _begin(loaded: LoadedModel, parts: Parts, stream: _Stream, stages: Sequence[Stage], row: int) -> None:
    """The embeddings, through their norm and their matrix where there are some."""
    by_name = {stage.name: stage.values[row].astype(np.float64) for stage in stages}
    kinds: tuple[_Kind, ...] = ("token", "position", "segment")
    for kind in kinds:
        if kind in by_name:
            stream.add(kind, by_name[kind])
    if parts.embedding_norm is not None:
        stream.norm(inside(loaded.encoder, parts.embedding_norm), by_name.get("sum", by_name["token"]))
    if "projected" in by_name:
        assert parts.embedding_projection is not None
        stream.map(*matrix(inside(loaded.encoder, parts.embedding_projection)))


def _decompose_logits(read: Reader, stream: _Stream, top_k: int) -> Decomposition:
    """The parts put through the head, held as it was for their sum."""
    loaded = read.loaded
    head, held = head_of(loaded.model), list[torch.Tensor]()
    width = len(stream.vectors[0])
    bias = np.broadcast_to(stream.bias, (width,))
    vectors = np.stack([*stream.vectors, bias, np.zeros(width)])
    output = _tensor(loaded, vectors.sum(axis=0))
    with frozen(loaded.model, held, noting=True):
        logits = scores_of(head(output[None, None]))[0].cpu().double()
    read.choose_answers(logits[0])
    nothing = _through(loaded, head, held, vectors[-1:])[0]
    chosen = [answer for answer in (read.answer, read.foil) if answer is not None]
    contributions: list[Contribution] = []
    total = 0.0
    kinds: list[tuple[Any, int | None, int | None]] = [*stream.kinds, ("bias", None, None)]
    rows = max(1, HEAD_NUMBERS // len(nothing))
    for start in range(0, len(kinds), rows):
        of_piece = kinds[start : start + rows]
        piece = _through(loaded, head, held, vectors[start : start + len(of_piece)])
        for (kind, layer, number), scores in zip(of_piece, piece, strict=True):
            value = scores if kind == "bias" else scores - nothing
            adds = [float(value[answer]) for answer in chosen]
            total += adds[0]
            contributions.append(
                Contribution(kind, layer, number, adds[0], adds[1] if adds[1:] else None, _raised(read, value, top_k))
            )
    logs = logits[0].log_softmax(dim=-1)
    return Decomposition(
        encoding=read.encoding,
        model=loaded.info,
        position=len(read.encoding) if read.position is None else read.position,
        answer=read.prediction(logs, read.answer),
        foil=None if read.foil is None else read.prediction(logs, read.foil),
        logit=float(logits[0, read.answer]),
        foil_logit=None if read.foil is None else float(logits[0, read.foil]),
        parts=tuple(contributions),
        error=total - float(logits[0, read.answer]),
    )


def _through(loaded: LoadedModel, head: Any, held: list[torch.Tensor], vectors: DoubleArray) -> torch.Tensor:
    """The frozen head on some vectors (rows, width): (rows, answers)."""
    rows = _tensor(loaded, np.ascontiguousarray(vectors))
    with frozen(loaded.model, held, noting=False):
        return scores_of(head(rows[None]))[0].cpu().double()


def _tensor(loaded: LoadedModel, vectors: DoubleArray) -> torch.Tensor:
    """Vectors as the model computes with them; a Mac's GPU has no float64."""
    return torch.from_numpy(vectors).to(loaded.model.dtype).to(loaded.model.device)


def _raised(read: Reader, scores: torch.Tensor, top_k: int) -> tuple[tuple[str, float], ...]:
    """The tokens whose logits a part raises most, beyond what it raises all by: that changes no probability."""
    above = scores - scores.mean()
    best = above.topk(min(top_k, len(above)))
    return tuple((read.name(id), value) for id, value in zip(best.indices.tolist(), best.values.tolist(), strict=True))
