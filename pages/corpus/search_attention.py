"""Search "A looks at B": sentences in which a head looks from some words to others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.corpus.looks import Hits, Looks
from analysis.corpus.pattern import Kind, Pattern, may_match
from analysis.corpus.sentences import Corpus
from evidence.questions.look import Look
from jobs.attention_search import AttentionSearchJob
from model_zoo.types import counted
from pages.corpus.scene import Scene
from ui import (
    HEAD,
    LAYER,
    SWITCH,
    Field,
    as_python,
    as_text,
    ask_for,
    caption,
    example_sentences,
    figures,
    lacking,
    one_of,
    save,
    say_cut,
    widgets,
    work,
)
from viz.bars import ranking
from viz.example_sentences import ExampleSentence
from viz.layout import percent
from web.background import desk
from web.engine import engine

_KINDS: dict[Kind, str] = {"word": "Word", "piece": "Token", "upos": "Part of speech", "deprel": "Relation"}
_SCOPES = {"all": "Every head", "layer": "A layer", "head": "One head"}
_PAGE = "corpus"

FROM_KIND: Field[Kind] = Field("from_is", "upos", one_of("the kind of word", _KINDS), of=_PAGE)
FROM: Field[str] = Field("from", "VERB", of=_PAGE)
TO_KIND: Field[Kind] = Field("to_is", "deprel", one_of("the kind of word", _KINDS), of=_PAGE)
TO: Field[str] = Field("to", "obj", of=_PAGE)
SCOPE: Field[str] = Field("heads", "all", one_of("the heads", _SCOPES), of=_PAGE)
JOINED: Field[bool] = Field("joined", True, SWITCH, of=_PAGE)
FIELDS = (FROM_KIND, FROM, TO_KIND, TO, SCOPE, JOINED)

_AT_ONCE: Final = 60  # sentences, which take a second or two
_BARS: Final = 10
_SHOWN: Final = 50
_STARTS: Final[dict[Kind, str]] = {"word": "the", "piece": "##s", "upos": "NOUN", "deprel": "nsubj"}


@dataclass(frozen=True, slots=True)
class _AttentionQuery:
    """What is looked for, and the numbers of the sentences that can match, in a random order."""

    query: Pattern
    key: Pattern
    layer: int | None
    head: int | None
    joined: bool
    numbers: tuple[int, ...]

    @property
    def first_numbers(self) -> tuple[int, ...]:
        """The sentences that are searched without being asked: all, unless they are many more than a few."""
        return self.numbers if len(self.numbers) <= 2 * _AT_ONCE else self.numbers[:_AT_ONCE]

    @property
    def wanted(self) -> tuple[Pattern, Pattern, int | None, int | None, bool]:
        """Tells it from any other in the same corpus."""
        return self.query, self.key, self.layer, self.head, self.joined


def draw(scene: Scene, controls: DeltaGenerator) -> None:
    """``controls`` is the line in which the mode was chosen."""
    if lacking(scene, ("attention",)):
        return
    with widgets.controls():
        query = _pattern("A", FROM_KIND, FROM, scene.corpus)
        key = _pattern("B", TO_KIND, TO, scene.corpus)
    with controls, widgets.popover(_heads_label(scene), ":material/tune:", "heads searched"):
        layer, head = _heads(scene)
        joined = _joined(query, key)
    search = _AttentionQuery(query, key, layer, head, joined, may_match(scene.corpus, query, key))
    with st.container(key="answer-search"):
        _answer(scene, search)


def _answer(scene: Scene, search: _AttentionQuery) -> None:
    if not search.numbers:
        ask_for(f"No sentence holds both {search.query} and {search.key}. Look for other words.")
        return
    job = _job(scene, search)
    looks = None if job is None or (job.running and not job.n_ended) else job.looks
    _results(scene, search, _first_sentences(scene, search) if looks is None else looks)


def _search(scene: Scene, search: _AttentionQuery, n_searched: int) -> None:
    """How many sentences were searched, and the button that searches all, or how far that is."""
    job = _job(scene, search)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if n_searched < len(search.numbers):
            of = f"From {n_searched:,} of the {len(search.numbers):,} sentences that may hold both, drawn at random."
            st.caption(of, width="content")
        if len(search.numbers) > len(search.first_numbers) and (job is None or not (job.running or job.complete)):
            wanted = (scene.model, scene.source.fingerprint, *search.wanted)
            work.button("Search all", AttentionSearchJob, wanted, key="search_corpus", primary=job is None)
            work.begin(
                AttentionSearchJob,
                wanted,
                [scene.model],
                lambda: AttentionSearchJob(engine(), scene.model, scene.corpus, *search.wanted),
            )
    if job is not None:
        work.watch(job)


def _pattern(label: str, kind: Field[Kind], value: Field[str], corpus: Corpus) -> Pattern:
    """Two controls: what kind of word, and which. Raises InvalidInput where nothing is named."""
    labelled = {"upos": bool(corpus.labels("upos")), "deprel": bool(corpus.labels("deprel"))}
    kinds = {name: title for name, title in _KINDS.items() if labelled.get(name, True)}
    if kind.value not in kinds:
        kind.value, value.value = "word", _first("word", corpus)

    def begin_anew() -> None:
        value.value = _first(kind.value, corpus)

    chosen: Kind = st.selectbox(label, **kind.offering(kinds), width=178, on_change=begin_anew)
    if chosen in ("upos", "deprel"):
        labels = {name: f"{name} ({n:,})" for name, n in corpus.labels(chosen).most_common()}
        if value.value not in labels:
            value.value = _first(chosen, corpus)
        st.selectbox(f"{label} is", **value.offering(labels), label_visibility="collapsed", width=162)
    else:
        st.text_input(
            f"{label} is",
            **value.bound,
            label_visibility="collapsed",
            placeholder="cat, dog" if chosen == "word" else "##ing",
            width=162,
        )
    return Pattern.parsed(chosen, value.value)


def _first(kind: Kind, corpus: Corpus) -> str:
    """What is looked for when a kind was just chosen: there are such words in the corpus, if any."""
    if kind in ("upos", "deprel"):
        labels = corpus.labels(kind)
        return _STARTS[kind] if _STARTS[kind] in labels else labels.most_common(1)[0][0]
    if kind == "word":
        return next((word for word, _ in corpus.counts.most_common() if word.isalpha()), _STARTS[kind])
    return _STARTS[kind]


def _heads_label(scene: Scene) -> str:
    """Which heads are asked, as the button says it behind which they are chosen."""
    if SCOPE.value == "all":
        return "Every head"
    layer = f"Layer {scene.layer + 1}"
    return layer if SCOPE.value == "layer" else f"{layer}, head {scene.head + 1}"


def _heads(scene: Scene) -> tuple[int | None, int | None]:
    """Which layer and head, from 0; None for any."""
    scope = widgets.choice("Heads", SCOPE)
    layer = None if scope == "all" else widgets.stepper("layer", scene.info.n_layers)
    return layer, widgets.stepper("head", scene.info.n_heads) if scope == "head" else None


def _joined(query: Pattern, key: Pattern) -> bool:
    """Whether only words count that the tree joins; asked where both are named by the tree."""
    of_tree = {"upos", "deprel"}
    if query.kind not in of_tree or key.kind not in of_tree:
        return False
    return st.toggle(
        "Only words joined in the tree", **JOINED.bound, help="One of the two is the head of the other, as its verb is."
    )


def _job(scene: Scene, search: _AttentionQuery) -> AttentionSearchJob | None:
    """This visitor's search for the same in the same sentences, at work or over."""
    job = desk().current(AttentionSearchJob)
    if job is None or job.corpus is not scene.corpus or job.arguments != (scene.model, *search.wanted):
        return None
    return job


