"""One step of training by hand is autograd's, and leaves the model as it is."""

import copy

import numpy as np
import pytest
import torch

from model_zoo import Engine
from model_zoo.errors import InvalidInput, OutOfMemory

pytestmark = pytest.mark.slow

TEXTS = (("The cat sat on the mat.", 2), ("She looked at him and shook her head.", 7), ("Birds sing.", 1))
MODELS = ("embedded/bert", "embedded/tinybert", "embedded/modernbert")


def logits_by_transformers(engine: Engine, model: str, text: str, position: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits (vocabulary,) at a hidden token, by the network's own pass, and what its last layer is given."""
    with engine._memory.lease(model) as loaded:
        inputs = loaded.inputs([loaded.encode(text)])
        inputs["input_ids"][0, position] = loaded.tokenizer.mask_token_id
        vectors = []
        head = loaded.model.get_output_embeddings()
        with head.register_forward_pre_hook(lambda _, args: vectors.append(args[0])), torch.inference_mode():
            output = loaded.model(**inputs)
        logits = getattr(output, "prediction_logits", None)
        return (output.logits if logits is None else logits)[0, position].double(), vectors[-1][0, position].double()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("text", "position"), TEXTS)
def test_loss_gradient_and_step_are_those_of_autograd(engine: Engine, model: str, text: str, position: int) -> None:
    step = engine.take_step(model, text, position, rate=0.002)
    logits, vector = (tensor.clone() for tensor in logits_by_transformers(engine, model, text, position))
    free = logits.requires_grad_(True)
    loss = torch.nn.functional.cross_entropy(free[None], torch.tensor([step.answer.id]))
    loss.backward()
    assert step.loss == pytest.approx(float(loss.detach()), abs=1e-5)
    ids = [token.id for token in step.tokens]
    assert step.gradient == pytest.approx(free.grad[ids].tolist(), abs=1e-5)
    # An output layer of its own, with these logits: a step of its weights and bias.
    layer = torch.nn.Linear(len(vector), len(logits)).double()
    with torch.no_grad():
        layer.bias += logits - layer(vector)
    torch.nn.functional.cross_entropy(layer(vector)[None], torch.tensor([step.answer.id])).backward()
    with torch.no_grad():
        for weight in layer.parameters():
            assert weight.grad is not None
            weight -= 0.002 * weight.grad
        stepped = layer(vector).softmax(dim=0)
    assert step.by_hand == pytest.approx(stepped[ids].tolist(), abs=1e-5)
    assert step.squared_length == pytest.approx(float(vector @ vector), rel=1e-5)


def test_the_step_of_all_weights_is_that_of_torchs_optimizer(engine: Engine) -> None:

    text, position = TEXTS[0]
    step = engine.take_step("embedded/bert", text, position, rate=0.001)
    with engine._memory.lease("embedded/bert") as loaded:
        model = copy.deepcopy(loaded.model).requires_grad_(True)
        inputs = loaded.inputs([loaded.encode(text)])
        labels = torch.full_like(inputs["input_ids"], -100)
        labels[0, position] = inputs["input_ids"][0, position]
        inputs["input_ids"][0, position] = loaded.tokenizer.mask_token_id
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    logits = model(**inputs).prediction_logits
    torch.nn.functional.cross_entropy(logits[0], labels[0]).backward()
    optimizer.step()
    with torch.no_grad():
        after = model(**inputs).prediction_logits[0, position].double().softmax(dim=0)
    assert step.after == pytest.approx(after[[token.id for token in step.tokens]].tolist(), abs=1e-5)
    assert step.loss_after == pytest.approx(-float(after[step.answer.id].log()), abs=1e-4)
    squares = sum(float((weight.grad.double() ** 2).sum()) for weight in model.parameters() if weight.grad is not None)
    assert sum(norm**2 for _, norm in step.norms) == pytest.approx(squares, rel=1e-4)


def test_the_model_stays_as_it_is(engine: Engine) -> None:
    text, position = TEXTS[1]
    with engine._memory.lease("embedded/bert") as loaded:
        before = {name: tensor.clone() for name, tensor in loaded.model.state_dict().items()}
        step = engine.take_step("embedded/bert", text, position, rate=0.5)
        assert all(torch.equal(tensor, before[name]) for name, tensor in loaded.model.state_dict().items())
        assert not any(weight.requires_grad for weight in loaded.model.parameters())
    (answer,) = engine.fill_mask("embedded/bert", text, masked=(position,))
    assert step.answer.probability == pytest.approx(answer.original.probability, abs=1e-6)


@pytest.mark.parametrize(("text", "position"), TEXTS)
def test_a_small_step_makes_the_answer_more_probable(engine: Engine, text: str, position: int) -> None:
    step = engine.take_step("embedded/bert", text, position, rate=1e-4)
    assert step.by_hand[0] > step.answer.probability
    assert step.loss_after < step.loss
    assert np.sum(np.abs(step.gradient)) <= 2


def test_what_cannot_be_learned_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="cannot be masked"):
        engine.take_step("embedded/bert", "The cat sat.", 0)
    with pytest.raises(InvalidInput, match="learning rate"):
        engine.take_step("embedded/bert", "The cat sat.", 1, rate=0)


def test_a_copy_that_finds_no_room_is_refused() -> None:
    engine = Engine("cpu", model_bytes=60 * 10**6)  # the bundled BERT takes most of it
    try:
        with pytest.raises(OutOfMemory):
            engine.take_step("embedded/bert", "The cat sat.", 1)
    finally:
        engine.close()
