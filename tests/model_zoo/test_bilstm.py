"""The LSTM language model: equal to torch's own LSTM cell by cell, indifferent to padding, loadable."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

from model_zoo.families.bilstm import BiLSTMConfig, BiLSTMForMaskedLM
from model_zoo.float8 import save_float8


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


def test_there_is_no_attention_to_show(model: BiLSTMForMaskedLM):
    assert model.config.num_attention_heads == 0
    assert getattr(model(IDS), "attentions", None) is None
