"""View "Representations": how similar the layers of A and B are, by CKA over the words of many sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from analysis.probing.cka import MOST_WORDS, cka_on_common_words
from model_zoo.heldout import written_pairs
from model_zoo.text import word_spans
from model_zoo.types import FloatArray, HiddenStates
from pages.compare.fields import BESIDE
from pages.compare.scene import Scene
from reading.text import non_empty_lines
from ui import Field, View, as_python, caption, figures, note, notes, save, widgets
from viz.matrix import similarity
from web.engine import engine

SENTENCES: Field[str] = Field("sentences", "", of="compare")


def draw(scene: Scene) -> None:
    picture, words = st.columns([2, 1], gap="medium")
    with words, widgets.popover("Your own sentences", ":material/library_books:"):
        typed = st.text_area(
            "Sentences, one per line; if empty, the built-in ones are used", **SENTENCES.bound, height=240
        )
    widgets.short_enough(typed, "Your text")
    pasted = non_empty_lines(typed)
    sentences = _up_to_most(pasted or [pair.first for pair in written_pairs()])
    if len(sentences) < len(pasted):
        note(f"The first {len(sentences)} of {len(pasted):,} sentences are used: {MOST_WORDS:,} words are enough.")
    a, b = scene.a, scene.b
    names = scene.name(a), scene.name(b)
    with st.spinner("Running both models …", show_time=True):
        values, n_words, longest = engine().derived(
            ("cka", a, scene.infos[a].revision, b, scene.infos[b].revision, *sentences),
            lambda: _similarity(a, b, sentences),
        )
    read = f"[pair.first for pair in written_pairs()[:{len(sentences)}]]  # built in" if not pasted else None
    as_python.put(
        f"sentences = {read or as_python.list_literal(sentences)}\n"
        f"a = engine.encoded_states({as_python.literal(a)}, sentences)\n"
        f"b = engine.encoded_states({as_python.literal(b)}, sentences)\n"
        "numbers, n_words = cka_on_common_words(a, b)  # layers of A by layers of B, the embeddings first",
        lambda: values,
        *[written_pairs] * (not pasted),
    )
    notes.warn_beyond_training(dict(zip((a, b), longest, strict=True)))
    with picture:
        figures.show(partial(similarity, values, names), "cka", "compare-cka")
    with words:
        caption(
            f"Linear CKA (Kornblith et al. 2019) of every layer of {names[0]} with every layer of {names[1]}: 1 if "
            f"the vectors of {n_words:,} words have the same geometry, up to rotation, shift and scale, and 0 if they "
            f"are uncorrelated. The words come from {len(sentences)} "
            f"{'of your sentences' if pasted else 'built-in sentences, which no bundled model was trained on'}; the "
            "vector of a word is the mean of its pieces. Layer 0 is the embeddings."
        )
        notes.note_few_vectors(n_words, max(scene.infos[a].width, scene.infos[b].width), "words")
        save.table("Similarity of layers", lambda: _table(values, (a, b)), "compare-cka")


def _up_to_most(sentences: Sequence[str]) -> list[str]:
    """As many sentences as the words that are looked at need; at least one."""
    n_words = np.cumsum([len(word_spans(sentence)) for sentence in sentences])
    return list(sentences[: int(np.searchsorted(n_words, MOST_WORDS)) + 1])


def _similarity(a: str, b: str, sentences: Sequence[str]) -> tuple[FloatArray, int, tuple[int, int]]:
    """CKA (layers + 1 of A, of B), of how many words, and the tokens of the longest sentence for A and B."""
    of_a, of_b = _states(a, sentences), _states(b, sentences)
    longest_a, longest_b = (max(len(states.encoding) for states in side) for side in (of_a, of_b))
    return *cka_on_common_words(of_a, of_b), (longest_a, longest_b)


def _states(model: str, sentences: Sequence[str]) -> list[HiddenStates]:
    states = dict(engine().iter_hidden_states(model, sentences))
    return [states[place] for place in range(len(sentences))]


def _table(values: FloatArray, models: tuple[str, str]) -> pd.DataFrame:
    """One row per pair of layers; layer 0 is the embeddings."""
    rows = [(*models, *layers, float(value)) for layers, value in np.ndenumerate(values)]
    return pd.DataFrame(rows, columns=["model_a", "model_b", "layer_a", "layer_b", "cka"])


VIEW = View(
    "representations",
    "Representations",
    draw,
    about="How similar the layers of A and B are, measured on the words of many sentences; the text above is not used.",
    fields=(BESIDE, SENTENCES),
    tab=40,
    terms=("CKA",),
)
