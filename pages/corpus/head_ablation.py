"""Switching a head off in many sentences: what it is tried on, the button, and what came out. Several views draw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.corpus.importance import Head, HeadComparison, Mean
from analysis.corpus.placing import word_of_token
from analysis.corpus.relation_names import ends
from analysis.corpus.relations import ALL, Relation
from analysis.corpus.sentences import Unit
from evidence.items import HiddenWord, Item, Kind, LeftOut, Material, SentencePair, word_material
from jobs.ablation import Answers, HeadAblationJob
from model_zoo.errors import InvalidInput
from model_zoo.types import counted, format_interval, signed
from pages.corpus.scene import Scene, relation_key, relation_python
from ui import as_python, as_text, caption, example_sentences, figures, save, work
from ui.as_python import NO_LINES, Lines
from ui.precomputed import EMBEDDED
from viz.example_sentences import ExampleSentence
from viz.intervals import switched_off
from web.background import desk
from web.engine import engine
from web.process import process_cache

SCORES: Final[Mapping[Kind, str]] = {
    "words": "ln P of the hidden word",
    "pairs": "ln P of the right sentence minus that of the wrong one",
    "labels": "ln P of the right label",
}
"""What is measured, by what heads are tried on."""
SHORT: Final[Mapping[Kind, str]] = {**SCORES, "pairs": "ln P(right) − ln P(wrong)"}
"""The same for axes, which a phone has little room for."""
SHARES: Final[Mapping[Kind, str]] = {
    "words": "the hidden word is the best guess",
    "pairs": "the right sentence is preferred",
    "labels": "the right label is the most probable",
}
NOUNS: Final[Mapping[Kind, str]] = {"words": "word", "pairs": "pair", "labels": "text"}

_REASONS: Final[Mapping[LeftOut, str]] = {
    "cut": "beyond the model’s limit",
    "shared": "in one token with a part of another word",
    "unknown": "not in the model’s vocabulary",
    "mask": "in a text that holds a mask",
}
_WIDE: Final = 0.05  # nats: intervals that two digits do not blur
_FEW: Final = 24  # words of a first look
_SHOWN: Final = 12  # items that lose most
_FIRST: Final = 4  # of which so many at once


@dataclass(frozen=True, slots=True)
class ItemSource:
    """What heads are tried on. ``name`` tells it from other material, and ``make`` gathers it; ``hidden`` is the word
    that is hidden, for the screen ("the verb"), "" where none is chosen; intervals are over ``unit``s, as
    ``Corpus.unit``. ``lines`` of Python bind ``material`` to it; there are none where they cannot.
    """

    name: str
    kind: Kind
    make: Callable[[], Material]
    hidden: str = ""
    lines: Lines = NO_LINES
    unit: Unit = "sentence"


def words_of(scene: Scene, relation: Relation) -> ItemSource:
    """The words from which a head would look along a relation, hidden one at a time."""
    name = f"{scene.source.fingerprint} {relation_key(relation)}"
    hidden = "a word" if relation == ALL else f"the {ends(relation)[0]}"

    def make() -> Material:
        cases = scene.measured.statistics.cases.select(relation)
        return word_material(scene.corpus, cases.sentence, cases.query, name)

    lines = scene.statistics_python() + Lines(
        f"cases = statistics.cases.select({relation_python(relation)})\n"
        f'material = word_material(corpus, cases.sentence, cases.query, "{relation_key(relation)}")\n',
        (Relation, word_material),
    )
    return ItemSource(name, "words", make, hidden, lines, scene.corpus.unit)


def panel(scene: Scene, relation: Relation) -> None:
    """A button that switches the chosen head off in all sentences of a relation, and the effect in short: for a view
    about something else. Nothing of a model that predicts no hidden words.
    """
    if not scene.info.mlm:
        return
    source = words_of(scene, relation)
    button(scene, source, every=False, primary=False)
    progress(scene, source, every=False)
    job = finished_job(scene, source)
    if job is not None:
        evidence(job, source)
        put_python(scene, job, source, f"With layer {scene.layer + 1}, head {scene.head + 1} off")


def button(scene: Scene, source: ItemSource, *, every: bool, primary: bool) -> None:
    """The button that switches the chosen head off, or stops that. With ``every`` all other heads are switched off,
    too.
    """
    words = f" in all sentences: {source.hidden} is hidden" if not every else ""
    work.button(
        f"Switch {scene.layer + 1}.{scene.head + 1} off{words}",
        HeadAblationJob,
        _wanted(scene, source, every),
        key="switch_off",
        primary=primary,
        help="Switches the head off in all of these, beside other heads of its layer"
        + (", then every head of the model." if every else "."),
    )


def _wanted(scene: Scene, source: ItemSource, every: bool) -> tuple[object, ...]:
    return scene.model, source.name, scene.layer, scene.head, every


def progress(scene: Scene, source: ItemSource, *, every: bool) -> None:
    """How far a running job is, or why it failed; else what was asked for is begun."""
    shape = scene.info.n_layers, scene.info.n_heads
    job = desk().current(HeadAblationJob)
    if job is not None and (job.running or (_is_of(job, scene, source) and not work.is_requested(HeadAblationJob))):
        work.watch(job, stop=False)
        return
    work.begin(
        HeadAblationJob,
        _wanted(scene, source, every),
        [scene.model],
        lambda: HeadAblationJob(engine(), scene.model, source.make(), (scene.layer, scene.head), shape, every=every),
    )


def finished_job(scene: Scene, source: ItemSource) -> HeadAblationJob | None:
    """What is known of the chosen head on this material, also while the job is at work; None where nothing is."""
    job = desk().current(HeadAblationJob)
    return job if job is not None and job.n_ended and _is_of(job, scene, source) else None


def first_look(scene: Scene, source: ItemSource) -> HeadAblationJob | None:
    """What a few words of the material say, at once: of a bundled model, which reads them in a second."""
    if scene.model not in EMBEDDED or source.kind != "words":
        return None
    shape = scene.info.n_layers, scene.info.n_heads
    return _first_look(scene.model, (scene.layer, scene.head), shape, source.name, source.make)


@process_cache(most=16, key=lambda model, head, _shape, name, _make: (model, head, name))
def _first_look(
    model: str, head: Head, shape: tuple[int, int], _name: str, make: Callable[[], Material]
) -> HeadAblationJob:
    job = HeadAblationJob(engine(), model, make().sample(_FEW), head, shape, every=False)
    while job.running:
        job.advance()
    if job.failure is not None:
        raise InvalidInput(job.failure)
    return job


def _is_of(job: HeadAblationJob, scene: Scene, source: ItemSource) -> bool:
    return (job.model, job.material.name, job.head) == (scene.model, source.name, (scene.layer, scene.head))


def evidence(job: HeadAblationJob, source: ItemSource) -> None:
    """The plain sentence, what it is based on, and the figure."""
    matters = job.matters
    if matters is None:
        return
    with st.container(key="answer-heads-off"):
        st.markdown(as_text(sentence(matters, source)))
    figures.show(
        partial(switched_off, matters, f"change of {SHORT[source.kind]} (nats)"),
        "corpus switched off",
        "switched-off",
    )
    caption(basis(job, matters, source))
    save.table("Heads that were switched off", lambda: table(matters.to_frame()), "switched-off")


def put_python(scene: Scene, job: HeadAblationJob, source: ItemSource, part: str = "") -> None:
    """The change by each set of heads, as Python, once the job is over."""
    matters = job.matters
    if job.running or job.stopping or matters is None or not source.lines.text:
        return
    sample = f".sample({_FEW})" if len(job.material) == _FEW < job.material.n_all else ""
    effects = matters.head, *matters.others, matters.layer
    every = "" if job.gradient_estimate is not None else ", every=False"
    arguments = f"{as_python.literal(scene.model)}, material{sample}, {job.head}, {job.shape}{every}"
    as_python.put(
        source.lines
        + f"job = HeadAblationJob(engine, {arguments})  # layer {job.head[0] + 1}, head {job.head[1] + 1} on the page\n"
        "for _ in job.steps():\n"
        "    pass\n"
        "effects = [job.matters.head, *job.matters.others, job.matters.layer]  # what is off is in their heads\n"
        "changes = [effect.change for effect in effects]\n"
        "numbers = np.array([(change.value, change.low, change.high) for change in changes])  # in nats",
        lambda: np.array([(effect.change.value, effect.change.low, effect.change.high) for effect in effects]),
        part=part,
    )


def sentence(matters: HeadComparison, source: ItemSource) -> str:
    """What switching the head off does, in plain sentences."""
    ((layer, head),) = matters.head.heads
    change, kind = matters.head.change, source.kind
    off = f"With layer {layer + 1}, head {head + 1} off, "
    score = f"ln P of {source.hidden}, which is hidden," if kind == "words" else SCORES[kind]
    over = f"over {counted_items(matters.score, source)}"
    if np.isnan(change.low):
        text = f"{off}{score} changes by {signed(change.value, plus=True)} {over}: too few for an interval."
    elif not matters.clear:
        text = f"{off}{score} changes by {_signed(change)} {over}: no effect is shown, since the interval includes 0."
    else:
        low, high = sorted((abs(change.low), abs(change.high)))
        how, by = (
            "falls" if change.value < 0 else "rises",
            format_interval(abs(change.value), low, high, _digits(change)),
        )
        text = f"{off}{score} {how} by {by} {over}. {_others(matters)}"
    if kind != "words":
        before, after = (
            format_interval(mean.value, mean.low, mean.high, ".0%") for mean in (matters.right, matters.head.right)
        )
        right = SHARES[kind]
        of = f"of {NOUNS[kind]}s"
        text += f" {right[0].upper()}{right[1:]} in {before} {of} with nothing off, and in {after} with it off."
    return text


def counted_items(mean: Mean, source: ItemSource) -> str:
    """How many items a mean is of, and of how many sentences, their documents or frames, or templates."""
    n = counted(mean.n, NOUNS[source.kind])
    if source.kind == "words":
        return f"{n} in {counted(mean.n_clusters, source.unit)}"
    return n if mean.n == mean.n_clusters else f"{n} from {counted(mean.n_clusters, 'template')}"


def _signed(mean: Mean) -> str:
    return format_interval(mean.value, mean.low, mean.high, f"+{_digits(mean)}")


def _digits(mean: Mean) -> str:
    """As many as tell the ends of an interval apart."""
    return ".2f" if mean.high - mean.low >= _WIDE else ".3f"


def _others(matters: HeadComparison) -> str:
    """How many of the other heads do as much."""
    n, as_much = len(matters.others), matters.n_as_much
    if not n:
        return "The layer has no other head to compare it with."
    if n == 1:
        return f"The one other head of its layer does {'as much' if as_much else 'less'}."
    which = f"the {n} other heads" if matters.all_others else f"{n} random other heads"
    if as_much < 2:
        return f"Of {which} of its layer, {as_much or 'none'} does as much by itself."
    return f"Of {which} of its layer, {as_much} do as much by themselves."


def basis(job: HeadAblationJob, matters: HeadComparison, source: ItemSource) -> str:
    """What was measured, of what, and what was left out, for the small print."""
    material, answers = job.material, job.answers
    score = matters.score
    units = f"{source.unit if material.kind == 'words' else NOUNS[material.kind]}s"
    if source.unit == "frame":
        units = "the frames that templates made the sentences from"
    sentences = [
        f"Mean of {SCORES[material.kind]} with nothing off: {signed(score.value)} nats.",
        "A head that is off writes zeros.",
        f"95% intervals over {'templates' if material.kind != 'words' and score.n > score.n_clusters else units}.",
    ]
    n = len(material.tried)
    if material.n_all > n:
        sentences.append(f"{n:,} of {material.n_all:,} were drawn at random.")
    if n == _FEW < material.n_all:
        sentences.append("Press the button for more.")
    if len(answers) < n:
        sentences.append(f"{'So far' if job.running else 'Stopped after'} {len(answers):,} of {n:,}, in random order.")
    reasons = left_out(answers)
    if reasons:
        sentences.append(reasons)
    return " ".join(sentences)


def left_out(answers: Answers) -> str:
    """Why some items were left out, in a sentence; "" where none was."""
    counts = Counter(why for _, why in answers.left_out)
    if not counts:
        return ""
    reasons = ", ".join(f"{n:,} {_REASONS[why]}" for why, n in counts.most_common())
    return f"Left out: {reasons}."


def table(effects: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``Effect.to_frame``, one for each set of heads that was switched off, as the screen names them."""
    heads = [head if head == "all" else str(head + 1) for head in effects["head"]]
    names = {
        "change": "change (nats)",
        "low": "from",
        "high": "to",
        "right_low": "right from",
        "right_high": "right to",
    }
    return effects.assign(layer=effects["layer"] + 1, head=heads).rename(columns=names)


