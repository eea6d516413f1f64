"""View "Kinds of heads": every head measured on the text, and labelled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis.head_measures import SHARES, special_names
from analysis.heads import FALSE_ALARMS, MIXED, RULES, HeadTable, head_table
from model_zoo.types import counted
from pages.attention.heads import follow_opened_head, open_head
from pages.attention.scene import Scene
from ui import View, as_text, caption, notes, page_link, save, tables

_ABOUT_RULES = (Path(__file__).parent / "rules.md").read_text(encoding="utf-8").format(FALSE_ALARMS=FALSE_ALARMS)
_NO_RULE = "no rule fits"
# px; at 1280 all columns of a text of two sentences stand beside each other.
_PLACE, _LABEL, _NUMBER, _SHARE = 50, 180, 72, 94
_TITLES = {
    "entropy": "entropy",
    "distance": "distance",
    "first": "on {first}",
    "separator": "on {separator}",
    "itself": "on itself",
    "previous": "on previous",
    "next": "on next",
    "same_word": "on same word",
    "other_sentence": "on other text",
}


def draw(scene: Scene) -> None:
    follow_opened_head()
    table = scene.all_heads
    frame = table.to_frame()
    frame[["layer", "head"]] += 1
    _table(frame, special_names(scene.run.key_encoding))
    scene.put_python("head_table([run]).to_frame()", table.to_frame, head_table)
    save.table("Table", lambda: frame, "heads")
    st.caption(
        f"Measured on {counted(table.n_queries, 'token')} of this text. A label names a rule "
        f"that fits; it is not an explanation. {_label_counts(table)} Special tokens do not count as queries."
    )
    if scene.run.stack == "cross":
        st.caption(
            "Between two texts there is no “itself”, “previous” or “next” and no distance, so these are not "
            "measured, and no rule about them can fit. “On same word” means the same word in the text that the "
            "encoder has read."
        )
    if scene.stack == "encoder":
        page_link(
            "corpus",
            "On Corpus: every head in a thousand sentences",
            ":material/library_books:",
            model=scene.model,
            view="all",
        )
    _rules()


def _rules() -> None:
    with st.expander("The rules, and where they come from", icon=":material/rule:"):
        for rule in RULES:
            if rule.tested == "rare":
                continue  # a model does not tell how rare a token is
            description = as_text(f"from {rule.threshold:g}: {rule.explanation} {rule.source}.")
            st.markdown(f"**{rule.name}**, {description}")
        caption(_ABOUT_RULES)


def _label_counts(table: HeadTable) -> str:
    """How many heads have which label, the most frequent first: “Of 72 heads, 45 are “delimiter”, 27 “mixed”; …”"""
    counts = Counter(table.labels).most_common()
    label_counts = ", ".join(f"{n} {'are ' if place == 0 else ''}“{label}”" for place, (label, n) in enumerate(counts))
    return f"Of {len(table)} heads, {label_counts}; “{MIXED}” is one that no rule fits."


def _table(frame: pd.DataFrame, names: dict[str, str]) -> None:
    """The heads, layer and head from 1; a row that is selected opens its head."""
    titles = {
        name: title.format(**{"first": "first token", "separator": "special tokens"} | names)
        for name, title in _TITLES.items()
    }
    defined = [name for name in titles if frame[name].notna().any()]
    # As text, which sorts alike: an empty number could not say why it is empty.
    scores = [_NO_RULE if np.isnan(score) else f"{score:.2f}" for score in frame["score"]]
    table = frame.assign(score=scores)[["layer", "head", "label", "score", *defined]]

    def open_selected(row: int) -> None:
        open_head(int(frame["layer"].iloc[row]) - 1, int(frame["head"].iloc[row]) - 1)

    tables.draw_selectable(
        table,
        "table-of-heads",
        open_selected,
        height=400,
        placeholder="not visible",  # in this head's layer, of a model whose tokens see only so far
        column_config={
            "layer": st.column_config.NumberColumn(width=_PLACE),
            "head": st.column_config.NumberColumn(width=_PLACE),
            "label": st.column_config.TextColumn(width=_LABEL),
            "score": st.column_config.TextColumn(
                width=_SHARE, help="How well the label's rule fits: 1 is a perfect example."
            ),
            "entropy": st.column_config.NumberColumn(
                titles["entropy"],
                format="%.2f",
                width=_NUMBER,
                help="In bits: how widely a token's attention is spread, averaged over tokens.",
            ),
            "distance": st.column_config.NumberColumn(
                titles["distance"],
                format="%.2f",
                width=_NUMBER,
                help="In tokens: how far away a token attends, weighted mean over tokens.",
            ),
        }
        | {
            name: st.column_config.ProgressColumn(
                titles[name], min_value=0, max_value=1, format="%.2f", width=_SHARE, help=SHARES[name]
            )
            for name in defined
            if name in SHARES
        },
    )


VIEW = View(
    "heads",
    "Kinds of heads",
    draw,
    "Every head measured on your text, with a label where a stated rule fits. Select a row to open its head.",
    "To look for the head that attends from one word to another, see Find a head.",
    needs=("attention",),
    left_out=lambda _scene: notes.not_in_link(["how you sorted the table"]),
    tab=70,
    terms=("kind of head",),
)
