"""View "Coreference and rare words": which heads look from a pronoun to the noun it means, and which at rare words.

The pronouns have sentences of their own, built in or the visitor's; rare words are those of the page's sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.corpus.coreference import (
    FEWEST,
    KINDS,
    By,
    JudgedHeads,
    KindAccuracy,
    Pairs,
    PronounAttention,
    accuracy_by_kind,
    judge,
    read_pairs,
    right,
)
from analysis.corpus.coreference import built_in as built_in_pairs
from evidence.questions.refer import Refer
from jobs.coreference import CoreferenceJob
from model_zoo.types import counted
from pages.corpus.head_examples import SENTENCES_SHOWN, choose_result
from pages.corpus.relations import describe_spread
from pages.corpus.scene import Scene
from ui import (
    Field,
    View,
    as_python,
    ask_for,
    caption,
    figures,
    how_read,
    join_names,
    notes,
    one_of,
    save,
    say_cut,
    widgets,
    work,
)
from ui.as_python import Lines
from ui.example_sentences import show as show_sentences
from ui.messages import also_at
from ui.own_file import OwnFile, read
from ui.precomputed import EMBEDDED
from viz.example_sentences import ExampleSentence
from viz.head_measure import HeadMeasure
from viz.intervals import RelationScore, measure_dots, relation_dots
from viz.layout import percent
from web.background import desk
from web.engine import engine
from web.uploads import File

_PAGE: Final = "corpus"
OWN_PAIRS: Field[str] = Field("pronouns", "", of=_PAGE)
BY: Field[By] = Field(
    "pronouns_by",
    "most",
    one_of("when a head is right", {"most": "most of all words", "more": "more than at the other"}),
    of=_PAGE,
)
RESULT: Field[str] = Field("pronoun_result", "right", SENTENCES_SHOWN, of=_PAGE)

READ: Final = how_read.choices_field("pronouns_read", _PAGE)

_OWN: Final = OwnFile(upload="pronouns_upload", in_use="pronouns_in_use", pasted=OWN_PAIRS, choices=READ)
_TABLE: Final = "pronoun_head_table"
_SHOWN: Final = 10  # heads in the table
_PLACE: Final = 50  # px
_LOOKED_THROUGH: Final = 200  # sentences for examples with rare words
_EXAMPLES: Final = 20
_ALL_KINDS: Final = "all sentences"
_RULES: Final[Mapping[By, Mapping[str, str]]] = {
    "more": {"nearest noun": "nearer noun", "first noun": "first of the two", "fixed offset": "fixed offset"},
    "most": {"nearest noun": "nearest noun", "first noun": "first noun", "fixed offset": "fixed offset"},
}
_RARE: Final = {
    "rare": "on the rarest word here",
    "value_rare": "the same by value",
    "rare_listed": "on the rarest by your list",
    "value_rare_listed": "the same by value (list)",
}
_AT_RANDOM: Final = "random weights"
_ABOUT: Final = (
    "A table (CSV, TSV) with the columns `text`, `pronoun`, `antecedent` (the noun that is meant) and `distractor` "
    "(another noun), or a sentence a line with marks: `The [cat] saw the {lamp} when <it> woke.` A column `kind` "
    "(sense, gender or number) may say what tells the two apart."
)


def draw(scene: Scene) -> None:
    _pronouns(scene)
    st.subheader("Who looks at rare words?", anchor=False)
    _rare_words(scene)


def _pronouns(scene: Scene) -> None:
    user_pairs = _OWN.uploaded() or OWN_PAIRS.value.strip()
    with widgets.controls("pronouns"):
        with widgets.popover(
            f"Pronouns: {'your own' if user_pairs else 'built-in'}", ":material/person_search:", "pronouns"
        ):
            st.caption(_ABOUT)
            messages_at = st.empty()
            file = _OWN.draw()
            choices = READ.value
            with also_at(messages_at), how_read.choosing(READ):
                pairs = built_in_pairs()
                if file is not None:
                    pairs = read([file], partial(read_pairs, file.name, file.data, choices))
            if file is not None and pairs.corpus.report is not None:
                how_read.draw(pairs.corpus.report, READ)
        job = _job(scene, pairs)
        wanted = scene.model, pairs
        work.button(
            f"Compare {counted(len(pairs.corpus), 'sentence')}",
            CoreferenceJob,
            wanted,
            key="compare_pronouns",
            primary=job is None,
        )
        by = widgets.choice("Looks there", BY)
    work.begin(CoreferenceJob, wanted, [scene.model], lambda: CoreferenceJob(engine(), scene.model, pairs))
    for note in pairs.corpus.notes:
        say_cut(note)
    if job is None:
        if file is None and scene.model in EMBEDDED and not work.running(CoreferenceJob):  # no view opens empty
            desk().start(CoreferenceJob(engine(), scene.model, pairs))
            st.rerun()
        _preview(pairs, scene)
        return
    attention, judged = job.trained, job.judged(by)
    if attention is not None:
        _say_incomplete(job, attention)
    if attention is None or (judged is None and job.running):
        _preview(pairs, scene)
    elif judged is None:
        ask_for(
            f"A head is chosen on one half of the sentences and judged on the other; each half needs at least "
            f"{FEWEST}. Bring more sentences."
        )
    else:
        _results(scene, job, attention, judged, file)
    work.watch(job, stop=False)


def _say_incomplete(job: CoreferenceJob, attention: PronounAttention) -> None:
    """Which sentences could not be compared, and how many were when the job was stopped."""
    n, n_left_out, n_all = len(attention.numbers), len(attention.left_out), len(job.pairs.corpus)
    if n_left_out:
        say_cut(
            f"Left out {counted(n_left_out, 'sentence')}: the tokenizer cuts off the pronoun or one of its nouns, or "
            "joins it to a neighbour."
        )
    if not job.running and n + n_left_out < n_all:
        st.info(
            f"Stopped after {n:,} of {n_all:,} sentences; what is shown is of these.", icon=":material/stop_circle:"
        )


def _job(scene: Scene, pairs: Pairs) -> CoreferenceJob | None:
    """This visitor's last comparison, if it is of this model and these sentences."""
    job = desk().current(CoreferenceJob)
    return job if job is not None and job.model == scene.model and job.pairs == pairs else None


