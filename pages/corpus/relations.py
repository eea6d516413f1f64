"""View "Relations": which heads find which relations between words, beside what needs no head."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.corpus.relation_names import ends, short
from analysis.corpus.relations import ALL, FEWEST, Relation, RelationResult, Spread
from analysis.corpus.relations import findings as find_relations
from model_zoo.types import counted
from pages.corpus import head_examples
from pages.corpus.fields import RELATION
from pages.corpus.scene import Scene, open_head, relation_key
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
    sources,
    widgets,
)
from ui.widgets import select_head
from viz.intervals import RelationScore, relation_dots
from viz.layout import percent
from viz.relation_matrix import relation_matrix

SHOW: Field[str] = Field(
    "show", "best", one_of("what is shown", {"best": "Best heads", "all": "All heads"}), of="corpus"
)
RESULT: Field[str] = Field("result", "right", head_examples.SENTENCES_SHOWN, of="corpus")

OFFSET: Final = "best offset"
"""What the best fixed offset is called in figures."""
_SHOWN: Final = 12  # sentences of each kind
_FIRST: Final = 6
_RELATION: Final = 360  # px
_PUBLISHED_MODELS: Final = frozenset({"google-bert/bert-base-uncased", "bert-base-uncased"})
_PUBLISHED: Final = Path(__file__).with_name("clark_2019.tsv")
"""Table 1 of the paper: a relation by its label there, in how many percent its best head and the best offset are right;
the universal relation that is nearest ("here"), and what differs.
"""


def draw(scene: Scene) -> None:
    findings = scene.measured.findings.relations
    if not findings:
        _say_nothing(scene)
        return
    chosen = scene.relation()
    assert chosen is not None
    if not _is_written(scene):
        RELATION.value = relation_key(chosen.relation)
    with widgets.controls():
        st.selectbox(
            "Relation",
            **RELATION.offering({relation_key(finding.relation): short(finding.relation) for finding in findings}),
            width=_RELATION,
        )
        show = widgets.choice("Show", SHOW, label_visibility="collapsed")
    place = chosen.head if show == "best" else scene.place
    st.markdown(evidence(scene, chosen, place))
    if show == "best":
        _best(scene)
    else:
        _all(scene, chosen)
    st.markdown(describe_baselines(scene, chosen, place))
    _sentences(scene, chosen, place)
    _trees(scene)
    if scene.model in _PUBLISHED_MODELS:
        _beside_a_published_table(scene)
    _left_out(scene)
    save.table("Relations", lambda: table(scene), "relations")


def baselines(scene: Scene, finding: RelationResult) -> dict[str, float]:
    """What a relation's best head is compared with, by name, on the same held-out words."""
    random = None if scene.measured.at_random is None else scene.measured.at_random.get(finding.relation)
    shares = {OFFSET: finding.by_offset.share, "uniform": finding.chance}
    return shares if random is None else shares | {"random weights": random.accuracy.share}


def evidence(scene: Scene, finding: RelationResult, place: int) -> str:
    """How often a head finds a relation's partner on the half that judges; ``place`` is the head's among all."""
    statistics = scene.measured.statistics
    layer, head = statistics.head(place)
    if place == finding.head:
        share, low, high = finding.accuracy.share, finding.accuracy.low, finding.accuracy.high
    else:
        share, low, high = (float(bound[place]) for bound in statistics.right(finding.relation))
    start, end = ends(finding.relation)
    where = "the head of its phrase is" if finding.relation == ALL else f"the {end} is"
    looks = "a word" if finding.relation == ALL else f"its {start}" if start != end else "the other"
    spread = finding.spread
    splits = (
        f"; {spread.n} splits {percent(spread.lowest)} to {percent(spread.highest)}" if place == finding.head else ""
    )
    interval = f"{percent(low)} to {percent(high)}{splits}"
    return (
        f"**Layer {layer + 1}, head {head + 1}**: in **{percent(share)}** ({interval}) of {finding.n_judged:,} "
        f"held-out words, {where} where {looks} looks most."
    )


