"""Evaluation: figures that can be computed by hand, the sets it measures on, and what it prints."""

import itertools
import json
import lzma
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import special, stats
from transformers import BertConfig, BertForPreTraining, BertTokenizer

from model_zoo.errors import InvalidInput
from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMForMaskedLM
from model_zoo.heldout import written_pairs
from training import evaluate as evaluate_module
from training.corpus import Document
from training.evaluate import evaluate, main
from training.evaluation_sets import EvaluationSet, Pair, corpus_set, half_random, written_set
from training.models import special_tokens
from training.tallies import Count, WordTally, encoder, iter_masked_words, masked_words, next_sentences

CPU = torch.device("cpu")
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "dog", "the", "sees"]


@pytest.fixture
def tokenizer() -> BertTokenizer:
    return BertTokenizer(vocab={word: number for number, word in enumerate(VOCABULARY)})


def _constant_bert(words: list[float], next_score: float) -> BertForPreTraining:
    """A BERT that predicts the distribution ``words``, and the same for every pair, whatever it reads."""
    model = BertForPreTraining(
        BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.cls.predictions.decoder.bias.copy_(torch.tensor(words).log())
        model.cls.seq_relationship.bias.copy_(torch.tensor([next_score, 0.0]))
    return model.eval()


HALF_CAT = [1 / 16] * 5 + [1 / 2, 1 / 16, 1 / 16, 1 / 16]


def test_masked_words_of_a_known_distribution(tokenizer):
    model = _constant_bert(HALF_CAT, 0.0)
    special = special_tokens(tokenizer)
    loss, right = masked_words(model, tokenizer, special, ["cat cat cat cat"] * 100)
    assert (loss, right) == (pytest.approx(math.log(2), rel=1e-5), 1.0)
    loss, right = masked_words(model, tokenizer, special, ["dog the sees dog"] * 100)
    assert (loss, right) == (pytest.approx(math.log(16), rel=1e-5), 0.0)
    mixed = masked_words(model, tokenizer, special, ["cat dog"] * 200)
    assert masked_words(model, tokenizer, special, ["cat dog"] * 200) == mixed
    # With a share r of cats among the masked tokens the loss is r ln 2 + (1 - r) ln 16, and r are right.
    assert 0 < mixed[1] < 1
    assert mixed[0] == pytest.approx(mixed[1] * math.log(2) + (1 - mixed[1]) * math.log(16), rel=1e-5)
    with pytest.raises(InvalidInput, match="too short"):
        masked_words(model, tokenizer, special, [""])


class _Copier(torch.nn.Module):
    """Answers every token with itself, and a mask with "cat": what a model gets that has learned nothing."""

    device = CPU

    def forward(self, input_ids, **_):
        answers = torch.where(input_ids == VOCABULARY.index("[MASK]"), VOCABULARY.index("cat"), input_ids)
        return SimpleNamespace(logits=10.0 * torch.nn.functional.one_hot(answers, len(VOCABULARY)))


def test_a_copier_gets_every_kept_token_and_no_masked_one(tokenizer):
    """Its 10% of tokens left visible are no masked words, though they are chosen and every one is right."""
    texts = ["dog the sees dog the sees"] * 200
    special = special_tokens(tokenizer)
    *_, tally = iter_masked_words(_Copier(), encoder(_Copier(), tokenizer), special, texts)
    assert (tally.masked.accuracy, tally.replaced.accuracy, tally.kept.accuracy) == (0.0, 0.0, 1.0)
    assert tally.n_read == 200
    shares = [count.n / tally.n_chosen for count in (tally.masked, tally.replaced, tally.kept)]
    # One in four random tokens is the token itself, which then counts as kept: 7.5% and 12.5%.
    assert shares == pytest.approx([0.8, 0.075, 0.125], abs=0.05)
    loss, right = masked_words(_Copier(), tokenizer, special, texts)
    wrong = math.log(math.exp(10) + len(VOCABULARY) - 1)
    assert (loss, right) == (pytest.approx(wrong, rel=1e-5), 0.0)
    assert tally.kept.mean_loss == pytest.approx(wrong - 10, rel=1e-3)


def test_shares_of_nothing_are_none():
    assert (Count().accuracy, Count().mean_loss) == (None, None)
    assert Count(2, 1, 3.0) + Count(2, 2, 1.0) == Count(4, 3, 4.0)
    assert WordTally(1, Count(3, 1, 2.0), kept=Count(2, 2, 0.0)).n_chosen == 5


def test_next_sentences_by_hand(tokenizer):
    pairs = [Pair("cat", "dog", number % 4 == 0) for number in range(40)]
    for next_score, expected in ((1.0, 0.25), (-1.0, 0.75)):
        assert next_sentences(_constant_bert(HALF_CAT, next_score), tokenizer, pairs) == expected


def test_half_of_the_pairs_are_random_and_of_another_origin():
    following = [(number // 4, f"first {number}", f"second {number}") for number in range(100)]
    pairs = half_random(following)
    assert Counter(pair.is_next for pair in pairs) == {True: 50, False: 50}
    origin = {second: place for place, _, second in following}
    for pair, (place, first, second) in zip(pairs, following, strict=True):
        assert pair.first == first
        assert pair.is_next == (pair.second == second)
        assert pair.is_next == (origin[pair.second] == place)
    # Each replaced second text is used again: the random ones are as long as those they stand for.
    replaced = {second for pair, (_, _, second) in zip(pairs, following, strict=True) if not pair.is_next}
    assert {pair.second for pair in pairs if not pair.is_next} <= replaced
    assert half_random(following) == pairs
    with pytest.raises(InvalidInput, match="two documents"):
        half_random([("only", f"a {number}", f"b {number}") for number in range(8)])


def test_the_written_set_is_what_it_says():
    pairs = written_pairs()
    assert len(pairs) == 300
    assert len({pair.first for pair in pairs}) == len({pair.second for pair in pairs}) == 300
    assert Counter(Counter(pair.subject for pair in pairs).values()) == {10: 30}
    for text in (text for pair in pairs for text in (pair.first, pair.second)):
        assert 2 <= len(text.split()) <= 16, text
        assert text[-1] in ".?!"
        assert text[0].isupper()
    held_out = written_set()
    assert len(held_out.texts) == len(held_out.pairs) == 300
    assert sum(pair.is_next for pair in held_out.pairs) == 150
    subject = {pair.second: pair.subject for pair in pairs}
    first_subject = {pair.first: pair.subject for pair in pairs}
    assert all(pair.is_next or subject[pair.second] != first_subject[pair.first] for pair in held_out.pairs)


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, list[list[str]], list[list[str]]]:
    """A corpus of two-sentence and long documents; returns its path and which are held out, or not."""
    held_out: list[list[str]] = []
    trained: list[list[str]] = []
    number = 0
    while len(held_out) < 4:
        n_sentences = 2 if number % 2 else 60
        sentences = [f"The cat {number} sees the dog {place}." for place in range(n_sentences)]
        (held_out if Document("a:b", True, tuple(sentences)).held_out else trained).append(sentences)
        number += 1
    lines = [
        json.dumps({"source": "a:b", "ordered": True, "sentences": sentences}) for sentences in (*trained, *held_out)
    ]
    path = tmp_path / "c.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    return path, held_out, trained


def test_the_corpus_set_holds_held_out_text_only(corpus):
    path, held_out, trained = corpus
    evaluation_set = corpus_set(path)
    sentences = {sentence for document in held_out for sentence in document}
    never = {sentence for document in trained for sentence in document}
    visible = {part + "." for text in evaluation_set.texts for part in text.rstrip(".").split(". ")}
    assert visible <= sentences
    assert not visible & never
    for document in held_out:
        assert sum(text.startswith(document[0]) for text in evaluation_set.texts) == 1
    following = {(first, second) for document in held_out for first, second in itertools.pairwise(document)}
    for pair in evaluation_set.pairs:
        last = pair.first.rstrip(".").split(". ")[-1] + "."
        begin = pair.second.split(". ")[0].rstrip(".") + "."
        assert pair.is_next == ((last, begin) in following)


def test_a_corpus_without_running_text_has_no_pairs(folder: Path, tmp_path: Path):
    texts = ([f"The cat {number} sees the dog."] for number in itertools.count())
    held_out = next(text for text in texts if Document("a:b", False, tuple(text)).held_out)
    path = tmp_path / "glosses.jsonl.xz"
    line = json.dumps({"source": "a:b", "ordered": False, "sentences": held_out})
    path.write_bytes(lzma.compress(line.encode()))
    evaluation_set = corpus_set(path)
    assert (evaluation_set.texts, evaluation_set.pairs) == (tuple(held_out), ())
    figures, units = evaluate(str(folder), alone(("the cat sees the dog",) * 40, evaluation_set.pairs), CPU)
    assert figures["nsp_accuracy"] is None
    assert "nsp_accuracy" not in {**units, **figures["intervals"]}


def test_samples_are_evenly_spaced():
    complete = alone(tuple(str(n) for n in range(100)), tuple(Pair(str(n), "", True) for n in range(7)))
    sample = complete.sample(12)
    assert sample.texts == tuple(map(str, sample.of_texts)) == tuple(str(n) for n in range(0, 100, 9))
    assert sample.pairs == complete.pairs


def alone(texts: tuple[str, ...], pairs: tuple[Pair, ...]) -> EvaluationSet:
    """A set whose texts and pairs are each of a document of its own."""
    return EvaluationSet(texts, pairs, tuple(range(len(texts))), tuple(range(len(pairs))))


@pytest.fixture
def folder(tokenizer, tmp_path: Path) -> Path:
    _constant_bert(HALF_CAT, 5.0).save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


def test_figures_of_a_model_on_disk(folder: Path):
    held_out = alone(("cat dog cat sees",) * 50, tuple(Pair("cat", "dog", n < 30) for n in range(40)))
    figures, _ = evaluate(str(folder), held_out, CPU)
    model = BertForPreTraining.from_pretrained(folder)
    assert figures["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert figures["nsp_accuracy"] == 0.75
    assert figures["mlm_loss"] == pytest.approx(
        figures["mlm_accuracy"] * math.log(2) + (1 - figures["mlm_accuracy"]) * math.log(16), abs=1e-3
    )
    assert figures["tokens_per_second"] > 0


def test_intervals_are_over_documents_and_differences_are_paired(folder: Path, tokenizer, tmp_path: Path):
    """Of ten documents with two texts and four pairs each, eight hold what this model always says, two its opposite."""
    other = tmp_path / "other"
    _constant_bert([1 / 16] * 6 + [1 / 2, 1 / 16, 1 / 16], -5.0).save_pretrained(other)  # always "dog", and "random"
    tokenizer.save_pretrained(other)
    texts = tuple("dog dog dog" if n // 2 % 5 == 0 else "cat cat cat" for n in range(20))
    pairs = tuple(Pair("cat", "dog", n // 4 % 5 > 0) for n in range(40))
    held_out = EvaluationSet(texts, pairs, tuple(n // 2 for n in range(20)), tuple(n // 4 for n in range(40)))
    figures, first = evaluate(str(folder), held_out, CPU)
    right = np.arange(10) % 5 > 0
    reach = stats.t.ppf(0.975, 9) * stats.sem(right) / (0.8 * 0.2)  # of the log-odds
    assert figures["nsp_accuracy"] == 0.8
    assert figures["intervals"]["nsp_accuracy"] == pytest.approx(
        special.expit(special.logit(0.8) + np.array([-reach, reach])), abs=1e-4
    )
    assert (first["mlm_accuracy"][:, 0] == right * first["mlm_accuracy"][:, 1]).all()
    than_first = evaluate(str(other), held_out, CPU, first)[0]["than_first"]
    by = 1 - 2.0 * right
    assert than_first["nsp_accuracy"]["by"] == pytest.approx(-0.6)
    ends = stats.t.interval(0.95, 9, loc=-0.6, scale=stats.sem(by))
    assert than_first["nsp_accuracy"]["interval"] == pytest.approx(ends, abs=1e-4)
    for figure in ("nsp_accuracy", "mlm_accuracy"):
        of_flips = stats.permutation_test((by * first[figure][:, 1],), np.sum, permutation_type="samples").pvalue
        assert than_first[figure]["p"] == pytest.approx(of_flips, rel=0.05)  # two digits are printed
    assert set(than_first["mlm_loss"]) == {"by", "interval"}  # in nats, and in another direction
    assert than_first["mlm_loss"]["by"] == pytest.approx(-np.log(8) * than_first["mlm_accuracy"]["by"], abs=1e-3)
    of_others = EvaluationSet(("cat " * 9,) * 20, (), held_out.of_texts, ())
    assert "mlm_accuracy" not in evaluate(str(other), of_others, CPU, first)[0]["than_first"]


def test_speed_counts_real_tokens_by_the_clock(tokenizer, monkeypatch):
    ticks = iter([100.0, 102.0])
    monkeypatch.setattr(evaluate_module.time, "perf_counter", lambda: next(ticks))
    texts = ["cat"] * 10 + ["the cat sees the dog"] * 30  # 3 and 7 tokens with [CLS] and [SEP]
    model = _constant_bert(HALF_CAT, 0.0)
    rate = evaluate_module.speed(model, encoder(model, tokenizer), texts)
    assert rate == (10 * 3 + 30 * 7) / 2


@pytest.mark.slow
def test_the_command_prints_one_object_a_model(folder: Path, capsys):
    assert main([str(folder), str(folder)]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["nsp_accuracy"] == 0.5  # it says "next" to every pair, and half of them are
    assert first.pop("tokens_per_second") > 0
    assert second.pop("tokens_per_second") > 0
    assert {(tied["by"], *tied["interval"], tied.get("p", 1)) for tied in second.pop("than_first").values()} == {
        (0, 0, 0, 1)
    }
    assert second == first
    accuracies = ["mlm_accuracy", "replaced_accuracy", "kept_accuracy", "nsp_accuracy"]
    assert list(first) == ["id", "parameters", "mlm_loss", *accuracies, "intervals"]


def test_a_model_without_a_head_has_null(tokenizer, tmp_path: Path, capsys):
    model = BiLSTMForMaskedLM(BiLSTMConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1))
    model.save_pretrained(tmp_path / "lstm")
    tokenizer.save_pretrained(tmp_path / "lstm")
    assert main([str(tmp_path / "lstm")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["nsp_accuracy"] is None
    assert 0 < printed["mlm_loss"] < 2 * math.log(9)
    encoder = tmp_path / "encoder"
    _constant_bert(HALF_CAT, 0.0).bert.save_pretrained(encoder)
    tokenizer.save_pretrained(encoder)
    assert main([str(encoder)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mlm_loss"] is printed["mlm_accuracy"] is printed["nsp_accuracy"] is None


def test_bad_input_gets_a_message_and_the_others_are_measured(folder: Path, tmp_path: Path, capsys):
    assert main([str(folder), "--corpus", str(tmp_path / "missing.xz")]) == 2
    assert "There is no corpus file" in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main([str(empty), str(folder)]) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert printed.err.strip()
    assert json.loads(printed.out)["id"] == str(folder)
