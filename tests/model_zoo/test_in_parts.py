"""What is asked of a text word by word: in one batch where it can be, in parts where that takes long."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoints import Checkpoint

from model_zoo import Engine, prediction_heads
from model_zoo.questions.fill_mask import FillMask
from model_zoo.questions.score_tokens import ScoreTokens
from model_zoo.types import Scheme, TokenScores

TEXT = "The cat sat on the mat because it was tired."


@pytest.mark.slow
def test_one_text_with_other_words_hidden_is_filled_in_one_batch(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where each word is hidden in turn."""
    fresh = Engine("cpu")
    questions = [FillMask("embedded/bert", TEXT, 1, {2, place}, [1996]) for place in range(3, 6)]
    encoded: list[int] = []
    real = prediction_heads.states_of
    monkeypatch.setattr(
        prediction_heads,
        "states_of",
        lambda loaded, some, *more: encoded.append(len(some)) or real(loaded, some, *more),
    )
    filled = dict(fresh.stream_all(questions))
    assert encoded == [3]
    for place, question in enumerate(questions):
        alone = engine.fill_mask("embedded/bert", TEXT, 1, masked=question.masked, targets=[1996])
        assert (
            [prediction.position for prediction in filled[place]]
            == [prediction.position for prediction in alone]
            == [2, place + 3]
        )
        for mine, expected in zip(filled[place], alone, strict=True):
            assert mine.targets[0].log_probability == pytest.approx(expected.targets[0].log_probability, abs=1e-4)
            assert mine.original == expected.original or mine.original is not None


@pytest.mark.parametrize("scheme", ["original", "word l2r"])
def test_a_text_is_scored_in_parts_as_at_once(scheme: Scheme, engine: Engine) -> None:
    text = "She played the clavichord again."
    full = engine.token_scores("embedded/bert", text, scheme=scheme)
    n = len(full.encoding)
    parts = [ScoreTokens("embedded/bert", text, scheme, range(first, first + 3)) for first in range(0, n, 3)]
    scored = [part for _, part in engine.stream_all(parts)]
    assert sorted(part.n_scored for part in scored) == sorted(
        int(np.isfinite(full.log_probabilities[first : first + 3]).sum()) for first in range(0, n, 3)
    )
    joined = TokenScores.joined(scored)
    np.testing.assert_allclose(joined.log_probabilities, full.log_probabilities, atol=1e-4)
    assert [guess and guess.token for guess in joined.guesses] == [guess and guess.token for guess in full.guesses]
    assert joined.scheme == scheme


def test_a_causal_model_scores_all_in_one_run(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    part = engine.ask(ScoreTokens(model, TEXT, "causal", [1]))
    assert part.n_scored == engine.token_scores(model, TEXT).n_scored > 1
