"""Search "Nearest words": the words of the corpus whose vectors in a layer are nearest to that of a word one clicks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.corpus.looks import strongest_word
from analysis.corpus.nearest import Index, Nearest, NearToken, next_word, shares
from analysis.corpus.sentences import Label, Sentence
from analysis.words import token_units
from jobs.indexing import Indexing
from model_zoo.types import Encoding, HiddenStates, counted
from pages.corpus.scene import Scene
from ui import (
    SWITCH,
    Field,
    as_python,
    as_text,
    ask_for,
    caption,
    example_sentences,
    figures,
    make_distinct,
    notes,
    place,
    save,
    widgets,
    within,
    work,
)
from viz.bars import bars
from viz.example_sentences import ExampleSentence
from viz.layout import clipped, visible_text
from web.background import desk
from web.engine import engine

_PAGE = "corpus"

SENTENCE: Field[str] = Field("sentence", "", of=_PAGE, clean=lambda text: text.strip())
TOKEN: Field[int] = Field("token", 2, place("token"), of=_PAGE)
AFTER: Field[int] = Field("after", 4, within("the layer", 0, 1000), of=_PAGE)
HOW_MANY: Field[int] = Field("nearest", 20, within("the number of words", 5, 50, step=5), of=_PAGE)
ONCE: Field[bool] = Field("once", False, SWITCH, of=_PAGE)
FIELDS = (SENTENCE, TOKEN, AFTER, HOW_MANY, ONCE)

_LONGEST: Final = 24  # characters of a token on its button
_MOST_TOKENS: Final = 150  # buttons; of a longer text its beginning
_BARS: Final = 8
_END: Final = "(end of the sentence)"
_NONE: Final = "(no other word)"


@dataclass(frozen=True, slots=True)
class _Clicked:
    """A token of a text, and its vector."""

    text: str
    encoding: Encoding
    token: int
    vector: np.ndarray

    @property
    def written(self) -> str:
        start, end = self.encoding.offsets[self.token]
        return self.text[start:end].strip()


def draw(scene: Scene, controls: DeltaGenerator) -> None:
    """``controls`` is the line in which the mode was chosen."""
    AFTER.value = min(AFTER.value, scene.info.n_layers)
    with controls, widgets.popover(f"After layer {AFTER.value}", ":material/tune:", "nearest what"):
        layer = _layer(scene)
    text = _sentence(scene)
    if not text.strip():
        ask_for("Type a sentence, or take one of the corpus.")
        return
    states = engine().encoded_states(scene.model, text, layers=[layer])
    notes.warn_of_unknown([states.encoding], scene.model)
    clicked = _click(text, states)
    if clicked is None:
        ask_for("There is no word in this sentence. Type another one.")
        return
    with st.container(key="answer-search"):
        index = _index(scene, layer)
        if index is not None:
            _results(scene, clicked, layer, index, _nearest(scene, clicked, index))


def _nearest(scene: Scene, clicked: _Clicked, index: Index) -> Nearest:
    return index.nearest(
        clicked.vector,
        HOW_MANY.value,
        without=[(number, clicked.token) for number, other in enumerate(scene.corpus.texts) if other == clicked.text],
        word=clicked.written,
        each_once=ONCE.value,
    )


def _layer(scene: Scene) -> int:
    """After which layer, 0 after the embeddings, and how many words of which kind."""
    after: int = st.number_input("After layer", **AFTER.bound | {"max_value": scene.info.n_layers})
    st.number_input("Words", **HOW_MANY.bound)
    st.toggle(
        "Each word once",
        **ONCE.bound,
        help="Leaves out words that were found before, and the one you clicked, ignoring case.",
    )
    return after


def _sentence(scene: Scene) -> str:
    """A text of one's own, or one of the corpus."""
    texts = scene.corpus.texts
    if not SENTENCE.value.strip() and texts:
        SENTENCE.value = texts[0]

    def draw_one() -> None:
        SENTENCE.value = texts[int(np.random.default_rng().integers(len(texts)))]
        TOKEN.value = TOKEN.default

    with widgets.input_line("sentence"):
        text = widgets.text_area("Sentence", SENTENCE)
        st.button("Another sentence", on_click=draw_one, icon=":material/casino:")
    return widgets.short_enough(text, "The sentence")