def _preview(pairs: Pairs, scene: Scene) -> None:
    """What is compared, before it is."""
    some = [_pronoun_example(pairs, number) for number in range(min(3, len(pairs.corpus)))]
    with st.container(key="answer-before"):
        show_sentences(some, scene.info, "pronouns before", "pronouns", table=False)
    caption("Framed: the pronoun. Dashed: the noun that it means. Press “Compare” to see which heads look there.")


def _results(
    scene: Scene, job: CoreferenceJob, attention: PronounAttention, judged: JudgedHeads, file: File | None
) -> None:
    pairs, random, at_random = job.pairs, job.random, job.judged(judged.by, random=True)
    if len(attention.numbers) + len(attention.left_out) == len(pairs.corpus):
        _pronouns_python(scene, judged, file)
    with st.container(key="answer-pronouns"):
        st.markdown(_describe_best(pairs, attention, judged))
    missing = f" Random weights are missing: {job.random_failure}" if job.random_failure else ""
    chosen = _selected_head(judged)
    picture, table = st.columns([3, 2], gap="large")
    with picture:
        beside: dict[str, float] = {}
        if at_random is not None and random is not None:
            beside = {
                of_kind.kind: of_kind.share.share
                for of_kind in accuracy_by_kind(pairs, random, at_random, at_random.best)
            }
        _dots(attention, judged, accuracy_by_kind(pairs, attention, judged, chosen), chosen, beside)
    with table:
        _table(judged)
    st.markdown(_describe_rules(attention, judged, at_random))
    others = describe_spread(judged.spread, _head_name(attention, judged.best))
    caption(
        f"The head was chosen on {judged.n_choosing} sentences and judged on the {judged.n_judging} others. Intervals: "
        f"95%, by bootstrap over sentences. {others}{missing}"
    )
    _sentences(scene, pairs, attention, judged, chosen)


