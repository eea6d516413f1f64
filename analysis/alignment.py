"""One axis of words for several tokenizers: how each cuts the same text, and attention on words they share.

Tokens of two models cannot be compared one by one. The common words are the finest pieces of the text between
which every model has a word boundary; where one tokenizer keeps "don't" and another cuts it into three, the common
word is "don't".
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.views import AttentionView
from analysis.words import Unit
from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, FloatArray, counted

FEWEST: Final = 2
BETWEEN = " · "
"""What stands between the pieces of a word in a table."""

MOST: Final = 4  # models side by side
_NO_LIMIT: Final = sys.maxsize
REST: Final = "all other tokens"
"""What the last column of attention on common words is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The words that all models see in full; labels, segments and spans have one entry per common word.

    ``labels`` are the words as written, ``segments`` 0 for the first text and 1 for the second, ``spans`` their
    characters in that text. ``units[model][word]`` are the tokens of a model behind a word; a special token
    somebody typed between them lies in the range and belongs to no word. Where a model had to cut the text at its
    limit, the common part ends with it: ``n_beyond`` counts each model's own words beyond the common part,
    ``n_dropped`` the tokens each model had to cut.
    """

    labels: tuple[str, ...] = field(repr=False)
    segments: tuple[int, ...] = field(repr=False)
    spans: tuple[tuple[int, int], ...] = field(repr=False)
    units: tuple[tuple[Unit, ...], ...] = field(repr=False)
    n_beyond: tuple[int, ...] = field(repr=False)
    n_dropped: tuple[int, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def summary(self, names: Sequence[str]) -> str:
        """What is left out of the comparison, in plain English; "" where every model sees the whole text."""
        sentences = [
            f"For {name} the text was cut, {counted(dropped, 'token')} left out."
            for name, dropped in zip(names, self.n_dropped, strict=True)
            if dropped
        ]
        beyond = [
            f"{counted(number, 'word')} of {name}" for name, number in zip(names, self.n_beyond, strict=True) if number
        ]
        if beyond:
            sentences.append(f"Not all models see the same: {', '.join(beyond)} cannot be compared.")
        if sentences:
            sentences.append(f"Compared: the {counted(len(self), 'word')} that all models see in full.")
        return " ".join(sentences)


class _Run(NamedTuple):
    """Neighbouring tokens of one word: the characters they cover, and which tokens they are."""

    first: int
    last: int  # exclusive
    start: int
    stop: int  # exclusive


class _Cut(NamedTuple):
    """Where the text may be cut without cutting one of a model's words: anywhere from ``low`` to ``high``.

    ``n_runs`` of the model's words come before it.
    """

    low: int
    high: int
    n_runs: int


def align(encodings: Sequence[Encoding]) -> Alignment:
    """The common words of two to four encodings of one text, or one pair of texts.

    Characters decide, so it does not matter what the tokens look like: offsets may or may not include spaces, and
    several tokens may cover one character. Tokens that cover no character go with the word after them; a word of
    which some model has no token (its tokenizer drops the character) goes with the word before or after it. Where
    a model cut the text, words it does not see to their end are left out for all.

    Raises InvalidInput where no word is seen by all, or where the texts differ by more than "<mask>" for "[MASK]";
    ValueError for another number of encodings.
    """
    if not FEWEST <= len(encodings) <= MOST:
        raise ValueError(f"{FEWEST} to {MOST} encodings can be aligned; got {len(encodings)}")
    if len({_comparable(encoding) for encoding in encodings}) > 1:
        raise InvalidInput(
            "The models were given different texts, so their words cannot be compared. "
            "If the text contains a mask, type the text without it."
        )
    labels: list[str] = []
    segments: list[int] = []
    spans: list[tuple[int, int]] = []
    units: list[list[Unit]] = [[] for _ in encodings]
    n_beyond = [0] * len(encodings)
    for segment in (0, 1):
        text = _texts(encodings[0])[segment]
        runs = [_runs(encoding, segment) for encoding in encodings]
        words, ends = _common(runs, [encoding.n_dropped > 0 for encoding in encodings])
        for model, end in enumerate(ends):
            n_beyond[model] += len(runs[model]) - end
        for word in words:
            parts = [runs[model][first:last] for model, (first, last) in enumerate(word)]
            span = min(run.first for part in parts for run in part), max(run.last for part in parts for run in part)
            label = text[slice(*span)].strip() or "".join(encodings[0].tokens[parts[0][0].start : parts[0][-1].stop])
            labels.append(label)
            segments.append(segment)
            spans.append(span)
            for model, part in enumerate(parts):
                units[model].append(Unit(label, part[0].start, part[-1].stop, segment, False))
    if not labels:
        raise InvalidInput(
            "No word of this text is seen in full by every model, so there is nothing to compare. "
            "Type another text, or choose other models."
        )
    return Alignment(
        labels=tuple(labels),
        segments=tuple(segments),
        spans=tuple(spans),
        units=tuple(tuple(of_model) for of_model in units),
        n_beyond=tuple(n_beyond),
        n_dropped=tuple(encoding.n_dropped for encoding in encodings),
    )


def tokens_by_word(alignment: Alignment, encodings: Sequence[Encoding]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The pieces of every common word: ``[word][model]`` are the tokens as that model's tokenizer writes them."""
    return tuple(
        tuple(
            tuple(encoding.tokens[i] for i in range(unit.start, unit.stop) if not encoding.special[i])
            for encoding, unit in zip(encodings, of_word, strict=True)
        )
        for of_word in zip(*alignment.units, strict=True)
    )