def _click(text: str, states: HiddenStates) -> _Clicked | None:
    """The tokens of the text as buttons; the one that is clicked, None where there is none."""
    encoding = states.encoding
    tokens = [at for at, special in enumerate(encoding.special) if not special][:_MOST_TOKENS]
    if not tokens:
        return None
    if TOKEN.value not in tokens:
        TOKEN.value = tokens[0]
    units = token_units(encoding)
    names = make_distinct(as_text(clipped(visible_text(units[at].label), _LONGEST)) for at in tokens)
    labels = dict(zip(tokens, names, strict=True))
    with st.container(key="tokens-of-the-sentence"):
        token = st.pills("Token", required=True, **TOKEN.offering(labels), label_visibility="collapsed")
    return _Clicked(text, encoding, token, states.states[0, token])


def _job(scene: Scene, layer: int) -> Indexing | None:
    """This visitor's index of this layer, at work or over; None where it is of something else, or nothing was read."""
    job = desk().current(Indexing)
    if job is None or (job.model, job.layer) != (scene.model, layer) or job.corpus is not scene.corpus:
        return None
    return job if job.running or job.n_sentences else None


def _index(scene: Scene, layer: int) -> Index | None:
    """The index of this layer, or what there is to say until it is there."""
    job = _job(scene, layer)
    lost = job is not None and job.index is not None and not job.index.is_complete
    if job is not None and not lost:
        work.watch(job)
        return job.index if job.n_ended or not job.running else None
    last = desk().current(Indexing)
    if last is not None and last.failure is not None:
        work.watch(last)
    wanted = (scene.model, scene.source.fingerprint, layer)
    state = "are gone: their file was cut short or removed" if lost else "were not read yet"
    ask_for(f"The vectors after layer {layer} {state}. They are kept until you leave, or read another layer.")
    work.button(f"Read {counted(len(scene.corpus), 'sentence')}", Indexing, wanted, key="index_corpus", primary=True)
    work.begin(Indexing, wanted, [scene.model], lambda: Indexing(engine(), scene.model, scene.corpus, layer))
    return None


def _results(scene: Scene, clicked: _Clicked, layer: int, index: Index, near: Nearest) -> None:
    where = f"after layer {layer}" if layer else "after the embeddings"
    if not near.tokens:
        ask_for("No other word is in what was read. Read more sentences, or allow words more than once.")
        return
    read = counted(index.n_sentences, "sentence")
    of = "" if index.n_sentences == len(scene.corpus) else f" of {len(scene.corpus):,}, from the beginning"
    full = f"; {index.most:,} tokens are the most an index holds" if index.full else ""
    nearest, farthest = near.tokens[0].cosine, near.tokens[-1].cosine
    st.markdown(
        f"The {counted(len(near.tokens), 'token')} nearest to **{as_text(clicked.written)}** {where} have cosines of "
        f"**{nearest:.2f}** to **{farthest:.2f}**; the mean cosine with all {near.n:,} tokens is {near.mean:.2f}."
    )
    caption(f"Read: {read}{of}{full}. The word itself is left out where its sentence is among them.")
    sentences = scene.corpus.take([token.sentence for token in near.tokens])
    _sentences(scene, layer, sentences, near.tokens)
    looked_at = _looked_at(scene, sentences, near.tokens) if scene.info.n_heads else None
    _histograms(scene, sentences, near.tokens, looked_at)
    if index.n_sentences == len(scene.corpus):
        _put_python(scene, clicked, layer, near)
    save.table("Nearest words", lambda: _table(scene, sentences, near.tokens, looked_at), "nearest-words")


def _put_python(scene: Scene, clicked: _Clicked, layer: int, near: Nearest) -> None:
    model, text = as_python.literal(scene.model), as_python.literal(clicked.text)
    once = ", each_once=True" if ONCE.value else ""
    as_python.put(
        scene.source.lines + f"text, token, layer = {text}, {clicked.token}, {layer}\n"
        f"hidden = engine.encoded_states({model}, text, layers=[layer])\n"
        'index = Index(Path("vectors.f16"), hidden.states.shape[-1])  # a file of this name, of 2 bytes a number\n'
        f"for number, other in engine.iter_hidden_states({model}, corpus.texts, layers=[layer]):\n"
        "    index.add(corpus.sentence(number), other.encoding, other.states[0])\n"
        "itself = [(number, token) for number, other in enumerate(corpus.texts) if other == text]\n"
        f"word = {as_python.literal(clicked.written)}\n"
        f"near = index.nearest(hidden.states[0, token], {HOW_MANY.value}, without=itself, word=word{once})\n"
        "numbers = np.array([token.cosine for token in near.tokens])",
        lambda: np.array([token.cosine for token in near.tokens]),
        Path,
    )


