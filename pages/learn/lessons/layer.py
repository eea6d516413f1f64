"""Lesson 5: a whole layer, with its shortcuts, norms and feed-forward network, and the model as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.weights_by_part import weights_by_part
from model_zoo.errors import NotSupported
from model_zoo.types import Anatomy, FloatArray
from pages.learn import options, walk
from pages.learn.case import Case
from pages.learn.glossary import quoted
from pages.learn.lesson import Choice, Lesson, Option, Sketch, Source, Step
from ui import figures
from viz.bars import bars
from viz.strips import Strip, strips
from web.engine import engine

_MOST_LAYERS: Final = 16  # that one draws over
_ALIKE: Final = 0.1  # lengths that differ by less, as a share of the longer one, count as alike

_HE = Source("He et al.", 2016, "Deep Residual Learning for Image Recognition")
_VASWANI = Source("Vaswani et al.", 2017, "Attention Is All You Need")
_XIONG = Source("Xiong et al.", 2020, "On Layer Normalization in the Transformer Architecture")
_GEVA = Source("Geva et al.", 2021, "Transformer Feed-Forward Layers Are Key-Value Memories")


def _known(case: Case) -> Anatomy:
    """The chosen layer part by part. Raises NotSupported where it is not known so."""
    found = case.anatomy
    if found.why_not is not None:
        raise NotSupported(found.why_not)
    return found


def _of(case: Case, stage: str) -> FloatArray:
    return _known(case).stage(stage).values[case.followed]


def _length(values: FloatArray) -> float:
    return float(np.linalg.norm(values.astype(np.float64)))


def _token(case: Case) -> str:
    return quoted(case.encoding.tokens[case.followed])


# ---- the shortcut -----------------------------------------------------------------------------------------------


def _short_text(case: Case) -> str:
    return (
        f"What attention computes for {_token(case)} does not replace its vector: it is added to it. The path around "
        "is called a [[residual connection]]. What a layer has nothing to say about passes through unchanged."
    )


def _short_ask(case: Case) -> Choice:
    given, added = _length(_of(case, "input")), _length(_of(case, "attention"))
    told = f"The vector that comes in has a length of {given:.2f}, what attention adds {added:.2f}."
    difference = (added - given) / max(given, added)
    return Choice(
        f"In layer {case.layer + 1}, which is longer: the vector that comes in, or what attention adds?",
        (
            Option("What comes in", told, difference <= -_ALIKE),
            Option("What attention adds", told, difference >= _ALIKE),
            Option("About as long: within a tenth", told, -_ALIKE < difference < _ALIKE),
        ),
    )


def _short_reveal(case: Case) -> None:
    rows = [
        Strip("what comes in", _of(case, "input")),
        Strip("what attention adds", _of(case, "attention"), sign="+"),
        Strip("both", _of(case, "after attention"), sign="="),
    ]
    figures.show(strips(rows, dark=case.dark), "learn strips", "residual")


def _short_why(case: Case) -> str:
    given, both = _of(case, "input").astype(np.float64), _of(case, "after attention").astype(np.float64)
    cosine = float(given @ both / (np.linalg.norm(given) * np.linalg.norm(both) or 1.0))
    return (
        f"After the addition the vector still points to where it came from by a [[cosine]] of {cosine:.2f}".replace(
            "-", "−", 0
        )
        + ", and errors find a short way back through the sum when deep networks learn (He et al. 2016)."
    )


def _short_numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dimension": np.arange(1, len(_of(case, "input")) + 1),
            "input": _of(case, "input"),
            "attention": _of(case, "attention"),
            "after attention": _of(case, "after attention"),
        }
    )


# ---- where the norms stand --------------------------------------------------------------------------------------


def _place_of_norms(case: Case) -> str:
    found = _known(case)
    return "before" if found.has("normed between") else "behind"


def _norm_text(_case: Case) -> str:
    return (
        "A layer has two [[norms|layernorm]], one for attention and one for the feed-forward network. They can stand "
        "behind each addition, on the main road, or in front of each part, on the side road. Look at the picture: "
        "where are they in this model?"
    )


def _norm_ask(case: Case) -> Choice:
    place = _place_of_norms(case)
    return Choice(
        "Where does this model normalize?",
        (
            Option(
                "Behind each addition",
                "So the vector that leaves a layer has been normalized (post-norm, as in BERT)."
                if place == "behind"
                else "That is how BERT does it. Here the sum passes on as it is.",
                place == "behind",
            ),
            Option(
                "In front of attention and of the feed-forward network",
                "So the main road is never normalized between layers (pre-norm, as in GPT-2)."
                if place == "before"
                else "That is how GPT-2 does it. Here the sum itself is normalized.",
                place == "before",
            ),
            Option(
                "Only once, at the very end", "Every layer has norms of its own; some models have one more at the end."
            ),
        ),
    )


def _norm_reveal(case: Case) -> None:
    found = _known(case)
    lengths = {name: _length(_of(case, name)) for name in _main_road(found)}
    figures.show(
        bars(list(lengths), [("length of the vector", list(lengths.values()))], dark=case.dark), "learn bars", "norms"
    )


def _main_road(found: Anatomy) -> list[str]:
    """The stages of the layer that the vector of a token passes itself, without the parts that are added to it."""
    road = ("input", "after attention", "normed after attention", "after feed-forward", "output")
    return [name for name in road if found.has(name)]


def _norm_why(case: Case) -> str:
    place = _place_of_norms(case)
    given, gives = _length(_of(case, "input")), _length(_of(case, "output"))
    if place == "behind":
        how = "each norm’s learned scale sets the length anew, so it cannot run away from layer to layer"
    else:
        how = (
            "with the norms beside the road, vectors may grow from layer to layer, and deep models are easier to train"
        )
    return (
        f"Here {how} (Xiong et al. 2020): {_token(case)} comes in with a length of {given:.2f} and leaves with "
        f"{gives:.2f}."
    )


def _norm_numbers(case: Case) -> pd.DataFrame:
    found = _known(case)
    return pd.DataFrame(
        [{"stage": stage.name, "length": _length(stage.values[case.followed])} for stage in found.stages]
    )


# ---- the feed-forward network -----------------------------------------------------------------------------------


def _wide(case: Case) -> int:
    found = _known(case)
    return int(found.stage("active").values.shape[1])


def _inner_text(_case: Case) -> str:
    return (
        "Attention mixes tokens. The [[feed-forward network]] works on each token alone: a matrix makes the vector "
        "longer, an [[activation]] lets large numbers pass and damps negative ones, a second matrix makes it short "
        "again."
    )


def _inner_ask(case: Case) -> Choice:
    inner, width = _wide(case), case.info.width
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


def _inner_reveal(case: Case) -> None:
    rows = [
        Strip(
            "what comes in", _of(case, "normed between" if _known(case).has("normed between") else _before_inner(case))
        )
    ]
    rows += [Strip("behind the activation", _of(case, "active")), Strip("what is added", _of(case, "feed-forward"))]
    figures.show(strips(rows, dark=case.dark), "learn strips", "feed-forward")


def _before_inner(case: Case) -> str:
    """The stage that the first matrix is given."""
    return _known(case).stage("inner").made_of[-1]


def _inner_why(case: Case) -> str:
    active = _of(case, "active")
    low = float((active <= 0).mean())
    return (
        f"Each number in between answers to one pattern in the vector (Geva et al. 2021 read them as memories); for "
        f"{_token(case)}, {low:.0%} of the {len(active):,} are zero or below and {1 - low:.0%} above."
    )


def _inner_numbers(case: Case) -> pd.DataFrame:
    active = _of(case, "active")
    return pd.DataFrame(
        {"dimension": np.arange(1, len(active) + 1), "before activation": _of(case, "inner"), "behind it": active}
    )


# ---- how far each layer moves a token ---------------------------------------------------------------------------


def _moves(case: Case) -> npt.NDArray[np.float64]:
    """1 − cosine between what each layer is given and gives of the followed token, (layers,)."""
    states = case.anatomy.states[:, case.followed].astype(np.float64)
    norms = np.linalg.norm(states, axis=1)
    cosines = (states[1:] * states[:-1]).sum(axis=1) / np.maximum(norms[1:] * norms[:-1], 1e-12)
    found: npt.NDArray[np.float64] = np.clip(1 - cosines, 0, 2)
    return found


def _move_text(case: Case) -> str:
    return (
        f"Layer by layer the vector of {_token(case)} moves. How far, we measure by 1 − [[cosine]] between what a "
        "layer is given and what it gives: 0 if the direction stays, 1 for a right angle."
    )


def _move_ask(case: Case) -> Sketch:
    moves = _moves(case)
    shown = sorted(
        np.unique(np.linspace(0, len(moves) - 1, min(len(moves), _MOST_LAYERS)).round().astype(int)).tolist()
    )
    names = [f"layer {layer + 1}" for layer in shown]
    truth = [float(moves[layer]) for layer in shown]

    def reply(drawn: Sequence[float]) -> str:
        most, guessed = names[int(np.argmax(truth))], names[int(np.argmax(drawn))]
        said = (
            "As you drew it, the largest move is in"
            if most == guessed
            else f"You drew the largest move in {guessed}; it is in"
        )
        return f"{said} {most}, {max(truth):.2f}. The smallest is {min(truth):.2f}."

    top = min(2.0, max(0.2, float(np.ceil(max(truth) * 12.5) / 10)))
    return Sketch(
        f"Draw how far each layer turns the vector of {_token(case)}.",
        tuple(names),
        tuple(truth),
        reply,
        top=top,
        kind="curve",
    )


def _move_reveal(case: Case) -> None:
    moves = _moves(case)
    figures.show(
        bars(
            [f"layer {layer + 1}" for layer in range(len(moves))],
            [("1 − cosine", moves.tolist())],
            marked=int(moves.argmax()),
            dark=case.dark,
        ),
        "learn bars",
        "moves",
    )


def _move_why(case: Case) -> str:
    states = case.anatomy.states[:, case.followed].astype(np.float64)
    whole = float(states[0] @ states[-1] / (np.linalg.norm(states[0]) * np.linalg.norm(states[-1]) or 1.0))
    return (
        "No layer starts over, since each adds to what it is given; still the small turns add up: from first to last "
        f"the cosine of {_token(case)} with itself is {whole:.2f}.".replace(" -", " −")
    )


def _move_numbers(case: Case) -> pd.DataFrame:
    moves = _moves(case)
    return pd.DataFrame({"layer": np.arange(1, len(moves) + 1), "1 - cosine": moves})


# ---- the whole --------------------------------------------------------------------------------------------------


def _parts(case: Case) -> dict[str, int]:
    found = _known(case)
    token = found.stage("token").values
    vocabulary = len(engine().vocabulary(case.model).tokens)
    positions = (case.info.max_tokens or 0) if found.has("position") else 0
    return dict(
        weights_by_part(
            vocabulary=vocabulary,
            positions=positions,
            width=token.shape[1],
            inner=_wide(case),
            layers=case.info.n_layers,
            gated=found.has("gate"),
        )
    )


def _whole_text(case: Case) -> str:
    return (
        f"That is a layer: attention, add, norm; feed-forward, add, norm. {case.info.n_layers} of them stand on top of "
        "each other, alike in shape, each with weights of its own in most models. Walk through the whole: point, zoom, "
        "and follow one number from the characters to the probabilities."
    )


def _whole_ask(case: Case) -> Choice:
    parts = _parts(case)
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


def _whole_reveal(case: Case) -> None:
    parts = _parts(case)
    figures.show(
        bars(list(parts), [("weights", [float(many) for many in parts.values()])], written=",.0f", dark=case.dark),
        "learn bars",
        "weights",
    )


def _whole_why(case: Case) -> str:
    parts = _parts(case)
    return (
        "The table grows with the vocabulary, the layers with the square of the width: here attention has four "
        f"matrices a layer, and the feed-forward network {parts['feed-forward'] / max(parts['attention'], 1):.2g} "
        "times as many numbers as they have; biases and norms are few, and not counted."
    )


def _whole_numbers(case: Case) -> pd.DataFrame:
    parts = _parts(case)
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
    steps=(
        Step(
            title="The way around",
            at="norm",
            text=_short_text,
            figure=lambda case: walk.draw(case, "after attention"),
            ask=_short_ask,
            reveal=_short_reveal,
            why=_short_why,
            numbers=_short_numbers,
            sources=(_HE,),
            wide=True,
        ),
        Step(
            title="Where the norms stand",
            at="norm",
            text=_norm_text,
            figure=lambda case: walk.draw(case, "layer"),
            ask=_norm_ask,
            reveal=_norm_reveal,
            why=_norm_why,
            numbers=_norm_numbers,
            sources=(_XIONG,),
            wide=True,
        ),
        Step(
            title="The feed-forward network",
            at="feed-forward",
            text=_inner_text,
            figure=lambda case: walk.draw(case, "feed-forward"),
            ask=_inner_ask,
            reveal=_inner_reveal,
            why=_inner_why,
            numbers=_inner_numbers,
            sources=(_VASWANI, _GEVA),
            wide=True,
        ),
        Step(
            title="How far each layer goes",
            at="layers",
            text=_move_text,
            figure=lambda case: walk.draw(case, "layers"),
            ask=_move_ask,
            reveal=_move_reveal,
            why=_move_why,
            numbers=_move_numbers,
            wide=True,
        ),
        Step(
            title="The whole model",
            at="layers",
            text=_whole_text,
            figure=lambda case: walk.draw(case, ""),
            ask=_whole_ask,
            reveal=_whole_reveal,
            why=_whole_why,
            numbers=_whole_numbers,
            sources=(_VASWANI,),
            wide=True,
        ),
    ),
)
