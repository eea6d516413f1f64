"""A published table beside one's own: Clark et al. 2019 on BERT base."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.corpus.relations import Relation
from pages.corpus.scene import Scene
from ui import caption, save, sources

_MODELS: Final = frozenset({"google-bert/bert-base-uncased", "bert-base-uncased"})
_TABLE: Final = Path(__file__).with_name("clark_2019.tsv")
"""Table 1 of the paper: a relation by its label there, in how many percent its best head and the best offset are right;
the universal relation that is nearest ("here"), and what differs.
"""


def draw(scene: Scene) -> None:
    """The table, where the model is the one of the paper."""
    if scene.model not in _MODELS:
        return
    with st.expander("Beside a published table", icon=":material/article:", expanded=True):
        st.dataframe(table(scene), hide_index=True)
        save.table("Beside a published table", lambda: table(scene), "published")
        caption(
            f"Published: {sources.SOURCES['clark']}, percent on the Penn Treebank with Stanford labels, heads chosen "
            "and judged on the same sentences. Here: universal labels, other sentences, heads judged on sentences that "
            "did not choose them. So the numbers need not agree."
        )


def table(scene: Scene) -> pd.DataFrame:
    """The paper's relations, with what was found here of the nearest universal one."""
    frame = pd.read_csv(_TABLE, sep="\t", keep_default_na=False)
    relations = [deprel.split(".") for deprel in frame["here"]]
    mine = [scene.measured.findings.get(Relation(*relation)) for relation in relations]
    head = scene.measured.statistics.head
    columns: dict[str, list[Any]] = {
        "head here": ["" if result is None else "-".join(str(at + 1) for at in head(result.head)) for result in mine],
        "right here": [None if result is None else round(100 * result.accuracy.share, 1) for result in mine],
        "offset here": [None if result is None else round(100 * result.by_offset.share, 1) for result in mine],
    }
    for place, (name, values) in enumerate(columns.items(), start=4):
        frame.insert(place, name, values)
    return frame