def describe_spread(spread: Spread, head: str = "this head") -> str:
    """What comes of other halves, beside the interval of a best head, by its name."""
    return (
        f"In {counted(spread.n, 'random split')} into halves, the best head of one half is right in "
        f"{percent(spread.lowest)} to {percent(spread.highest)} of the other; {spread.n_same} of {spread.n} choose "
        f"{head}."
    )


def describe_baselines(scene: Scene, finding: RelationResult, place: int) -> str:
    """What a head is compared with, on the same words; of the best one whether it is more than the offset, and what
    comes of other halves.
    """
    others = [
        f"the best fixed offset ({_offset(finding.offset)}) {percent(finding.by_offset.share)}",
        f"uniform attention {percent(finding.chance)}",
    ]
    random = None if scene.measured.at_random is None else scene.measured.at_random.get(finding.relation)
    if random is not None:
        others.append(f"the best head with random weights {percent(random.accuracy.share)}")
    several = scene.measured.ensemble(finding.relation)
    more = ""
    if several is not None and len(several.heads) > 1:
        more = f" {counted(len(several.heads), 'head')} together: {percent(several.accuracy.share)}."
    verdict = ""
    if place == finding.head:
        verdict = (
            f" That is more than the offset ({_p(finding.p)})."
            if finding.p <= 0.05
            else f" It is not clearly better than the offset ({_p(finding.p)})."
        )
        more += f" {describe_spread(finding.spread)}"
    return f"{others[0][0].upper()}{'; '.join(others)[1:]}.{verdict}{more}"


def _p(p: float) -> str:
    """A p, corrected for the number of relations."""
    return "p below 0.001, Holm" if p < 0.001 else f"p = {p:.{2 if p >= 0.1 else 3}f}, Holm"


def _offset(words: int) -> str:
    return f"{counted(abs(words), 'word')} {'before' if words < 0 else 'after'}"


def _is_written(scene: Scene) -> bool:
    return any(relation_key(finding.relation) == RELATION.value for finding in scene.measured.findings.relations)


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
    findings = scene.measured.findings.relations
    rows = [
        RelationScore(
            short(finding.relation),
            scene.measured.statistics.head(finding.head),
            finding.n_judged,
            finding.accuracy.share,
            finding.accuracy.low,
            finding.accuracy.high,
            baselines(scene, finding),
            None if (several := scene.measured.ensemble(finding.relation)) is None else several.accuracy.share,
        )
        for finding in findings
    ]

    as_python.put(
        scene.statistics_python()
        + "# the place of the best head, and how often it, the best offset and uniform attention are right\n"
        "best = findings(statistics.cases).relations\n"
        "rows = [(item.head, item.accuracy.share, item.by_offset.share, item.chance) for item in best]\n"
        "numbers = np.array(rows)",
        lambda: np.array(
            [(finding.head, finding.accuracy.share, finding.by_offset.share, finding.chance) for finding in findings]
        ),
        find_relations,
    )
    figures.show(
        partial(relation_dots, rows, quantity="share of held-out words"),
        "relations best",
        "relations",
        partial(_choose, findings),
    )
    caption(
        f"Each head was chosen on one half of {scene.halved} and is judged here on the other, with a 95% bootstrap "
        "interval over these. Click a point to see its sentences."
    )


def _choose(findings: Sequence[RelationResult], point: Sequence[Any]) -> None:
    """Choose the relation and the head of a point: their places, first of all that it stands for."""
    at, layer, head = map(int, point[:3])
    RELATION.value = relation_key(findings[at].relation)
    select_head(layer, head)


def _all(scene: Scene, chosen: RelationResult) -> None:
    """Every head by every relation; a click chooses both."""
    statistics, findings = scene.measured.statistics, scene.measured.findings.relations
    values, lows, highs = map(np.array, zip(*(statistics.right(finding.relation) for finding in findings), strict=True))
    beside: dict[str, list[float]] = {"best head": [finding.accuracy.share for finding in findings]}
    for finding in findings:
        for name, share in baselines(scene, finding).items():
            beside.setdefault(name, []).append(share)

    as_python.put(
        scene.statistics_python()
        + "numbers = np.array([item.judged for item in findings(statistics.cases).relations])  # (relations, heads)",
        lambda: values,
        find_relations,
    )
    with st.container(key="wide-relations"):
        figures.show(
            partial(
                relation_matrix,
                statistics.every_head(),
                [short(finding.relation) for finding in findings],
                values,
                lows,
                highs,
                [finding.head for finding in findings],
                {name: shares for name, shares in beside.items() if len(shares) == len(findings)},
                chosen=(findings.index(chosen), scene.place),
                quantity="share of held-out words",
            ),
            "relations all",
            "relations-all-heads",
            partial(_choose, findings),
        )
    caption("A diamond marks each relation's best head of the half that chooses. Click a cell to see its sentences.")


