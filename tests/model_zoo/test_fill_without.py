"""A model kept from seeing what comes later, or where tokens stand."""

import pytest
import torch
from checkpoints import Checkpoint
from transformers import AutoModelForMaskedLM

from model_zoo import Engine, sources
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.types import MaskPrediction, Without

TEXT, MASK = "The cat sat on the mat because it was tired.", 8
WORDS = ("the", "dog", "saw", "a", "cat") * 30
SHIPPED = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")


def same(first: MaskPrediction, other: MaskPrediction) -> bool:
    return [p.id for p in first.best] == [p.id for p in other.best] and [
        p.probability for p in first.best
    ] == pytest.approx([p.probability for p in other.best], abs=1e-5)


@pytest.mark.parametrize("model", SHIPPED)
def test_without_nothing_it_is_the_usual_answer(engine: Engine, model: str) -> None:
    assert engine.fill_without(model, TEXT, (MASK,), without="") == engine.fill_mask(model, TEXT, masked=(MASK,))


@pytest.mark.parametrize("model", SHIPPED)
def test_without_the_future_later_words_change_nothing(engine: Engine, model: str) -> None:
    mask = engine.encode(model, TEXT).tokens.index(next(t for t in engine.encode(model, TEXT).tokens if "it" in t[-2:]))
    (first,) = engine.fill_without(model, TEXT, (mask,), without="future")
    (other,) = engine.fill_without(model, "The cat sat on the mat because it ate many fish.", (mask,), without="future")
    assert same(first, other)
    (usual,) = engine.fill_mask(model, TEXT, masked=(mask,))
    assert not same(first, usual)


@pytest.mark.parametrize("model", SHIPPED)
def test_the_future_is_hidden_beside_what_a_layer_hides_by_itself(engine: Engine, model: str) -> None:
    """Against plain transformers given masks by hand: in ModernBERT's local layers causal and within their window."""
    text = "The cat [MASK] on the mat because it was tired, and the dog was waiting in the garden for the boy. " * 2
    network = AutoModelForMaskedLM.from_pretrained(sources.find(model).folder, attn_implementation="eager").eval()
    encoding, hidden = engine.encode(model, text), torch.finfo(torch.float32).min
    ids, n = torch.tensor([encoding.ids]), len(encoding)
    places = torch.arange(n)
    later = places[None, :] > places[:, None]
    far = (places[None, :] - places[:, None]).abs() > getattr(network.config, "local_attention", 2 * n) // 2
    masks = {
        kind: torch.zeros(n, n).masked_fill(out, hidden)[None, None]
        for kind, out in (("full_attention", later), ("sliding_attention", later | far))
    }
    with torch.inference_mode():
        by_layer = masks if model == "embedded/modernbert" else masks["full_attention"]
        expected, seeing_all = (
            network(ids, attention_mask=mask).logits[0].softmax(dim=-1) for mask in (by_layer, masks["full_attention"])
        )
    predictions = engine.fill_without(model, text, without="future", top_k=5)
    for answer in predictions:
        for first in answer.best:
            assert first.probability == pytest.approx(float(expected[answer.position, first.id]), abs=1e-5)
    last = expected[predictions[-1].position], seeing_all[predictions[-1].position]
    assert bool(((last[0] - last[1]).abs() > 0.01).any()) == bool(far.any())


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
def test_other_families_go_without_it(family: str, checkpoint: Checkpoint, engine: Engine) -> None:
    model = str(checkpoint(family))
    beginnings = (" the cat [MASK] on the mat", " the cat [MASK] in a garden")
    first, other = (engine.fill_without(model, text, without="future")[0] for text in beginnings)
    assert same(first, other)
    shuffled = (" cat the [MASK] dog the", " dog the [MASK] the cat")
    first, other = (engine.fill_without(model, text, without="positions")[0] for text in shuffled)
    assert same(first, other)


@pytest.mark.parametrize("family", ["deberta", "fnet", "longformer", "mobilebert", "mpnet"])
@pytest.mark.parametrize("without", ["future", "positions"])
def test_families_that_may_see_it_otherwise(
    family: str, without: Without, checkpoint: Checkpoint, engine: Engine
) -> None:
    with pytest.raises(NotSupported, match="Choose another model"):
        engine.fill_without(str(checkpoint(family)), "The [MASK] sat.", without=without)


def test_there_is_nothing_else_to_go_without(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="future or positions"):
        engine.fill_without("embedded/bert", "The [MASK] sat.", without="past")  # type: ignore[arg-type]