def _pronouns_python(scene: Scene, judged: JudgedHeads, file: File | None) -> None:
    lines = Lines("pairs = built_in()\n", (built_in_pairs,))
    if file is not None:
        arguments, needed = how_read.choices_in_python(READ.value)
        lines = as_python.read_bytes(file.name, file.data, uploaded=_OWN.uploaded())
        lines += Lines(f"pairs = read_pairs({as_python.literal(file.name)}, data{arguments})\n", needed)
    by = as_python.arguments(None if judged.by == BY.default else judged.by)
    as_python.put(
        lines + f"attention = engine.ask(Refer({as_python.literal(scene.model)}, tuple(pairs.corpus)))\n"
        f"judged = judge({', '.join(filter(None, ('pairs, attention', by)))})\n"
        "numbers = np.array([(share.share, share.low, share.high) for share in judged.shares])  # a row a head",
        lambda: np.array([(share.share, share.low, share.high) for share in judged.shares]),
        Refer,
        judge,
    )


def _place(attention: PronounAttention, place: int) -> tuple[int, int]:
    """Layer and head, from 0, of a place among all heads."""
    layer = int(np.searchsorted(np.cumsum(attention.heads), place, side="right"))
    return layer, place - sum(attention.heads[:layer])


def _head_name(attention: PronounAttention, place: int) -> str:
    layer, head = _place(attention, place)
    return f"layer {layer + 1}, head {head + 1}"


def _describe_best(pairs: Pairs, attention: PronounAttention, judged: JudgedHeads) -> str:
    """The best head in a sentence, and whether it is better than what needs no meaning."""
    best = judged.best
    of_best = judged.shares[best]
    chance = _chance(pairs, attention, judged.by)
    name = _head_name(attention, best)
    does = {
        "more": "looks more at the noun that is meant than at the other one",
        "most": "looks at the noun that is meant most of all words",
    }[judged.by]
    how_often = (
        f"{does} in **{of_best.share:.0%}** of {judged.n_judging} held-out sentences ({of_best.low:.0%} to "
        f"{of_best.high:.0%}; chance is {chance:.0%})."
    )
    return (
        f"**{name.capitalize()}** {how_often}"
        if of_best.low > max(chance, *(share.share for share in judged.reached.values()))
        else f"No head is shown to find the noun that is meant better than by a simple rule. The best one, "
        f"**{name}**, {how_often}"
    )


def _describe_rules(attention: PronounAttention, judged: JudgedHeads, at_random: JudgedHeads | None) -> str:
    """What needs no meaning, and how much of its attention the best head gives to both nouns."""
    best = judged.best
    rules = {_RULES[judged.by][name]: share.share for name, share in judged.reached.items()}
    beside = join_names([f"the {rule} in {share:.0%}" for rule, share in rules.items()])
    drawn = at_random and f", and the best head with random weights in {at_random.shares[at_random.best].share:.0%}"
    to_right, to_wrong = (float(weights[:, best].mean()) for weights in (attention.antecedent, attention.distractor))
    return (
        f"Of rules that know no meaning, {beside} is right{drawn or ''}. On average the head gives the noun that is "
        f"meant {percent(to_right)} of the pronoun’s attention, and the other one {percent(to_wrong)}."
    )


def _chance(pairs: Pairs, attention: PronounAttention, by: By) -> float:
    """How often one of the two nouns, or one of all other words, drawn at random is the one that is meant."""
    lengths = pairs.corpus.lengths()[attention.numbers]
    return 0.5 if by == "more" else float((1 / (lengths - 1)).mean())


def _selected_head(judged: JudgedHeads) -> int:
    """The head of the row that is selected in the table; the best one where none is."""
    rows = st.session_state.get(f"{_TABLE} {judged.by}", {}).get("selection", {}).get("rows", [])
    return int(judged.order[rows[0]]) if rows and rows[0] < len(judged.order) else judged.best


