"""Where a head looks from some words to others: in which sentences, how much, and beside what by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Self

import numpy as np

from analysis.corpus.looks import Hits, Looks
from analysis.corpus.pattern import Pattern
from analysis.corpus.placing import belongs, word_of_token
from analysis.corpus.sentences import NO_HEAD, Sentence
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed
from model_zoo.text import check_texts
from model_zoo.types import AttentionRun, BoolArray, Encoding, FloatArray, IntArray, ModelInfo, check_range

MOST_SENTENCES = 1000
MOST_HITS = 1000
_AT_ONCE = 64  # sentences, so that a job can be stopped between them
_COLUMNS = 9  # of whole numbers in Hits, from `of` to `token`


@dataclass(frozen=True, slots=True)
class Look(Streamed[Looks, Looks]):
    """How much one head looks from the words that match ``query`` to those that match ``key``, in each sentence that
    holds both; without a ``head`` every head of a ``layer``, without that every head.

    Attention between words: pieces summed into keys, averaged over queries. A word that matches both is not paired with
    itself; ``joined`` leaves only words of which one is the other's head in the tree. The parts are of some sentences
    each, and add up. Raises InvalidInput for a layer or head that does not exist, NotSupported for a model without
    attention.
    """

    model: str
    sentences: tuple[Sentence, ...]
    query: Pattern
    key: Pattern
    layer: int | None = None
    head: int | None = None
    joined: bool = False
    most: int = 50

    remembered: ClassVar[bool] = False  # asked once for each part of a corpus, by a job that keeps the sum

    def check(self) -> None:
        if not 1 <= len(self.sentences) <= MOST_SENTENCES:
            raise InvalidInput(f"A question is about 1 to {MOST_SENTENCES:,} sentences. Ask for them in parts.")
        check_texts([sentence.text for sentence in self.sentences])
        if not 1 <= self.most <= MOST_HITS:
            raise InvalidInput(f"{self.most} pairs of each head cannot be kept. Choose 1 to {MOST_HITS:,}.")
        if self.head is not None and self.layer is None:
            raise InvalidInput("A head is one of a layer. Choose the layer, too.")

    def parts(self, loaded: LoadedModel) -> Iterator[Looks]:
        from model_zoo.running import attend_many

        heads = _heads(loaded.info, self.layer, self.head)
        by_length = sorted(self.sentences, key=lambda sentence: (len(sentence.text), sentence.number))
        for start in range(0, len(by_length), _AT_ONCE):
            some = by_length[start : start + _AT_ONCE]
            sums = _Sums(self.query, self.key, heads, self.joined, self.most)
            for place, run in attend_many(loaded, [(sentence.text, None) for sentence in some]):
                sums.add(some[place], run)
            yield sums.result()

    def combine(self, parts: Sequence[Looks]) -> Looks:
        return reduce(Looks.__add__, parts)

    @classmethod
    def example(cls, model: str) -> Self:
        text = "The cat sat."
        sentence = Sentence(0, text, ((0, 3), (4, 7), (8, 11), (11, 12)), ("_",) * 4, ("_",) * 4, (-2,) * 4)
        return cls(model, (sentence,), Pattern("word", ("sat",)), Pattern("word", ("cat",)))


def _heads(info: ModelInfo, layer: int | None, head: int | None) -> list[tuple[int, int]]:
    """The heads asked about. Raises InvalidInput where there is none such."""
    for noun, wanted, n in (("layer", layer, info.n_layers), ("head", head, info.n_heads)):
        if wanted is not None and n:
            check_range(info.id, noun, wanted, n)
    layers = range(info.n_layers) if layer is None else (layer,)
    return [(of_layer, number) for of_layer in layers for number in (range(info.n_heads) if head is None else (head,))]


@dataclass(frozen=True, slots=True)
class _Units:
    """What a pattern matches in a sentence: ``tokens`` (units, n) of 0 and 1, ``words`` (units,) their places among its
    words, ``spans`` (units, 2) their characters.
    """

    tokens: FloatArray
    words: IntArray
    spans: IntArray

    def __len__(self) -> int:
        return len(self.words)


def _matching(pattern: Pattern, sentence: Sentence, encoding: Encoding, word_of: IntArray) -> _Units:
    """Without words that have no token of their own."""
    if pattern.of_words:
        words = np.array([word for word in pattern.words(sentence) if (word_of == word).any()], dtype=np.int64)
        tokens = belongs(word_of, len(sentence)).T[words]
        spans = [sentence.spans[word] for word in words]
    else:
        places = pattern.tokens(encoding)
        words = word_of[places]
        tokens = np.eye(len(encoding), dtype=np.float32)[places]
        spans = [_written(encoding, place) for place in places]
    return _Units(tokens, words, np.array(spans, dtype=np.int64).reshape(-1, 2))


def _joined(sentence: Sentence, queries: IntArray, keys: IntArray) -> BoolArray:
    """Of which words one is the other's head in the tree, (queries, keys); a place below 0 is no word."""
    heads = np.array((*sentence.heads, NO_HEAD))  # the last is that of a place of -1
    down, up = heads[keys] == queries[:, None], heads[queries][:, None] == keys
    return (down & (queries >= 0)[:, None]) | (up & (keys >= 0))


def _written(encoding: Encoding, place: int) -> tuple[int, int]:
    """The characters of a token without the space that byte-level tokenizers count into it."""
    start, end = encoding.offsets[place]
    return end - len(encoding.text[start:end].lstrip()), end