def _first_sentences(scene: Scene, search: _AttentionQuery) -> Looks:
    """What is found in a few sentences, remembered for everybody."""
    key = ("look", scene.model, engine().revision(scene.model), scene.source.fingerprint, *search.wanted)

    def compute() -> Looks:
        sentences = scene.corpus.take(search.first_numbers)
        return engine().ask(Look(scene.model, sentences, *search.wanted))

    with st.spinner("Searching …", show_time=True):
        return engine().derived(key, compute)


def _results(scene: Scene, search: _AttentionQuery, looks: Looks) -> None:
    if looks.n_cut:
        say_cut(
            f"{counted(looks.n_cut, 'sentence')} of these {'is' if looks.n_cut == 1 else 'are'} longer than the model "
            "reads; words beyond that were not searched."
        )
    order = np.argsort(-np.nan_to_num(looks.mean, nan=-1), kind="stable")
    best = int(order[0])
    if looks.n[best]:
        st.markdown(_describe_looks(search, looks, best))
    else:
        ask_for(
            f"In none of {counted(looks.n_sentences, 'sentence')} that may hold both can a head look from "
            f"{search.query} to {search.key}{' where the tree joins them' if search.joined else ''}. Look for other "
            "words."
        )
    _search(scene, search, looks.n_sentences)
    if not looks.n[best]:
        return
    hits = looks.strongest_of_all(_SHOWN) if len(looks.layer) > 1 else looks.head_hits(best).take(slice(_SHOWN))
    if len(looks.layer) > 1:
        left, right = st.columns([2, 3], gap="large")
        with left:
            _bars(looks, order[:_BARS].tolist())
    else:
        right = st.container()
    with right:
        _sentences(scene, looks, hits)
    _put_python(scene, search, looks)
    save.table("Heads", lambda: _head_table(looks), "search-heads")
    save.table("Pairs of words", lambda: _pair_table(scene, looks), "search-pairs")


