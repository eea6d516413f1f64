"""A lens fitted as a job: what a fit repairs and what it cannot, parts and whole, stopped and refused."""

import numpy as np
import pytest
from checkpoints import Checkpoint

from analysis import lens_fit
from evidence.lens_sentences import LensSentences, lens_sentences
from evidence.questions.lens import JudgeLens, ReadMasks
from jobs import lens_fitting
from jobs.lens_fitting import LensFitting
from model_zoo import Engine
from model_zoo.types import FittedLens

TINY = "embedded/tinybert"


def done(job: LensFitting) -> LensFitting:
    while job.running:
        job.advance()
    return job


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer sentences of each kind."""
    sentences = lens_sentences()
    small = LensSentences(
        sentences.fitted[:40], sentences.templates[:20], sentences.judging[::14], sentences.units[::14]
    )
    monkeypatch.setattr(lens_fitting, "lens_sentences", lambda _user_texts: small)


@pytest.mark.slow
def test_a_fit_to_the_models_own_states_is_better_than_none_and_one_to_shuffled_states_is_not(engine: Engine) -> None:
    """On held-out masks, after every layer of the Tiny BERT."""
    sentences = lens_sentences()
    read = engine.ask(ReadMasks(TINY, sentences.fitted[:200], 4))
    info, target = engine.info(TINY), read.vectors[:, -1]
    shuffled = np.random.default_rng(0).permutation(len(target))

    def judged(vectors: np.ndarray) -> lens_fit.JudgedLens:
        changes = [lens_fit.fit(vectors[:, layer], target, read.text_of) for layer in range(info.n_layers)]
        lens = FittedLens.from_changes(TINY, info.revision, len(target), np.stack(changes), target.mean(axis=0))
        return lens_fit.judged(lens, engine.ask(JudgeLens(TINY, sentences.judging[:80], lens, 2)))

    true, random = judged(read.vectors), judged(read.vectors[shuffled])
    for layer in range(info.n_layers):
        assert true.fitted[layer].mean < true.logit[layer].mean
        assert random.fitted[layer].high >= random.logit[layer].low
        assert random.fitted[layer].mean > 0.97 * random.average.mean  # it knows no more than the average
    assert true.fitted[1].high < true.logit[1].low


@pytest.mark.usefixtures("few")
def test_in_parts_it_is_as_in_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    job = LensFitting(engine, TINY)
    shares, messages = [], []
    while job.running:
        shares.append(job.share)
        messages.append(job.progress)
        assert job.judged_lens is None
        assert job.n_ended == 0
        job.advance()
    assert shares == sorted(shares)
    assert (job.complete, job.share, job.n_ended) == (True, 1.0, 1)
    for doing in ("Reading masks: 10 of 75 sentences", "Fitting layer 0: 60 of", "Judging on other sentences: 70 of"):
        assert any(message.startswith(doing) for message in messages)
    monkeypatch.setattr(lens_fitting, "_AT_ONCE", 1000)
    in_parts, at_once = job.judged_lens, done(LensFitting(engine, TINY)).judged_lens
    assert in_parts is not None
    assert at_once is not None
    assert (in_parts.n_masks, in_parts.n_texts) == (at_once.n_masks, at_once.n_texts)
    assert in_parts.n_texts == 15
    assert 4 * 40 <= in_parts.lens.n_masks + 20 <= 4 * 40 + 2 * 20
    for mine, other in zip((*in_parts.logit, *in_parts.fitted), (*at_once.logit, *at_once.fitted), strict=True):
        assert mine.mean == pytest.approx(other.mean, abs=2e-3)
    lens = engine.mask_lens(TINY, "The cat sat on the [MASK].", fitted=in_parts.lens)
    assert len(lens[0].layers) == 3


@pytest.mark.usefixtures("few")
def test_stopped_it_leaves_nothing_half(engine: Engine) -> None:
    job = LensFitting(engine, TINY)
    while job.share < 0.9:
        job.advance()
    job.stop()
    done(job)
    assert job.judged_lens is None
    assert not job.complete
    assert job.failure is None


def test_what_cannot_be_fitted_says_why(engine: Engine, checkpoint: Checkpoint) -> None:
    for name, why in (("bart", "reads its decoder"), ("xlnet", "cannot fill masks")):
        job = done(LensFitting(engine, str(checkpoint(name))))
        assert job.judged_lens is None
        assert job.failure is not None
        assert why in job.failure


@pytest.mark.usefixtures("few")
def test_a_causal_model_is_fitted_too(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    job = done(LensFitting(engine, model))
    assert job.failure is None
    assert job.judged_lens is not None
    assert len(job.judged_lens.fitted) == engine.info(model).n_layers
    (lens,) = engine.next_lens(model, "The cat sat on the", fitted=job.judged_lens.lens)
    assert lens.ranks[-1] == 1
