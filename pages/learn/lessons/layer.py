"""A whole layer, with its shortcuts, norms and feed-forward network, and the model as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from propcache.api import cached_property

from analysis.operations import weights_by_part
from analysis.sentence_vectors import pair_cosines
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy, DoubleArray, FloatArray
from pages.learn import pictures
from pages.learn.lesson import Choice, Sketch, Step, read_lesson, spread
from viz.strips import Strip

_MOST_LAYERS: Final = 16  # that one draws over
_ALIKE: Final = 0.1  # lengths that differ by less, as a share of the longer one, count as alike


def _length(values: FloatArray) -> float:
    return float(np.linalg.norm(values.astype(np.float64)))


class LayerStep(Step):
    """A step about the parts of the chosen layer."""

    @cached_property
    def known(self) -> Anatomy:
        """The chosen layer part by part. Raises NotSupported where it is not known so."""
        anatomy = self.case.anatomy
        if anatomy.why_not is not None:
            raise NotSupported(anatomy.why_not)
        return anatomy

    def of(self, stage: str) -> FloatArray:
        """The followed token's vector at a stage, (d,)."""
        return self.known.stage(stage).values[self.followed]

    @property
    def inner(self) -> int:
        """How many numbers the feed-forward network has in between."""
        return len(self.of("active"))


class Shortcut(LayerStep):
    stage = "after attention"

    @property
    def what_passes(self) -> str:
        """What becomes of a vector to which attention adds little."""
        if self.known.has("normed between"):
            return "Where attention adds little, the vector passes through nearly unchanged."
        return (
            "Here LayerNorm then rescales the sum, so even where attention adds little the vector does not pass "
            "through unchanged."
        )

    def ask(self) -> Choice:
        entering, added = _length(self.of("input")), _length(self.of("attention"))
        difference = (added - entering) / max(entering, added)
        return self.choice(
            layer=self.case.layer + 1,
            input_longer=difference <= -_ALIKE,
            entering=entering,
            added=added,
            attention_longer=difference >= _ALIKE,
            alike=-_ALIKE < difference < _ALIKE,
        )

    def reveal(self) -> None:
        rows = [
            Strip("what comes in", self.of("input")),
            Strip("what attention adds", self.of("attention"), sign="+"),
            Strip("both", self.of("after attention"), sign="="),
        ]
        pictures.strips("residual", rows)

    def why(self) -> str:
        return self.say("why", cosine=float(pair_cosines(self.of("input"), self.of("after attention"))))

    def numbers(self) -> pd.DataFrame:
        columns = {stage: self.of(stage) for stage in ("input", "attention", "after attention")}
        return self.by_dimension(columns)


class Norms(LayerStep):
    stage = "layer"

    @property
    def pre_norm(self) -> bool:
        """Whether the norms come before attention and the network (pre-norm), not after the additions."""
        return self.known.has("normed between")

    def ask(self) -> Choice:
        return self.choice(post_norm=not self.pre_norm)

    def reveal(self) -> None:
        # The stages that the vector itself passes, without the parts that are added to it.
        road = ("input", "after attention", "normed after attention", "after feed-forward", "output")
        lengths = {name: _length(self.of(name)) for name in road if self.known.has(name)}
        pictures.bars("norms", {"stage": lengths.keys(), "length of the vector": lengths.values()})

    def why(self) -> str:
        entering, gives = _length(self.of("input")), _length(self.of("output"))
        how = self.say("pre" if self.pre_norm else "post")
        return self.say("why", how=how, entering=entering, gives=gives)

    def numbers(self) -> pd.DataFrame:
        rows = [(stage.name, _length(stage.values[self.followed])) for stage in self.known.stages]
        return pd.DataFrame(rows, columns=["stage", "length"])


class FeedForward(LayerStep):
    stage = "feed-forward"

    def ask(self) -> Choice:
        width = self.case.info.width
        ratio = self.inner / width
        return self.choice(width=width, ratio=ratio, half=width // 2, twofold=width * 2, sixteenfold=width * 16)

    def reveal(self) -> None:
        known = self.known
        stage_before = "normed between" if known.has("normed between") else known.stage("inner").made_of[-1]
        named = {"what comes in": stage_before, "after the activation": "active", "what is added": "feed-forward"}
        pictures.strips("feed-forward", [Strip(name, self.of(stage)) for name, stage in named.items()])

    def why(self) -> str:
        active = self.of("active")
        low = float((active <= 0).mean())
        return self.say("why", low=low, n_active=len(active), high=1 - low)

    def numbers(self) -> pd.DataFrame:
        return self.by_dimension({"before activation": self.of("inner"), "after activation": self.of("active")})


class Moves(LayerStep):
    stage = "layers"

    @cached_property
    def moves(self) -> DoubleArray:
        """1 − cosine between what each layer is given and gives of the followed token, (layers,)."""
        states = self.case.anatomy.states[:, self.followed]
        return np.clip(1 - pair_cosines(states[:-1], states[1:]), 0, 2)

    def ask(self) -> Sketch:
        layers = spread(len(self.moves), _MOST_LAYERS)
        truth = self.moves[layers]
        top = min(2.0, max(0.2, float(np.ceil(truth.max() * 12.5) / 10)))
        return self.sketch((f"layer {layer + 1}" for layer in layers), truth, top=top, kind="curve")

    def reveal(self) -> None:
        names = [f"layer {layer + 1}" for layer in range(len(self.moves))]
        pictures.bars("moves", {"layer": names, "1 − cosine": self.moves}, marked=int(self.moves.argmax()))

    def why(self) -> str:
        states = self.case.anatomy.states[:, self.followed]
        return self.say("why", overall=float(pair_cosines(states[0], states[-1])))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": range(1, len(self.moves) + 1), "1 - cosine": self.moves})


class Whole(LayerStep):
    stage = ""

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """How many weights the parts of the model have."""
        known, info = self.known, self.case.info
        return weights_by_part(
            vocabulary=self.case.vocabulary.size,
            positions=(info.max_tokens or 0) if known.has("position") else 0,
            width=len(self.of("token")),
            inner=self.inner,
            layers=info.n_layers,
            gated=known.has("gate"),
        )

    def ask(self) -> Choice:
        weights = [self.parts[name] for name in ("embeddings", "attention", "feed-forward")]
        labels = {at: self.say(name) for at, name in enumerate(("tables", "attention", "networks"))}
        total, largest = sum(weights), int(np.argmax(weights))
        most = {"largest": labels[largest], "largest_share": weights[largest] / total}
        return self.choose(
            labels, largest, lambda at: {"n": weights[at], "total": total, "share": weights[at] / total, **most}
        )

    def reveal(self) -> None:
        pictures.bars("weights", self.numbers(), written=",.0f")

    def why(self) -> str:
        parts = self.parts
        return self.say("why", ratio=parts["feed-forward"] / max(parts["attention"], 1))

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"part": self.parts.keys(), "weights": self.parts.values()})


LESSON = read_lesson(__file__, Shortcut, Norms, FeedForward, Moves, Whole)