def _dots(
    attention: PronounAttention,
    judged: JudgedHeads,
    kinds: Sequence[KindAccuracy],
    head: int,
    at_random: Mapping[str, float],
) -> None:
    rows = [
        RelationScore(
            KINDS.get(of_kind.kind, _ALL_KINDS),
            _place(attention, head),
            of_kind.n,
            of_kind.share.share,
            of_kind.share.low,
            of_kind.share.high,
            {_RULES[judged.by][name]: share for name, share in of_kind.beside.items()}
            | ({_AT_RANDOM: at_random[of_kind.kind]} if of_kind.kind in at_random else {}),
        )
        for of_kind in kinds
    ]
    drawn = partial(relation_dots, rows, quantity="held-out sentences", whose=_head_name(attention, head))
    figures.show(drawn, "pronouns by kind", "pronouns-by-kind")
    caption("How often it is right, by what tells which noun is meant.")


def _frame(judged: JudgedHeads) -> pd.DataFrame:
    """All heads, best first on the half that chooses; layer and head from 1."""
    frame = judged.to_frame().rename(columns={"held_out": "held out", "low": "from", "high": "to"})
    frame[["layer", "head"]] += 1
    return frame


def _table(judged: JudgedHeads) -> None:
    frame = _frame(judged)
    best = frame.head(_SHOWN)
    ends = zip(best["held out"], best["from"], best["to"], strict=True)
    columns = best[["layer", "head"]].assign(
        **{
            "choosing": [f"{share:.0%}" for share in best["choosing"]],
            "held out": [f"{share:.0%} ({low:.0%} to {high:.0%})" for share, low, high in ends],
        }
    )
    st.dataframe(
        columns,
        key=f"{_TABLE} {judged.by}",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "layer": st.column_config.NumberColumn(width=_PLACE),
            "head": st.column_config.NumberColumn(width=_PLACE),
            "choosing": st.column_config.TextColumn(help="How often it is right on the half that chooses."),
            "held out": st.column_config.TextColumn(help="How often on the other half, with its 95% interval."),
        },
    )
    caption("The best heads of the half that chooses. Select a row to see its sentences.")
    save.table("Heads and pronouns", lambda: frame, "pronouns")


def _sentences(scene: Scene, pairs: Pairs, attention: PronounAttention, judged: JudgedHeads, head: int) -> None:
    """Where the head is right and where it is wrong, clearest first."""
    of_head = right(attention, judged.by)[:, head]
    by_how_much = attention.antecedent[:, head] - attention.distractor[:, head]
    places = {"right": np.flatnonzero(of_head == 1), "wrong": np.flatnonzero(of_head == 0)}
    with widgets.controls("pronoun sentences"):
        wanted = choose_result(RESULT, *map(len, places.values()))
    chosen = sorted(places[wanted].tolist(), key=lambda place: -abs(by_how_much[place]))
    show_sentences(
        [_looked_at(pairs, attention, row, head) for row in chosen],
        scene.info,
        "pronoun sentences",
        "pronoun-sentences",
        measure="attention to the noun that is meant",
        first=6,
    )


def _pronoun_example(pairs: Pairs, number: int) -> ExampleSentence:
    """A sentence with its pronoun and the noun that is meant."""
    sentence = pairs.corpus.sentence(number)
    assert sentence.coreference is not None
    pronoun, antecedent, _ = (sentence.spans[at] for at in sentence.coreference)
    return ExampleSentence(sentence.text, pronoun, expected=antecedent)


def _looked_at(pairs: Pairs, attention: PronounAttention, row: int, place: int) -> ExampleSentence:
    """The same with what a head gives to both nouns."""
    sentence = pairs.corpus.sentence(int(attention.numbers[row]))
    assert sentence.coreference is not None
    _, antecedent, distractor = sentence.coreference
    to_right, to_wrong = float(attention.antecedent[row, place]), float(attention.distractor[row, place])
    layer, head = _place(attention, place)
    return replace(
        _pronoun_example(pairs, sentence.number),
        keys=((sentence.spans[antecedent], to_right), (sentence.spans[distractor], to_wrong)),
        beside=percent(to_right),
        note=f"{percent(to_wrong)} to “{sentence.words[distractor]}”",
        layer=layer,
        head=head,
        token=int(attention.tokens[row]),
    )


