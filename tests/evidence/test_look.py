"""Where heads look from some words to others: against attention computed sentence by sentence, word by word."""

import random
from collections import defaultdict
from dataclasses import replace
from functools import reduce
from typing import Any

import corpora
import numpy as np
import pytest
from checkpoints import Checkpoint

from analysis.corpus.looks import Looks, strongest_word
from analysis.corpus.pattern import Kind, Pattern
from analysis.corpus.sentences import Sentence
from evidence.questions.look import Look
from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported

TINY = "embedded/tinybert"
WORDS = "The cat sat on unbelievable mats , because she was tired and dogs barked loudly ."
TEXTS = (
    "The cat sat on the mat because it was unbelievably tired.",
    "It sat. It slept on a mat, and the other cat sat on it.",
    "Unbelievable!",
    "A dog barked at the cat, café owners said; it didn't stop.",
    "She saw the cat and the cat saw her.",
    "cat",
)
TAGS = {"the": "DET", "a": "DET", "it": "PRON", "she": "PRON", "her": "PRON", "cat": "NOUN", "mat": "NOUN"}


IT, CAT = Pattern("word", ("it",)), Pattern("word", ("cat",))


def corpus(texts: tuple[str, ...] = TEXTS) -> tuple[Sentence, ...]:
    def upos(word: str) -> str:
        return TAGS.get(word.lower(), "X")

    return tuple(corpora.corpus(*texts, upos=upos, deprel=lambda word: "subj" if upos(word) == "PRON" else "_"))


def of_tokens(engine: Engine, model: str, sentence: Sentence, pattern: Pattern) -> list[list[int]]:
    """The tokens of each match, looked up one by one."""
    encoding = engine.attend(model, sentence.text).encoding
    if pattern.kind == "piece":
        return [[place] for place, token in enumerate(encoding.tokens) if token in pattern.values]
    labels = {"word": [word.lower() for word in sentence.words], "upos": sentence.upos, "deprel": sentence.deprel}
    words = [word for word, label in enumerate(labels[pattern.kind]) if label in pattern.values]
    return [tokens for word in words if (tokens := tokens_of_word(encoding, sentence, word))]


def tokens_of_word(encoding: Any, sentence: Sentence, word: int) -> list[int]:
    start, end = sentence.spans[word]
    last = [stop - 1 for _, stop in encoding.offsets]
    return [place for place in range(len(encoding)) if not encoding.special[place] and start <= last[place] < end]


def by_hand(engine: Engine, model: str, sentences: tuple[Sentence, ...], query: Pattern, key: Pattern) -> Any:
    """Per head: every pair's (sentence, tokens, tokens, weight, by how much it is the strongest, even)."""
    pairs = defaultdict(list)
    for sentence in sentences:
        run = engine.attend(model, sentence.text)
        encoding = run.encoding
        rivals = [[place] for place in range(len(encoding)) if not encoding.special[place]]
        if key.of_words:
            words = [tokens_of_word(encoding, sentence, word) for word in range(len(sentence))]
            rivals = [tokens for tokens in words if tokens]
        for layer in range(run.n_layers):
            for head in range(run.n_heads):
                matrix = run.head(layer, head)

                def weight(query_tokens: list[int], other: list[int], matrix: Any = matrix) -> float:
                    return float(np.mean([sum(float(matrix[row, column]) for column in other) for row in query_tokens]))

                seen = np.any([run.head(layer, other_head) > 0 for other_head in range(run.n_heads)], axis=0)
                for query_unit in of_tokens(engine, model, sentence, query):
                    for other in of_tokens(engine, model, sentence, key):
                        if set(query_unit) & set(other):
                            continue
                        even = float(np.mean([seen[row, other].sum() / seen[row].sum() for row in query_unit]))
                        if even == 0:
                            continue
                        others = [rival for rival in rivals if not set(query_unit) & set(rival) and rival != other]
                        most = max((weight(query_unit, rival) for rival in others), default=0)
                        mine = weight(query_unit, other)
                        pairs[layer, head].append((sentence.number, query_unit, other, mine, mine - most, even))
    return pairs


