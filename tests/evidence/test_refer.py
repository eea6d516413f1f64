"""Attention from pronouns: against attention summed word by word, in every kind of model; what cannot be placed."""

from dataclasses import replace

import numpy as np
import pytest
from checkpoints import Checkpoint

from analysis.corpus.coreference import PronounAttention, built_in, read_pairs, right
from analysis.corpus.sentences import Sentence, is_judged
from evidence.questions.refer import Refer
from jobs.coreference import CoreferenceJob
from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from serving.wire import pack, unpack

TINY = "embedded/tinybert"
EVERY = tuple(built_in().corpus)
SENTENCES = EVERY[::5]


def _by_hand(engine: Engine, model: str, sentence: Sentence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Antecedent, distractor and whether the first is strongest, (heads,), by loops over tokens."""
    run = engine.attend(model, sentence.text)
    stops = [
        0 if special else stop for (_, stop), special in zip(run.encoding.offsets, run.encoding.special, strict=True)
    ]
    tokens = [[at for at, stop in enumerate(stops) if start < stop <= end] for start, end in sentence.spans]
    pronoun, right, wrong = sentence.coreference
    rows = []
    for layer in range(run.n_layers):
        for head in range(run.n_heads):
            matrix = run.head(layer, head)
            rows.append([np.mean([matrix[row, word].sum() for row in tokens[pronoun]]) for word in tokens])
    shares = np.array(rows)
    others = [place for place in range(len(sentence)) if place not in (pronoun, right)]
    return shares[:, right], shares[:, wrong], shares[:, right] > shares[:, others].max(axis=1)


@pytest.mark.parametrize("model", [TINY, "embedded/modernbert", "gpt2", "deberta"])
def test_attention_is_that_of_one_sentence_at_a_time(model: str, engine: Engine, checkpoint: Checkpoint) -> None:
    name = model if "/" in model else str(checkpoint(model))
    attention = engine.ask(Refer(name, SENTENCES[:6]))
    assert sorted([*attention.numbers, *attention.left_out]) == [known.number for known in SENTENCES[:6]]
    for row, number in enumerate(attention.numbers):
        (sentence,) = (known for known in SENTENCES if known.number == number)
        antecedent, distractor, strongest = _by_hand(engine, name, sentence)
        np.testing.assert_allclose(attention.antecedent[row], antecedent, atol=1e-5)
        np.testing.assert_allclose(attention.distractor[row], distractor, atol=1e-5)
        assert (attention.strongest[row] == strongest).mean() > 0.95  # but for rounding


def test_parts_join_to_the_whole(engine: Engine) -> None:
    complete = engine.ask(Refer(TINY, SENTENCES))
    parts = [engine.ask(Refer(TINY, SENTENCES[start::17])) for start in range(17)]
    joined = PronounAttention.joined(parts[::-1])
    assert joined.heads == complete.heads
    assert joined.numbers.tolist() == complete.numbers.tolist() == [sentence.number for sentence in SENTENCES]
    np.testing.assert_allclose(joined.antecedent, complete.antecedent, atol=1e-6)
    np.testing.assert_allclose(joined.distractor, complete.distractor, atol=1e-6)
    question = Refer(TINY, SENTENCES[:3])
    assert unpack(pack(question)) == question
    attention = engine.ask(question)
    again = unpack(pack(attention))
    assert again.heads == attention.heads
    assert np.array_equal(again.antecedent, attention.antecedent)
    # Words that the tokenizer cuts off are told.
    long = f"{'zqxjkvb ' * 150}the [cat] {'and ' * 40}saw the {{lamp}} when <it> woke"
    pairs = read_pairs("own", f"The [cat] saw the {{lamp}} when <it> woke.\n{long}".encode())
    attention = engine.ask(Refer(TINY, tuple(pairs.corpus)))
    assert attention.numbers.tolist() == [0]
    assert attention.left_out.tolist() == [1]
    alone = engine.ask(Refer(TINY, pairs.corpus.take([1])))
    assert len(alone.numbers) == 0
    assert PronounAttention.joined([alone, engine.ask(Refer(TINY, pairs.corpus.take([0])))]).left_out.tolist() == [1]
    with pytest.raises(InvalidInput, match="no pronoun, antecedent and distractor"):
        Refer(TINY, (replace(SENTENCES[0], coreference=None),))
    with pytest.raises(InvalidInput, match="no sentences"):
        Refer(TINY, ())
    with pytest.raises(NotSupported, match="no attention to show"):
        engine.ask(Refer("embedded/bilstm", SENTENCES[:1]))


def test_a_job_asks_the_model_and_random_weights(engine: Engine) -> None:
    job = CoreferenceJob(engine, TINY, built_in())
    for _ in job.steps():
        assert 0 < job.share <= 1
        assert job.progress.endswith(".")
    assert job.share == 1
    assert job.trained.numbers.tolist() == job.random.numbers.tolist() == list(range(200))
    assert not np.allclose(job.trained.antecedent, job.random.antecedent)
    judged = job.judged("most")
    assert judged is job.judged("most"), "once"
    assert job.judged("most", random=True) is not None
    choosing = ~is_judged([sentence.unit for sentence in EVERY])
    assert judged.choosing.tolist() == right(job.trained, "most")[choosing].mean(axis=0).tolist()


def test_a_job_that_is_stopped_keeps_what_it_found(engine: Engine) -> None:
    job = CoreferenceJob(engine, "embedded/modernbert", built_in(), random=False)
    next(job.steps())
    assert 0 < len(job.trained.numbers) < 200
    assert job.random is None
