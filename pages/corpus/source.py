"""Choosing the sentences: the built-in treebank, or the visitor's own data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from analysis.corpus.pretraining import n_pretrained
from analysis.corpus.reading import built_in, read_corpus, read_frequencies, sampled
from analysis.corpus.sentences import Corpus
from analysis.probing.template_trees import template_conllu
from model_zoo import registry
from model_zoo.types import MB, counted
from pages.corpus.fields import DATA, FREQUENCIES, READ, SEED, SENTENCES
from reading import Choices
from ui import as_python, as_text, caption, how_read, note, save, widgets
from ui.as_python import NO_LINES, Lines
from ui.messages import also_at
from ui.own_file import OwnFile, read
from ui.own_texts import warn_of_unknown
from ui.tuned import short_name
from web.process import process_cache
from web.settings import settings
from web.uploads import File

_OWN: Final = OwnFile(upload="corpus_upload", in_use="corpus_in_use", pasted=DATA, several=True, choices=READ)
_LIST: Final = OwnFile(upload="frequencies_upload", in_use="frequencies_in_use", pasted=FREQUENCIES)
_READ: Final = "corpus_source"
BUILT_IN: Final = "built in"
# A class brings the same few.
_MOST_READ: Final = 4
_SHARE: Final = 0.01  # of sentences that stand in pretraining data; phrases that anybody writes are fewer

_ABOUT: Final = (
    "Plain text, a table (CSV, TSV, Parquet) or JSON with a column `text` or `sentence`, words in columns (CoNLL), a "
    "treebank (CoNLL-U), or a zip of these. Only trees let relations be measured."
)
_ABOUT_LIST: Final = (
    "A word and how often it occurs on each line. Without a list, the rarest word of a sentence is the one that occurs "
    "least in these sentences."
)


@dataclass(frozen=True, slots=True)
class Source:
    """``fingerprint`` tells this corpus from any other; ``from_user`` says that a file or pasted text of the visitor's
    is in it. ``n_whole`` sentences were there to draw from. ``lines`` of Python bind ``corpus`` to it, and ``rare``
    note its rarest words.
    """

    corpus: Corpus = field(repr=False)
    fingerprint: str
    from_user: bool
    n_whole: int
    lines: Lines = field(default=NO_LINES, repr=False)
    rare: Lines = field(default=NO_LINES, repr=False)


def draw() -> Source:
    """The controls, and what they hold. Raises InvalidInput."""
    user_data = _OWN.uploaded() or DATA.value.strip()
    with widgets.popover(
        f"Sentences: {'your own' if user_data else 'built-in'}", ":material/library_books:", "corpus source"
    ):
        st.caption(_ABOUT)
        messages_at = st.empty()
        files = _OWN.draw_all()
        how = st.container()
        left, right = st.columns(2)
        n = left.number_input(
            "Sentences at most", **SENTENCES.bound, help="Of a larger file, so many are drawn at random by the seed."
        )
        seed = right.number_input("Seed", **SEED.bound, help="Decides which sentences are drawn.")
        with st.expander("Word frequencies of your own", icon=":material/sort:"):
            st.caption(_ABOUT_LIST)
            frequencies = _LIST.draw()
        save.button(
            "Example file",
            lambda: template_conllu(200),
            "treebank",
            "conllu",
            "200 sentences with trees, made from templates written for this app.",
        )
        choices = READ.value
        with also_at(messages_at), how, how_read.choosing(READ):
            source = _source(files, int(n), int(seed), frequencies, choices)
        with messages_at:
            _describe(source)
        if files and source.corpus.report is not None:
            with how:
                how_read.draw(source.corpus.report, READ)
    return source


def draw_notes(source: Source) -> None:
    """What was left out of the data, or read otherwise than it was written."""
    notes = source.corpus.notes
    if notes:
        with st.expander(f"How the sentences were read: {counted(len(notes), 'note')}", icon=":material/rule:"):
            for note in notes:
                caption(note)


def uploaded() -> list[str]:
    """What of it is not in the address."""
    return [
        *(["the files you uploaded"] if _OWN.uploaded() else []),
        *(["your list of word frequencies"] if _LIST.uploaded() else []),
    ]


def _source(files: Sequence[File], n: int, seed: int, frequencies: File | None, choices: Choices) -> Source:
    """What is read, once for this visitor until something else is chosen."""
    fingerprint = _fingerprint(files, n, seed, frequencies, choices)
    last: Source | None = st.session_state.get(_READ)
    if last is None or last.fingerprint != fingerprint:
        corpus = read(files, _read_call(files, choices)) if files else built_in()
        listed = None
        if frequencies is not None:
            listed = read([frequencies], partial(read_frequencies, frequencies.name, frequencies.data))
        last = st.session_state[_READ] = _drawn(fingerprint, corpus, listed, files, n, seed, frequencies, choices)
    return last


def _fingerprint(files: Sequence[File], n: int, seed: int, frequencies: File | None, choices: Choices) -> str:
    if not files and frequencies is None and n >= len(built_in()):
        return BUILT_IN
    names = [file.name for file in files], frequencies and frequencies.name
    digest = hashlib.sha256(repr((n, seed, *names, choices)).encode())
    for data in (*(file.data for file in files), b"" if frequencies is None else frequencies.data):
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def _read_call(files: Sequence[File], choices: Choices) -> partial[Corpus]:
    """A call that reads all sentences of files."""
    return partial(read_corpus, [(file.name, file.data) for file in files], settings().unpacked_mb * MB, choices)


@process_cache(most=_MOST_READ, key=lambda fingerprint, *_: fingerprint)
def _drawn(
    fingerprint: str,
    complete: Corpus,
    listed: Mapping[str, float] | None,
    files: Sequence[File],
    n: int,
    seed: int,
    frequencies: File | None,
    choices: Choices,
) -> Source:
    corpus = sampled(complete, n, seed)
    if corpus is complete:
        corpus = complete.subset(range(len(complete)))  # the rarest words are noted in it, and others have the whole
    corpus.find_rare(listed)
    lines = _read_python(files, n if n < len(complete) else None, seed, choices)
    from_user = bool(files) or listed is not None
    return Source(corpus, fingerprint, from_user, len(complete), lines, _rare_python(frequencies))


def _read_python(files: Sequence[File], n: int | None, seed: int, choices: Choices) -> Lines:
    """Lines that bind ``corpus``, to ``n`` of its sentences where there are more."""
    arguments, needed = how_read.choices_in_python(choices)
    if not files:
        lines = Lines("corpus = built_in()\n", (built_in,))
    elif len(files) == 1:
        lines = as_python.read_bytes(files[0].name, files[0].data, uploaded=_OWN.uploaded())
        lines += f"corpus = read_corpus([({as_python.literal(files[0].name)}, data)]{arguments})\n"
    else:
        names = as_python.literal([file.name for file in files])
        lines = Lines(
            f"files = [Path(name) for name in {names}]  # those that you uploaded\n"
            f"corpus = read_corpus([(file.name, file.read_bytes()) for file in files]{arguments})\n",
            (Path,),
        )
    if files:
        lines += Lines("", (read_corpus, *needed))
    if n is not None:
        lines += Lines(f"corpus = sampled(corpus, {as_python.arguments(n, seed=seed)})\n", (sampled,))
    return lines


def _rare_python(frequencies: File | None) -> Lines:
    """Lines that note the rarest words of ``corpus``."""
    if frequencies is None:
        return Lines("corpus.find_rare()\n")
    data = as_python.read_bytes(frequencies.name, frequencies.data, uploaded=_LIST.uploaded())
    line = f"corpus.find_rare(read_frequencies({as_python.literal(frequencies.name)}, data))\n"
    return data + Lines(line, (read_frequencies,))


def _describe(source: Source) -> None:
    corpus = source.corpus
    drawn = f" drawn from {source.n_whole:,}" if source.n_whole > len(corpus) else ""
    trees = "with trees" if corpus.has_trees else "without trees"
    st.success(
        as_text(f"{counted(len(corpus), 'sentence')}{drawn}, {counted(corpus.n_words, 'word')}, {trees}."),
        icon=":material/check:",
    )


def draw_cautions(model: str, source: Source) -> None:
    """What to know of the user's own sentences beside the chosen model: words that it does not know, and sentences that
    it was pretrained on.
    """
    if not source.from_user:
        return
    texts = source.corpus.texts
    warn_of_unknown(model, ((text, None) for text in texts))
    spec = registry.find(model)
    if spec is None or spec.hub_id is not None:
        return
    n, n_compared = _n_pretrained(source.fingerprint, texts)
    if n_compared and n / n_compared >= _SHARE:
        note(
            f"{n:,} of the {n_compared:,} sentences of more than five words ({n / n_compared:.0%}) stand in the text "
            f"that {short_name(model)} was pretrained on. What is measured on them, relations above all, says less "
            "about new text."
        )


@process_cache(most=4, key=lambda fingerprint, _: fingerprint)
def _n_pretrained(fingerprint: str, texts: Sequence[str]) -> tuple[int, int]:  # noqa: ARG001
    return n_pretrained(texts)
