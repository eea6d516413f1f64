"""A published table beside one's own: Clark et al. 2019 on BERT base."""

from __future__ import annotations

from typing import Final, NamedTuple

import pandas as pd
import streamlit as st

from analysis.corpus.relations import Relation
from pages.corpus.scene import Scene
from ui import caption, save, sources

_MODELS: Final = frozenset({"google-bert/bert-base-uncased", "bert-base-uncased"})


class _Row(NamedTuple):
    """A relation of the paper: its label there, in how many percent its best head and the best offset are right; the
    universal relation that is nearest, with what differs.
    """

    label: str
    accuracy: float
    offset: float
    nearest: Relation
    differs: str


# Clark et al. 2019, table 1.
_TABLE: Final = (
    _Row("det", 94.3, 51.7, Relation("det", "up"), ""),
    _Row("dobj", 86.8, 40.0, Relation("obj", "up"), "“obj” holds the objects of all verbs"),
    _Row("poss", 80.5, 47.7, Relation("nmod", "up"), "possessives are part of “nmod” (nmod:poss)"),
    _Row("pobj", 76.3, 34.6, Relation("case", "down"), "a preposition hangs on its noun, not the other way"),
    _Row("nsubj", 58.5, 45.5, Relation("nsubj", "up"), "passive subjects are part of it"),
    _Row("all", 34.7, 26.7, Relation("all", "up"), "other relations are counted"),
)


def draw(scene: Scene) -> None:
    """The table, where the model is the one of the paper."""
    if scene.model not in _MODELS:
        return
    with st.expander("Beside a published table", icon=":material/article:", expanded=True):
        st.dataframe(table(scene), hide_index=True)
        save.table("Beside a published table", lambda: table(scene), "published")
        caption(
            f"Published: {sources.CLARK}, percent on the Penn Treebank with Stanford labels, heads chosen and judged "
            "on the same sentences. Here: universal labels, other sentences, heads judged on sentences that did not "
            "choose them. So the numbers need not agree."
        )


def table(scene: Scene) -> pd.DataFrame:
    """The paper's relations, with what was found here of the nearest universal one."""
    rows = []
    for row in _TABLE:
        mine = scene.found.findings.get(row.nearest)
        head = "" if mine is None else "-".join(str(at + 1) for at in scene.found.statistics.head(mine.head))
        rows.append(
            {
                "relation": row.label,
                "published": row.accuracy,
                "published offset": row.offset,
                "here": ".".join(row.nearest),
                "head here": head,
                "right here": None if mine is None else round(100 * mine.accuracy.share, 1),
                "offset here": None if mine is None else round(100 * mine.by_offset.share, 1),
                "differs": row.differs,
            }
        )
    return pd.DataFrame(rows)
