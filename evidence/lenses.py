"""Masks of many texts: what the head is given after every layer, and how far what it says is from its final answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from model_zoo import masked
from model_zoo.capture import as_array
from model_zoo.errors import InvalidInput
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import HEAD_NUMBERS, lens_vectors, logits_of, mapped
from model_zoo.running import batches
from model_zoo.types import Encoding, IntArray, LensDistances, MaskVectors

if TYPE_CHECKING:
    from evidence.questions.judge_lens import JudgeLens
    from evidence.questions.read_masks import ReadMasks


def vectors(loaded: LoadedModel, question: ReadMasks) -> Iterator[MaskVectors]:
    """The parts of the answer, one a batch."""
    for text_of, layers in _passes(loaded, question.texts, question.most):
        yield MaskVectors(as_array(torch.stack(layers, dim=1)), text_of)


def distances(loaded: LoadedModel, question: JudgeLens) -> Iterator[LensDistances]:
    """The parts of the answer, one a batch."""
    fitted = question.fitted
    for text_of, (*layers, final) in _passes(loaded, question.texts, question.most):
        with torch.inference_mode():
            read = list(layers)
            if fitted is not None:
                average = torch.tensor(fitted.arrays()[1], device=final.device, dtype=final.dtype)
                read += [*mapped(loaded, layers, fitted), average.expand_as(final)]
            found = as_array(_divergences(loaded, final, read))
        n = len(layers)
        yield LensDistances(found[:n], text_of, *(() if fitted is None else (found[n:-1], found[-1])))


def _passes(loaded: LoadedModel, texts: Sequence[str], most: int) -> Iterator[tuple[IntArray, list[torch.Tensor]]]:
    """Batches of masks: the place of each one's text, and what the head is given after every layer (masks, width)."""
    encodings, rows, text_of = _masks(loaded, texts, most)
    for batch in batches(loaded, encodings):
        with torch.inference_mode():
            layers = lens_vectors(
                loaded, [encodings[place] for place in batch], range(len(batch)), [rows[place] for place in batch]
            )
        yield text_of[batch], layers


def _masks(loaded: LoadedModel, texts: Sequence[str], most: int) -> tuple[list[Encoding], list[int], IntArray]:
    """Copies of the texts with one mask each, the row that each is read off, and the place of its text."""
    causal = loaded.info.lm
    if not causal:
        masked.refuse_without_head(loaded)
    hidden, rows, text_of = [], [], []
    for place, text in enumerate(texts):
        encoding = loaded.encode(text)
        known = [
            at
            for at in range(int(causal), len(encoding))
            if not encoding.special[at] and any(map(str.isalnum, encoding.text[slice(*encoding.offsets[at])]))
        ]
        drawn = np.random.default_rng(zlib.crc32(text.encode("utf-8", "replace"))).permutation(len(known))[:most]
        for at in sorted(known[one] for one in drawn):
            hidden.append(encoding if causal else masked.mask_positions(loaded, encoding, {at})[0])
            rows.append(at - 1 if causal else at)
            text_of.append(place)
    if not hidden:
        raise InvalidInput("There is no word to mask in these sentences. Bring others.")
    return hidden, rows, np.array(text_of, dtype=np.int64)


def _divergences(loaded: LoadedModel, final: torch.Tensor, read: Sequence[torch.Tensor]) -> torch.Tensor:
    """KL(P ‖ Q) in nats, (read, rows): the head says P of ``final`` (rows, width), and Q of each that is ``read``."""

    def log_probabilities(states: torch.Tensor) -> torch.Tensor:
        return torch.cat([piece.log_softmax(dim=-1) for piece in logits_of(loaded, states)])

    found = []
    rows = max(1, HEAD_NUMBERS // len(loaded.tokenizer))
    for p_states, *others in zip(final.split(rows), *(states.split(rows) for states in read), strict=True):
        p = log_probabilities(p_states)
        found.append(torch.stack([(p.exp() * (p - log_probabilities(q))).sum(dim=-1) for q in others]))
    return torch.cat(found, dim=1)
