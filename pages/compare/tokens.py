"""View "Tokens": how each model splits the text into tokens, word by word."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.alignment import fertility, pieces_table
from model_zoo.types import Encoding, counted
from pages.compare.scene import Scene, common_words, readings
from ui import View, note, notes, save, say
from web.engine import engine

_MOST_NAMED = 5  # unknown words named, of each model
_TALLEST = 520  # px; a longer table scrolls


def draw(scene: Scene) -> None:
    encodings = readings(scene)
    notes.beyond_training({model: len(encoding) for model, encoding in encodings.items()})
    alignment = common_words(scene, encodings)
    several = [*encodings.values()] * (1 if len(encodings) > 1 else 2)
    pieces = dict(zip(encodings, fertility(alignment, several), strict=False))

    names = [scene.name(model) for model in encodings]
    table = pieces_table(alignment, several, names if len(names) > 1 else [*names, ""])[["word", *names]]

    words, counts = st.columns([2, 1], gap="medium")
    with words:
        st.dataframe(table, hide_index=True, height=min(_TALLEST, 35 * len(table) + 38))
        st.caption(
            "Each row is a word that all models see in full. “##” marks a piece that continues a word; “Ġ” and “▁” "
            "mark the space before one."
        )
        save.table("Tokens", lambda: _with_counts(table, names), "compare-tokens")
    with counts:
        for model, encoding in encodings.items():
            say(
                f"{scene.name(model)}: {counted(len(encoding), 'token')} including special tokens, and "
                f"{pieces[model]:.2f} pieces per word."
            )
            _unknown(model, encoding)


def _with_counts(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The table, with the number of pieces of every word added."""
    counts = {f"{name}: pieces": [len(cell.split(" · ")) for cell in table[name]] for name in names}
    return table.assign(**counts)


def _unknown(model: str, encoding: Encoding) -> None:
    """Name what is not in the vocabulary."""
    vocabulary = engine().vocabulary(model)
    places = [place for place, token in enumerate(encoding.ids) if token == vocabulary.unknown_id]
    if vocabulary.unknown_id is None or not places:
        return
    texts = (encoding.text, encoding.text_pair or "")
    words = [texts[encoding.segment_ids[place]][slice(*encoding.offsets[place])] for place in places]
    more = f" and {len(words) - _MOST_NAMED:,} more" if len(words) > _MOST_NAMED else ""
    note(
        f"Not in the vocabulary, read as {vocabulary.tokens[vocabulary.unknown_id]}: "
        f"{', '.join(words[:_MOST_NAMED])}{more}."
    )


VIEW = View(
    "tokens",
    "Tokens",
    draw,
    about="How each model splits the words of the text into tokens: dots separate the pieces of a word.",
    tab=10,
    terms=("tokenization",),
)
