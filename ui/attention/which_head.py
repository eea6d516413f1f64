"""View "Which head?": every head measured and labelled, on this text or on several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import streamlit as st

from analysis import files
from analysis.head_measures import SHARES, special_names
from analysis.heads import FALSE_ALARMS, MIXED, RULES, HeadTable, head_table
from model_zoo.errors import InvalidInput
from model_zoo.types import AttentionRun, counted
from ui import notes, save, uploads
from ui.attention import fields
from ui.attention.scene import Scene
from ui.engine import engine
from ui.field import Field
from ui.messages import as_text
from ui.page import View
from ui.widgets import HEAD, LAYER

TEXTS: Field[str] = Field("texts", "", of="attention")

_MOST_TEXTS = 500
_LONGEST = 512  # tokens of each text: enough for a sentence, and a table of many stays quick
_OPEN = "table of heads"
_FILE = "heads file"
_OPENED = "a head was opened from the table"
_TITLES = {
    "entropy": "entropy (bits)",
    "distance": "distance (tokens)",
    "first": "on {first}",
    "separator": "on {separator}",
    "itself": "on itself",
    "previous": "on previous",
    "next": "on next",
    "same_word": "on same word",
    "other_sentence": "on other text",
}


def draw(scene: Scene) -> None:
    texts = _texts()
    table = head_table(_runs(scene, texts) if texts else [scene.run])
    st.caption(
        f"Measured on {counted(table.n_queries, 'token')} of {counted(table.n_texts, 'text')}. "
        "Sort by any column; select a row to open that head. A label is a rule that fits, not an explanation. "
        f"{_counted(table)} Special tokens do not count among the tokens that look."
    )
    if scene.run.part == "cross":
        st.caption(
            "Between two texts there is no “itself”, “previous” or “next” and no distance, so these are left out, "
            "and no rule about them can fit. “On same word” is the same word in the text that the encoder has read."
        )
    _table(table, special_names(scene.run.key_encoding))
    with st.expander("The rules, and where they come from", icon=":material/rule:"):
        for rule in RULES:
            if rule.tested == "rare":
                continue  # a model does not tell how rare a token is
            said = as_text(f"from {rule.threshold:g}: {rule.explanation} {rule.source}.")
            st.markdown(f"**{rule.name}**, {said}")
        st.caption(
            as_text(
                "A rule about a share scores (share − uniform) / (1 − uniform), "
                "where uniform is what a head that spreads its attention evenly over the same text would give. "
                "What a rule tests must also be unlikely by chance: of heads with random scores (normal, "
                "variance 1 or more), or whose weights are shuffled among the tokens that may be seen, "
                f"fewer than {FALSE_ALARMS:.0%} get a label, however short the text (“broad” is not about places, "
                "so shuffling does not change it; all tokens looking at the same place does not count as chance). "
                "Very short texts therefore give few labels or none: measure on several."
            )
        )


def _left_out(_scene: Scene) -> str:
    return "Not in it: the file you uploaded." if st.session_state.get(_FILE) is not None else ""


def _counted(table: HeadTable) -> str:
    """How many heads have which label, the most frequent first: “Of 72 heads, 45 are “delimiter”, 27 “mixed”; …”"""
    counts = Counter(table.labels).most_common()
    said = ", ".join(f"{n} {'are ' if place == 0 else ''}“{label}”" for place, (label, n) in enumerate(counts))
    return f"Of {len(table)} heads, {said}; “{MIXED}” is one that no rule fits."


def _texts() -> list[str]:
    """Texts to measure on instead of the one above: pasted, or from a file; one per line."""
    with st.expander("Measure on several texts", icon=":material/library_books:"):
        pasted = st.text_area("Texts, one per line", **TEXTS.bound, height=100)
        file = uploads.one("or a text file, one text per line", _FILE, st.container())
        if file is not None:
            pasted, remarks = files.decoded(file.data, file.name)
            for remark in remarks:
                st.info(as_text(remark))
        texts = [line.strip() for line in files.lines(pasted) if line.strip()]
        if len(texts) > _MOST_TEXTS:
            st.info(f"Only the first {_MOST_TEXTS} of {len(texts):,} texts are measured.", icon=":material/info:")
        return texts[:_MOST_TEXTS]


def _runs(scene: Scene, texts: list[str]) -> Iterator[AttentionRun]:
    progress = st.progress(0.0, f"0 of {len(texts)} texts")
    longest = 0
    for done, text in enumerate(texts, start=1):
        try:
            run = engine().attend(scene.run.model.id, text, max_tokens=_LONGEST, part=scene.run.part)
        except InvalidInput as error:
            raise InvalidInput(f"Text {done}: {error}") from error
        yield run
        longest = max(longest, run.n_tokens)
        progress.progress(done / len(texts), f"{done} of {len(texts)} texts")
    progress.empty()
    notes.beyond_training({scene.run.model.id: longest}, said=scene.run.n_tokens)


def _table(table: HeadTable, names: dict[str, str]) -> None:
    frame = table.frame()
    frame[["layer", "head"]] += 1
    titles = {
        name: title.format(**{"first": "first token", "separator": "special tokens"} | names)
        for name, title in _TITLES.items()
    }
    defined = [name for name in titles if frame[name].notna().any()]
    shown = frame[["layer", "head", "label", "score", *defined]]

    def open_head() -> None:
        rows = st.session_state[_OPEN]["selection"]["rows"]
        if rows:
            LAYER.value = int(frame["layer"].iloc[rows[0]])
            HEAD.value = int(frame["head"].iloc[rows[0]])
            fields.VIEW.value = "grid"
            st.session_state[_OPENED] = True

    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")  # another view is chosen outside the part of the page that has just run
    shares = [name for name in defined if name in SHARES]
    st.dataframe(
        shown,
        key=_OPEN,
        hide_index=True,
        height=460,
        on_select=open_head,
        selection_mode="single-row",
        column_config={
            name: st.column_config.ProgressColumn(titles[name], min_value=0, max_value=1, format="%.3f", help=help_)
            for name, help_ in SHARES.items()
            if name in shares
        }
        | {
            "score": st.column_config.NumberColumn(format="%.2f"),
            "entropy": st.column_config.NumberColumn(
                titles["entropy"], format="%.2f", help="Spread of a token's attention, mean over tokens."
            ),
            "distance": st.column_config.NumberColumn(
                titles["distance"], format="%.2f", help="How far away a token looks, weighted mean over tokens."
            ),
        },
    )
    save.table("Table", lambda: frame, "heads")


VIEW = View(
    "heads",
    "Which head?",
    draw,
    "Every head measured on your text, and a label where a stated rule fits.",
    fields=(TEXTS,),
    needs=("attention",),
    left_out=_left_out,
)
