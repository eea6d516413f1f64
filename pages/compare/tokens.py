"""View "Tokens": how each model splits the text into tokens, word by word."""

from __future__ import annotations

from functools import partial

import streamlit as st

from analysis.alignment import BETWEEN, align, fertility, pieces_table
from model_zoo.types import counted
from pages.compare.scene import Scene, common_words
from ui import View, as_python, join_names, notes, save, say, token_line
from viz.pieces import pieces
from web.engine import engine

_TALLEST = 520  # px; a longer table scrolls


def draw(scene: Scene) -> None:
    scene.check()
    encodings = {model: engine().encode(model, scene.text, scene.pair) for model in scene.models}
    notes.warn_beyond_training({model: len(encoding) for model, encoding in encodings.items()})
    alignment = common_words(scene, encodings)
    several = [*encodings.values()] * (1 if len(encodings) > 1 else 2)
    per_word = dict(zip(encodings, fertility(alignment, several), strict=False))

    names = [scene.name(model) for model in encodings]
    table = pieces_table(alignment, several, names if len(names) > 1 else [*names, ""])[["word", *names]]

    call = f"engine.encode(model, {scene.texts_in_python()})"
    single = len(names) == 1
    beside_itself = f"encodings *= 2  # a model beside itself\nnames = {as_python.literal([*names, ''])}\n"
    as_python.put(
        f"{scene.of_each([*encodings], 'encoding', call)}"
        f"{beside_itself if single else f'names = {as_python.literal(names)}'}\n"
        f'numbers = pieces_table(align(encodings), encodings, names)[["word", {"names[0]" if single else "*names"}]]',
        lambda: table,
        align,
    )
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        alike.setdefault(tuple(table[name]), []).append(name)
    lines = partial(pieces, table["word"].tolist(), {", ".join(of): split for split, of in alike.items()})
    token_line.show(lines, "compared pieces", "compare-tokens")
    st.caption(
        "Below each word that all models see in full are its tokens, in one row for the models that split alike: the "
        "more pieces, the stronger the colour. “##” marks a piece that continues a word; “Ġ” and “▁” mark the space "
        "before one."
    )
    counts: dict[str, list[str]] = {}
    for model, encoding in encodings.items():
        counts_text = (
            f"{counted(len(encoding), 'token')} including special tokens, and {per_word[model]:.2f} pieces per word"
        )
        counts.setdefault(counts_text, []).append(scene.name(model))
    for counts_text, of in counts.items():
        say(f"{join_names(of)}{' each' if len(of) > 1 else ''}: {counts_text}.")
    with st.expander("The table", icon=":material/table:"):
        st.dataframe(table, hide_index=True, height=min(_TALLEST, 35 * len(table) + 38))
    with st.container(horizontal=True):
        n_pieces = {f"{name}: pieces": [len(cell.split(BETWEEN)) for cell in table[name]] for name in names}
        save.table("Tokens", lambda: table.assign(**n_pieces), "compare-tokens")
        infos = [scene.infos[model] for model in encodings]
        token_line.file(lines, "Tokens", "The tokens of every word.", infos, "compare-tokens")


VIEW = View(
    "tokens",
    "Tokens",
    draw,
    about="How each model splits the words of the text into tokens: dots separate the pieces of a word.",
    tab=10,
    terms=("tokenization",),
)
