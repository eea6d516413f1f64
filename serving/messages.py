"""What is sent beside questions and their results: what a replica does now, a run that stays where it was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model_zoo.questions.attend import Attend
from model_zoo.types import Encoding, EngineState, HeldModel, HiddenStates, ModelInfo, Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """A replica at the moment of an answer; ``name`` tells it from others. ``memory`` is its process's, in bytes."""

    name: str
    device: str | None
    engine: EngineState
    held: tuple[HeldModel, ...]
    memory: int


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, or the first or last word of a stream, with the state of who gave it."""

    value: Any
    state: ReplicaState


@dataclass(frozen=True, slots=True)
class Failed:
    """A question that was refused: ``error`` says why, or is None for a failure that nobody foresaw, of type
    ``unforeseen``, which the cluster's log knows under the id of the ``question``.
    """

    error: Any
    unforeseen: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class RunSketch:
    """An ``AttentionRun`` without its arrays: ``heads`` of each layer, and whether its queries and keys are to be had.

    What is looked at of it is asked for by ``ReadLayers`` and ``ReadNorms``.
    """

    encoding: Encoding
    model: ModelInfo
    heads: tuple[int, ...]
    stack: Stack
    source: Encoding | None
    states: HiddenStates | None


@dataclass(frozen=True, slots=True)
class ReadLayers:
    """What attention is computed from: of one ``layer`` or of all (then a tuple), of one ``head`` or of all, with the
    ``values`` or without.
    """

    attend: Attend
    layer: int | None = None
    head: int | None = None
    values: bool = False


@dataclass(frozen=True, slots=True)
class ReadNorms:
    """``AttentionRun.value_norms`` of a layer; with ``summed`` its ``norms_of_sum`` over the ``heads``."""

    attend: Attend
    layer: int
    summed: bool = False
    heads: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a download on the cluster is; ``error`` says why it failed."""

    n_bytes: int
    done: int
    error: Any
