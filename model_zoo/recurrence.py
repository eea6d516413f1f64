"""The states of an LSTM as it reads a text from left to right, and the gradient of the last one by autograd."""

from __future__ import annotations

import torch

from model_zoo.capture import as_array
from model_zoo.errors import NotSupported
from model_zoo.families.bilstm import BiLSTMModel
from model_zoo.loading import LoadedModel
from model_zoo.types import RecurrentPass


def trace(loaded: LoadedModel, text: str) -> RecurrentPass:
    """The answer of ``questions.read_recurrence``.

    The derivative of the last state by the vector that enters at a token is a matrix (d, width); its rows come from one
    backward pass each, and its length is the root of the sum of its squares.
    """
    encoder = loaded.encoder
    if not isinstance(encoder, BiLSTMModel):
        raise NotSupported(f"{loaded.info.id} has no LSTM. Choose the bundled LSTM.")
    encoding = loaded.encode(text)
    lstm = encoder.layers[0].lstm
    with torch.inference_mode(False), torch.enable_grad():  # callers may be in inference mode
        ids = torch.tensor([encoding.ids], device=loaded.model.device)
        inputs = encoder.norm(encoder.embeddings(ids)).detach().requires_grad_()
        states = lstm(inputs)[0][0, :, : lstm.hidden_size]  # (n, d), of the direction from left to right
        squares = torch.zeros(len(encoding), device=inputs.device)
        for number in states[-1]:
            (gradient,) = torch.autograd.grad(number, inputs, retain_graph=True)
            squares += gradient[0].square().sum(dim=-1)
    return RecurrentPass(encoding, as_array(states.detach()), as_array(squares.sqrt()))
