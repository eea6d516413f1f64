"""View "Where does it travel?": vectors of one sentence's run put into that of another, place by place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from analysis.agreement import readable
from analysis.effects import By, lost, measured, recovered
from analysis.words import Unit, word_units
from model_zoo.types import Change, DoubleArray, Effects, signed
from pages.cause import scene as scenes
from pages.cause.fields import ANSWER, BY, FOIL, OTHER
from pages.cause.scene import EXAMPLE, Scene
from ui import MASKS, PAIR, TEXT, Field, View, as_python, ask_for, caption, note, one_of, save, say, widgets
from ui.address import put
from ui.as_python import Lines
from ui.cells import show
from viz import cells
from viz.layout import layer_names, percent

What = Literal["states", "attention", "forward", "heads"]
_WHAT: dict[What, str] = {
    "states": "Vectors",
    "attention": "Attention’s output",
    "forward": "Feed-forward’s output",
    "heads": "Single heads",
}
_PARTS = {"states": "states", "attention": "attention", "forward": "feed_forward"}  # what they are in a Change
WHAT: Field[What] = Field("what", "states", one_of("what is patched", _WHAT), of="cause")

# Found by measuring: in each of them the two runs answer differently enough for there to be something to follow.
PAIRS: tuple[tuple[str, str, str, str, str], ...] = (
    ("Number", "The dogs near the house [MASK] hungry.", "The dog near the house [MASK] hungry.", "are", "is"),
    ("Animacy", "The girl fell because [MASK] was tired.", "The stone fell because [MASK] was tired.", "she", "it"),
    ("Gender", "My mother said that [MASK] was tired.", "My father said that [MASK] was tired.", "she", "he"),
    ("Negation", "He always said [MASK] about it.", "He never said [MASK] about it.", "something", "anything"),
    ("A different object", "He put the key in the [MASK].", "He put the letter in the [MASK].", "lock", "envelope"),
)


def draw(scene: Scene) -> None:
    controls = scenes.row(scene, "mask")
    if controls is None:
        return
    with controls:
        patched = widgets.choice("Patch", WHAT, label_visibility="collapsed")
        by = scenes.measure(("difference", "bits", "probability"))
    other = EXAMPLE[OTHER] if scene.example else _ask_other()
    if not other.strip():
        with st.container(key="answer-other"):
            ask_for(
                "Type a second sentence with the same number of words that differs in what you want to trace, or "
                "take an example pair."
            )
        scene, other = scenes.example(scene), EXAMPLE[OTHER]
    if scene.example:
        say(f"An example: “{scene.encoding.text}” is patched from “{other}”.")
    units = scene.units
    question = replace(
        scene.resolved, changes=_changes(scene, units, patched), value="other", other=(other, None), top_k=1
    )
    effects = scenes.answered(question, len(scene.encoding))
    if effects is None:
        return
    _show(scene, effects, units, patched, by, other)


def _ask_other() -> str:
    """The sentence whose vectors are patched in."""
    with widgets.input_line("other"):
        st.markdown("**Patch from**", width="content")
        other = widgets.text_area("The other sentence, whose vectors are patched in", OTHER)
        widgets.offers("Example pairs", ":material/compare_arrows:", [pair[0] for pair in PAIRS], _use, "pair menu")
    return widgets.short_enough(other, "The other sentence")


def _use(place: int) -> None:
    _, text, other, answer, foil = PAIRS[place]
    put({TEXT: text, PAIR: "", MASKS: (), OTHER: other, ANSWER: answer, FOIL: foil, BY: "difference"})


def _changes(scene: Scene, units: tuple[Unit, ...], patched: What) -> tuple[Change, ...]:
    """One head, or one vector of a word, at a time: layer by layer."""
    layers = scene.info.n_layers
    if patched == "heads":
        return tuple(Change(heads=(head,)) for head in np.ndindex(layers, scene.info.n_heads))
    at_layers: list[dict[str, Any]] = [{_PARTS[patched]: (layer,)} for layer in range(layers + (patched == "states"))]
    places = [tuple(range(unit.start, unit.stop)) for unit in units]
    return tuple(Change(**at_layer, positions=at) for at_layer in at_layers for at in places)


def _show(scene: Scene, effects: Effects, units: tuple[Unit, ...], patched: What, by: By, other: str) -> None:
    assert effects.other is not None
    before, goal = measured(effects.untouched, by), measured(effects.other, by)
    answer = readable(effects.answer.token)
    p, q = effects.answer.probability, float(np.exp(effects.other.log_probability))
    say(
        f"P({answer}) is {percent(p)} in this run (run 1) and {percent(q)} in the other (run 2). Each cell: how far "
        "the prediction moves from run 1 to run 2 when that one vector of run 2 is patched in."
    )
    shares = recovered(effects, by)
    if np.isnan(shares).all():
        note(
            "By this measure both runs give the same prediction, so there is no difference to trace. Choose another "
            "measure, another target, or another sentence."
        )
        return
    layers = scene.info.n_layers
    rows = layer_names(layers + 1) if patched == "states" else [str(layer) for layer in range(1, layers + 1)]
    columns = (
        [str(h) for h in range(1, scene.info.n_heads + 1)] if patched == "heads" else [unit.label for unit in units]
    )
    shares = shares.reshape(len(rows), len(columns))
    payload = cells.cells(
        shares,
        rows,
        columns,
        quantity="share of the difference",
        across="head" if patched == "heads" else "word",
        down="after layer" if patched == "states" else "layer",
        end=1.0,
        signs=("away", "towards run 2"),
        file="where-it-travels",
    )
    show(payload, "cause_patching")
    caption(
        f"0 is this run ({_measure_name(by)} {signed(before)}), 1 the other ({signed(goal)}); below 0 the prediction "
        "moves away from run 2, above 1 beyond it. A high cell shows that this vector is enough to move the "
        "prediction, not that it is needed."
    )
    save.table("Every place", lambda: _table(scene, effects, rows, columns, patched, by, other), "where-it-travels")
    _put_python(scene, patched, by, other, shares)


def _put_python(scene: Scene, patched: What, by: By, other: str, shares: DoubleArray) -> None:
    n_layers = f"info.n_layers{' + 1' * (patched == 'states')}"
    if patched == "heads":
        changes = "Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)"
        units = Lines("")
    else:
        part, at = _PARTS[patched], "positions=tuple(range(word.start, word.stop))"
        changes = f"\n    Change({part}=(layer,), {at})\n    for layer in range({n_layers})\n    for word in words\n"
        units = Lines(f"words = word_units({scene.call('encode', 'text')})\n", (word_units,))
    as_python.put(
        scene.python_code(foil=by == "difference")
        + units
        + f"other = {as_python.literal(other)}  # what is patched in is from its run\n"
        f"info = engine.info({as_python.literal(scene.model)})\n"
        f"changes = [{changes}]\n"
        f"effects = {scene.intervene('changes', 'other=other', value='other')}\n"
        f'numbers = recovered(effects, "{by}").reshape({n_layers}, -1)  # a row a layer',
        lambda: shares,
    )


def _measure_name(by: By) -> str:
    return {"difference": "logit difference", "bits": "log₂ P", "probability": "P"}[by]


def _table(
    scene: Scene, effects: Effects, rows: list[str], columns: list[str], patched: What, by: By, other: str
) -> pd.DataFrame:
    cells = [(row, column, place + 1) for row in rows for place, column in enumerate(columns)]
    return scene.table(
        {
            "other_text": other,
            "answer": effects.answer.token,
            "against": None if effects.foil is None else effects.foil.token,
            "put_in": patched,
            "layer": [row for row, _, _ in cells],
            "head" if patched == "heads" else "word": [column for _, column, _ in cells],
            "place": [place for _, _, place in cells],
            "measure": by,
            "lost": lost(effects, by),
            "share_of_the_way": recovered(effects, by),
        }
    )


VIEW = View(
    "patching",
    "Where does it travel?",
    draw,
    "Two sentences that differ in one word. Vectors from the other run are patched into this one: where does the "
    "prediction flip?",
    more="Activation patching (Vig et al. 2020; Meng et al. 2022): the run of the first sentence, with one vector, "
    "or one head’s output, taken from the run of the second. Words are matched by position, so both sentences "
    "need the same number of words, with the mask in the same place; a word split differently gets the mean of "
    "the other word’s vectors, and words after it bring along the places that they have there.",
    caution="Where patching flips the prediction, the information that distinguishes the two sentences passes "
    "through. What they share stays invisible, and other sentences may use other paths.",
    fields=(OTHER, WHAT),
    tab=40,
    terms=("activation patching",),
)