def _rare_words(scene: Scene) -> None:
    """The heads that look most at the rarest word of a sentence."""
    if scene.results is None:
        ask_for(scene.lacks("results") or "")
        return
    statistics = scene.results.statistics
    heads = statistics.every_head()
    known = [name for name in _RARE if name in statistics.defined()]
    if not known:
        ask_for("No sentence has a word that is rarer than its others. Bring longer or more varied sentences.")
        return
    measures = {name: HeadMeasure(_RARE[name], statistics.measure(name), *statistics.interval(name)) for name in known}
    as_python.put(
        scene.statistics_python(known)
        + f"numbers = np.array([statistics.measure(name) for name in {as_python.literal(known)}])",
        lambda: np.array([measure.values for measure in measures.values()]),
        part="Who looks at rare words?",
    )
    share = "rare_listed" if "rare_listed" in measures else "rare"
    measure = measures[share]
    best = int(np.nanargmax(measure.values))
    uniform = float(np.nanmean(getattr(statistics.table().uniform, share)))
    st.markdown(
        f"**Layer {heads[best].layer + 1}, head {heads[best].head + 1}** gives the rarest word of a sentence more of "
        f"its attention than any other head: **{percent(measure.values[best])}** ({percent(measure.lows[best])} to "
        f"{percent(measure.highs[best])}). Uniform attention would give {percent(uniform)}."
    )
    picture, sentences = st.columns([2, 3], gap="large")
    with picture:
        figures.show(partial(measure_dots, heads, list(measures.values()), best), "rare words", "rare-words")
        caption(
            "“Here”: how often words occur in these sentences. “By value”: attention times how much the word's value "
            f"adds. 95% intervals over {scene.units}."
        )
    with sentences:
        show_sentences(
            _rare_word_examples(scene, share == "rare_listed", *heads[best]),
            scene.info,
            "rare words in sentences",
            "rare-word-sentences",
            first=6,
        )
    save.table("Heads and rare words", lambda: _rare_frame(scene, known), "rare-words")


def _rare_word_examples(scene: Scene, listed: bool, layer: int, head: int) -> list[ExampleSentence]:
    """Some sentences with their rarest word."""
    examples: list[ExampleSentence] = []
    for sentence in scene.corpus.take(range(min(_LOOKED_THROUGH, len(scene.corpus)))):
        rarest = sentence.rare[listed]
        if rarest is not None and len(examples) < _EXAMPLES:
            examples.append(ExampleSentence(sentence.text, expected=sentence.spans[rarest], layer=layer, head=head))
    return examples


def _rare_frame(scene: Scene, known: Sequence[str]) -> pd.DataFrame:
    statistics = scene.measured.statistics
    frame = pd.DataFrame([(layer + 1, head + 1) for layer, head in statistics.every_head()], columns=["layer", "head"])
    for name in known:
        low, high = statistics.interval(name)
        frame[name], frame[f"{name} from"], frame[f"{name} to"] = statistics.measure(name), low, high
    return frame


def _left_out(_scene: Scene) -> str:
    return notes.not_in_link(["the file of pronouns that you uploaded"] if _OWN.uploaded() else [])


VIEW = View(
    "coreference",
    "Coreference and rare words",
    draw,
    "Which heads look from a pronoun to the noun it means, and which at the rarest word of a sentence?",
    "The sentences with pronouns were written for this app: who is meant, only the sense, the gender or the number "
    "tells, and never the order of the nouns. A head is chosen on one half of them and judged on the other.",
    caution=notes.CAUTION,
    fields=(OWN_PAIRS, READ, BY, RESULT),
    left_out=_left_out,
    needs=("attention",),
    starts=True,
    tab=60,
    terms=("coreference",),
)