def check(engine: Engine, model: str, query: Pattern, key: Pattern, sentences: tuple[Sentence, ...]) -> Looks:
    looks = engine.ask(Look(model, sentences, query, key))
    expected = by_hand(engine, model, sentences, query, key)
    for place, head in enumerate(zip(looks.layer.tolist(), looks.head.tolist(), strict=True)):
        pairs = expected[head]
        assert looks.n[place] == len(pairs)
        assert looks.weight[place] == pytest.approx(sum(pair[3] for pair in pairs), abs=1e-5)
        assert looks.even[place] == pytest.approx(sum(pair[5] for pair in pairs), abs=1e-5)
        least, most = (sum(pair[4] > margin for pair in pairs) for margin in (1e-6, -1e-6))  # but for rounding
        assert least <= looks.strongest[place] <= most
        hits = looks.head_hits(place)
        np.testing.assert_allclose(hits.weight, sorted((pair[3] for pair in pairs), reverse=True), atol=2e-6)
        of_hits = sorted(zip(hits.sentence.tolist(), hits.token.tolist(), strict=True))
        assert of_hits == sorted((pair[0], pair[1][0]) for pair in pairs)
    assert looks.n_found == len({pair[0] for pairs in expected.values() for pair in pairs})
    assert looks.n_sentences == len(sentences)
    return looks


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (("word", "it"), ("word", "cat")),
        (("upos", "pron"), ("upos", "NOUN")),
        (("upos", "noun"), ("upos", "noun")),
        (("deprel", "subj:pass"), ("word", "unbelievably, sat")),
        (("word", "unbelievably, unbelievable"), ("upos", "noun")),
        (("piece", "it"), ("piece", "[SEP]")),
        (("piece", "[CLS]"), ("piece", "cat, the")),
        (("word", "it"), ("piece", "cat")),
        (("piece", "it, cat"), ("word", "cat")),
        (("word", "café"), ("word", "cat")),
    ],
)
def test_pairs_are_those_found_one_by_one(engine: Engine, query: tuple[Kind, str], key: tuple[Kind, str]) -> None:
    looks = check(engine, TINY, Pattern.parsed(*query), Pattern.parsed(*key), corpus())
    assert looks.n.max() > 0
    assert looks.n_cut == 0


TREE = Sentence(
    0,
    "The cat saw a dog that saw the cat.",
    ((0, 3), (4, 7), (8, 11), (12, 13), (14, 17), (18, 22), (23, 26), (27, 30), (31, 34), (34, 35)),
    ("DET", "NOUN", "VERB", "DET", "NOUN", "PRON", "VERB", "DET", "NOUN", "PUNCT"),
    ("det", "nsubj", "root", "det", "obj", "nsubj", "acl", "det", "obj", "punct"),
    (1, 2, -1, 4, 2, 6, 4, 8, 6, 2),
)


@pytest.mark.parametrize(
    ("query", "key", "pairs"),
    [
        (("upos", "VERB"), ("deprel", "obj"), [("saw", 2, 4), ("saw", 6, 4), ("saw", 6, 8)]),
        (("deprel", "obj"), ("upos", "VERB"), [("dog", 4, 2), ("dog", 4, 6), ("cat", 8, 6)]),
        (("piece", "saw"), ("piece", "cat"), [("saw", 2, 1), ("saw", 6, 8)]),
        (("deprel", "root"), ("piece", "[SEP]"), []),
        (("piece", "[CLS]"), ("word", "cat"), []),
    ],
)
def test_only_words_that_the_tree_joins(
    engine: Engine, query: Any, key: Any, pairs: list[tuple[str, int, int]]
) -> None:
    looks = engine.ask(Look(TINY, (TREE,), Pattern.parsed(*query), Pattern.parsed(*key), 0, 0, joined=True))
    hits = looks.hits
    places = zip(hits.query.tolist(), hits.key.tolist(), strict=True)
    assert sorted((TREE.words[query_place], query_place, other) for query_place, other in places) == sorted(pairs)
    assert looks.n.tolist() == [len(pairs)]


def test_spans_are_those_of_the_words_and_of_the_tokens(engine: Engine) -> None:
    sentences = corpus()
    for query in (IT, Pattern("piece", ("it",))):
        hits = engine.ask(Look(TINY, sentences, query, CAT)).hits
        for number, start, end, word in zip(hits.sentence, hits.query_start, hits.query_end, hits.query, strict=True):
            assert sentences[number].text[start:end].lower() == "it"
            assert sentences[number].words[word].lower() == "it"
        for number, start, end in zip(hits.sentence, hits.key_start, hits.key_end, strict=True):
            assert sentences[number].text[start:end] == "cat"


@pytest.mark.parametrize("name", ["gpt2", "roberta", "deberta"])
def test_families_whose_tokens_hold_spaces_or_look_back_only(engine: Engine, checkpoint: Checkpoint, name: str) -> None:
    folder = str(checkpoint(name))
    sentences = corpus()
    check(engine, folder, CAT, Pattern("word", ("sat", "it")), sentences)
    tokens = {token for sentence in sentences for token in engine.attend(folder, sentence.text).encoding.tokens}
    cats = tuple(token for token in sorted(tokens) if token.endswith(("at", "t")))
    looks = check(engine, folder, Pattern("piece", cats), Pattern("word", ("it", "cat")), sentences)
    hits = looks.hits
    for number, start, end in zip(hits.sentence, hits.query_start, hits.query_end, strict=True):
        written = sentences[number].text[start:end]
        assert written == written.strip()


