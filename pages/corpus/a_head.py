"""View "A head": one head over all sentences, in a sentence, in numbers, and in examples from strong to weak."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from analysis.corpus.examples import STEPS
from analysis.corpus.relation_names import short
from analysis.corpus.relations import ALL, RelationResult
from analysis.corpus.sentences import Corpus
from analysis.head_measures import special_names
from evidence.questions.survey_heads import SurveyHeads
from pages.corpus import looking, switching_off
from pages.corpus.fields import RELATION, SHOWN_VIEW
from pages.corpus.heads import open_head
from pages.corpus.in_words import beside, evidence
from pages.corpus.looking import Looked
from pages.corpus.measures import Numbers
from pages.corpus.relations import SHOW
from pages.corpus.scene import Scene, relation_in_python, written
from reading.sentences import plain_words
from ui import Field, View, as_python, as_text, caption, example_sentences, figures, notes, one_of, save, widgets
from viz.head_measure import HeadMeasure
from viz.measure_dots import measure_dots
from viz.predictions import percent
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
    numbers = Numbers(scene.found, special_names(engine().encode(scene.model, scene.corpus.texts[0])))
    found = _relation(scene)
    st.markdown(_said(scene, numbers, found))
    picture, examples = st.columns([2, 3], gap="large")
    with picture:
        _numbers(scene, numbers)
    with examples:
        st.markdown(_beside(scene, found))
        _examples(scene)
        _own_sentence(scene)
    if found is not None:
        switching_off.panel(scene, found.relation)


def _relation(scene: Scene) -> RelationResult | None:
    """The relation that this head finds best on the half that chooses, above the offset there; of those it is the best
    head of, if there are any.
    """
    found = [one for one in scene.found.findings.relations if one.relation != ALL]
    own = [one for one in found if one.head == scene.place] or found
    return max(own, key=lambda one: float(one.choosing[scene.place]) - one.by_offset.share, default=None)


def _said(scene: Scene, numbers: Numbers, found: RelationResult | None) -> str:
    """The head in a sentence: the relation that it finds best, or where it looks."""
    if found is not None:
        return evidence(scene, found, scene.place)
    measure = numbers.measures["delimiter" if "delimiter" in numbers.measures else "previous"]
    return f"**Layer {scene.layer + 1}, head {scene.head + 1}**: {_share(measure, scene.place)}."


def _beside(scene: Scene, found: RelationResult | None) -> str:
    """What that is compared with, and what the head is called by its numbers."""
    said = []
    if found is not None:
        said.append(beside(scene, found, scene.place))
        if found.head != scene.place:
            said.append("It is not the best head of any relation; this is the one it finds best.")
    label = scene.found.statistics.table().labels[scene.place]
    said.append(
        "No rule of “Kinds of heads” fits it." if label == "mixed" else f"By its numbers it is “{as_text(label)}”."
    )
    return " ".join(said)


def _share(measure: HeadMeasure, place: int) -> str:
    value, low, high = (float(each[place]) for each in (measure.values, measure.lows, measure.highs))
    return f"**{percent(value)}** ({percent(low)} to {percent(high)}) of its attention goes {as_text(measure.name)}"


def _numbers(scene: Scene, numbers: Numbers) -> None:
    """Measures and relations of the head among all heads."""
    names = [name for name in _MEASURES if name in numbers.measures]
    measures = [numbers.measures[name] for name in names]
    statistics = scene.found.statistics
    found = sorted(
        (one for one in scene.found.findings.relations if one.relation != ALL),
        key=lambda one: -float(one.judged[scene.place]),
    )[:_RELATIONS]
    unit = "share of held-out words"
    measures += [HeadMeasure(short(one.relation), *statistics.right(one.relation), unit) for one in found]
    lines, imports = scene.survey_in_python(names)
    relations = ", ".join(relation_in_python(one.relation) for one in found)
    as_python.put(
        f"{lines}"
        f"place = found.place({scene.layer}, {scene.head})\n"
        f"shares = [found.measure(name)[place] for name in {as_python.literal(names)}]\n"
        f"shares += [found.right(relation)[0][place] for relation in [{relations}]]\n"
        "numbers = np.array(shares)",
        lambda: np.array([one.values[scene.place] for one in measures]),
        imports=("import numpy as np", *imports, *["from analysis.corpus.relations import Relation"] * bool(found)),
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
        for one in found[:2]:
            st.button(
                f"Sentences: {short(one.relation)}",
                key=f"sentences of {written(one.relation)}",
                on_click=_show_relation,
                args=(written(one.relation),),
                icon=":material/account_tree:",
            )
    save.table("All measures of this head", lambda: numbers.frame().iloc[[scene.place]], "head")


def _show_relation(relation: str) -> None:
    RELATION.value, SHOWN_VIEW.value, SHOW.value = relation, "relations", "all"


def _examples(scene: Scene) -> None:
    """The strongest sentences, or some of every strength."""
    found = scene.found.statistics.examples
    with widgets.controls("examples"):
        which = widgets.choice("Examples", EXAMPLES, label_visibility="collapsed")
    if which == "strong":
        examples = found.strongest(scene.place)
    else:
        examples = [one for step in found.sample(scene.place) for one in step]
    example_sentences.show(
        looking.examples(scene, examples, scene.layer, scene.head),
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
    found = engine().ask(SurveyHeads(scene.model, corpus.take([0]))).examples.strongest(scene.place)
    if not found:
        caption("This sentence has fewer than two words, so no pair of them can be looked at.")
        return
    example_sentences.show(
        looking.of_sentences(scene.model, corpus.take([0]), [Looked(0, found[0].query)], scene.layer, scene.head),
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
