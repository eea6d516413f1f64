"""What an LSTM carries along a text, and how much each token still moves its last state."""

from dataclasses import dataclass
from typing import Self

from model_zoo.errors import NotSupported
from model_zoo.question import LoadedModel, Question
from model_zoo.types import RecurrentPass


@dataclass(frozen=True, slots=True)
class ReadRecurrence(Question[RecurrentPass]):
    """The states of the first layer, read from left to right, and the length of the derivative of the last one by the
    vector that enters at each token: the root of the sum of squares of that matrix (d, width), by autograd.

    Raises NotSupported for a model without an LSTM.
    """

    model: str
    text: str

    def answer(self, loaded: LoadedModel) -> RecurrentPass:
        import torch

        from model_zoo.capture import as_array
        from model_zoo.families.bilstm import BiLSTMModel

        encoder = loaded.encoder
        if not isinstance(encoder, BiLSTMModel):
            raise NotSupported(f"{loaded.info.id} has no LSTM. Choose the bundled LSTM.")
        encoding = loaded.encode(self.text)
        lstm = encoder.layers[0].lstm
        with torch.inference_mode(False), torch.enable_grad():  # callers may be in inference mode
            ids = torch.tensor([encoding.ids], device=loaded.model.device)
            inputs = encoder.norm(encoder.embeddings(ids)).detach().requires_grad_()
            states = lstm(inputs)[0][0, :, : lstm.hidden_size]  # (n, d), of the direction from left to right
            squares = torch.zeros(len(encoding), device=inputs.device)
            for number in states[-1]:  # one backward pass a row of the matrix
                (gradient,) = torch.autograd.grad(number, inputs, retain_graph=True)
                squares += gradient[0].square().sum(dim=-1)
        return RecurrentPass(encoding, as_array(states.detach()), as_array(squares.sqrt()))

    @classmethod
    def example(cls, model: str) -> Self:  # noqa: ARG003 (most models have no LSTM)
        return cls("embedded/bilstm", "The cat sat.")