def losing(scene: Scene, job: HeadAblationJob) -> None:
    """The items that lose most with the head off, each with ways to other pages."""
    answers, material = job.answers, job.material
    changes = answers.scores[1] - answers.scores[0]
    order = [place for place in np.argsort(changes, kind="stable") if not np.isnan(changes[place])]
    rows = [
        _example(scene, material.items[answers.places[place]], float(changes[place]), job.head)
        for place in order[:_SHOWN]
        if changes[place] < 0
    ]
    if not rows:
        return
    st.markdown(f"**Where {SHORT[material.kind]} falls most**")
    example_sentences.show(
        rows, scene.info, "corpus losing most", "losing-most", measure="change (nats)", first=_FIRST, table=False
    )
    save.table("Every item", lambda: _every_item(job), "switched-off-items")


def _example(scene: Scene, item: Item, change: float, head: Head) -> ExampleSentence:
    layer, of_layer = head
    beside = signed(change)
    match item:
        case HiddenWord():
            encoding = engine().encode(scene.model, item.text)
            places = tuple(np.flatnonzero(word_of_token(encoding, [item.span]) == 0).tolist())
            return ExampleSentence(
                item.text, item.span, beside=beside, layer=layer, head=of_layer, token=places[0], masked=places
            )
        case SentencePair():
            note = f"against: {item.bad}"
            return ExampleSentence(item.good, beside=beside, note=note, layer=layer, head=of_layer)
        case _:
            note = f"label: {item.label}" + (f" · second text: {item.pair}" if item.pair else "")
            return ExampleSentence(item.text, beside=beside, note=note, layer=layer, head=of_layer)


def _every_item(job: HeadAblationJob) -> pd.DataFrame:
    answers = job.answers
    rows = []
    for column, place in enumerate(answers.places):
        item = job.material.items[place]
        match item:
            case HiddenWord():
                columns = {"text": item.text, "hidden": item.text[slice(*item.span)]}
            case SentencePair():
                columns = {"right": item.good, "wrong": item.bad}
            case _:
                columns = {"text": item.text, "second text": item.pair or "", "label": item.label}
        rows.append(
            columns
            | {
                "nothing off": float(answers.scores[0, column]),
                "head off": float(answers.scores[1, column]),
            }
        )
    return pd.DataFrame(rows)
