"""Pronouns beside the nouns that they mean: sentences with two candidates each, built in or one's own, and how often
attention from the pronoun prefers the right one.

Heads are chosen on one half of the sentences and judged on the other, beside rules that know no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files as resources
from typing import Final, Literal

import numpy as np
import pandas as pd

from analysis.corpus.reading import UNREADABLE
from analysis.corpus.relations import N_SPLITS, OFFSETS, Share, Spread, bootstrap, layers_and_heads
from analysis.corpus.sentences import Corpus, Sentence, alike, is_judged
from model_zoo.errors import InvalidInput
from model_zoo.types import MB, BoolArray, DoubleArray, FloatArray, IntArray, Shows, counted
from reading import Choices, read_files
from reading.items import Pronoun
from reading.sentences import plain_words
from reading.text import check_size

KINDS: Final[Mapping[str, str]] = {
    "sense": "only the sense tells",
    "gender": "gender tells",
    "number": "number tells",
}
"""What tells which noun is meant, in the built-in sentences and in a column ``kind`` of one's own."""

By = Literal["more", "most"]
"""When a head is right: where the antecedent gets more attention than the distractor, or most of all other words."""

MAX_PAIRS: Final = 2_000
FEWEST: Final = 10
"""Sentences in each half below which nothing is said of a head."""

