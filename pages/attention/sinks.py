"""The special token that a head looks at most: whether that does nothing, or adds one vector to all tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd
import streamlit as st

from analysis import sinks as measure
from analysis.sinks import frame, much_attention, strongest, verdict
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.questions.measure_sinks import MeasureSinks
from model_zoo.types import Sinks
from pages.attention.scene import LONGEST, Scene
from ui import as_python, as_text, save
from web.engine import engine

RULE: Final = (Path(__file__).parent / "sinks.md").read_text(encoding="utf-8").format(**vars(measure)).strip()


def draw(scene: Scene, layer: int, head: int) -> None:
    """The finding about a head, from 0, in a sentence; nothing where there is none, or a model does not tell."""
    if scene.stack != "encoder":
        return
    try:
        sinks = engine().ask(MeasureSinks(scene.model, scene.text, scene.pair, LONGEST))
    except (InvalidInput, NotSupported):  # the view has shown all there is
        return
    sentence = describe_head(sinks, layer, head)
    if sentence is not None:
        st.markdown(sentence, help=RULE)
    as_python.put(
        f"numbers = frame(engine.sinks({scene.arguments}))",
        lambda: frame(sinks),
        part="Special tokens, all heads",
    )
    save.table("Special tokens, all heads", lambda: table(sinks), "special_tokens")


def describe_head(sinks: Sinks, layer: int, head: int) -> str | None:
    """What the head, from 0, does with the special token that it gives most, as Markdown; None if it gives little."""
    token = strongest(sinks, layer, head)
    if not much_attention(sinks)[layer, head, token]:
        return None
    name, share, uniform = _name(sinks, token), sinks.share[layer, head, token], sinks.even[layer, token]
    value, ordinary = sinks.value[layer, head, token], sinks.ordinary_value[layer, head]
    added, update = sinks.added[layer, head, token], sinks.update[layer, head]
    kind = verdict(sinks, layer, head, token)
    looks = f"On this text, {_percent(share)} of this head’s attention goes to {name} (uniform: {_percent(uniform)})"
    length = f", whose value is {value / ordinary:.2f} times as long as that of an ordinary token" if ordinary else ""
    adds = f"What this adds is {added:.1%} as long as the vectors it is added to; all that the head adds, {update:.1%}."
    if kind == "does nothing":
        end = f"Looking at {name} **does nothing** here."
    elif kind == "broadcasts":
        same = _percent(sinks.common[layer, head])
        end = f"Of that, {same} is the same for all tokens: the head **broadcasts** one vector here."
    else:
        end = "That is neither next to nothing nor, by the rule, one vector for all tokens."
    return f"{looks}{length}. {adds} {end}"


def _name(sinks: Sinks, token: int) -> str:
    """What one of the k special tokens is called: with its place where there are several alike."""
    name = as_text(sinks.tokens[token])
    if not any(sinks.encoding.special):
        return f"the first token, “{name}”"
    return f"{name} (token {sinks.places[token] + 1})" if sinks.tokens.count(sinks.tokens[token]) > 1 else name


def _percent(share: float) -> str:
    """A share in percent; one that is not 0 never reads as if it were."""
    return f"{share:.0%}" if share >= 0.01 or share == 0 else "under 1%"


def table(sinks: Sinks) -> pd.DataFrame:
    """Every head and special token, all counted from 1."""
    rows = frame(sinks)
    rows[["layer", "head", "place"]] += 1
    return rows
