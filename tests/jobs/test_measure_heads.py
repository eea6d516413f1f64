"""Heads measured in many texts, searched in a file of attention, and explanations put to the test."""

import math

import numpy as np
import pytest
from checkpoints import Checkpoint

from analysis.corpus.pattern import Pattern
from analysis.corpus.reading import built_in, read_corpus
from analysis.corpus.relations import ALL
from analysis.corpus.sentences import Corpus
from evidence import corpus as corpus_questions
from evidence.questions.look import Look
from jobs.attention_search import AttentionSearchJob
from jobs.explaining import METHODS, NEARNESS, RANDOM, Explained, explain
from jobs.measure_heads import MeasureHeadsJob
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.questions.intervene import Intervene
from model_zoo.registry import UNTRAINED
from model_zoo.types import Change, TargetAnswer
from reading.sentences import plain_words

TINY = "embedded/tinybert"


def done(job: MeasureHeadsJob) -> MeasureHeadsJob:
    while job.running:
        job.advance()
    return job


def test_with_trees_it_goes_through_three_stages(engine: Engine) -> None:
    job = MeasureHeadsJob(engine, TINY, built_in(60))
    shares, messages, ended = [], [], []
    while job.running:
        shares.append(job.share)
        messages.append(job.progress)
        ended.append(job.n_ended)
        job.advance()
    assert shares == sorted(shares)
    assert (job.complete, job.share, job.n_ended) == (True, 1.0, 3)
    assert set(ended) >= {0, 1, 2}
    for stage in ("Measuring every head", "The same shape, random weights", "Heads that look together"):
        assert any(message.startswith(stage) for message in messages)
    results = job.results
    assert results is not None
    assert results.statistics.n_texts == 60
    assert results.at_random is not None
    assert results.ensembles
    assert results.findings.get(ALL) is not None
    assert 1 <= len(results.ensemble(ALL).heads) <= 4
    assert results.missing == ""


def test_without_trees_there_is_one_stage_and_a_model_that_cannot_be_measured_says_why(engine: Engine) -> None:
    corpus = read_corpus([("lines.txt", b"The cat sat.\nA dog slept.\nIt was late.\n")])
    job = done(MeasureHeadsJob(engine, TINY, corpus))
    assert (job.complete, job.n_total) == (True, 3)
    assert (job.results.findings.relations, job.results.at_random) == ((), None)
    job = done(MeasureHeadsJob(engine, "embedded/bilstm", built_in(5)))
    assert job.results is None
    assert "no attention" in str(job.failure)


def test_what_was_measured_stays_when_it_is_stopped(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_questions, "AT_ONCE", 10)
    job = MeasureHeadsJob(engine, TINY, built_in(60))
    for _ in range(3):
        job.advance()
    job.stop()
    done(job)
    assert not job.complete
    assert job.results is not None
    assert 0 < job.results.statistics.n_texts < 60
    assert job.results.at_random is None


