"""A whole layer, with its shortcuts, norms and feed-forward network, and the model as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.weights_by_part import weights_by_part
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy, FloatArray, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Step
from ui.sources import GEVA, HE, VASWANI, XIONG
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
        found = self.case.anatomy
        if found.why_not is not None:
            raise NotSupported(found.why_not)
        return found

    def of(self, stage: str) -> FloatArray:
        """The followed token's vector at a stage, (d,)."""
        return self.known.stage(stage).values[self.followed]

    @property
    def inner(self) -> int:
        """How many numbers the feed-forward network has in between."""
        return len(self.of("active"))


class Shortcut(LayerStep):
    title = "The way around"
    at = "norm"
    sources = (HE,)
    stage = "after attention"

    def text(self) -> str:
        return (
            f"What attention computes for {self.token} does not replace its vector: it is added to it. The path around "
            "is called a [[residual connection]]. What a layer has nothing to say about passes through unchanged."
        )

    def ask(self) -> Choice:
        given, added = _length(self.of("input")), _length(self.of("attention"))
        told = f"The vector that comes in has a length of {given:.2f}, what attention adds {added:.2f}."
        difference = (added - given) / max(given, added)
        return Choice(
            f"In layer {self.case.layer + 1}, which is longer: the vector that comes in, or what attention adds?",
            (
                Option("What comes in", told, difference <= -_ALIKE),
                Option("What attention adds", told, difference >= _ALIKE),
                Option("About as long: within a tenth", told, -_ALIKE < difference < _ALIKE),
            ),
        )

    def reveal(self) -> None:
        rows = [
            Strip("what comes in", self.of("input")),
            Strip("what attention adds", self.of("attention"), sign="+"),
            Strip("both", self.of("after attention"), sign="="),
        ]
        pictures.strips("residual", rows)

    def why(self) -> str:
        given, both = self.of("input").astype(np.float64), self.of("after attention").astype(np.float64)
        cosine = float(given @ both / (np.linalg.norm(given) * np.linalg.norm(both) or 1.0))
        return (
            f"After the addition the vector still points to where it came from by a [[cosine]] of {signed(cosine)}, "
            "and errors find a short way back through the sum when deep networks learn (He et al. 2016)."
        )

    def numbers(self) -> pd.DataFrame:
        columns = {stage: self.of(stage) for stage in ("input", "attention", "after attention")}
        return pd.DataFrame({"dimension": range(1, len(columns["input"]) + 1), **columns})


class Norms(LayerStep):
    title = "Where the norms stand"
    at = "norm"
    sources = (XIONG,)
    stage = "layer"

    @property
    def in_front(self) -> bool:
        """Whether the norms stand in front of the parts, and not behind them."""
        return self.known.has("normed between")

    def text(self) -> str:
        return (
            "A layer has two [[norms|layernorm]], one for attention and one for the feed-forward network. They can "
            "stand behind each addition, on the main road, or in front of each part, on the side road. Look at the "
            "picture: where are they in this model?"
        )

    def ask(self) -> Choice:
        return Choice(
            "Where does this model normalize?",
            (
                options.either(
                    "Behind each addition",
                    not self.in_front,
                    "So the vector that leaves a layer has been normalized (post-norm, as in BERT).",
                    "That is how BERT does it. Here the sum passes on as it is.",
                ),
                options.either(
                    "In front of attention and of the feed-forward network",
                    self.in_front,
                    "So the main road is never normalized between layers (pre-norm, as in GPT-2).",
                    "That is how GPT-2 does it. Here the sum itself is normalized.",
                ),
                Option(
                    "Only once, at the very end",
                    "Every layer has norms of its own; some models have one more at the end.",
                ),
            ),
        )

    def reveal(self) -> None:
        # The stages that the vector itself passes, without the parts that are added to it.
        road = ("input", "after attention", "normed after attention", "after feed-forward", "output")
        lengths = {name: _length(self.of(name)) for name in road if self.known.has(name)}
        pictures.bars("norms", list(lengths), [("length of the vector", list(lengths.values()))])

    def why(self) -> str:
        given, gives = _length(self.of("input")), _length(self.of("output"))
        how = (
            "with the norms beside the road, vectors may grow from layer to layer, and deep models are easier to train"
            if self.in_front
            else "each norm’s learned scale sets the length anew, so it cannot run away from layer to layer"
        )
        return (
            f"Here {how} (Xiong et al. 2020): {self.token} comes in with a length of {given:.2f} and leaves with "
            f"{gives:.2f}."
        )

    def numbers(self) -> pd.DataFrame:
        rows = [(stage.name, _length(stage.values[self.followed])) for stage in self.known.stages]
        return pd.DataFrame(rows, columns=["stage", "length"])


