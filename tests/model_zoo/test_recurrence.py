"""What an LSTM carries along, against PyTorch's cell token by token, and its gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model_zoo import Engine
from model_zoo.errors import NotSupported
from model_zoo.questions.read_recurrence import ReadRecurrence

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