def _sentences(scene: Scene, finding: RelationResult, place: int) -> None:
    """Held-out sentences in which a head is right, and those in which it is wrong."""
    statistics = scene.measured.statistics
    layer, head = statistics.head(place)
    cases = statistics.cases.select(finding.relation)
    right, wrong = head_examples.right_and_wrong(cases.where(cases.judged), place)
    with widgets.controls("relation sentences"):
        which = head_examples.choose_result(RESULT, len(right), len(wrong))
        st.button(
            f"Open layer {layer + 1}, head {head + 1}",
            on_click=open_head,
            args=(layer, head),
            icon=":material/center_focus_strong:",
            key="open_head",
        )
    some = (right if which == "right" else wrong)[:_SHOWN]
    if not some:
        caption(f"There is no held-out word for which this head is {which}.")
        return
    example_sentences.show(
        head_examples.run_sentences(scene, some, layer, head),
        scene.info,
        "relation sentences",
        f"relation-{which}",
        measure="attention to the partner",
        first=_FIRST,
    )


def _trees(scene: Scene) -> None:
    """Trees from single heads, beside the chain of neighbours."""
    edges, chain = scene.measured.statistics.edges, scene.measured.statistics.chain
    if not edges.n.sum():
        return
    best = int(np.argmax(edges.means))
    layer, head = scene.measured.statistics.head(best)
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


def _beside_a_published_table(scene: Scene) -> None:
    with st.expander("Beside a published table", icon=":material/article:", expanded=True):
        st.dataframe(published_table(scene), hide_index=True)
        save.table("Beside a published table", lambda: published_table(scene), "published")
        caption(
            f"Published: {sources.SOURCES['clark']}, percent on the Penn Treebank with Stanford labels, heads chosen "
            "and judged on the same sentences. Here: universal labels, other sentences, heads judged on sentences that "
            "did not choose them. So the numbers need not agree."
        )


def published_table(scene: Scene) -> pd.DataFrame:
    """The paper's relations, with what was found here of the nearest universal one."""
    frame = pd.read_csv(_PUBLISHED, sep="\t", keep_default_na=False)
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


def _left_out(scene: Scene) -> None:
    """What could not be measured."""
    results = scene.measured
    few = [f"{short(relation)} ({n})" for relation, n in results.findings.too_few]
    if few:
        caption(f"Fewer than {FEWEST} cases in a half, so not judged: {join_names(few)}.")
    for sentence in results.statistics.skipped.notices():
        caption(f"Not measured: {sentence}")
    if results.missing:
        caption(f"Not compared with random weights: {results.missing}")


def table(scene: Scene) -> pd.DataFrame:
    """A row a relation, as ``Results.to_frame``, with layers and heads from 1."""
    frame = scene.measured.to_frame(count_from=1)
    frame["relation"] += "." + frame.pop("direction")
    return frame.rename(columns={"p": "p (Holm)"})


VIEW = View(
    "relations",
    "Relations",
    draw,
    "Which head looks from a word at its partner: from a verb at its object, from a noun at its determiner?",
    "A head is right where the word it looks at most, itself and special tokens left out, is the partner. It is chosen "
    "on one half of the sentences and judged on the other: halves of the frames that templates made the sentences "
    "from, of documents where files hold at least 20 (`# newdoc` in CoNLL-U), else of single sentences. The fixed "
    "offset is the best of −10 to 10 words, chosen on the same half; random weights are those of a network of the "
    "same shape, its best head chosen in the same way.",
    caution=notes.CAUTION,
    fields=(SHOW, RESULT),
    needs=("attention", "results"),
    tab=30,
    terms=("dependency relation",),
)