_MAX_WORDS = 200


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sentences with a pronoun, its antecedent and a distractor; ``kinds`` say what tells them apart, or ""."""

    corpus: Corpus
    kinds: tuple[str, ...] = field(repr=False)


@cache
def built_in() -> Pairs:
    """200 sentences of this project: one personal pronoun each; half of the antecedents come before their distractor,
    half of the pronouns are subjects, a quarter each he, she, it and they. For everybody: not to be added to.
    """
    data = resources("look_inside_bert.analysis.corpus").joinpath("coreference.tsv").read_bytes()
    return read_pairs("coreference.tsv", data)


def read_pairs(name: str, data: bytes, choices: Choices | None = None) -> Pairs:
    """Sentences from a table with the columns ``text``, ``pronoun``, ``antecedent`` and ``distractor``, or from lines
    with marks in them: ``The [cat] saw the {lamp} when <it> woke.``

    A cell holds the word itself, or where that occurs more than once its number among the words of the text, from 1.
    Columns ``nouns`` and ``verb`` give parts of speech, ``kind`` one of ``KINDS``; without nouns the two candidates are
    the nouns. Sentences that occur again are left out. Raises InvalidInput with the line.
    """
    read = read_files([(name, check_size(data, name, 10 * MB))], "pronouns", choices)
    corpus = Corpus(files=[name])
    kinds: list[str] = []
    keys: set[str] = set()
    repeated: list[int] = []
    for row, line in zip(read.items, read.lines, strict=True):
        assert isinstance(row, Pronoun)
        where = read.where(line)
        spans = plain_words(row.text)
        if len(spans) > _MAX_WORDS:
            raise InvalidInput(f"{where}: a sentence of more than {_MAX_WORDS} words. Shorten it.")
        if UNREADABLE.search(row.text):
            raise InvalidInput(f"{where}: the text holds a control character, which no tokenizer can read. Delete it.")
        words = [row.text[start:end] for start, end in spans]
        marked = {"pronoun": row.pronoun, "antecedent": row.antecedent, "distractor": row.distractor}
        places = {role: _place(cell, words, where, role) for role, cell in marked.items()}
        if len(set(places.values())) < len(places):
            raise InvalidInput(f"{where}: pronoun, antecedent and distractor are not three different words.")
        key = f"{alike(row.text)} {places}"
        if key in keys:
            repeated.append(line)
            continue
        keys.add(key)
        kind = row.kind.lower()
        if kind and kind not in KINDS:
            raise InvalidInput(f"{where}: “{kind[:40]}” is not a kind. Write {', '.join(KINDS)}, or nothing.")
        upos = ["_"] * len(words)
        for place in (*(_place(noun, words, where, "noun") for noun in row.nouns.split()), *places.values()):
            upos[place] = "NOUN"
        if row.verb:
            upos[_place(row.verb, words, where, "verb")] = "VERB"
        upos[places["pronoun"]] = "PRON"
        kinds.append(kind)
        corpus.add(
            row.text,
            spans,
            upos,
            source=(0, line),
            coreference=(places["pronoun"], places["antecedent"], places["distractor"]),
        )
        if len(corpus) > MAX_PAIRS:
            raise InvalidInput(f"{name} has more than {MAX_PAIRS:,} sentences with a pronoun. Use a sample of them.")
    left_out = dict(read.left_out) | ({"sentences that had come before": tuple(repeated)} if repeated else {})
    corpus.report = replace(read.report, n_items=len(corpus), left_out=left_out)
    return Pairs(corpus, tuple(kinds))


def _place(cell: str, words: Sequence[str], where: str, noun: str) -> int:
    """The place from 0 of a word in a text, given as itself (of several words the last) or as its number from 1."""
    wanted = [cell[start:end] for start, end in plain_words(cell)]
    places = [
        place + len(wanted) - 1
        for place in range(len(words) - len(wanted) + 1)
        if [word.casefold() for word in words[place : place + len(wanted)]] == [word.casefold() for word in wanted]
    ]
    exact = [place for place in places if words[place] == wanted[-1]]
    places = exact if len(exact) == 1 else places
    if len(places) == 1:
        return places[0]
    if not places and cell.isascii() and cell.isdigit():
        if len(cell) < 6 and 1 <= int(cell) <= len(words):
            return int(cell) - 1
        raise InvalidInput(f"{where}: the text has {counted(len(words), 'word')}; there is no {noun} {cell[:20]}.")
    often = f"occurs {len(places)} times in the text" if places else "is not a word of the text"
    raise InvalidInput(f"{where}: the {noun} “{cell[:40]}” {often}. Write a word of the text, or its number, from 1.")


@dataclass(frozen=True, slots=True)
class PronounAttention(Shows):
    """Attention from the pronouns of sentences, those that could be placed among the model's tokens.

    ``numbers`` (sentences,) are theirs, ``tokens`` (sentences,) the places of their pronouns' first tokens.
    ``antecedent`` and ``distractor`` (sentences, heads of all layers) are the shares of a pronoun's attention that
    these words get, summed over their pieces and averaged over the pronoun's; ``strongest`` says whether the antecedent
    has most of all words, special tokens and the pronoun left out.
    ``heads`` are the heads of each layer. ``left_out`` are the numbers of sentences one of whose three words has no
    tokens of its own: the tokenizer cuts it off, drops it or joins it to a neighbour.
    """

    heads: tuple[int, ...] = field(repr=False)
    numbers: IntArray = field(repr=False)
    tokens: IntArray = field(repr=False)
    antecedent: FloatArray = field(repr=False)
    distractor: FloatArray = field(repr=False)
    strongest: BoolArray = field(repr=False)
    left_out: IntArray = field(repr=False)

    def __repr__(self) -> str:
        return f"<PronounAttention {counted(len(self.numbers), 'sentence')}, {counted(sum(self.heads), 'head')}>"

    def to_frame(self) -> pd.DataFrame:
        """One row a sentence and head: sentence (its number), layer, head, the shares that antecedent and distractor
        get, and whether the antecedent has most (strongest).
        """
        layer, head = layers_and_heads(self.heads)
        sentence, place = np.indices(self.antecedent.shape).reshape(2, -1)
        return pd.DataFrame(
            {
                "sentence": self.numbers[sentence],
                "layer": layer[place],
                "head": head[place],
                "antecedent": self.antecedent.reshape(-1),
                "distractor": self.distractor.reshape(-1),
                "strongest": self.strongest.reshape(-1),
            }
        )

    @classmethod
    def joined(cls, parts: Sequence[PronounAttention]) -> PronounAttention:
        """All parts, of one model, in the order of their sentences."""
        filled = [part for part in parts if len(part.numbers)]
        left_out = np.sort(np.concatenate([part.left_out for part in parts]))
        if not filled:
            return replace(parts[0], left_out=left_out)
        names = ("numbers", "tokens", "antecedent", "distractor", "strongest")
        arrays = {name: np.concatenate([getattr(part, name) for part in filled]) for name in names}
        order = np.argsort(arrays["numbers"], kind="stable")
        in_order = {name: array[order] for name, array in arrays.items()}
        return cls(heads=filled[0].heads, left_out=left_out, **in_order)


Rule = Callable[[Sentence], int | None]
"""Which word is meant, by a rule that knows no meaning; None where it names none."""


def nearest_noun(sentence: Sentence) -> int | None:
    """The noun with the fewest words between it and the pronoun, the earlier of two."""
    pronoun = _coreference(sentence)[0]
    return min(_nouns(sentence), key=lambda place: (abs(place - pronoun), place))


def first_noun(sentence: Sentence) -> int | None:
    return min(_nouns(sentence))


def nearer_of_two(sentence: Sentence) -> int | None:
    """The candidate with fewer words between it and the pronoun."""
    pronoun, *two = _coreference(sentence)
    return min(two, key=lambda place: (abs(place - pronoun), place))


def first_of_two(sentence: Sentence) -> int | None:
    return min(_coreference(sentence)[1:])


def offset_rule(offset: int) -> Rule:
    """The word so many words after the pronoun, before it where that is negative."""
    return lambda sentence: _coreference(sentence)[0] + offset


def _coreference(sentence: Sentence) -> tuple[int, int, int]:
    assert sentence.coreference is not None
    return sentence.coreference


def _nouns(sentence: Sentence) -> list[int]:
    return [place for place, upos in enumerate(sentence.upos) if upos in ("NOUN", "PROPN")]


def right(referred: PronounAttention, by: By) -> DoubleArray:
    """How right each head is, (sentences, heads): 1 or 0, and 0.5 where "more" is asked and both nouns have as much, as
    in models that only look back, where it may be none.
    """
    if by == "most":
        return referred.strongest.astype(np.float64)
    more = referred.antecedent > referred.distractor
    return np.where(referred.antecedent == referred.distractor, 0.5, more)


def rule_scores(sentences: Sequence[Sentence], rule: Rule, by: By) -> DoubleArray:
    """How right a rule is, (sentences,): 1 for the antecedent, else 0; by "more" 0.5 for neither candidate."""
    scores = []
    for sentence in sentences:
        _, antecedent, distractor = _coreference(sentence)
        named = rule(sentence)
        scores.append(1.0 if named == antecedent else 0.5 if by == "more" and named != distractor else 0.0)
    return np.array(scores)


@dataclass(frozen=True, slots=True)
class JudgedHeads(Shows):
    """How often heads are right, ``by`` one of the two measures: ``choosing`` (heads,) on the ``n_choosing`` sentences
    of one half, ``shares`` (heads,) with 95% intervals over sentences on the ``n_judging`` of the other; ``spread`` is
    what other halvings give.

    ``heads`` are the heads of each layer, ``order`` all of them, best first on the half that chooses. ``reached`` are
    by name what ``rules`` reach on the half that judges; the offset is the best of the half that chooses.
    """

    by: By
    heads: tuple[int, ...] = field(repr=False)
    n_choosing: int
    n_judging: int
    order: IntArray = field(repr=False)
    choosing: DoubleArray = field(repr=False)
    shares: tuple[Share, ...] = field(repr=False)
    spread: Spread
    reached: Mapping[str, Share]
    rules: Mapping[str, Rule] = field(repr=False)

    @property
    def best(self) -> int:
        """The place of the best head on the half that chooses."""
        return int(self.order[0])

    def to_frame(self) -> pd.DataFrame:
        """One row a head, best first on the half that chooses: layer, head, choosing, and on the other half held_out
        with the ends of its interval, low and high.
        """
        layer, head = layers_and_heads(self.heads)
        shares = [self.shares[place] for place in self.order]
        return pd.DataFrame(
            {
                "layer": layer[self.order],
                "head": head[self.order],
                "choosing": self.choosing[self.order],
                "held_out": [share.share for share in shares],
                "low": [share.low for share in shares],
                "high": [share.high for share in shares],
            }
        )


def judge(pairs: Pairs, referred: PronounAttention, by: By = "most") -> JudgedHeads | None:
    """Choose and judge the heads of a model. None where a half has fewer than ``FEWEST`` sentences."""
    sentences = pairs.corpus.take(referred.numbers.tolist())
    judging = _judging(sentences)
    if min(judging.sum(), (~judging).sum()) < FEWEST:
        return None
    chosen_by, judged_by = ([sentences[place] for place in np.flatnonzero(half)] for half in (~judging, judging))
    of_heads = right(referred, by)
    choosing = of_heads[~judging].mean(axis=0)
    halves = np.stack([_judging(sentences, seed) for seed in range(N_SPLITS)])
    halves = halves[np.minimum(halves.sum(axis=1), (~halves).sum(axis=1)) >= FEWEST]
    on_halves = (half @ of_heads / half.sum(axis=1, keepdims=True) for half in (~halves, halves))
    nearest, first = (nearer_of_two, first_of_two) if by == "more" else (nearest_noun, first_noun)
    rules: dict[str, Rule] = {
        "nearest noun": nearest,
        "first noun": first,
        "fixed offset": _best_offset(chosen_by, by),
    }
    of_rules = [rule_scores(judged_by, rule, by) for rule in rules.values()]
    shares = shares_of(np.column_stack([of_heads[judging], *of_rules]))
    n_heads = of_heads.shape[1]
    return JudgedHeads(
        by=by,
        heads=referred.heads,
        n_choosing=len(chosen_by),
        n_judging=len(judged_by),
        order=np.argsort(-choosing, kind="stable"),
        choosing=choosing,
        shares=shares[:n_heads],
        spread=Spread.over_splits(*on_halves),
        reached=dict(zip(rules, shares[n_heads:], strict=True)),
        rules=rules,
    )


def _judging(sentences: Sequence[Sentence], seed: int = 0) -> BoolArray:
    """Which sentences are of the half that judges, (sentences,)."""
    return is_judged([sentence.unit for sentence in sentences], seed)


def shares_of(scores: DoubleArray) -> tuple[Share, ...]:
    """The mean of each column of scores (sentences, columns), with its interval over sentences."""
    numbers = np.arange(len(scores))
    return tuple(bootstrap([(column, numbers) for column in scores.T]))


@dataclass(frozen=True, slots=True)
class KindAccuracy(Shows):
    """How often a head is right in the ``n`` sentences of a kind, or of all kinds (""), on the half that judges, and
    how often rules are, by their names.
    """

    kind: str
    n: int
    share: Share
    beside: Mapping[str, float]


def accuracy_by_kind(
    pairs: Pairs, referred: PronounAttention, judged: JudgedHeads, head: int
) -> tuple[KindAccuracy, ...]:
    """How often one head is right: in all sentences first, then in those of each of ``KINDS`` that has any."""
    of_head = right(referred, judged.by)[:, head]
    sentences = pairs.corpus.take(referred.numbers.tolist())
    kinds = [pairs.kinds[number] for number in referred.numbers]
    judging = np.flatnonzero(_judging(sentences))
    accuracies = []
    for kind in ("", *KINDS):
        places = [place for place in judging if not kind or kinds[place] == kind]
        if places:
            (share,) = shares_of(of_head[places][:, None])
            chosen = [sentences[place] for place in places]
            beside = {name: float(rule_scores(chosen, rule, judged.by).mean()) for name, rule in judged.rules.items()}
            accuracies.append(KindAccuracy(kind, len(places), share, beside))
    return tuple(accuracies)


def _best_offset(sentences: Sequence[Sentence], by: By) -> Rule:
    by_size = sorted(OFFSETS, key=abs)
    accuracies = [float(rule_scores(sentences, offset_rule(offset), by).mean()) for offset in by_size]
    return offset_rule(by_size[int(np.argmax(accuracies))])