def test_without_random_weights_the_rest_is_done(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(engine: Engine, model: str, corpus: object) -> object:
        if model.startswith(UNTRAINED):
            engine.info("no/such-model-anywhere")
        return corpus_questions.measure_heads(engine, model, corpus)

    monkeypatch.setattr("evidence.surveying.measure_heads", refusing)
    job = done(MeasureHeadsJob(engine, TINY, built_in(40)))
    assert job.results is not None
    assert job.results.at_random is None
    assert job.results.ensembles
    assert "no/such-model-anywhere" in job.results.missing


IT, CAT = Pattern("word", ("it",)), Pattern("word", ("cat",))


def corpus(n: int = 300) -> Corpus:
    made = Corpus()
    for number in range(n):
        text = f"The cat {number} sat because it was tired ." if number % 3 else f"A dog {number} barked ."
        made.add(text, plain_words(text))
    return made


def run(job: AttentionSearchJob, until: int = 10_000) -> AttentionSearchJob:
    while job.running and job.n_done < until:
        job.advance()
    return job


def test_it_finds_what_one_question_about_all_finds(engine: Engine) -> None:
    job = run(AttentionSearchJob(engine, TINY, corpus(), IT, CAT))
    assert job.complete
    assert job.share == 1
    assert job.n_total == 200  # those with both words
    complete = engine.ask(Look(TINY, tuple(corpus()), IT, CAT))
    assert job.looks is not None
    np.testing.assert_array_equal(job.looks.n, complete.n)
    np.testing.assert_allclose(job.looks.weight, complete.weight, rtol=1e-6)
    np.testing.assert_allclose(job.looks.hits.weight, complete.hits.weight, atol=1e-6)


def test_when_it_is_stopped_what_was_found_stays(engine: Engine) -> None:
    job = run(AttentionSearchJob(engine, TINY, corpus(), IT, CAT, 1, 2), 1)
    job.stop()
    job.advance()
    assert not job.running
    assert not job.complete
    assert job.looks is not None
    assert job.n_done == job.looks.n_found == job.looks.n[0] == 64
    job._seconds = 8.0
    assert job.progress == "Searching: 64 of 200 sentences, about 17 seconds left."


def test_where_no_sentence_can_match_no_model_is_asked_and_why_it_cannot_be_had_is_told(engine: Engine) -> None:
    job = run(AttentionSearchJob(None, TINY, corpus(), IT, Pattern("word", ("zebra",))))
    assert (job.complete, job.looks, job.n_total) == (True, None, 0)
    for model, layer, words in (
        ("embedded/bilstm", None, "has no attention"),
        (TINY, 2, "2 layers, 0 to 1"),
        (TINY, 99, "no layer 99"),
    ):
        assert words in str(run(AttentionSearchJob(engine, model, corpus(), IT, CAT, layer)).failure)


def explained(engine: Engine, question: Intervene) -> Explained:
    *_, last = explain(engine, question, "log P")
    return last


def shares(engine: Engine, question: Intervene, hidden: list[tuple[int, ...]]) -> list[float]:
    """P of the answer with tokens hidden, as a share of P in the whole text."""
    changes = [Change(hidden=places) for places in hidden]
    effects = engine.intervene(question.model, question.text, changes, aim=question.aim)
    return [math.exp(reading.log_probability - effects.untouched.log_probability) for reading in effects.readings]


def test_nearness_hides_the_words_next_to_the_mask_first(engine: Engine) -> None:
    """The comma and the full stop are never hidden, and every method ranks the five words alone."""
    question = Intervene(TINY, "A cat, it [MASK] on mats.")  # [CLS] a cat , it [MASK] on mat ##s . [SEP]
    assert engine.encode(TINY, question.text).tokens[7:9] == ("mats", ".")
    result = explained(engine, question)
    assert [result.units[place].label for place in result.words] == ["A", "cat", "it", "on", "mats"]
    assert [unit.label for unit in result.units] == ["A", "cat", ",", "it", "on", "mats", "."]
    assert {name for name, _ in result.curves} == {*METHODS, NEARNESS, RANDOM}
    assert {len(curve) for curve in result.curves.values()} == {6}
    steps = [(), (4,), (4, 6), (2, 4, 6), (2, 4, 6, 7), (1, 2, 4, 6, 7)]
    expected = shares(engine, question, steps)
    assert result.curves[NEARNESS, "deletion"] == pytest.approx(expected, abs=1e-4)
    rest = [tuple({*steps[-1]} - {*step}) for step in steps]
    assert result.curves[NEARNESS, "insertion"] == pytest.approx(shares(engine, question, rest), abs=1e-4)
    table = result.to_frame().set_index(["method", "word"])
    assert table.loc[("occlusion", "mats"), ["first_token", "last_token"]].tolist() == [7, 7]
    assert table.loc[("occlusion", "cat"), "score"] == pytest.approx(result.scores["occlusion"][1] / math.log(2))
    assert table.loc[("DecompX", "cat"), "score"] == result.scores["DecompX"][1]


def test_of_what_comes_next_the_last_words_are_nearest(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    question = Intervene(model, "The cat saw the", aim=TargetAnswer("next token"))
    result = explained(engine, question)
    assert [unit.label for unit in result.units] == ["The", "cat", "saw", "the"]
    last = result.units[3]
    near = shares(engine, question, [(), tuple(range(last.start, last.stop))])
    assert result.curves[NEARNESS, "deletion"][:2] == pytest.approx(near, abs=1e-4)


def test_a_text_too_long_for_one_method_has_the_others(engine: Engine) -> None:
    long = " ".join(["qzx" * 30] * 4)
    question = Intervene(TINY, f"A [MASK] {long}.")
    assert len(engine.encode(TINY, question.text)) > 256
    result = explained(engine, question)
    assert set(result.failures) == {"value zeroing"}
    assert "Shorten the text" in result.failures["value zeroing"]
    assert set(result.scores) == {*METHODS} - {"value zeroing"}


def test_an_answer_to_a_whole_text_is_near_no_word_and_a_difference_needs_two(engine: Engine) -> None:
    question = Intervene(TINY, "The cat sat.", text_pair="It slept.", aim=TargetAnswer("next sentence"))
    result = explained(engine, question)
    assert (RANDOM, "deletion") in result.curves
    assert (NEARNESS, "deletion") not in result.curves
    with pytest.raises(InvalidInput, match="Give the second one"):
        list(explain(engine, Intervene(TINY, "A [MASK] sat."), "logit difference"))
