"""The LSTM language model: equal to torch's own LSTM cell by cell, indifferent to padding, loadable."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMForMaskedLM
from model_zoo.float8 import save_float8
from model_zoo.questions.read_recurrence import ReadRecurrence


@pytest.fixture
def model() -> BiLSTMForMaskedLM:
    torch.manual_seed(0)
    model = BiLSTMForMaskedLM(BiLSTMConfig(vocab_size=30, hidden_size=8, num_hidden_layers=2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


IDS = torch.tensor([[5, 9, 3, 7, 2]])


def _run_cells(lstm: torch.nn.LSTM, states: torch.Tensor, suffix: str) -> torch.Tensor:
    """One direction of an LSTM over (n, width), written out from its equations (Hochreiter & Schmidhuber)."""
    weights = {name: parameter for name, parameter in lstm.named_parameters() if name.endswith(f"l0{suffix}")}
    w_in, w_hidden, b_in, b_hidden = (
        weights[f"{part}_l0{suffix}"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    hidden = cell = torch.zeros(lstm.hidden_size)
    outputs = []
    for state in states:
        gates = w_in @ state + b_in + w_hidden @ hidden + b_hidden
        entry, forget, candidate, exit_ = gates.chunk(4)
        cell = forget.sigmoid() * cell + entry.sigmoid() * candidate.tanh()
        hidden = exit_.sigmoid() * cell.tanh()
        outputs.append(hidden)
    return torch.stack(outputs)


@torch.no_grad()
def test_layers_equal_the_equations_of_an_lstm_run_both_ways(model: BiLSTMForMaskedLM):
    layers = model(IDS, output_hidden_states=True).hidden_states
    states = model.bilstm.norm(model.bilstm.embeddings(IDS[0]))
    torch.testing.assert_close(layers[0][0], states)
    for layer, result in zip(model.bilstm.layers, layers[1:], strict=True):
        forwards = _run_cells(layer.lstm, states, "")
        backwards = _run_cells(layer.lstm, states.flip(0), "_reverse").flip(0)
        states = layer.norm(states + torch.cat([forwards, backwards], dim=-1))
        torch.testing.assert_close(result[0], states, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_every_position_sees_both_sides(model: BiLSTMForMaskedLM):
    before = model(IDS).logits[0, 2]
    for position in (0, 4):
        changed = IDS.clone()
        changed[0, position] = 20
        assert (model(changed).logits[0, 2] - before).abs().max() > 1e-4


@torch.no_grad()
def test_padding_changes_nothing(model: BiLSTMForMaskedLM):
    batch = torch.tensor([[5, 9, 3, 7, 2], [4, 6, 1, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    together = model(batch, attention_mask=mask).logits
    torch.testing.assert_close(together[0], model(IDS).logits[0])
    torch.testing.assert_close(together[1, :3], model(torch.tensor([[4, 6, 1]])).logits[0])


@pytest.mark.parametrize("mask", [[[0, 1, 1, 1, 1]], [[1, 0, 1, 1, 1]], [[0, 0, 0, 0, 0]]])
def test_padding_elsewhere_is_refused(model: BiLSTMForMaskedLM, mask: list[list[int]]):
    with pytest.raises(ValueError, match="padded at the right"):
        model(IDS, attention_mask=torch.tensor(mask))


def test_loss_is_the_mean_over_labelled_positions(model: BiLSTMForMaskedLM):
    labels = torch.tensor([[-100, 9, -100, 7, -100]])
    output = model(IDS, labels=labels)
    log_probabilities = output.logits[0].log_softmax(dim=-1)
    by_hand = -(log_probabilities[1, 9] + log_probabilities[3, 7]) / 2
    assert output.loss.item() == pytest.approx(by_hand.item(), abs=1e-6)


@torch.no_grad()
def test_auto_classes_load_what_was_saved(model: BiLSTMForMaskedLM, tmp_path):
    model.save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).model_type == "bilstm"
    loaded, info = AutoModelForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not info["missing_keys"]
    assert isinstance(loaded, BiLSTMForMaskedLM)
    assert loaded.lm_head.decoder.weight is loaded.bilstm.embeddings.weight
    torch.testing.assert_close(loaded.eval()(IDS).logits, model(IDS).logits)


def test_a_float8_copy_loads_completely(model: BiLSTMForMaskedLM, tmp_path):
    save_float8(model, tmp_path)
    loaded, info = AutoModelForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert loaded.dtype == torch.float32


# What it carries along, against PyTorch's cell token by token, and its gradient against finite differences
LSTM = "embedded/bilstm"
SENTENCES = ("The cat sat on the mat because it was tired.", "Unbelievably good, she said!", "Birds sing.")


@pytest.mark.parametrize("text", SENTENCES)
def test_states_are_those_of_the_cell_token_by_token(text: str, engine: Engine) -> None:
    recurrence = engine.ask(ReadRecurrence(LSTM, text))
    with engine._memory.lease(LSTM) as loaded, torch.inference_mode():
        encoder = loaded.encoder
        inputs = encoder.norm(encoder.embeddings(torch.tensor([recurrence.encoding.ids])))
        lstm = encoder.layers[0].lstm
        cell = torch.nn.LSTMCell(lstm.input_size, lstm.hidden_size)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, name).copy_(getattr(lstm, f"{name}_l0"))
        state = None
        for place in range(len(recurrence.encoding)):
            state = cell(inputs[:, place], state)
            np.testing.assert_allclose(recurrence.states[place], state[0][0].numpy(), atol=1e-5)


def test_gradients_are_finite_differences(engine: Engine) -> None:
    text = "Birds sing well."
    recurrence = engine.ask(ReadRecurrence(LSTM, text))
    with engine._memory.lease(LSTM) as loaded, torch.inference_mode():
        encoder = loaded.encoder
        lstm = torch.nn.LSTM(320, 160, batch_first=True, bidirectional=True).double()
        lstm.load_state_dict({name: value.double() for name, value in encoder.layers[0].lstm.state_dict().items()})
        inputs = encoder.norm(encoder.embeddings(torch.tensor([recurrence.encoding.ids]))).double()
        step = 1e-5
        for place in (0, len(recurrence.encoding) // 2, len(recurrence.encoding) - 1):
            moved = inputs.repeat(640, 1, 1)
            for at in range(320):
                moved[2 * at, place, at] += step
                moved[2 * at + 1, place, at] -= step
            last = lstm(moved)[0][:, -1, :160]
            matrix = (last[0::2] - last[1::2]) / (2 * step)
            assert recurrence.gradients[place] == pytest.approx(float(matrix.norm()), rel=1e-4)


def test_a_state_depends_on_nothing_later(engine: Engine) -> None:
    first, other = (engine.ask(ReadRecurrence(LSTM, f"The cat {end}.")) for end in ("sat", "ran"))
    n = next(at for at, (a, b) in enumerate(zip(first.encoding.ids, other.encoding.ids, strict=True)) if a != b)
    np.testing.assert_array_equal(first.states[:n], other.states[:n])
    assert not np.allclose(first.states[n], other.states[n])


def test_a_model_without_an_lstm_says_so(engine: Engine) -> None:
    with pytest.raises(NotSupported, match="has no LSTM"):
        engine.ask(ReadRecurrence("embedded/bert", "Birds sing."))