def _sentences(scene: Scene, layer: int, sentences: Sequence[Sentence], tokens: Sequence[NearToken]) -> None:
    rows = [
        ExampleSentence(
            sentence.text,
            token.span,
            beside=f"{token.cosine:.2f}",
            note=" · ".join(part for part in (sentence.upos[token.word], sentence.deprel[token.word]) if part != "_"),
            layer=max(layer, 1) - 1,
        )
        for sentence, token in zip(sentences, tokens, strict=True)
    ]
    if not scene.info.n_heads:  # nothing of it can be seen on Attention
        rows = [ExampleSentence(token.text, token.query, beside=token.beside, note=token.note) for token in rows]
    example_sentences.show(
        rows, scene.info, "nearest sentences", "nearest-words", measure="cosine", first=6, table=False
    )


def _looked_at(scene: Scene, sentences: Sequence[Sentence], tokens: Sequence[NearToken]) -> list[str]:
    """The word that the chosen head looks at most from each token's word."""
    layer, head = scene.layer, scene.head
    runs = engine().attend(scene.model, [sentence.text for sentence in sentences])
    words = []
    for run, sentence, token in zip(runs, sentences, tokens, strict=True):
        word = strongest_word(run, sentence, token.word, layer, head)
        words.append(_NONE if word is None else sentence.words[word].casefold())
    return words


def _histograms(
    scene: Scene, sentences: Sequence[Sentence], tokens: Sequence[NearToken], looked_at: list[str] | None
) -> None:
    """Parts of speech and relations beside those of the whole corpus, the word that follows, and the one looked at."""
    pairs = list(zip(sentences, tokens, strict=True))
    st.markdown("**What these words have in common**")
    places = iter(st.columns(2, gap="large") * 2)
    labelled: tuple[tuple[str, Label], ...] = (("Part of speech", "upos"), ("Relation", "deprel"))
    for title, label in labelled:
        labels = scene.corpus.labels(label)
        if labels:
            share = {name: n / labels.total() for name, n in labels.items()}
            with next(places):
                caption(title)
                _bars([getattr(sentence, label)[token.word] for sentence, token in pairs], f"nearest-{label}", share)
    with next(places):
        caption("Next word")
        _bars([next_word(sentence, token.word) or _END for sentence, token in pairs], "nearest-next")
    if looked_at is not None:
        with next(places):
            caption("The word that a head looks at most, itself and special tokens aside")
            with widgets.controls("head"):
                widgets.stepper("layer", scene.info.n_layers)
                widgets.stepper("head", scene.info.n_heads)
            _bars(looked_at, "nearest-looked-at")


def _bars(values: Sequence[str], name: str, all_words: Mapping[str, float] | None = None) -> None:
    """The most frequent of some values, beside their share of all words of the corpus where that is known."""
    most = shares(values, _BARS)
    names = [name for name, _ in most]
    series = [("share of these words", [share for _, share in most])]
    if all_words is not None:
        series.append(("of all words", [all_words.get(name, 0.0) for name in names]))
    figures.show(partial(bars, names, series, top=1.0, written=".0%"), name, name)


def _table(
    scene: Scene, sentences: Sequence[Sentence], tokens: Sequence[NearToken], looked_at: list[str] | None
) -> pd.DataFrame:
    pairs = list(zip(sentences, tokens, strict=True))
    frame = pd.DataFrame(
        {
            "cosine": [token.cosine for token in tokens],
            "token": [sentence.text[slice(*token.span)] for sentence, token in pairs],
            "word": [sentence.words[token.word] for sentence, token in pairs],
            "part of speech": [sentence.upos[token.word] for sentence, token in pairs],
            "relation": [sentence.deprel[token.word] for sentence, token in pairs],
            "next word": [next_word(sentence, token.word) for sentence, token in pairs],
        }
    )
    if looked_at is not None:
        frame["looked at most"] = looked_at
    frame["sentence"] = [sentence.text for sentence in sentences]
    frame["where"] = [scene.corpus.where(sentence.number) for sentence in sentences]
    return frame
