"""One step of gradient descent on the masked-word loss, by hand on the output layer and by autograd on all weights.

The model in memory is left as it is: a copy learns.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import torch

from model_zoo import capture
from model_zoo.errors import NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.masked import refuse_unmaskable, refuse_without_head
from model_zoo.prediction_heads import logits_of
from model_zoo.types import Prediction, TrainingStep


def take(loaded: LoadedModel, text: str, position: int, rate: float, top_k: int) -> TrainingStep:
    """The answer of ``questions.take_step``. The loss is cross-entropy on the one hidden token (Devlin et al. 2019)."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    refuse_unmaskable(encoding, (position,))
    answer, mask = encoding.ids[position], loaded.tokenizer.mask_token_id
    hidden = replace(encoding, ids=tuple(mask if at == position else id for at, id in enumerate(encoding.ids)))
    with torch.inference_mode(False), torch.enable_grad():  # callers may be in inference mode
        model = copy.deepcopy(loaded.model).requires_grad_(True)
        copied = replace(loaded, model=model)
        # The output layer alone: its gradient needs what it is given.
        final_inputs: list[torch.Tensor] = []
        output = model.get_output_embeddings()
        with capture.hooked([output], lambda _, inputs: final_inputs.append(inputs[0]), before=True):
            before = _logits(copied, hidden, position)
        if not final_inputs:
            raise NotSupported(
                f"The output layer of {loaded.info.id} ({loaded.info.family}) is not one matrix, so its step cannot be "
                "followed by hand. Choose another model, such as BERT."
            )
        loss = torch.nn.functional.cross_entropy(before[None], torch.tensor([answer], device=before.device))
        loss.backward()
        norms = _norms(model)
        with torch.no_grad():
            for weight in model.parameters():
                if weight.grad is not None:
                    weight -= rate * weight.grad
            after = _logits(copied, hidden, position).cpu().double()
        logits = before.detach().cpu().double()
        vector = final_inputs[0].detach().cpu().double().reshape(-1, final_inputs[0].shape[-1])[-1]
    shares = logits.softmax(dim=0)
    gradient = shares.clone()
    gradient[answer] -= 1
    length = float(vector @ vector)
    by_hand = (logits - rate * gradient * (length + 1)).softmax(dim=0)
    best = [id for id in logits.topk(min(top_k + 1, len(logits))).indices.tolist() if id != answer][:top_k]
    ids = [answer, *best]
    names = loaded.token_names(ids)
    tokens = tuple(Prediction(name, id, float(shares[id])) for name, id in zip(names, ids, strict=True))
    return TrainingStep(
        position=position,
        rate=rate,
        answer=tokens[0],
        tokens=tokens,
        logits=tuple(logits[ids].tolist()),
        gradient=tuple(gradient[ids].tolist()),
        loss=-math.log(max(tokens[0].probability, 1e-300)),
        squared_length=length,
        by_hand=tuple(by_hand[ids].tolist()),
        after=tuple(after.softmax(dim=0)[ids].tolist()),
        loss_after=-float(after.log_softmax(dim=0)[answer]),
        norms=norms,
    )


def _logits(loaded: LoadedModel, hidden: Any, position: int) -> torch.Tensor:
    """The head's output (vocabulary,) at a position."""
    states = loaded.model.base_model(**loaded.inputs([hidden]))[0][0, [position]]
    ((row,),) = (piece for piece in logits_of(loaded, states))
    return row


def _norms(model: Any) -> tuple[tuple[str, float], ...]:
    """The length of the gradient of every part: the embeddings, each layer, and what follows them."""
    squares: dict[str, float] = {}
    base = f"{model.base_model_prefix}."
    for name, weight in model.named_parameters():
        if weight.grad is None:
            continue
        part = _part(name.removeprefix(base)) if name.startswith(base) else "head"
        squares[part] = squares.get(part, 0.0) + float((weight.grad.cpu().double() ** 2).sum())
    return tuple((part, math.sqrt(square)) for part, square in squares.items())


def _part(name: str) -> str:
    """The part of the network that a weight of the encoder belongs to."""
    number = next((piece for piece in name.split(".") if piece.isdigit()), None)
    if number is not None:
        return f"layer {int(number) + 1}"
    return "embeddings" if "embed" in name else "other"