def fertility(alignment: Alignment, encodings: Sequence[Encoding]) -> tuple[float, ...]:
    """Tokens per common word of each model, special tokens left out; 1 means one token for every word."""
    words = tokens_by_word(alignment, encodings)
    return tuple(sum(len(pieces[model]) for pieces in words) / len(words) for model in range(len(encodings)))


def pieces_table(alignment: Alignment, encodings: Sequence[Encoding], names: Sequence[str]) -> pd.DataFrame:
    """How each model cuts each word: one row per common word, one column per model, pieces separated by " · ".

    Columns: "word" and then ``names``, which must differ.
    """
    words = tokens_by_word(alignment, encodings)
    columns = {name: [BETWEEN.join(pieces[model]) for pieces in words] for model, name in enumerate(names)}
    return pd.DataFrame({"word": alignment.labels} | columns)


def map_to_common_words(weights: FloatArray, units: Sequence[Unit], special: Sequence[bool]) -> FloatArray:
    """Attention (..., n, n) between a model's tokens as float32 (..., m, m + 1) between m common words.

    Sum over the key tokens of a word, mean over its query tokens, as within one model (Clark et al. 2019). Rows
    are the common words only. The last column, ``REST``, holds what goes to special tokens and to words outside
    the common part: models differ in these, but leaving them out would hide where attention goes, and with it
    every row still sums to 1. ``units`` are the model's ``Alignment.units``, ``special`` its encoding's.
    """
    _check(weights.shape[-2:], (len(special), len(special)))
    belongs = _belongs(units, special)
    keys = np.concatenate([belongs, 1 - belongs.sum(axis=1, keepdims=True)], axis=1)
    return _mean_of_words(weights @ keys, belongs)


def shares_on_common_words(view: AttentionView, maps: FloatArray, units: Sequence[Unit]) -> FloatArray:
    """``map_to_common_words`` of some of the maps that are shown, with rows that sum to 1, scaled where they do not."""
    shares = map_to_common_words(maps, units, view.encoding.special)
    if view.shares:
        return shares
    totals = shares.sum(axis=-1, keepdims=True)
    return np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)


def all_on_common_words(view: AttentionView, units: Sequence[Unit]) -> FloatArray:
    """``shares_on_common_words`` of all maps there are, layer after layer: float32 (maps, m, m + 1)."""
    maps = (shares_on_common_words(view, view.layer(layer), units) for layer in range(view.n_layers))
    return np.concatenate(list(maps))


def states_on_common_words(states: FloatArray, units: Sequence[Unit], special: Sequence[bool]) -> FloatArray:
    """Hidden states (..., n, width) of tokens as float32 (..., m, width) of common words: means over their tokens."""
    _check(states.shape[-2:-1], (len(special),))
    return _mean_of_words(states, _belongs(units, special))


