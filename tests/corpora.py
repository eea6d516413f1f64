"""Sentences and corpora by hand, whose words stand one space apart or are those of plain text."""

from collections.abc import Callable, Sequence

from analysis.corpus.sentences import NO_HEAD, Corpus, Sentence
from reading.sentences import plain_words


def sentence(
    words: str, heads: Sequence[int] | None = None, deprel: Sequence[str] | None = None, number: int = 0
) -> Sentence:
    spans, start = [], 0
    for word in words.split():
        spans.append((start, start + len(word)))
        start += len(word) + 1
    n = len(spans)
    return Sentence(number, words, tuple(spans), ("X",) * n, tuple(deprel or ["_"] * n), tuple(heads or [NO_HEAD] * n))


def corpus(*texts: str, **labels: Callable[[str], str]) -> Corpus:
    """Words of plain text have what ``upos`` and ``deprel`` say of them, and nothing unless given."""
    made = Corpus(files=["a.txt"])
    for line, text in enumerate(texts, start=1):
        spans = plain_words(text)
        words = [text[start:end] for start, end in spans]
        columns = {name: [*map(label, words)] for name, label in labels.items()}
        made.add(text, spans, **columns, source=(0, line))
    return made
