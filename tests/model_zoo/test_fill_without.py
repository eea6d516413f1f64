"""A model kept from seeing what comes later, or where tokens stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import MaskPrediction, Without

TEXT, MASK = "The cat sat on the mat because it was tired.", 8
WORDS = ("the", "dog", "saw", "a", "cat") * 30
SHIPPED = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")


def same(one: MaskPrediction, other: MaskPrediction) -> bool:
    return [p.id for p in one.best] == [p.id for p in other.best] and [
        p.probability for p in one.best
    ] == pytest.approx([p.probability for p in other.best], abs=1e-5)


@pytest.mark.parametrize("model", SHIPPED)
def test_without_nothing_it_is_the_usual_answer(engine: Engine, model: str) -> None:
    assert engine.fill_without(model, TEXT, (MASK,), without="") == engine.fill_mask(model, TEXT, masked=(MASK,))


@pytest.mark.parametrize("model", SHIPPED)
def test_without_the_future_later_words_change_nothing(engine: Engine, model: str) -> None:
    mask = engine.encode(model, TEXT).tokens.index(next(t for t in engine.encode(model, TEXT).tokens if "it" in t[-2:]))
    (one,) = engine.fill_without(model, TEXT, (mask,), without="future")
    (other,) = engine.fill_without(model, "The cat sat on the mat because it ate many fish.", (mask,), without="future")
    assert same(one, other)
    (usual,) = engine.fill_mask(model, TEXT, masked=(mask,))
    assert not same(one, usual)


def test_the_mask_is_the_one_that_transformers_takes(engine: Engine) -> None:
    (found,) = engine.fill_without("embedded/bert", TEXT, (MASK,), without="future")
    with engine._memory.lease("embedded/bert") as loaded:
        inputs = loaded.inputs([loaded.encode(TEXT)])
        inputs["input_ids"][0, MASK] = loaded.tokenizer.mask_token_id
        n = inputs["input_ids"].shape[1]
        hidden = torch.full((n, n), torch.finfo(torch.float32).min).triu(1)[None, None]  # added to the scores
        with torch.inference_mode():
            logits = loaded.model(**inputs, attention_mask=hidden).prediction_logits[0, MASK]
    best = logits.softmax(dim=0).topk(3)
    assert [p.id for p in found.best[:3]] == best.indices.tolist()
    assert [p.probability for p in found.best[:3]] == pytest.approx(best.values.tolist(), abs=1e-5)


@pytest.mark.parametrize("model", SHIPPED)
def test_without_positions_the_order_of_words_is_lost(engine: Engine, model: str) -> None:
    """Words that are one token each, whichever comes first: the guess at the mask is the same."""
    texts = (" the cat saw the dog [MASK] the tree", " the tree dog the saw [MASK] cat the")
    plain, shuffled = (engine.fill_without(model, text, without="positions")[0] for text in texts)
    long = [
        " the cat saw the dog [MASK] the tree" + " ".join(f" {word}" for word in words)
        for words in (WORDS, WORDS[::-1])
    ]
    assert same(*(engine.fill_without(model, text, without="positions")[0] for text in long))  # beyond any window
    first, second = (sorted(engine.encode(model, text).ids) for text in texts)
    assert first == second
    assert same(plain, shuffled)
    assert not same(*(engine.fill_mask(model, text)[0] for text in texts))


@pytest.mark.parametrize("family", ["albert", "camembert", "distilbert", "electra_generator", "roberta", "xlm-roberta"])
def test_other_families_go_without_it(family: str, checkpoint: Callable[[str], Path], engine: Engine) -> None:
    model = str(checkpoint(family))
    beginnings = (" the cat [MASK] on the mat", " the cat [MASK] in a garden")
    one, other = (engine.fill_without(model, text, without="future")[0] for text in beginnings)
    assert same(one, other)
    shuffled = (" cat the [MASK] dog the", " dog the [MASK] the cat")
    one, other = (engine.fill_without(model, text, without="positions")[0] for text in shuffled)
    assert same(one, other)


@pytest.mark.parametrize("family", ["deberta", "fnet", "longformer", "mobilebert", "mpnet"])
@pytest.mark.parametrize("without", ["future", "positions"])
def test_a_family_that_may_see_it_by_other_ways_says_that_it_cannot(
    family: str, without: Without, checkpoint: Callable[[str], Path], engine: Engine
) -> None:
    with pytest.raises(NotSupported, match="Choose another model"):
        engine.fill_without(str(checkpoint(family)), "The [MASK] sat.", without=without)


def test_there_is_nothing_else_to_go_without(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="future or positions"):
        engine.fill_without("embedded/bert", "The [MASK] sat.", without="past")  # type: ignore[arg-type]
