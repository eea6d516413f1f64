"""Next-sentence scores of many pairs and of the bundled model, and what is said where there are none."""

from __future__ import annotations

import pytest
from checkpoints import FAMILIES, Checkpoint

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported

A, B = "The cat sat on the mat.", "It was tired of the long day."
PAIRS = [
    (A, B),
    (B, A),
    ("She walked home.", "The river is wide here, but the water is not deep."),
    ("Who wrote this letter?", "He."),
    (A + " " + B, "If it rains tomorrow, we will stay at home and read."),
]


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.nsp])
def test_batches_do_not_change_scores(
    name: str, engine: Engine, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(checkpoint(name))
    alone = [engine.next_sentence(model, a, b).p_next for a, b in PAIRS]
    engine.close()  # or it would remember them
    together = dict(engine.iter_next_sentences(model, PAIRS))
    assert [together[place].p_next for place in range(len(PAIRS))] == pytest.approx(alone, abs=1e-4)
    monkeypatch.setattr("model_zoo.sentence._WINDOW", 2)
    monkeypatch.setattr("model_zoo.running._BATCH_TOKENS", 1)
    engine.close()
    apart = dict(engine.iter_next_sentences(model, PAIRS))
    assert [apart[place].p_next for place in range(len(PAIRS))] == pytest.approx(alone, abs=1e-4)


def test_roberta_says_that_it_dropped_it(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match=r"left next-sentence prediction out of training.*Liu et al\. 2019"):
        engine.next_sentence(str(checkpoint("roberta")), A, B)


def test_an_empty_sentence_is_named(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="Sentence A is empty"):
        engine.next_sentence("embedded/bert", " ", B)
    with pytest.raises(InvalidInput, match="Sentence B of pair 2 is empty"):
        list(engine.iter_next_sentences("embedded/bert", [(A, B), (A, "")]))


def test_no_pairs_give_nothing(engine: Engine, checkpoint: Checkpoint) -> None:
    assert list(engine.iter_next_sentences(str(checkpoint("bert")), [])) == []


def test_the_embedded_model_tells_what_follows(engine: Engine) -> None:
    follows = engine.next_sentence("embedded/bert", "She opened the window.", "Cold air came into the room.")
    random = engine.next_sentence("embedded/bert", "She opened the window.", "Penguins are birds.")
    assert follows.p_next > 0.9
    assert random.p_next < 0.5
