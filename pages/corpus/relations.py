"""View "Relations": which heads find which relations between words."""

from __future__ import annotations

from analysis.corpus.relations import ALL, Relation
from pages.corpus.scene import Scene
from ui import View

_UP = {
    "nsubj": "from the subject to its verb",
    "obj": "from the object to its verb",
    "det": "from the determiner to its noun",
    "amod": "from the adjective to its noun",
    "case": "from the preposition to its noun",
}


def named(relation: Relation) -> str:
    """A relation and its direction for the screen: "obj: dependent → head"."""
    if relation == ALL:
        return "all: dependent → head"
    return f"{relation.deprel}: {'dependent → head' if relation.direction == 'up' else 'head → dependent'}"


def draw(scene: Scene) -> None:
    import streamlit as st

    st.dataframe(
        [
            {
                "relation": named(one.relation),
                "head": str(tuple(scene.found.survey.head(one.head))),
                "accuracy": one.accuracy.share,
            }
            for one in scene.found.findings.found
        ]
    )


VIEW = View("relations", "Relations", draw, needs=("attention", "results"), tab=30)
