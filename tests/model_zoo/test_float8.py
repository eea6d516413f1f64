"""Saving in float8: what is kept exactly, what is not, and that plain from_pretrained reads it."""

import math

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertForPreTraining

from model_zoo.float8 import compress, compress_tensor, relative_error, save_float8


@pytest.fixture
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)
    model = BertForPreTraining(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)  # trained matrices are larger than fresh ones
    return model.eval()


def test_numbers_of_the_format_survive_exactly():
    exact = torch.tensor([[448.0, -448.0, 1.875, 0.0], [2.0**-6, 0.5, -3.25, 240.0]])
    stored = compress_tensor("w", exact)
    assert stored.dtype == torch.float8_e4m3fn
    assert torch.equal(stored.float(), exact)


def test_rounding_goes_to_the_nearest_of_three_mantissa_bits():
    # Between 1 and 2 the format has steps of 1/8, between 16 and 32 steps of 2.
    rounded = compress_tensor("w", torch.tensor([[1.05, 1.07, 17.5, 390.0, 256.0, 256.0, 256.0]])).float()
    assert rounded.tolist() == [[1.0, 1.125, 18.0, 384.0, 256.0, 256.0, 256.0]]


@pytest.mark.parametrize(
    ("largest", "dtype"), [(448.0, torch.float8_e4m3fn), (449.0, torch.float16), (70_000.0, torch.float32)]
)
def test_a_matrix_beyond_the_range_takes_the_next_larger_format(largest: float, dtype: torch.dtype):
    stored = compress_tensor("w", torch.tensor([[1.0, largest]]))
    assert stored.dtype == dtype
    assert stored.float()[0, 1].item() == pytest.approx(largest, rel=1e-3)


def test_a_matrix_of_tiny_numbers_stays_in_float16():
    tiny = torch.full((4, 4), 0.0012)  # the grid near zero has steps of 2^-9 = 0.00195
    assert compress_tensor("w", tiny).dtype == torch.float16


def test_vectors_are_float16_and_integers_are_untouched():
    assert compress_tensor("bias", torch.tensor([0.1])).dtype == torch.float16
    positions = torch.arange(5)[None]
    assert torch.equal(compress_tensor("ids", positions), positions)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_refused_by_name(bad: float):
    with pytest.raises(ValueError, match=r"layer\.weight holds numbers that are not finite"):
        compress({"layer.weight": torch.tensor([[1.0, bad]])})


def test_relative_error_by_hand():
    assert relative_error(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 3.0])) == pytest.approx(1 / 5)
    assert relative_error(torch.zeros(2), torch.zeros(2)) == 0.0


def test_tied_weights_are_stored_once(model: BertForPreTraining):
    names = compress(model.state_dict())
    assert "bert.embeddings.word_embeddings.weight" in names
    assert "cls.predictions.decoder.weight" not in names


def test_plain_from_pretrained_gives_the_rounded_weights_in_float32(model: BertForPreTraining, tmp_path):
    save_float8(model, tmp_path)
    loaded, info = BertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    assert loaded.dtype == torch.float32
    stored = load_file(tmp_path / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values() if tensor.dim() >= 2} == {torch.float8_e4m3fn}
    n_bytes = sum(tensor.numel() * tensor.element_size() for tensor in stored.values())
    assert n_bytes == sum(tensor.numel() * (1 if tensor.dim() >= 2 else 2) for tensor in stored.values())
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o644
    original, rounded = model.state_dict(), loaded.state_dict()
    assert original.keys() == rounded.keys()
    for name, tensor in original.items():
        assert relative_error(tensor, rounded[name]) < 0.03, name
    matrix = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(rounded[matrix], original[matrix].to(torch.float8_e4m3fn).float())