class FeedForward(LayerStep):
    title = "The feed-forward network"
    at = "feed-forward"
    sources = (VASWANI, GEVA)
    stage = "feed-forward"

    def text(self) -> str:
        return (
            "Attention mixes tokens. The [[feed-forward network]] works on each token alone: a matrix makes the vector "
            "longer, an [[activation]] lets large numbers pass and damps negative ones, a second matrix makes it short "
            "again."
        )

    def ask(self) -> Choice:
        inner, width = self.inner, self.case.info.width
        return Choice(
            f"How long is the vector of {width} numbers in between?",
            options.numbers(
                (inner, f"{inner / width:.3g} times as long as the vector that came in."),
                (width, "As long as before would be possible, too. These models make it longer in between."),
                (width // 2, "It is not squeezed: in between it is longer than before."),
                (width * 16, "That would make this part larger than all the rest of the layer many times over."),
                (width * 2, "Longer, yes, but not by this factor."),
                unit=" numbers",
            ),
        )

    def reveal(self) -> None:
        known = self.known
        given = "normed between" if known.has("normed between") else known.stage("inner").made_of[-1]
        named = {"what comes in": given, "behind the activation": "active", "what is added": "feed-forward"}
        pictures.strips("feed-forward", [Strip(name, self.of(stage)) for name, stage in named.items()])

    def why(self) -> str:
        active = self.of("active")
        low = float((active <= 0).mean())
        return (
            "Each number in between answers to one pattern in the vector (Geva et al. 2021 read them as memories); for "
            f"{self.token}, {low:.0%} of the {len(active):,} are zero or below and {1 - low:.0%} above."
        )

    def numbers(self) -> pd.DataFrame:
        active = self.of("active")
        return pd.DataFrame(
            {"dimension": range(1, len(active) + 1), "before activation": self.of("inner"), "behind it": active}
        )


class Moves(LayerStep):
    title = "How far each layer goes"
    at = "layers"
    stage = "layers"

    @cached_property
    def moves(self) -> npt.NDArray[np.float64]:
        """1 − cosine between what each layer is given and gives of the followed token, (layers,)."""
        states = self.case.anatomy.states[:, self.followed].astype(np.float64)
        norms = np.linalg.norm(states, axis=1)
        cosines = (states[1:] * states[:-1]).sum(axis=1) / np.maximum(norms[1:] * norms[:-1], 1e-12)
        found: npt.NDArray[np.float64] = np.clip(1 - cosines, 0, 2)
        return found

    def text(self) -> str:
        return (
            f"Layer by layer the vector of {self.token} moves. How far, we measure by 1 − [[cosine]] between what a "
            "layer is given and what it gives: 0 if the direction stays, 1 for a right angle."
        )

    def ask(self) -> Sketch:
        shown = options.spread(len(self.moves), _MOST_LAYERS)
        names = tuple(f"layer {layer + 1}" for layer in shown)
        truth = tuple(float(self.moves[layer]) for layer in shown)

        def reply(drawn: Sequence[float]) -> str:
            most, guessed = options.highest(names, truth), options.highest(names, drawn)
            said = (
                "As you drew it, the largest move is in"
                if most == guessed
                else f"You drew the largest move in {guessed}; it is in"
            )
            return f"{said} {most}, {max(truth):.2f}. The smallest is {min(truth):.2f}."

        top = min(2.0, max(0.2, float(np.ceil(max(truth) * 12.5) / 10)))
        return Sketch(
            f"Draw how far each layer turns the vector of {self.token}.", names, truth, reply, top=top, kind="curve"
        )

    def reveal(self) -> None:
        names = [f"layer {layer + 1}" for layer in range(len(self.moves))]
        pictures.bars("moves", names, [("1 − cosine", self.moves.tolist())], marked=int(self.moves.argmax()))

    def why(self) -> str:
        states = self.case.anatomy.states[:, self.followed].astype(np.float64)
        whole = float(states[0] @ states[-1] / (np.linalg.norm(states[0]) * np.linalg.norm(states[-1]) or 1.0))
        return (
            "No layer starts over, since each adds to what it is given; still the small turns add up: from first to "
            f"last the cosine of {self.token} with itself is {signed(whole)}."
        )

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({"layer": range(1, len(self.moves) + 1), "1 - cosine": self.moves})


class Whole(LayerStep):
    title = "The whole model"
    at = "layers"
    sources = (VASWANI,)
    stage = ""

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """How many weights the parts of the model have."""
        known, info = self.known, self.case.info
        return weights_by_part(
            vocabulary=len(self.case.vocabulary.tokens),
            positions=(info.max_tokens or 0) if known.has("position") else 0,
            width=len(self.of("token")),
            inner=self.inner,
            layers=info.n_layers,
            gated=known.has("gate"),
        )

    def text(self) -> str:
        return (
            f"That is a layer: attention, add, norm; feed-forward, add, norm. {self.case.info.n_layers} of them stand "
            "on top of each other, alike in shape, each with weights of its own in most models. Walk through the "
            "whole: point, zoom, and follow one number from the characters to the probabilities."
        )

    def ask(self) -> Choice:
        parts = self.parts
        total, largest = sum(parts.values()), max(parts, key=parts.__getitem__)
        names = {
            "embeddings": "In the table of embeddings",
            "attention": "In the attention of all layers",
            "feed-forward": "In the feed-forward networks of all layers",
        }
        return Choice(
            "Where are most of this model’s weights?",
            tuple(
                Option(
                    label,
                    f"{parts[name]:,} of {total:,}, {parts[name] / total:.0%}."
                    + ("" if name == largest else f" {names[largest]} there are {parts[largest] / total:.0%}."),
                    name == largest,
                )
                for name, label in names.items()
            ),
        )

    def reveal(self) -> None:
        parts = self.parts
        pictures.bars("weights", list(parts), [("weights", [float(many) for many in parts.values()])], written=",.0f")

    def why(self) -> str:
        parts = self.parts
        return (
            "The table grows with the vocabulary, the layers with the square of the width: here attention has four "
            f"matrices a layer, and the feed-forward network {parts['feed-forward'] / max(parts['attention'], 1):.2g} "
            "times as many numbers as they have; biases and norms are few, and not counted."
        )

    def numbers(self) -> pd.DataFrame:
        parts = self.parts
        return pd.DataFrame({"part": parts.keys(), "weights": parts.values()})


LESSON = Lesson(
    name="layer",
    title="A whole layer",
    question="What else is in a layer beside attention?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("She opened the window, and cold air came in.", ""),
    ),
    controls=("token", "layer"),
    pages=("layers",),
    steps=(Shortcut, Norms, FeedForward, Moves, Whole),
)
