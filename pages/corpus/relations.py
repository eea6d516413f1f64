"""View "Relations": which heads find which relations between words, beside what needs no head."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.corpus.relation_names import short
from analysis.corpus.relations import FEWEST, RelationResult
from pages.corpus import looking, published
from pages.corpus.fields import RELATION
from pages.corpus.heads import open_head
from pages.corpus.in_words import OFFSET, beside, compared, evidence
from pages.corpus.scene import Scene, written
from ui import (
    Field,
    View,
    as_python,
    ask_for,
    caption,
    example_sentences,
    figures,
    join_names,
    notes,
    one_of,
    save,
    widgets,
)
from ui.widgets import select_head
from viz import relation_dots
from viz.predictions import percent
from viz.relation_matrix import relation_matrix

SHOW: Field[str] = Field(
    "show", "best", one_of("what is shown", {"best": "Best heads", "all": "All heads"}), of="corpus"
)
RESULT: Field[str] = Field(
    "result", "right", one_of("the sentences shown", {"right": "Right", "wrong": "Wrong"}), of="corpus"
)

_SHOWN: Final = 12  # sentences of each kind
_FIRST: Final = 6
_RELATION: Final = 360  # px


def draw(scene: Scene) -> None:
    found = scene.found.findings.relations
    if not found:
        _say_nothing(scene)
        return
    chosen = scene.relation()
    assert chosen is not None
    if not _is_written(scene):
        RELATION.value = written(chosen.relation)
    with widgets.controls():
        st.selectbox(
            "Relation",
            **RELATION.offering({written(one.relation): short(one.relation) for one in found}),
            width=_RELATION,
        )
        show = widgets.choice("Show", SHOW, label_visibility="collapsed")
    place = chosen.head if show == "best" else scene.place
    st.markdown(evidence(scene, chosen, place))
    if show == "best":
        _best(scene)
    else:
        _all(scene, chosen)
    st.markdown(beside(scene, chosen, place))
    _sentences(scene, chosen, place)
    _trees(scene)
    published.draw(scene)
    _left_out(scene)
    save.table("Relations", lambda: table(scene), "relations")


def _is_written(scene: Scene) -> bool:
    return any(written(one.relation) == RELATION.value for one in scene.found.findings.relations)


def _say_nothing(scene: Scene) -> None:
    """Why there is no relation to show."""
    if not scene.corpus.has_trees:
        ask_for(
            "These sentences have no trees, so nothing is known of the relations between their words. Bring a CoNLL-U "
            "file, or use the built-in sentences."
        )
        return
    ask_for(
        f"No relation has {FEWEST} cases in each half of these sentences, one to choose a head on and one to judge it. "
        "Bring more sentences."
    )


def _best(scene: Scene) -> None:
    """The best head of each relation, beside its baselines; a click chooses the relation and its head."""
    found = scene.found.findings.relations
    rows = [
        relation_dots.Found(
            short(one.relation),
            scene.found.statistics.head(one.head),
            one.n_judged,
            one.accuracy.share,
            one.accuracy.low,
            one.accuracy.high,
            compared(scene, one),
            None if (several := scene.found.ensemble(one.relation)) is None else several.accuracy.share,
        )
        for one in found
    ]

    def clicked(point: Any) -> None:
        at, layer, head = map(int, point)
        RELATION.value = written(found[at].relation)
        select_head(layer, head)

    lines, imports = scene.survey_in_python()
    as_python.put(
        f"{lines}"
        "# the place of the best head, and how often it, the best offset and uniform attention are right\n"
        "best = findings(found.cases).relations\n"
        "numbers = np.array([(one.head, one.accuracy.share, one.by_offset.share, one.chance) for one in best])",
        lambda: np.array([(one.head, one.accuracy.share, one.by_offset.share, one.chance) for one in found]),
        imports=("import numpy as np", "from analysis.corpus.relations import findings", *imports),
    )
    figures.show(
        partial(relation_dots.relation_dots, rows, quantity="share of held-out words"),
        "relations best",
        "relations",
        clicked,
    )
    caption(
        "Each head was chosen on one half of the sentences and is judged here on the other, with a 95% bootstrap "
        f"interval over {scene.units}. Click a point to see its sentences."
    )


def _all(scene: Scene, chosen: RelationResult) -> None:
    """Every head by every relation; a click chooses both."""
    statistics, found = scene.found.statistics, scene.found.findings.relations
    values, lows, highs = map(np.array, zip(*(statistics.right(one.relation) for one in found), strict=True))
    beside: dict[str, list[float]] = {"best head": [one.accuracy.share for one in found]}
    for one in found:
        for name, share in compared(scene, one).items():
            beside.setdefault(name, []).append(share)

    def clicked(point: Any) -> None:
        at, layer, head = map(int, point[:3])
        RELATION.value = written(found[at].relation)
        select_head(layer, head)

    lines, imports = scene.survey_in_python()
    as_python.put(
        f"{lines}numbers = np.array([one.judged for one in findings(found.cases).relations])  # (relations, heads)",
        lambda: values,
        imports=("import numpy as np", "from analysis.corpus.relations import findings", *imports),
    )
    with st.container(key="wide relations"):
        figures.show(
            partial(
                relation_matrix,
                statistics.every_head(),
                [short(one.relation) for one in found],
                values,
                lows,
                highs,
                [one.head for one in found],
                {name: shares for name, shares in beside.items() if len(shares) == len(found)},
                chosen=(found.index(chosen), scene.place),
                quantity="share of held-out words",
            ),
            "relations all",
            "relations-all-heads",
            clicked,
        )
    caption("A diamond marks each relation's best head of the half that chooses. Click a cell to see its sentences.")


def _sentences(scene: Scene, found: RelationResult, place: int) -> None:
    """Held-out sentences in which a head is right, and those in which it is wrong."""
    statistics = scene.found.statistics
    layer, head = statistics.head(place)
    cases = statistics.cases.select(found.relation)
    right, wrong = looking.right_and_wrong(cases.where(cases.judged), place)
    with widgets.controls("relation sentences"):
        which = widgets.choice(
            "Sentences",
            RESULT,
            {"right": f"Right ({len(right):,})", "wrong": f"Wrong ({len(wrong):,})"},
            label_visibility="collapsed",
        )
        st.button(
            f"Open layer {layer + 1}, head {head + 1}",
            on_click=open_head,
            args=(layer, head),
            icon=":material/center_focus_strong:",
            key="open the head",
        )
    some = (right if which == "right" else wrong)[:_SHOWN]
    if not some:
        caption(f"There is no held-out word for which this head is {which}.")
        return
    example_sentences.show(
        looking.sentences(scene, some, layer, head),
        scene.info,
        "relation sentences",
        f"relation-{which}",
        measure="attention to the partner",
        first=_FIRST,
    )


def _trees(scene: Scene) -> None:
    """Trees from single heads, beside the chain of neighbours."""
    edges, chain = scene.found.statistics.edges, scene.found.statistics.chain
    if not edges.n.sum():
        return
    best = int(np.argmax(edges.means))
    layer, head = scene.found.statistics.head(best)
    low, high = (float(ends[best]) for ends in edges.intervals(shares=True))
    st.markdown(
        f"**Whole trees.** The tree with the most attention of layer {layer + 1}, head {head + 1} has "
        f"**{percent(float(edges.means[best]))}** ({percent(low)} to {percent(high)}) of the edges of the treebank's "
        f"trees, more than that of any other head; linking each word to the next gives "
        f"{percent(float(chain.means[0]))}."
    )
    caption(
        "Undirected edges without punctuation (UUAS), of all sentences: this head is chosen and judged on the same "
        "ones, so its share is a little too high."
    )


def _left_out(scene: Scene) -> None:
    """What could not be measured."""
    results = scene.found
    few = [f"{short(relation)} ({n})" for relation, n in results.findings.too_few]
    if few:
        caption(f"Fewer than {FEWEST} cases in a half, so not judged: {join_names(few)}.")
    for said in results.statistics.skipped.notices():
        caption(f"Not measured: {said}")
    if results.missing:
        caption(f"Not compared with random weights: {results.missing}")


def table(scene: Scene) -> pd.DataFrame:
    """A row a relation: the best head, how often it is right, and what it is compared with; layers, heads from 1."""
    statistics = scene.found.statistics
    rows = []
    for one in scene.found.findings.relations:
        layer, head = statistics.head(one.head)
        several = scene.found.ensemble(one.relation)
        rows.append(
            {
                "relation": written(one.relation),
                "layer": layer + 1,
                "head": head + 1,
                "words": one.n_judged,
                "sentences": one.n_sentences,
                "right": one.accuracy.share,
                "from": one.accuracy.low,
                "to": one.accuracy.high,
                "offset": one.offset,
                "offset right": one.by_offset.share,
                "offset from": one.by_offset.low,
                "offset to": one.by_offset.high,
                **{name: share for name, share in compared(scene, one).items() if name != OFFSET},
                "p (Holm)": one.p,
                "several heads": "" if several is None else " ".join(_named(scene, place) for place in several.heads),
                "several right": np.nan if several is None else several.accuracy.share,
            }
        )
    return pd.DataFrame(rows)


def _named(scene: Scene, place: int) -> str:
    layer, head = scene.found.statistics.head(place)
    return f"{layer + 1}.{head + 1}"


VIEW = View(
    "relations",
    "Relations",
    draw,
    "Which head looks from a word at its partner: from a verb at its object, from a noun at its determiner?",
    "A head is right where the word it looks at most, itself and special tokens left out, is the partner. It is chosen "
    "on one half of the sentences and judged on the other. The fixed offset is the best of −10 to 10 words, chosen on "
    "the same half; random weights are the same network before training, its best head chosen in the same way.",
    caution=notes.CAUTION,
    fields=(SHOW, RESULT),
    needs=("attention", "results"),
    tab=30,
    terms=("dependency relation",),
)
