"""Masks of many sentences: their vectors and distances against transformers and scipy; refusals; the sentences."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from by_transformers import slow_model
from checkpoints import SENTENCES, Checkpoint
from scipy.special import rel_entr

from evidence.lens_sentences import lens_sentences
from evidence.questions.lens import JudgeLens, ReadMasks
from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import FittedLens
from serving.wire import pack, unpack

TEXTS = SENTENCES[:4]


def a_lens(engine: Engine, model: str, size: float = 0.1) -> FittedLens:
    """A lens for a model's weights with numbers that were drawn; with ``size`` 0 it changes nothing."""
    info, rng = engine.info(model), np.random.default_rng(0)
    shape = info.n_layers, info.width + 1, info.width
    changes, average = size * rng.normal(size=shape), rng.normal(size=info.width)
    return FittedLens.from_changes(info.id, info.revision, 8, changes, average)


def bert_by_hand(folder: Path, texts: tuple[str, ...]) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Hidden states (masks, layers + 1, width) of every letter-bearing token masked, and the head: P in float64."""
    model, tokenizer = slow_model(folder)
    vectors = []
    for text in texts:
        inputs = tokenizer(text, return_tensors="pt")
        for place, token in enumerate(inputs["input_ids"][0].tolist()):
            if token in tokenizer.all_special_ids or not any(map(str.isalnum, tokenizer.convert_ids_to_tokens(token))):
                continue
            ids = inputs["input_ids"].clone()
            ids[0, place] = tokenizer.mask_token_id
            with torch.no_grad():
                states = model.bert(**{**inputs, "input_ids": ids}, output_hidden_states=True).hidden_states
            vectors.append(np.stack([layer[0, place].numpy() for layer in states]))

    def head(states: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            logits = model.cls.predictions(torch.tensor(states, dtype=torch.float32)).double()
        return logits.softmax(dim=-1).numpy()

    return np.stack(vectors), head


def test_vectors_are_what_the_head_reads_and_distances_those_of_scipy(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("bert")
    vectors, head = bert_by_hand(folder, TEXTS)
    answer = engine.ask(ReadMasks(str(folder), TEXTS, 100))
    order = np.argsort(answer.text_of, kind="stable")  # batches come by length
    assert sorted(set(answer.text_of.tolist())) == [0, 1, 2, 3]
    np.testing.assert_allclose(answer.vectors[order], vectors, atol=1e-5)
    # KL(final ‖ lens) by rel_entr of the probabilities that BERT's own modules give.
    lens = a_lens(engine, str(folder))
    distances = engine.ask(JudgeLens(str(folder), TEXTS, lens, 100))
    order = np.argsort(distances.text_of, kind="stable")
    changes, average = lens.arrays()
    final = head(vectors[:, -1])
    for layer, change in enumerate(changes):
        states = vectors[:, layer]
        for mine, read in ((distances.logit, states), (distances.fitted, states + states @ change[:-1] + change[-1])):
            np.testing.assert_allclose(mine[layer, order], rel_entr(final, head(read)).sum(axis=-1), atol=1e-4)
    np.testing.assert_allclose(distances.average[order], rel_entr(final, head(average[None])).sum(axis=-1), atol=1e-4)


def test_so_many_masks_of_each_text_and_the_same_each_time(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    answer = engine.ask(ReadMasks(model, TEXTS, 2))
    assert np.bincount(answer.text_of).tolist() == [2, 2, 2, 2]
    alone = engine.ask(ReadMasks(model, TEXTS[2:3], 2))
    np.testing.assert_allclose(alone.vectors, answer.vectors[answer.text_of == 2], atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2"])
def test_a_lens_that_changes_nothing_is_the_logit_lens(name: str, engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint(name))
    nothing = a_lens(engine, model, 0)
    distances = engine.ask(JudgeLens(model, TEXTS, nothing))
    np.testing.assert_allclose(distances.fitted, distances.logit, atol=1e-6)
    np.testing.assert_allclose(engine.ask(JudgeLens(model, TEXTS)).logit, distances.logit, atol=1e-6)
    ask = engine.next_lens if name == "gpt2" else engine.mask_lens
    where = {"positions": [3]} if name == "gpt2" else {"masked": [3]}
    lenses = None, nothing, a_lens(engine, model)
    plain, same, other = (ask(model, TEXTS[0], 3, **where, fitted=lens)[0] for lens in lenses)
    assert same.layers[-1] == plain.layers[-1] == other.layers[-1]  # the last layer is the model's own answer
    np.testing.assert_allclose(same.log_probabilities, plain.log_probabilities, atol=1e-5)
    assert np.abs(np.subtract(other.log_probabilities, plain.log_probabilities))[:-1].min() > 1e-4


def test_a_mask_by_a_lens_is_as_by_hand(engine: Engine, checkpoint: Checkpoint) -> None:
    folder = checkpoint("bert")
    text = "The cat [MASK] on the mat."
    model, tokenizer = slow_model(folder)
    inputs = tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    lens = a_lens(engine, str(folder))
    with torch.no_grad():
        states = model.bert(**inputs, output_hidden_states=True).hidden_states[1][0, place]
        change = torch.tensor(lens.arrays()[0][1])
        expected = model.cls.predictions(states + states @ change[:-1] + change[-1]).softmax(dim=-1).topk(3)
    (lens_answer,) = engine.mask_lens(str(folder), text, 3, fitted=lens)
    assert [prediction.id for prediction in lens_answer.layers[1]] == expected.indices.tolist()
    probabilities = [prediction.probability for prediction in lens_answer.layers[1]]
    assert probabilities == pytest.approx(expected.values.tolist(), abs=1e-5)


def test_questions_with_a_lens_travel(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("bert"))
    question = JudgeLens(model, TEXTS, a_lens(engine, model), 2)
    for again in (unpack(pack(question)), pickle.loads(pickle.dumps(question))):
        assert again == question
        assert hash(again) == hash(question)
        np.testing.assert_array_equal(engine.ask(again).logit, engine.ask(question).logit)
    model, other = str(checkpoint("bert")), str(checkpoint("distilbert"))
    lens = a_lens(engine, other)
    with pytest.raises(InvalidInput, match=r"fitted to .* with other weights"):
        engine.ask(JudgeLens(model, TEXTS, lens))
    with pytest.raises(InvalidInput, match="Fit a lens to this model"):
        engine.mask_lens(model, "The [MASK] sat.", fitted=lens)


def test_what_has_no_such_head_is_refused(engine: Engine, checkpoint: Checkpoint) -> None:
    with pytest.raises(NotSupported, match="reads its decoder"):
        engine.ask(ReadMasks(str(checkpoint("bart")), TEXTS))
    with pytest.raises(NotSupported, match="cannot fill masks"):
        engine.ask(ReadMasks(str(checkpoint("xlnet")), TEXTS))
    with pytest.raises(InvalidInput, match="no word to mask"):
        engine.ask(ReadMasks(str(checkpoint("bert")), ("?!",)))
    for texts, most in (((), 4), (TEXTS, 0)):
        with pytest.raises(InvalidInput, match="nothing to mask"):
            ReadMasks("m", texts, most)
    with pytest.raises(InvalidInput, match="more than 1,000"):
        ReadMasks("m", ("A cat.",) * 1001)
    with pytest.raises(InvalidInput, match="Sentence 2 is empty"):
        ReadMasks("m", ("A cat.", " "))


def test_no_sentence_is_on_both_sides() -> None:
    sentences = lens_sentences()
    assert (len(sentences.fitted), len(sentences.templates), len(sentences.judging)) == (400, 400, 200)
    sides = [
        {" ".join(text.casefold().split()) for text in side}
        for side in ((*sentences.fitted, *sentences.templates), sentences.judging)
    ]
    assert not sides[0] & sides[1]
    # Own sentences are on either side but none on both.
    built_in = lens_sentences()
    user_texts = [f"Sentence number {number} is mine." for number in range(9)]
    again = [user_texts[0].upper(), f" {built_in.judging[0]}  ", built_in.fitted[0].lower(), "?!"]
    sentences = lens_sentences([*user_texts, *again])
    assert sentences.judging == (*built_in.judging, user_texts[2], user_texts[5], user_texts[8])
    assert sentences.fitted == (*built_in.fitted, *(user_texts[place] for place in (0, 1, 3, 4, 6, 7)))
    assert sentences.templates == built_in.templates
    # Ten subjects of twenty sentences each, and one's own by themselves.
    assert built_in.units == tuple(np.arange(10).repeat(20))
    assert sentences.units == (*built_in.units, 10, 11, 12)
