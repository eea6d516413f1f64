"""View "A whole text": a text sentence by sentence, and its weakest link."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from model_zoo.errors import InvalidInput
from pages.next_sentence.scene import WHAT_SOP_IS, Scene
from reading import sentences
from ui import Field, View, as_python, as_text, notes, save, token_line, widgets
from viz.coherence import coherence
from viz.token_line import Line
from web.engine import engine

PASSAGE: Field[str] = Field(
    "passage",
    "The bakery opens at six. By then the first loaves are on the shelf. "
    "Most customers buy rolls on their way to work. "
    "Whales breathe air. They come to the surface every few minutes.",
    of="next_sentence",
)

_MOST_SENTENCES = 60
_MOST_CHARACTERS = 10_000  # of these together, each read twice: more would keep everybody waiting


def draw(scene: Scene) -> None:
    with widgets.input_line("passage"):
        text = widgets.text_area("A text of at least two sentences", PASSAGE)
    parts = sentences.split(widgets.short_enough(text))
    if len(parts) < 2:
        raise InvalidInput("This needs at least two sentences. Type more.")
    n_found, n_used = len(parts), _n_used(parts)
    if n_used < len(parts):
        st.warning(
            f"Only the first {n_used} of {len(parts):,} sentences are used: at most {_MOST_SENTENCES}, and "
            f"{_MOST_CHARACTERS:,} characters together.",
            icon=":material/cut:",
        )
        parts = parts[:n_used]
    with st.spinner("Running the model …", show_time=True):
        scores = dict(engine().iter_next_sentences(scene.model, list(pairwise(parts))))
    notes.warn_of_unknown((score.encoding for score in scores.values()), scene.model)
    notes.warn_beyond_training({scene.model: max(len(score.encoding) for score in scores.values())})
    values = [scores[place].p_next for place in range(len(parts) - 1)]
    weakest = int(np.argmin(values))
    st.markdown(
        as_text(f"Weakest link: from sentence {weakest + 1} to {weakest + 2}, P = {values[weakest]:.3f}.")
        + (f" {WHAT_SOP_IS}" if scores[0].kind == "SOP" else "")
    )

    cut = f"[:{n_used}]  # as many as the page uses" if n_used < n_found else ""
    as_python.put(
        f"""
        text = {as_python.literal(text)}
        sentences = split(text){cut}
        scores = engine.next_sentence({as_python.literal(scene.model)}, list(pairwise(sentences)))
        numbers = np.array([score.p_next for score in scores])
        """,
        lambda: np.array(values),
        sentences.split,
    )

    def lines(*, dark: bool) -> Sequence[Line]:
        return coherence(parts, values, dark=dark)

    token_line.show(lines, "coherence", "sentence-by-sentence")
    table = pd.DataFrame({"a": parts[:-1], "b": parts[1:], "p_next": values})
    relation = "comes in order after" if scores[0].kind == "SOP" else "follows"
    caption = f"P(each sentence {relation} the one before). Blue: above ½, orange: below."
    token_line.file(lines, "Sentence by sentence", caption, [scores[0].model], "sentence-by-sentence")
    save.table("Sentence by sentence", lambda: table, "sentences")


def _n_used(sentences: Sequence[str]) -> int:
    """How many of the sentences are used: those that stay within both bounds, but at least two."""
    within = int(np.searchsorted(np.cumsum([len(sentence) for sentence in sentences]), _MOST_CHARACTERS, side="right"))
    return min(len(sentences), _MOST_SENTENCES, max(2, within))


VIEW = View(
    "a text",
    "A whole text",
    draw,
    "A text, sentence by sentence: how sure the model is that each follows the one before, and the weakest link.",
    fields=(PASSAGE,),
    needs=("nsp",),
    tab=50,
)
