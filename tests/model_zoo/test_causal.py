"""What a causal language model says equals what transformers computes from the same weights, text by text."""

import numpy as np
import pytest
import torch
from checkpoints import N_LAYERS, Checkpoint
from transformers import GPT2LMHeadModel

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FloatArray

TEXT = "The cat sat on the mat because it was tired."
TEXTS = [TEXT, "It", "She walked home with the dog."]


@pytest.fixture
def model(checkpoint: Checkpoint) -> str:
    return str(checkpoint("gpt2"))


def slow(model: str, ids: tuple[int, ...]) -> tuple[FloatArray, list[torch.Tensor], GPT2LMHeadModel]:
    """ln P (n, vocabulary) of what follows each token, the hidden states of every layer, and the network."""
    network = GPT2LMHeadModel.from_pretrained(model, attn_implementation="eager").eval()
    with torch.no_grad():
        output = network(torch.tensor([ids]), output_hidden_states=True)
        return output.logits[0].log_softmax(-1).numpy(), [state[0] for state in output.hidden_states], network


def test_a_causal_model_says_that_it_is_one(engine: Engine, model: str, checkpoint: Checkpoint) -> None:
    assert engine.info(model).lm
    assert not engine.info(model).mlm
    assert not engine.info(str(checkpoint("bert"))).lm
    assert not engine.info(f"untrained:{model}").lm


def test_many_texts_have_the_next_tokens_of_each_alone(engine: Engine, model: str) -> None:
    """And alone those that transformers gives."""
    fresh = Engine("cpu")
    for text, answer in zip(TEXTS, engine.next_tokens(model, TEXTS, top_k=5), strict=True):
        alone, ids = fresh.next_tokens(model, text, top_k=5), engine.encode(model, text).ids
        logs = slow(model, ids)[0][-1]
        for either in (alone, answer):
            assert (either.position, either.original) == (len(ids), None)
            assert [best.id for best in either.best] == np.argsort(-logs)[:5].tolist()
            probabilities = [best.probability for best in either.best]
            assert probabilities == pytest.approx(np.exp(np.sort(logs)[::-1][:5]), abs=1e-5)


def test_a_target_follows_the_text_as_a_word(engine: Engine, model: str) -> None:
    answer = engine.next_tokens(model, "The cat sat on the", targets=["mat", "\u0120was", "."])
    written = engine.encode(model, "The cat sat on the mat")
    assert answer.targets[0].id == written.ids[-1]
    assert answer.targets[0].token == "\u0120mat"
    logs = slow(model, written.ids[:-1])[0][-1]
    for target in answer.targets:
        assert target.log_probability == pytest.approx(logs[target.id], abs=1e-5)
        assert target.rank == 1 + int((logs > logs[target.id]).sum())


def test_scores_equal_transformers_token_by_token(engine: Engine, model: str) -> None:
    together = engine.token_scores(model, TEXTS)
    for text, scores in zip(TEXTS, together, strict=True):
        ids = scores.encoding.ids
        logs = slow(model, ids)[0]
        assert scores.scheme == "causal"
        assert np.isnan(scores.log_probabilities[0])  # nothing stands before it
        assert scores.guesses[0] is None
        for place in range(1, len(ids)):
            assert scores.log_probabilities[place] == pytest.approx(logs[place - 1, ids[place]], abs=1e-4)
            guess = scores.guesses[place]
            assert guess.id == int(logs[place - 1].argmax())
        assert engine.token_scores(model, text, scheme="causal") is scores
    preference = engine.prefer(model, TEXT, TEXTS[2])
    assert preference.a.scheme == "causal"
    assert preference.difference == pytest.approx(together[0].log_likelihood - together[2].log_likelihood, abs=1e-4)
    # The loss that transformers itself computes is their mean.
    network = GPT2LMHeadModel.from_pretrained(model).eval()
    with torch.no_grad():
        loss = network(torch.tensor([together[0].encoding.ids]), labels=torch.tensor([together[0].encoding.ids])).loss
    assert -together[0].log_likelihood / together[0].n_scored == pytest.approx(float(loss), abs=1e-4)


def test_the_lens_reads_every_layer_through_the_final_norm(engine: Engine, model: str) -> None:
    """The logit lens by its definition, on GPT-2's own parts; the last layer is the model's answer."""
    ids = engine.encode(model, TEXT).ids
    logs, states, network = slow(model, ids)
    (behind,) = engine.next_lens(model, TEXT, top_k=2)
    assert behind.position == len(ids)
    assert behind.original_ranks is None
    assert len(behind.layers) == N_LAYERS + 1
    for layer, state in enumerate(states):
        with torch.no_grad():
            read = state if layer == N_LAYERS else network.transformer.ln_f(state)
            expected = network.lm_head(read)[-1].log_softmax(-1).numpy()
        assert behind.log_probabilities[layer] == pytest.approx(expected[behind.answer.id], abs=1e-4)
        assert behind.ranks[layer] == 1 + int((expected > expected[behind.answer.id]).sum())
    assert behind.answer.id == int(logs[-1].argmax())
    third, last = engine.next_lens(model, TEXT, positions=[3, len(ids) - 1])
    assert third.original_ranks[-1] == 1 + int((logs[2] > logs[2, ids[3]]).sum())
    assert last.answer.id == int(logs[-2].argmax())


def test_what_cannot_be_asked_is_refused(engine: Engine, model: str, checkpoint: Checkpoint) -> None:
    bert = str(checkpoint("bert"))
    for ask in (engine.next_tokens, engine.next_lens):
        with pytest.raises(NotSupported, match=r"has no head that predicts the next token.*\. Type a mask"):
            ask(bert, TEXT)
    with pytest.raises(NotSupported, match="has no head that predicts the next token"):
        engine.token_scores(bert, TEXT, scheme="causal")
    with pytest.raises(InvalidInput, match="reads left to right and masks nothing"):
        engine.token_scores(model, TEXT, scheme="original")
    for position in (0, 99):
        with pytest.raises(InvalidInput, match=f"position {position} cannot be traced"):
            engine.next_lens(model, TEXT, positions=[position])
    for ask in (engine.next_tokens, engine.next_lens):
        with pytest.raises(InvalidInput, match="what comes after its end cannot be told"):
            ask(model, "cat " * 500)
