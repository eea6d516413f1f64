"""View "Kinds of heads": every head measured and labelled, on this text or on several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
import streamlit as st

from analysis import files
from analysis.head_measures import SHARES, special_names
from analysis.heads import FALSE_ALARMS, MIXED, RULES, HeadTable, head_table
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, counted
from pages.attention.heads import go_there, open_head
from pages.attention.scene import Scene
from ui import Field, View, as_text, caption, note, notes, save, widgets
from web import uploads
from web.engine import engine

TEXTS: Field[str] = Field("texts", "", of="attention")

_MOST_TEXTS = 500
_LONGEST = 512  # tokens of each text: enough for a sentence, and a table of many stays quick
_OPEN = "table of heads"
_FILE = "heads file"
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
    go_there()
    with widgets.controls():
        texts, remarks = _texts()
    for remark in remarks:
        note(remark)
    table = head_table(_runs(scene, texts)) if texts else scene.all_heads
    frame = table.frame()
    frame[["layer", "head"]] += 1
    _table(frame, special_names(scene.run.key_encoding))
    save.table("Table", lambda: frame, "heads")
    st.caption(
        f"Measured on {counted(table.n_queries, 'token')} of {counted(table.n_texts, 'text')}. A label names a rule "
        f"that fits; it is not an explanation. {_counted(table)} Special tokens do not count as queries."
    )
    if scene.run.stack == "cross":
        st.caption(
            "Between two texts there is no “itself”, “previous” or “next” and no distance, so these are not "
            "measured, and no rule about them can fit. “On same word” means the same word in the text that the "
            "encoder has read."
        )
    _rules()


def _rules() -> None:
    with st.expander("The rules, and where they come from", icon=":material/rule:"):
        for rule in RULES:
            if rule.tested == "rare":
                continue  # a model does not tell how rare a token is
            said = as_text(f"from {rule.threshold:g}: {rule.explanation} {rule.source}.")
            st.markdown(f"**{rule.name}**, {said}")
        caption(
            "A rule about a share scores (share − uniform) / (1 − uniform), "
            "where uniform is what a head that spreads its attention evenly over the same text would give. "
            "What a rule tests must also be unlikely by chance: of heads with random scores (normal, "
            "variance 1 or more), or whose weights are shuffled among the tokens that may be seen, "
            f"fewer than {FALSE_ALARMS:.0%} get a label, however short the text (“broad” is not about places, "
            "so shuffling does not change it; all tokens looking at the same place does not count as chance). "
            "Very short texts therefore give few labels or none: measure on several."
        )


def _left_out(_scene: Scene) -> str:
    file = ["the file you uploaded"] if st.session_state.get(_FILE) is not None else []
    return notes.not_in_link([*file, "how you sorted the table"])


def _counted(table: HeadTable) -> str:
    """How many heads have which label, the most frequent first: “Of 72 heads, 45 are “delimiter”, 27 “mixed”; …”"""
    counts = Counter(table.labels).most_common()
    said = ", ".join(f"{n} {'are ' if place == 0 else ''}“{label}”" for place, (label, n) in enumerate(counts))
    return f"Of {len(table)} heads, {said}; “{MIXED}” is one that no rule fits."


def _texts() -> tuple[list[str], list[str]]:
    """Texts to measure on instead of the one above, pasted or from a file, one per line; and what to say of them."""
    remarks: list[str] = []
    with widgets.popover("Measure on several texts", ":material/library_books:"):
        pasted = st.text_area("Texts, one per line", **TEXTS.bound, height=100)
        file = uploads.one("or a text file, one text per line", _FILE, st.container())
    if file is not None:
        pasted, said = files.decoded(file.data, file.name)
        remarks += said
    texts = files.texts(pasted)
    if len(texts) > _MOST_TEXTS:
        remarks.append(f"Only the first {_MOST_TEXTS} of {len(texts):,} texts are measured.")
    return texts[:_MOST_TEXTS], remarks


def _runs(scene: Scene, texts: list[str]) -> Iterator[AttentionRun]:
    progress = st.progress(0.0, f"0 of {len(texts)} texts")
    longest = 0
    for done, text in enumerate(texts, start=1):
        try:
            run = engine().attend(scene.run.model.id, text, max_tokens=_LONGEST, stack=scene.run.stack)
        except InvalidInput as error:
            raise InvalidInput(f"Text {done}: {error}") from error
        yield run
        longest = max(longest, run.n_tokens)
        progress.progress(done / len(texts), f"{done} of {len(texts)} texts")
    progress.empty()
    notes.beyond_training({scene.run.model.id: longest}, said=scene.run.n_tokens)


def _table(frame: pd.DataFrame, names: dict[str, str]) -> None:
    """The heads, layer and head from 1; a row that is selected opens its head."""
    titles = {
        name: title.format(**{"first": "first token", "separator": "special tokens"} | names)
        for name, title in _TITLES.items()
    }
    defined = [name for name in titles if frame[name].notna().any()]
    # As text, which sorts alike: an empty number could not say why it is empty.
    scores = [_NO_RULE if np.isnan(score) else f"{score:.2f}" for score in frame["score"]]
    shown = frame.assign(score=scores)[["layer", "head", "label", "score", *defined]]

    def open_selected() -> None:
        rows = st.session_state[_OPEN]["selection"]["rows"]
        if rows:
            open_head(int(frame["layer"].iloc[rows[0]]) - 1, int(frame["head"].iloc[rows[0]]) - 1)

    st.dataframe(
        shown,
        key=_OPEN,
        hide_index=True,
        height=400,
        on_select=open_selected,
        selection_mode="single-row",
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
    fields=(TEXTS,),
    needs=("attention",),
    left_out=_left_out,
    tab=70,
    terms=("kind of head",),
)
