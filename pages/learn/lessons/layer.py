"""A whole layer, with its shortcuts, norms and feed-forward network, and the model as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from propcache.api import cached_property

from analysis.weights_by_part import weights_by_part
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy, FloatArray, signed
from pages.learn import options, pictures
from pages.learn.lesson import Choice, Lesson, Option, Recall, Sketch, Step, recalled
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
    title = "The residual connection"
    terms = ("residual connection", "residual stream")
    at = "norm"
    sources = (HE,)
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

    def text(self) -> str:
        return (
            f"What attention computes for {self.token} does not replace its vector: it is added to it. The path "
            f"around attention is called a [[residual connection]]. {self.what_passes}"
        )

    def ask(self) -> Choice:
        entering, added = _length(self.of("input")), _length(self.of("attention"))
        fact = f"The vector that comes in has a length of {entering:.2f}, what attention adds {added:.2f}."
        difference = (added - entering) / max(entering, added)
        return Choice(
            f"In layer {self.case.layer + 1}, which is longer: the vector that comes in, or what attention adds?",
            (
                Option("What comes in", fact, difference <= -_ALIKE),
                Option("What attention adds", fact, difference >= _ALIKE),
                Option("About the same: within a tenth", fact, -_ALIKE < difference < _ALIKE),
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
        entering, both = self.of("input").astype(np.float64), self.of("after attention").astype(np.float64)
        cosine = float(entering @ both / (np.linalg.norm(entering) * np.linalg.norm(both) or 1.0))
        return (
            f"After the addition the vector has a [[cosine]] of {signed(cosine)} with what came in, and in training "
            "gradients get a short path back through the sum (He et al. 2016)."
        )

    def numbers(self) -> pd.DataFrame:
        columns = {stage: self.of(stage) for stage in ("input", "attention", "after attention")}
        return pd.DataFrame({"dimension": range(1, len(columns["input"]) + 1), **columns})


class Norms(LayerStep):
    title = "Where the norms are"
    terms = ("post-norm", "pre-norm")
    at = "norm"
    sources = (XIONG,)
    stage = "layer"

    @property
    def pre_norm(self) -> bool:
        """Whether the norms come before attention and the network (pre-norm), not after the additions."""
        return self.known.has("normed between")

    def text(self) -> str:
        return (
            "A layer has two [[norms|layernorm]], one for attention and one for the feed-forward network. They can "
            "come after each addition, in the residual stream (post-norm), or before attention and the network, "
            "inside the branch (pre-norm). Look at the picture: where are they in this model?"
        )

    def ask(self) -> Choice:
        return Choice(
            "Where does this model normalize?",
            (
                options.either(
                    "After each addition",
                    not self.pre_norm,
                    "So the vector that leaves a layer has just been normalized (post-norm, as in BERT).",
                    "That is how BERT does it. Here the sum passes on as it is.",
                ),
                options.either(
                    "Before attention and before the feed-forward network",
                    self.pre_norm,
                    "So the residual stream is not normalized between layers (pre-norm, as in GPT-2).",
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
        entering, gives = _length(self.of("input")), _length(self.of("output"))
        how = (
            (
                "with the norms inside the branches, vectors may grow from layer to layer, and deep models are "
                "easier to train"
            )
            if self.pre_norm
            else "each norm’s learned scale sets the length again, so it cannot grow without limit"
        )
        return (
            f"Here {how} (Xiong et al. 2020): {self.token} comes in with a length of {entering:.2f} and leaves with "
            f"{gives:.2f}."
        )

    def numbers(self) -> pd.DataFrame:
        rows = [(stage.name, _length(stage.values[self.followed])) for stage in self.known.stages]
        return pd.DataFrame(rows, columns=["stage", "length"])


class FeedForward(LayerStep):
    title = "The feed-forward network"
    terms = ("feed-forward network", "activation", "GELU")
    at = "feed-forward"
    sources = (VASWANI, GEVA)
    stage = "feed-forward"

    def text(self) -> str:
        return (
            "Attention mixes tokens. The [[feed-forward network]] works on each token alone: one matrix makes the "
            "vector wider, an [[activation]] lets large numbers pass and damps negative ones, and a second matrix "
            "brings it back to its old width."
        )

    def ask(self) -> Choice:
        inner, width = self.inner, self.case.info.width
        return Choice(
            f"How wide is the hidden layer of this network, if {width} numbers go in?",
            options.numbers(
                (inner, f"{inner / width:.3g} times as wide as the vector that came in."),
                (width, "That would be possible, but these models make it wider in between."),
                (width // 2, "It is not squeezed: the hidden layer is wider."),
                (width * 16, "Then this network alone would be many times larger than the rest of the layer."),
                (width * 2, "Wider, yes, but not by this factor."),
                unit=" numbers",
            ),
        )

    def reveal(self) -> None:
        known = self.known
        stage_before = "normed between" if known.has("normed between") else known.stage("inner").made_of[-1]
        named = {"what comes in": stage_before, "after the activation": "active", "what is added": "feed-forward"}
        pictures.strips("feed-forward", [Strip(name, self.of(stage)) for name, stage in named.items()])

    def why(self) -> str:
        active = self.of("active")
        low = float((active <= 0).mean())
        return (
            "Each hidden number responds to a pattern in the vector (in a causal model, Geva et al. 2021 read them "
            f"as memories); for {self.token}, {low:.0%} of the {len(active):,} are zero or below and {1 - low:.0%} "
            "above."
        )

    def numbers(self) -> pd.DataFrame:
        active = self.of("active")
        return pd.DataFrame(
            {"dimension": range(1, len(active) + 1), "before activation": self.of("inner"), "after activation": active}
        )


class Moves(LayerStep):
    title = "How far each layer turns a vector"
    terms = ("hidden state",)
    at = "layers"
    stage = "layers"

    @cached_property
    def moves(self) -> npt.NDArray[np.float64]:
        """1 − cosine between what each layer is given and gives of the followed token, (layers,)."""
        states = self.case.anatomy.states[:, self.followed].astype(np.float64)
        norms = np.linalg.norm(states, axis=1)
        cosines = (states[1:] * states[:-1]).sum(axis=1) / np.maximum(norms[1:] * norms[:-1], 1e-12)
        moves: npt.NDArray[np.float64] = np.clip(1 - cosines, 0, 2)
        return moves

    def text(self) -> str:
        return (
            f"Layer by layer the vector of {self.token} changes. We measure how far it turns by 1 − [[cosine]] "
            "between a layer’s input and its output: 0 if the direction stays, 1 for a right angle."
        )

    def ask(self) -> Sketch:
        layers = options.spread(len(self.moves), _MOST_LAYERS)
        names = tuple(f"layer {layer + 1}" for layer in layers)
        truth = tuple(float(self.moves[layer]) for layer in layers)

        def reply(drawn: Sequence[float]) -> str:
            most, guessed = options.highest(names, truth), options.highest(names, drawn)
            start = (
                "As you drew it, the largest change is in"
                if most == guessed
                else f"You drew the largest change in {guessed}; it is in"
            )
            return f"{start} {most}, {max(truth):.2f}. The smallest is {min(truth):.2f}."

        top = min(2.0, max(0.2, float(np.ceil(max(truth) * 12.5) / 10)))
        return Sketch(
            f"Draw how far each layer turns the vector of {self.token}.", names, truth, reply, top=top, kind="curve"
        )

    def reveal(self) -> None:
        names = [f"layer {layer + 1}" for layer in range(len(self.moves))]
        pictures.bars("moves", names, [("1 − cosine", self.moves.tolist())], marked=int(self.moves.argmax()))

    def why(self) -> str:
        states = self.case.anatomy.states[:, self.followed].astype(np.float64)
        overall = float(states[0] @ states[-1] / (np.linalg.norm(states[0]) * np.linalg.norm(states[-1]) or 1.0))
        return (
            "No layer starts from scratch, since each adds to its input; still the turns add up: between the vector "
            f"of {self.token} before the first layer and after the last, the cosine is {signed(overall)}."
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
            vocabulary=self.case.vocabulary.size,
            positions=(info.max_tokens or 0) if known.has("position") else 0,
            width=len(self.of("token")),
            inner=self.inner,
            layers=info.n_layers,
            gated=known.has("gate"),
        )

    def text(self) -> str:
        return (
            "That is a layer: attention and a feed-forward network, each with an addition and a norm. This model "
            f"stacks {self.case.info.n_layers} of them, all of the same shape; in most models each has weights of its "
            "own. Walk through the whole model: point, zoom, and follow one number from the characters to the "
            "probabilities."
        )

    def ask(self) -> Choice:
        parts = self.parts
        total, largest = sum(parts.values()), max(parts, key=parts.__getitem__)
        names = {
            "embeddings": "The embedding tables",
            "attention": "The attention of all layers",
            "feed-forward": "The feed-forward networks of all layers",
        }
        return Choice(
            "Which part has the most weights in this model?",
            tuple(
                Option(
                    label,
                    f"{parts[name]:,} of {total:,}, {parts[name] / total:.0%}."
                    + ("" if name == largest else f" {names[largest]} have {parts[largest] / total:.0%}."),
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
            "The tables grow with the vocabulary, the layers with the square of the width: here attention has four "
            "matrices a layer, and the feed-forward network has "
            f"{parts['feed-forward'] / max(parts['attention'], 1):.2g} times as many numbers as these; biases and "
            "norms are few, and not counted."
        )

    def numbers(self) -> pd.DataFrame:
        parts = self.parts
        return pd.DataFrame({"part": parts.keys(), "weights": parts.values()})


LESSON = Lesson(
    name="layer",
    title="A whole layer",
    question="What else is in a layer besides attention?",
    examples=(
        ("The cat sat on the mat because it was tired.", ""),
        ("She opened the window, and cold air came in.", ""),
    ),
    controls=("token", "layer"),
    pages=("layers",),
    aims=(
        "draw a layer: attention, feed-forward network, two additions, two norms",
        "tell post-norm from pre-norm",
        "say what the feed-forward network does that attention does not",
        "say where most of a model’s weights are",
    ),
    terms=(
        "feed-forward network",
        "residual stream",
    ),
    sizes=True,
    steps=(
        Shortcut,
        Norms,
        FeedForward,
        Moves,
        Whole,
        *recalled(
            "layers",
            Recall(
                "What does a residual connection do?",
                (
                    Option("It replaces the vector by what attention computes", "It adds; nothing is replaced."),
                    Option(
                        "It adds what a branch computes to what came in",
                        "The input takes a path around the branch.",
                        True,
                    ),
                    Option("It skips layers that are not needed", "Every layer is computed."),
                ),
                "Attention and the feed-forward network each add to the vector that came in: the residual stream.",
            ),
            Recall(
                "Which part of a layer moves information between tokens?",
                (
                    Option("Attention", "It mixes the values of several tokens.", True),
                    Option("The feed-forward network", "It works on each token alone."),
                    Option("LayerNorm", "It works on each token alone."),
                ),
                "Attention mixes tokens; the feed-forward network widens and narrows each token’s vector by itself.",
            ),
            Recall(
                "In BERT, where are the norms?",
                (
                    Option("After each addition (post-norm)", "So what leaves a layer has just been normalized.", True),
                    Option("Before attention and the network (pre-norm)", "That is GPT-2 and ModernBERT."),
                    Option("Only after the last layer", "Every layer has its own."),
                ),
                "BERT normalizes after each addition (post-norm); GPT-2 and ModernBERT normalize inside the branches "
                "(pre-norm).",
            ),
        ),
    ),
)
