"""The numbers of a checkpoint's folder by transformers alone, from a network that is read anew each time."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForMaskedLM

from model_zoo.by_transformers import Plain


def network(folder: Path) -> Any:
    """The network without heads, with eager attention, ready to be watched."""
    return Plain(folder).network()


def slow_maps(folder: Path, text: str, pair: str | None) -> list[np.ndarray]:
    """Encoder attention, (heads, n, n) a layer."""
    ((maps, _),) = Plain(folder).encoded([(text, pair)])
    return maps


def slow_decoder(folder: Path, text: str, written: str) -> dict[str, list[np.ndarray]]:
    """Both attentions of the decoder, (heads, queries, keys) a layer."""
    return Plain(folder).decoded(text, written)


def slow_model(folder: Path) -> tuple[Any, Any]:
    """The network with the head for masked words, and its tokenizer."""
    plain = Plain(folder)
    return plain.loaded(AutoModelForMaskedLM), plain.tokenizer


def slow_log_probabilities(folder: Path, ids: list[int]) -> np.ndarray:
    """ln P (n, vocabulary) by transformers alone."""
    model, _ = slow_model(folder)
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).logits[0].log_softmax(dim=-1).numpy()
