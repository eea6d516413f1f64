"""Statistics of all heads: parts that add up, numbers of single runs, what cannot be measured, a head made by hand."""

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from analysis.arrays import Array
from analysis.corpus.head_statistics import BY_VALUE, NAMES, HeadSets, HeadStatistics, total
from analysis.corpus.reading import built_in, read_corpus
from analysis.corpus.relations import ALL, Cases, Relation, best_ensemble, bootstrap, ensembles, findings, shares_right
from analysis.corpus.sentences import Corpus, Sentence
from analysis.head_measures import MEASURE_NAMES, SHARES
from analysis.heads import head_table
from evidence import corpus as corpus_questions
from evidence.questions import measure_heads as heads_questions
from evidence.questions.measure_heads import AverageHeads, MeasureHeads
from model_zoo import Engine
from model_zoo.capture import as_array
from model_zoo.errors import NotSupported
from model_zoo.types import Device, ModelSpec
from serving import wire

TINY = "embedded/tinybert"
SOME = 40


def corpus(n: int = SOME) -> Corpus:
    sentences = built_in(n)
    sentences.find_rare()
    return sentences


def measured(engine: Engine, model: str, sentences: tuple[Sentence, ...]) -> HeadStatistics:
    return engine.ask(MeasureHeads(model, sentences))


def same(statistics: HeadStatistics, other: HeadStatistics) -> None:
    for name in NAMES:
        np.testing.assert_allclose(statistics.measure(name), other.measure(name), atol=1e-6, equal_nan=True)
        np.testing.assert_allclose(statistics.interval(name), other.interval(name), atol=1e-5, equal_nan=True)
    for name in ("n_texts", "n_tokens", "n_queries", "skipped"):
        assert getattr(statistics, name) == getattr(other, name)
    np.testing.assert_allclose(statistics.edges.means, other.edges.means, atol=1e-6)
    for relation in statistics.cases.names:
        mine, theirs = statistics.cases.select(relation), other.cases.select(relation)
        np.testing.assert_array_equal(mine.right, theirs.right)
        np.testing.assert_array_equal(mine.sentence, theirs.sentence)
    for head in range(statistics.n_heads):
        mine, theirs = statistics.examples.strongest(head), other.examples.strongest(head)
        assert [example.sentence for example in mine] == [example.sentence for example in theirs]
        weights = [[example.weight for example in side] for side in (mine, theirs)]
        np.testing.assert_allclose(*weights, atol=1e-6)