def _put_python(scene: Scene, search: _AttentionQuery, looks: Looks) -> None:
    query, key = (
        f"Pattern({as_python.arguments(pattern.kind, pattern.values)})" for pattern in (search.query, search.key)
    )
    some = f"[:{looks.n_sentences}]" if looks.n_sentences < len(search.numbers) else ""
    more = as_python.arguments(layer=search.layer, head=search.head, joined=search.joined or None)
    arguments = ", ".join(filter(None, (as_python.literal(scene.model), "sentences, query, key", more)))
    as_python.put(
        scene.source.lines + f"query, key = {query}, {key}\n"
        f"sentences = corpus.take(may_match(corpus, query, key){some})\n"
        f"looks = engine.ask(Look({arguments}))\n"
        "numbers = looks.mean  # of each head: its layer is in looks.layer, its number in looks.head",
        lambda: looks.mean,
    )


def _describe_looks(search: _AttentionQuery, looks: Looks, best: int) -> str:
    """What was found, in a sentence or two."""
    layer, head, n = looks.layer[best] + 1, looks.head[best] + 1, int(looks.n[best])
    name = f"**Layer {layer}, head {head}**"
    pair = as_text(f"from {search.query} to {search.key}")
    n_heads = len(looks.layer)
    many = f"{name} looks {pair} the most of {n_heads} heads" if n_heads > 1 else f"{name} looks {pair}"
    share = looks.strongest[best] / n
    return (
        f"{many}: on average **{percent(looks.mean[best])}** of the attention goes there, over {counted(n, 'pair')} in "
        f"{counted(looks.n_found, 'sentence')}; uniform attention would give {percent(looks.expected[best])}. In "
        f"{share:.0%} of the pairs it is where the word looks most, itself and special tokens aside."
    )


def _bars(looks: Looks, places: list[int]) -> None:
    """The heads that look there most; a click chooses one."""

    def choose(head: list[int]) -> None:
        SCOPE.value, LAYER.value, HEAD.value = "head", int(head[0]) + 1, int(head[1]) + 1

    heads = [(int(looks.layer[place]), int(looks.head[place])) for place in places]
    figure = partial(
        ranking, heads, looks.mean[places].tolist(), looks.expected[places].tolist(), "mean attention from A to B"
    )
    figures.show(figure, "heads that look from A to B", "search", choose)
    caption("Click a bar to search with that head alone.")


def _sentences(scene: Scene, looks: Looks, hits: Hits) -> None:
    rows = []
    for place in range(len(hits)):
        of = int(hits.of[place])
        note = f"layer {looks.layer[of] + 1}, head {looks.head[of] + 1}" if len(looks.layer) > 1 else ""
        if hits.strongest[place]:
            note = f"{note}, where the word looks most".removeprefix(", ")
        rows.append(
            ExampleSentence(
                scene.corpus.texts[hits.sentence[place]],
                (int(hits.query_start[place]), int(hits.query_end[place])),
                (((int(hits.key_start[place]), int(hits.key_end[place])), float(hits.weight[place])),),
                beside=percent(float(hits.weight[place])),
                note=note,
                layer=int(looks.layer[of]),
                head=int(looks.head[of]),
                token=int(hits.token[place]),
            )
        )
    which = "each pair with the head that looks the most" if len(looks.layer) > 1 else "strongest first"
    caption(
        f"The {counted(len(rows), 'strongest pair')}, {which}: A is framed, B tinted by its share of A’s attention."
        if len(rows) > 1
        else "A is framed, B tinted by its share of A’s attention."
    )
    example_sentences.show(rows, scene.info, "found sentences", "found-sentences", first=8, table=False)


def _head_table(looks: Looks) -> pd.DataFrame:
    table = looks.to_frame()
    table[["layer", "head"]] += 1
    names = {"mean": "attention", "expected": "uniform", "n": "pairs", "strongest": "looked at most"}
    return table.rename(columns=names)


def _pair_table(scene: Scene, looks: Looks) -> pd.DataFrame:
    hits = looks.hits
    texts = [scene.corpus.texts[number] for number in hits.sentence]
    return pd.DataFrame(
        {
            "layer": looks.layer[hits.of] + 1,
            "head": looks.head[hits.of] + 1,
            "attention": hits.weight,
            "looked at most": hits.strongest,
            "from": [text[a:b] for text, a, b in zip(texts, hits.query_start, hits.query_end, strict=True)],
            "to": [text[a:b] for text, a, b in zip(texts, hits.key_start, hits.key_end, strict=True)],
            "sentence": texts,
            "where": [scene.corpus.where(number) for number in hits.sentence],
        }
    )