class _Sums:
    """What was found so far in one part."""

    def __init__(self, query: Pattern, key: Pattern, heads: Sequence[tuple[int, int]], joined: bool, most: int) -> None:
        self.query, self.key, self.heads, self.joined, self.most = query, key, heads, joined, most
        self.n, self.strongest = np.zeros((2, len(heads)), dtype=np.int64)
        self.weight, self.even = np.zeros((2, len(heads)))
        self.columns: list[IntArray] = []
        self.weights: list[FloatArray] = []
        self.are_strongest: list[BoolArray] = []
        self.n_sentences = self.n_found = self.n_cut = 0

    def add(self, sentence: Sentence, run: AttentionRun) -> None:
        encoding = run.encoding
        self.n_sentences += 1
        self.n_cut += encoding.n_dropped > 0
        word_of = word_of_token(encoding, sentence.spans)
        queries = _matching(self.query, sentence, encoding, word_of)
        keys = _matching(self.key, sentence, encoding, word_of)
        apart = queries.tokens @ keys.tokens.T == 0  # (queries, keys)
        if self.joined:
            apart &= _joined(sentence, queries.words, keys.words)
        if not apart.any():
            return
        before = self.n.sum()
        rows = np.flatnonzero(queries.tokens.any(axis=0))
        window = slice(int(rows[0]), int(rows[-1]) + 1)
        of_queries = queries.tokens[:, window]
        of_queries = of_queries / of_queries.sum(axis=1, keepdims=True)
        rivals, places = self._rivals(queries, encoding, word_of, len(sentence))
        per_layer: dict[int, list[int]] = {}
        for place, (layer, _) in enumerate(self.heads):
            per_layer.setdefault(layer, []).append(place)
        for layer, of in per_layer.items():
            run.heads_of(layer)  # raises InvalidInput where there are none
            maps = run.layer(layer, window)  # (heads, r, n)
            seen = (maps > 0).any(axis=0).astype(np.float32)  # (r, n)
            even = (of_queries @ (seen / np.maximum(seen.sum(axis=1, keepdims=True), 1))) @ keys.tokens.T
            mean = of_queries @ maps[[self.heads[place][1] for place in of]]  # (heads, queries, n)
            mean = mean @ places  # (heads, queries, words or tokens)
            highest = np.where(rivals, mean, -1).max(axis=-1, keepdims=True)
            among = keys.words if self.key.of_words else keys.tokens.argmax(axis=1)
            self._add(of, sentence, queries, keys, mean[:, :, among], highest, even, apart & (even > 0))
        self.n_found += bool(self.n.sum() > before)

    def _rivals(
        self, queries: _Units, encoding: Encoding, word_of: IntArray, n_words: int
    ) -> tuple[BoolArray, FloatArray]:
        """With what a key is compared: (queries, words or tokens), without those of the query and special ones, and
        which word or token each token belongs to, (n, words or tokens).
        """
        if self.key.of_words:
            places = belongs(word_of, n_words)
            return queries.tokens @ places == 0, places
        special = np.array(encoding.special, dtype=bool)
        return (queries.tokens == 0) & ~special, np.eye(len(encoding), dtype=np.float32)

    def _add(
        self,
        of: Sequence[int],
        sentence: Sentence,
        queries: _Units,
        keys: _Units,
        weights: FloatArray,
        highest: FloatArray,
        even: FloatArray,
        pairs: BoolArray,
    ) -> None:
        """Add one layer: ``weights`` (heads, queries, keys), the ``highest`` of the rivals (heads, queries, 1), what an
        ``even`` head gives (queries, keys), and which ``pairs`` count.
        """
        query, key = np.nonzero(pairs)
        if not len(query):
            return
        shares = np.minimum(weights[:, query, key], 1)  # a sum of float32 can be a little above
        strongest = weights[:, query, key] >= highest[:, query, 0]
        self.n[of] += len(query)
        self.strongest[of] += strongest.sum(axis=1)
        self.weight[of] += shares.sum(axis=1, dtype=np.float64)
        self.even[of] += even[query, key].sum(dtype=np.float64)
        kept = min(self.most, len(query))
        best = np.argsort(-shares, axis=1, kind="stable")[:, :kept]  # (heads, kept)
        first_token = queries.tokens.argmax(axis=1)
        columns = np.stack(
            [
                np.repeat(of, kept),
                np.full(best.size, sentence.number),
                queries.words[query][best].ravel(),
                keys.words[key][best].ravel(),
                *queries.spans[query][best].reshape(-1, 2).T,
                *keys.spans[key][best].reshape(-1, 2).T,
                first_token[query][best].ravel(),
            ]
        )
        self.columns.append(columns)
        self.weights.append(np.take_along_axis(shares, best, axis=1).ravel())
        self.are_strongest.append(np.take_along_axis(strongest, best, axis=1).ravel())

    def result(self) -> Looks:
        columns = np.concatenate([np.zeros((_COLUMNS, 0), dtype=np.int64), *self.columns], axis=1)
        names = ("of", "sentence", "query", "key", "query_start", "query_end", "key_start", "key_end", "token")
        hits = Hits(
            **dict(zip(names, columns, strict=True)),
            weight=np.concatenate([np.zeros(0, dtype=np.float32), *self.weights]),
            strongest=np.concatenate([np.zeros(0, dtype=bool), *self.are_strongest]),
        )
        return Looks(
            layer=np.array([layer for layer, _ in self.heads], dtype=np.int64),
            head=np.array([head for _, head in self.heads], dtype=np.int64),
            n=self.n,
            strongest=self.strongest,
            weight=self.weight,
            even=self.even,
            hits=hits.best(self.most),
            most=self.most,
            n_sentences=self.n_sentences,
            n_found=self.n_found,
            n_cut=self.n_cut,
        )