def test_the_survey_of_a_list_is_the_sum_of_those_of_its_parts_in_any_order(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = corpus()
    every = sentences.take(range(SOME))
    complete = measured(engine, TINY, every)
    for n_parts in (3, 17):
        parts = [measured(engine, TINY, every[place::n_parts]) for place in range(n_parts)]
        same(reduce(add, parts[::-1]), complete)
        same(total(parts), complete)
    # A corpus asked part by part is one survey.
    monkeypatch.setattr(corpus_questions, "AT_ONCE", 7)
    so_far = list(corpus_questions.measure_heads(engine, TINY, sentences))
    assert [statistics.n_texts for statistics in so_far] == sorted({statistics.n_texts for statistics in so_far})
    same(so_far[-1], complete)
    monkeypatch.setattr(Engine, "n_replicas", 2)
    same(list(corpus_questions.measure_heads(engine, TINY, sentences))[-1], complete)


NEEDS_GPU = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")]


@pytest.mark.parametrize("model", [TINY, "embedded/modernbert"])
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NEEDS_GPU)])
def test_tensors_are_measured_where_they_lie_as_arrays_are(
    device: Device, model: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that numpy makes of a survey, within 1e-6 of what torch makes of the same attention."""
    there, sentences = engine if device == "cpu" else Engine(device), corpus(30)
    every, kinds = sentences.take(range(30)), set()
    tried = HeadSets(*ALL, (((0, 0),), ((0, 1), (1, 2))))

    def surveyed(as_measured: Callable[[torch.Tensor], Array]) -> tuple[HeadStatistics, Cases]:
        def noted(tensor: torch.Tensor) -> Array:
            kinds.add(type(as_measured(tensor)))
            return as_measured(tensor)

        monkeypatch.setattr(heads_questions, "array_of", noted)
        return measured(there, model, every), there.ask(AverageHeads(model, every, (tried,)))[0]

    of_tensors, of_arrays = surveyed(lambda tensor: tensor), surveyed(as_array)
    assert kinds == {torch.Tensor, np.ndarray}
    same(of_tensors[0], of_arrays[0])
    np.testing.assert_array_equal(of_tensors[1].right, of_arrays[1].right)


def test_sentences_that_templates_made_count_by_their_frames(engine: Engine) -> None:
    """They are much alike: taken for independent, they make intervals too narrow by a fifth or more."""
    sentences = corpus(200).take(range(200))
    by_frame = measured(engine, TINY, sentences)
    alone = measured(engine, TINY, tuple(replace(sentence, frame=None) for sentence in sentences))
    for name in ("previous", "separator", "entropy"):
        np.testing.assert_allclose(by_frame.measure(name), alone.measure(name), rtol=1e-9)
        (low, high), (above, below) = by_frame.interval(name), alone.interval(name)
        assert np.median((high - low) / (below - above)) > 1.2
    relation = by_frame.cases.names[0]
    (shares, *_), (others, *_) = (shares_right(part.cases.select(relation)) for part in (by_frame, alone))
    np.testing.assert_array_equal(shares, others)
    head = int(shares.argmax())
    wide, narrow = (
        bootstrap([(cases.heads_right()[:, head], cases.unit)])[0]
        for cases in (by_frame.cases.select(relation), alone.cases.select(relation))
    )
    assert wide.share == narrow.share
    assert wide.high - wide.low > narrow.high - narrow.low
    # No frame has sentences in both halves.
    cases, frame = by_frame.cases, np.array([sentence.frame for sentence in sentences])
    assert not set(frame[cases.sentence[cases.judged]]) & set(frame[cases.sentence[~cases.judged]])
    assert 0.4 < cases.judged.mean() < 0.6


def test_it_travels(engine: Engine) -> None:
    statistics = measured(engine, TINY, corpus(5).take(range(5)))
    same(wire.unpack(wire.pack(statistics)), statistics)
    same(pickle.loads(pickle.dumps(statistics)), statistics)
    question = MeasureHeads(TINY, corpus(5).take(range(5)))
    assert wire.unpack(wire.pack(question)) == question
    with pytest.raises(NotSupported, match="no attention"):
        measured(engine, "embedded/bilstm", corpus(3).take(range(3)))


@pytest.mark.parametrize("model", [TINY, "embedded/modernbert"])
def test_measures_are_those_of_single_runs(engine: Engine, model: str) -> None:
    sentences = corpus(20)
    statistics = measured(engine, model, sentences.take(range(20)))
    runs = [engine.attend(model, text) for text in sentences.texts]
    expected = head_table(runs)
    table = statistics.table()
    assert table.labels == expected.labels
    assert (table.n_queries, table.n_texts) == (expected.n_queries, expected.n_texts)
    for name in MEASURE_NAMES:
        if name not in ("rare", "rare_listed"):
            np.testing.assert_allclose(getattr(table.measures, name), getattr(expected.measures, name), atol=2e-5)
            np.testing.assert_allclose(statistics.measure(name), getattr(expected.measures, name), atol=2e-5)
            np.testing.assert_allclose(getattr(table.uniform, name), getattr(expected.uniform, name), atol=2e-5)
    known = ~np.isnan(expected.p_values)  # a run's table does not know which words are rare
    np.testing.assert_allclose(table.p_values[known], expected.p_values[known], atol=1e-3)


def test_shares_by_value_and_of_the_rarest_word_are_those_of_a_loop(engine: Engine) -> None:
    sentences = corpus(12)
    statistics = measured(engine, TINY, sentences.take(range(12)))
    sums = {"value_previous": [], "value_delimiter": [], "rare": []}  # type: dict[str, list[float]]
    for sentence in sentences:
        run = engine.attend(TINY, sentence.text)
        taken = run.head(1, 2) * run.value_norms(1)[2]
        taken = taken / taken.sum(axis=1, keepdims=True)
        start, end = sentence.spans[sentence.rare[0]]
        tokens = [at for at, (first, last) in enumerate(run.encoding.offsets) if start < last <= end]
        for query in range(1, len(run.encoding) - 1):
            sums["value_previous"].append(float(taken[query, query - 1]))
            sums["value_delimiter"].append(float(taken[query, 0] + taken[query, -1]))
            others = [at for at in tokens if at != query]
            if others:
                sums["rare"].append(float(run.head(1, 2)[query, others].sum()))
    place = statistics.place(1, 2)
    for name, values in sums.items():
        assert statistics.measure(name)[place] == pytest.approx(np.mean(values), abs=1e-5), name
    assert statistics.head(place) == (1, 2)
    assert {name.removeprefix(BY_VALUE) for name in NAMES if name.startswith(BY_VALUE)} == set(SHARES)


def test_which_head_is_right_is_what_a_loop_finds(engine: Engine) -> None:
    sentences = corpus(15)
    statistics = measured(engine, TINY, sentences.take(range(15)))
    cases = statistics.cases.select(Relation("nsubj", "up"))
    right = cases.heads_right()
    assert len(cases) >= 15
    for place in range(len(cases)):
        sentence = sentences.sentence(int(cases.sentence[place]))
        run = engine.attend(TINY, sentence.text)
        word_of = [
            next((word for word, (first, last) in enumerate(sentence.spans) if first < end <= last), -1)
            for _, end in run.encoding.offsets
        ]
        query, key = int(cases.query[place]), int(cases.key[place])
        assert sentence.heads[query] == key
        for head, (layer, number) in enumerate(statistics.every_head()):
            weights = run.head(layer, number)[[at for at, word in enumerate(word_of) if word == query]].mean(axis=0)
            shares = [
                sum(weights[at] for at, word in enumerate(word_of) if word == other) for other in range(len(sentence))
            ]
            shares[query] = -1
            assert right[place, head] == (int(np.argmax(shares)) == key)
        assert cases.chance[place] == pytest.approx(1 / (len(sentence) - 1))


def test_ensembles_of_one_head_are_the_head_and_of_more_their_mean(engine: Engine) -> None:
    sentences = corpus(30)
    statistics = measured(engine, TINY, sentences.take(range(30)))
    heads = statistics.every_head()
    finding = findings(statistics.cases).get(ALL)
    groups = ensembles(finding)
    tried = HeadSets(*ALL, tuple(tuple(heads[place] for place in group) for group in groups))
    (cases,) = list(corpus_questions.score_head_sets(engine, TINY, sentences, [tried]))[-1]
    alone = statistics.cases.select(ALL)
    assert len(cases) == len(alone)
    for place, group in enumerate(groups):
        if len(group) == 1:
            np.testing.assert_array_equal(cases.select(ALL).heads_right()[:, place], alone.heads_right()[:, group[0]])
    best = best_ensemble(ALL, groups, cases)
    assert 0 < best.accuracy.low <= best.accuracy.share <= best.accuracy.high < 1
    assert wire.unpack(wire.pack(AverageHeads(TINY, sentences.take([0]), (tried,)))).tried == (tried,)


def test_what_is_cut_or_has_no_token_of_its_own_is_told(engine: Engine) -> None:
    """A sentence of 600 words, whose end the model does not read; and a word that a tokenizer joins to another."""
    words = ["dog", *["cat"] * 598, "."]
    rows = [
        f"{at + 1}\t{word}\t_\tNOUN\t_\t_\t{at}\t{'root' if not at else 'dep'}\t_\t_" for at, word in enumerate(words)
    ]
    sentences = read_corpus([("long.conllu", ("\n".join(rows) + "\n\n").encode())])
    statistics = measured(engine, TINY, sentences.take([0]))
    skipped = statistics.skipped
    assert skipped.cut_sentences == 1
    assert skipped.cut_tokens == 602 - 512
    assert skipped.words == 600 - 510
    assert skipped.relations == 90
    assert skipped.trees == 1
    assert statistics.edges.n.sum() == 0
    assert len(statistics.cases.select(Relation("dep", "up"))) == 509
    assert [re.findall(r"\d+", note) for note in skipped.notices()] == [["1", "90"], ["90", "90", "1"]]


@pytest.mark.slow
def test_every_family_is_measured_as_its_single_runs_are(subject: ModelSpec) -> None:
    """Padded batches of families that pad by themselves, look in windows, share key heads or give maps alone."""
    engine, model = Engine("cpu"), subject.id  # one of its own: it must not know what the tests' hub gave it
    texts = ("The cat sat on the mat.", "It slept.", "A dog and another dog saw the cat that sat there.")
    sentences = read_corpus([("texts.txt", "\n".join(texts).encode())])
    try:
        runs = [engine.attend(model, text) for text in sentences.texts]
    except NotSupported:
        with pytest.raises(NotSupported):
            measured(engine, model, sentences.take(range(len(sentences))))
        return
    statistics = measured(engine, model, sentences.take(range(len(sentences))))
    expected = head_table(runs)
    for name in ("entropy", "distance", "itself", "previous", "delimiter", "same_word"):
        np.testing.assert_allclose(
            statistics.measure(name), getattr(expected.measures, name), atol=1e-4, equal_nan=True, err_msg=name
        )


VERBS, SUBJECTS, OBJECTS = ("saw", "took", "found"), ("dog", "cat", "king", "nurse"), ("bread", "stone", "book", "key")
ADJECTIVES, ADVERBS = ("old", "red", "small"), ("often", "never", "gladly")


def simple_sentences(n: int, seed: int) -> Corpus:
    """The old dog often saw the small red book: subjects are never objects, and the object's distance varies."""
    rng = np.random.default_rng(seed)
    blocks: dict[str, None] = {}
    while len(blocks) < n:
        words: list[tuple[str, str, str]] = [("the", "det", "subject")]
        words += [(str(word), "amod", "subject") for word in rng.permutation(ADJECTIVES)[: rng.integers(3)]]
        words.append((str(rng.choice(SUBJECTS)), "nsubj", "verb"))
        words += [(str(word), "advmod", "verb") for word in rng.permutation(ADVERBS)[: rng.integers(2)]]
        words.append((str(rng.choice(VERBS)), "root", ""))
        words.append(("the", "det", "object"))
        words += [(str(word), "amod", "object") for word in rng.permutation(ADJECTIVES)[: rng.integers(3)]]
        words.append((str(rng.choice(OBJECTS)), "obj", "verb"))
        place = {"": 0} | {
            name: next(at for at, (_, deprel, _) in enumerate(words, start=1) if deprel == of)
            for name, of in (("subject", "nsubj"), ("verb", "root"), ("object", "obj"))
        }
        rows = [
            f"{at}\t{word}\t_\t_\t_\t_\t{place[head]}\t{deprel}\t_\t_"
            for at, (word, deprel, head) in enumerate(words, start=1)
        ]
        blocks["\n".join(rows)] = None
    return read_corpus([("simple.conllu", ("\n\n".join(blocks) + "\n\n").encode())])


@pytest.fixture
def finds_the_object(tmp_path: Path) -> str:
    """A BERT of two layers made by hand: in the first layer's third head verbs ask for objects; all others look
    at every word alike."""
    folder = str(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", *VERBS, *SUBJECTS, *OBJECTS, *ADJECTIVES, *ADVERBS]
    made = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32,
            max_position_embeddings=64,
        )  # fmt: skip
        model = BertForMaskedLM(config)
        embedded = model.bert.embeddings.word_embeddings.weight
        embedded[[words.index(word) for word in VERBS], 0] += 2
        embedded[[words.index(word) for word in OBJECTS], 1] += 2
        for layer in model.bert.encoder.layer:
            layer.attention.self.query.weight[:] = 0
        attention = model.bert.encoder.layer[0].attention.self
        attention.query.weight[16, 0] = 8
        attention.key.weight[16:24] = 0
        attention.key.weight[16, 1] = 8
        model.save_pretrained(folder)
    return folder


def test_a_head_made_by_hand_is_found_always_right_and_no_other_is(engine: Engine, finds_the_object: str) -> None:
    relations = findings(measured(engine, finds_the_object, simple_sentences(300, 0).take(range(300))).cases)
    of_verb = relations.get(Relation("obj", "down"))
    assert of_verb.head == 2
    assert of_verb.accuracy.share == of_verb.choosing[2] == 1.0
    assert of_verb.by_offset.high < 0.75
    assert of_verb.p < 0.001
    others = [head for head in range(8) if head != 2]
    assert of_verb.judged[others].max() < of_verb.by_offset.share
    # Heads that look everywhere alike count as looking at the first word, which is a determiner.
    beyond = [finding.relation for finding in relations.relations if finding.p <= 0.05]
    assert [relation for relation in beyond if relation.deprel != "det"] == [of_verb.relation]


@pytest.mark.slow
def test_untrained_networks_find_nothing_beyond_the_offset(engine: Engine) -> None:
    sentences = built_in(300)
    statistics = measured(engine, f"untrained:{TINY}", sentences.take(range(300)))
    assert [finding.relation for finding in findings(statistics.cases).relations if finding.p <= 0.05] == []