def test_what_is_found_in_parts_adds_up_in_any_order(engine: Engine) -> None:
    rng, n_parts = random.Random(1), 17
    texts = tuple(" ".join(rng.sample(WORDS.split(), rng.randint(3, 14))) for _ in range(100))
    sentences = corpus(texts)
    question = Look(TINY, sentences, Pattern("upos", ("X",)), Pattern("upos", ("NOUN", "PRON")), most=7)
    complete = engine.ask(question)
    parts = [engine.ask(replace(question, sentences=sentences[start::n_parts])) for start in range(n_parts)]
    rng.shuffle(parts)
    added = reduce(Looks.__add__, parts)
    for name in ("n", "n_sentences", "n_found", "n_cut", "layer", "head"):
        np.testing.assert_array_equal(getattr(added, name), getattr(complete, name))
    for name in ("weight", "even"):
        np.testing.assert_allclose(getattr(added, name), getattr(complete, name), rtol=1e-6)
    assert np.abs(added.strongest - complete.strongest).max() <= 1  # where two words are alike but for rounding
    np.testing.assert_allclose(added.hits.weight, complete.hits.weight, atol=1e-6)
    assert (np.bincount(added.hits.of) == 7).all()
    for place in range(len(added.layer)):
        weights = added.head_hits(place).weight
        assert (np.diff(weights) <= 0).all()


def test_one_head_and_the_heads_of_a_layer(engine: Engine) -> None:
    question = Look(TINY, corpus(), IT, CAT)
    every = engine.ask(question)
    layer = engine.ask(replace(question, layer=1))
    head = engine.ask(replace(question, layer=1, head=2))
    assert list(zip(layer.layer, layer.head, strict=True)) == [(1, 0), (1, 1), (1, 2), (1, 3)]
    np.testing.assert_array_equal(layer.weight, every.weight[4:])
    assert head.weight == every.weight[6:7]
    np.testing.assert_array_equal(head.hits.weight, every.head_hits(6).weight)
    np.testing.assert_allclose(every.mean, every.weight / every.n)
    with pytest.raises(ValueError, match="same heads"):
        _ = layer + head
    # The strongest of all heads name a pair once.
    looks = engine.ask(Look(TINY, corpus(), IT, CAT))
    best = looks.strongest_of_all(100)
    pairs = list(zip(best.sentence, best.query_start, best.key_start, strict=True))
    assert len(set(pairs)) == len(pairs) == looks.n[0]
    assert best.weight[0] == looks.hits.weight.max()
    assert (np.diff(best.weight) <= 0).all()
    assert len(looks.strongest_of_all(2)) == 2
    looks = engine.ask(Look(TINY, corpus(), Pattern("word", ("zebra",)), CAT))
    assert looks.n.sum() == looks.n_found == len(looks.hits) == len(looks.strongest_of_all(5)) == 0
    assert np.isnan(looks.mean).all()
    long = " ".join(["the cat sat"] * 300) + " it"
    looks = engine.ask(Look(TINY, corpus((long, TEXTS[0])), IT, CAT))
    assert (looks.n_sentences, looks.n_cut, looks.n_found) == (2, 1, 1)
    sentences = corpus()
    for wrong in ({"sentences": ()}, {"most": 0}, {"head": 1}, {"sentences": sentences[:1] * 1001}):
        with pytest.raises(InvalidInput):
            Look(**({"model": TINY, "sentences": sentences, "query": IT, "key": IT} | wrong))
    for head in ((2, None), (0, 4), (-1, 0)):
        with pytest.raises(InvalidInput, match="and no"):
            engine.ask(Look(TINY, sentences, IT, IT, *head))
    with pytest.raises(NotSupported):
        engine.ask(Look("embedded/bilstm", sentences, IT, IT))


def test_the_strongest_word_of_one_is_that_looked_at_most(engine: Engine) -> None:
    for sentence in corpus():
        run = engine.attend(TINY, sentence.text)
        of = [tokens_of_word(run.encoding, sentence, word) for word in range(len(sentence))]
        for word, queries in enumerate(of):
            shares = run.head(1, 2)[queries].mean(axis=0)
            weights = {other: shares[keys].sum() for other, keys in enumerate(of) if other != word}
            strongest = strongest_word(run, sentence, word, 1, 2)
            assert strongest == (max(weights, key=weights.__getitem__) if weights else None)
    sentence = Sentence(0, "a b", ((0, 1), (1, 1), (2, 3)), ("_",) * 3, ("_",) * 3, (-2,) * 3)
    assert strongest_word(engine.attend(TINY, "a b"), sentence, 1, 0, 0) is None
