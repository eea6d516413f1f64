"""View "A head": one head over all sentences, in a sentence, in numbers, and in examples from strong to weak."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from analysis.corpus.examples import STEPS
from analysis.corpus.relation_names import short
from analysis.corpus.relations import ALL, Relation, RelationResult
from analysis.corpus.sentences import Corpus
from analysis.head_measures import special_names
from evidence.questions.measure_heads import MeasureHeads
from pages.corpus import head_ablation, head_examples
from pages.corpus.fields import RELATION, SHOWN_VIEW
from pages.corpus.head_examples import QueryWord
from pages.corpus.measures import Numbers
from pages.corpus.relations import SHOW, describe_baselines, evidence
from pages.corpus.scene import Scene, open_head, relation_key, relation_python
from reading.sentences import plain_words
from ui import Field, View, as_python, as_text, caption, example_sentences, figures, notes, one_of, save, widgets
from viz.head_measure import HeadMeasure
from viz.intervals import measure_dots
from viz.layout import percent
from web.engine import engine

EXAMPLES: Field[str] = Field(
    "examples", "strong", one_of("the examples", {"strong": "Strongest", "sample": "From strong to weak"}), of="corpus"
)
OWN: Field[str] = Field("own", "", of="corpus", clean=widgets.no_line_breaks_around)

_MEASURES: Final = (
    "previous",
    "next",
    "itself",
    "delimiter",
    "value_delimiter",
    "same_word",
    "rare",
    "entropy",
    "distance",
)
_RELATIONS: Final = 4
_FIRST: Final = 8
_EDGES: Final = (0.0, *STEPS, 1.0)


def draw(scene: Scene) -> None:
    with widgets.controls():
        widgets.stepper("layer", scene.info.n_layers)
        widgets.stepper("head", scene.info.n_heads)
    numbers = Numbers(scene.measured, special_names(engine().encode(scene.model, scene.corpus.texts[0])))
    relation = _relation(scene)
    st.markdown(_describe_head(scene, numbers, relation))
    picture, examples = st.columns([2, 3], gap="large")
    with picture:
        _numbers(scene, numbers)
    with examples:
        st.markdown(_describe_comparison(scene, relation))
        _examples(scene)
        _own_sentence(scene)
    if relation is not None:
        head_ablation.panel(scene, relation.relation)


def _relation(scene: Scene) -> RelationResult | None:
    """The relation that this head finds best on the half that chooses, above the offset there; of those it is the best
    head of, if there are any.
    """
    relations = [relation for relation in scene.measured.findings.relations if relation.relation != ALL]
    best_here = [relation for relation in relations if relation.head == scene.place] or relations
    return max(
        best_here, key=lambda relation: float(relation.choosing[scene.place]) - relation.by_offset.share, default=None
    )


def _describe_head(scene: Scene, numbers: Numbers, relation: RelationResult | None) -> str:
    """The head in a sentence: the relation that it finds best, or where it looks."""
    if relation is not None:
        return evidence(scene, relation, scene.place)
    measure = numbers.measures["delimiter" if "delimiter" in numbers.measures else "previous"]
    return f"**Layer {scene.layer + 1}, head {scene.head + 1}**: {_describe_share(measure, scene.place)}."


def _describe_comparison(scene: Scene, relation: RelationResult | None) -> str:
    """What that is compared with, and what the head is called by its numbers."""
    sentences = []
    if relation is not None:
        sentences.append(describe_baselines(scene, relation, scene.place))
        if relation.head != scene.place:
            sentences.append("It is not the best head of any relation; this is the one it finds best.")
    label = scene.measured.statistics.table().labels[scene.place]
    sentences.append(
        "No rule of “Kinds of heads” fits it." if label == "mixed" else f"By its numbers it is “{as_text(label)}”."
    )
    return " ".join(sentences)


def _describe_share(measure: HeadMeasure, place: int) -> str:
    value, low, high = (float(ends[place]) for ends in (measure.values, measure.lows, measure.highs))
    return f"**{percent(value)}** ({percent(low)} to {percent(high)}) of its attention goes {as_text(measure.name)}"


def _numbers(scene: Scene, numbers: Numbers) -> None:
    """Measures and relations of the head among all heads."""
    names = [name for name in _MEASURES if name in numbers.measures]
    measures = [numbers.measures[name] for name in names]
    statistics = scene.measured.statistics
    relations_found = sorted(
        (relation for relation in scene.measured.findings.relations if relation.relation != ALL),
        key=lambda relation: -float(relation.judged[scene.place]),
    )[:_RELATIONS]
    unit = "share of held-out words"
    measures += [
        HeadMeasure(short(relation.relation), *statistics.right(relation.relation), unit)
        for relation in relations_found
    ]
    relations = ", ".join(relation_python(relation.relation) for relation in relations_found)
    as_python.put(
        scene.statistics_python(names) + f"place = statistics.place({scene.layer}, {scene.head})\n"
        f"shares = [statistics.measure(name)[place] for name in {as_python.literal(names)}]\n"
        f"shares += [statistics.right(relation)[0][place] for relation in [{relations}]]\n"
        "numbers = np.array(shares)",
        lambda: np.array([relation.values[scene.place] for relation in measures]),
        Relation,
    )
    figures.show(
        partial(measure_dots, statistics.every_head(), measures, scene.place),
        "measures of a head",
        f"head-{scene.layer + 1}-{scene.head + 1}",
        lambda point: open_head(int(point[0]), int(point[1])),
    )
    caption(
        f"Means over {statistics.n_texts:,} sentences, with 95% intervals over {scene.units}; ticks are the model's "
        "other heads. “Carried by” counts each token by attention times the length of its value vector: a head can "
        "look at special tokens and take next to nothing from them."
    )
    with st.container(horizontal=True):
        for relation in relations_found[:2]:
            st.button(
                f"Sentences: {short(relation.relation)}",
                key=f"sentences_of_{relation_key(relation.relation)}",
                on_click=_show_relation,
                args=(relation_key(relation.relation),),
                icon=":material/account_tree:",
            )
    save.table("All measures of this head", lambda: numbers.frame().iloc[[scene.place]], "head")


def _show_relation(relation: str) -> None:
    RELATION.value, SHOWN_VIEW.value, SHOW.value = relation, "relations", "all"


def _examples(scene: Scene) -> None:
    """The strongest sentences, or some of every strength."""
    kept = scene.measured.statistics.examples
    with widgets.controls("examples"):
        which = widgets.choice("Examples", EXAMPLES, label_visibility="collapsed")
    if which == "strong":
        examples = kept.strongest(scene.place)
    else:
        examples = [example for step in kept.sample(scene.place) for example in step]
    example_sentences.show(
        head_examples.kept_examples(scene, examples, scene.layer, scene.head),
        scene.info,
        "sentences of a head",
        f"head-{which}",
        measure="attention to the word looked at most",
        first=_FIRST if which == "strong" else len(examples),
        table=False,
    )
    if which == "strong":
        caption("The strongest pair of words of each sentence, besides a word with itself and special tokens.")
    else:
        caption(
            "Drawn at random from the sentences by how strong their strongest pair of words is, up to five of each "
            f"step: {', '.join(percent(edge) for edge in _EDGES[::-1])}. What a head does when it looks weakly is part "
            "of what it does."
        )


def _own_sentence(scene: Scene) -> None:
    """A sentence of the visitor's: its strongest pair of words in this head."""
    text = st.text_input("Try a sentence of your own", **OWN.bound, placeholder="Type a sentence")
    if not text.strip():
        return
    widgets.short_enough(text)
    corpus = Corpus()
    corpus.add(text, plain_words(text))
    strongest = engine().ask(MeasureHeads(scene.model, corpus.take([0]))).examples.strongest(scene.place)
    if not strongest:
        caption("This sentence has fewer than two words, so no pair of them can be looked at.")
        return
    example_sentences.show(
        head_examples.example_rows(
            scene.model, corpus.take([0]), [QueryWord(0, strongest[0].query)], scene.layer, scene.head
        ),
        scene.info,
        "own sentence",
        "own-sentence",
        measure="attention to the word looked at most",
        table=False,
    )


VIEW = View(
    "head",
    "A head",
    draw,
    "One head over all sentences: where it looks, which relations it finds, and examples from strong to weak.",
    "Numbers are means over sentences, with intervals; a relation is judged on the half of the sentences that did not "
    "choose the head.",
    caution=notes.CAUTION,
    fields=(EXAMPLES, OWN),
    needs=("attention", "results"),
    tab=20,
    terms=("attention head",),
)