def _check(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise ValueError(f"an array over {shape} tokens does not fit {expected[0]} tokens")


def _belongs(units: Sequence[Unit], special: Sequence[bool]) -> FloatArray:
    """Which word each token belongs to, (n, m) of 0 and 1: a product of matrices then merges all at once."""
    belongs = np.zeros((len(special), len(units)), dtype=np.float32)
    for word, unit in enumerate(units):
        belongs[unit.start : unit.stop, word] = 1
    belongs[list(special)] = 0
    return belongs


def _mean_of_words(of_tokens: FloatArray, belongs: FloatArray) -> FloatArray:
    """Rows (..., n, k) of tokens as means over the tokens of each word, (..., m, k)."""
    return np.asarray((belongs / belongs.sum(axis=0)).T @ of_tokens, dtype=np.float32)


def _common(runs: Sequence[Sequence[_Run]], was_cut: Sequence[bool]) -> tuple[list[list[tuple[int, int]]], list[int]]:
    """The common words of one text, per model as a range of its runs, and how many runs of each they take in."""
    ends = [0] * len(runs)
    words: list[list[tuple[int, int]]] = []
    if not all(runs):
        return words, ends
    limit = min(
        (max(run.last for run in of_model) for of_model, cut in zip(runs, was_cut, strict=True) if cut),
        default=_NO_LIMIT,
    )
    cuts = [_cuts(of_model, limit) for of_model in runs]
    at = [0] * len(runs)
    while all(place < len(of_model) for place, of_model in zip(at, cuts, strict=True)):
        current = [of_model[place] for place, of_model in zip(at, cuts, strict=True)]
        low, high = max(cut.low for cut in current), min(cut.high for cut in current)
        if low <= high:
            words.append([(end, cut.n_runs) for end, cut in zip(ends, current, strict=True)])
            ends = [cut.n_runs for cut in current]
        # A place where no other model can cut is skipped; where all can, all go on.
        at = [place + (low <= high or cut.high < low) for place, cut in zip(at, current, strict=True)]
    return words, ends


def _cuts(runs: Sequence[_Run], limit: int) -> list[_Cut]:
    """Where one model can be cut, up to the character ``limit``; the end of a text nobody cut is one for all."""
    firsts, lasts = (np.array(ends) for ends in zip(*((run.first, run.last) for run in runs), strict=True))
    lows = np.maximum.accumulate(lasts)
    highs = np.append(np.minimum.accumulate(firsts[::-1])[::-1][1:], _NO_LIMIT)
    if limit == _NO_LIMIT:
        lows[-1] = _NO_LIMIT
    return [
        _Cut(int(low), int(high), number)
        for number, (low, high) in enumerate(zip(lows, highs, strict=True), start=1)
        if low <= high and low <= limit
    ]


def _runs(encoding: Encoding, segment: int) -> list[_Run]:
    """The words of a text, those without a character joined to the next (the last to the one before)."""
    text = _texts(encoding)[segment]
    runs: list[_Run] = []
    waiting: int | None = None  # where tokens that cover nothing began
    end = 0
    for word in encoding.words:
        tokens = [place for place in word if encoding.segment_ids[place] == segment and not encoding.special[place]]
        if not tokens:
            continue
        end = tokens[-1] + 1
        start = tokens[0] if waiting is None else waiting
        spans = [span for span in (_stripped(text, *encoding.offsets[token]) for token in tokens) if span is not None]
        if spans:
            first, last = min(first for first, _ in spans), max(last for _, last in spans)
            runs.append(_Run(first, last, start, end))
            waiting = None
        else:
            waiting = start
    if waiting is not None:
        runs[-1:] = [runs[-1]._replace(stop=end)] if runs else [_Run(0, 0, waiting, end)]
    return runs


def _stripped(text: str, first: int, last: int) -> tuple[int, int] | None:
    """A span without the spaces at its ends, which some tokenizers count as part of a word; None if nothing is left."""
    covered = text[first:last]
    first += len(covered) - len(covered.lstrip())
    last = first + len(covered.strip())
    return (first, last) if first < last else None


def _texts(encoding: Encoding) -> tuple[str, str]:
    return encoding.text, encoding.text_pair or ""


def _comparable(encoding: Encoding) -> tuple[str, ...]:
    """The texts with masks, which each model writes its own way, written alike where that moves no character."""
    return tuple(text.replace("<mask>", "[MASK]") for text in _texts(encoding))
