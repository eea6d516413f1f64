"""Masks of many sentences layer by layer: what the prediction head is given there, and how far the logit lens and a
fitted lens are from the final prediction.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from evidence.items import check_masked_texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Streamed, normalize
from model_zoo.types import Encoding, FittedLens, IntArray, LensDistances, MaskVectors

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class ReadMasks(Streamed[MaskVectors, MaskVectors]):
    """The vectors at ``most`` masks of each text, each alone in its text, as the logit lens gives them to the head.

    Tokens with a letter or a digit are masked, drawn by the text alone, and so are fewer where it has no more; a causal
    model masks nothing and reads the tokens before them. Raises NotSupported for a model without such a head or whose
    head does not read its layers.
    """

    remembered = False  # work in the background asks these, each once

    model: str
    texts: tuple[str, ...]
    most: int = 4

    def check(self) -> None:
        normalize(self, texts=check_masked_texts(self.texts, self.most))

    def parts(self, loaded: LoadedModel) -> Iterator[MaskVectors]:
        import torch

        from model_zoo.capture import as_array

        for text_of, layers in _batches(loaded, self.texts, self.most):
            yield MaskVectors(as_array(torch.stack(layers, dim=1)), text_of)

    def combine(self, parts: Sequence[MaskVectors]) -> MaskVectors:
        return MaskVectors.joined(parts)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, ("The cat sat.", "It rained all day."), 2)


@dataclass(frozen=True, slots=True)
class JudgeLens(Streamed[LensDistances, LensDistances]):
    """KL(final prediction ‖ lens) in nats at the masks of ``ReadMasks``, for the logit lens and a ``fitted`` one.

    Raises what ``ReadMasks`` raises, and InvalidInput for a lens of another model or of other weights.
    """

    remembered = False  # as in ReadMasks

    model: str
    texts: tuple[str, ...]
    fitted: FittedLens | None = None
    most: int = 4

    def check(self) -> None:
        normalize(self, texts=check_masked_texts(self.texts, self.most))

    def parts(self, loaded: LoadedModel) -> Iterator[LensDistances]:
        import torch

        from model_zoo.capture import as_array
        from model_zoo.prediction_heads import mapped

        fitted = self.fitted
        for text_of, (*layers, final) in _batches(loaded, self.texts, self.most):
            with torch.inference_mode():
                read = list(layers)
                if fitted is not None:
                    average = torch.tensor(fitted.arrays()[1], device=final.device, dtype=final.dtype)
                    read += [*mapped(loaded, layers, fitted), average.expand_as(final)]
                divergences = as_array(_divergences(loaded, final, read))
            n = len(layers)
            of_fitted = () if fitted is None else (divergences[n:-1], divergences[-1])
            yield LensDistances(divergences[:n], text_of, *of_fitted)

    def combine(self, parts: Sequence[LensDistances]) -> LensDistances:
        return LensDistances.joined(parts)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, ("The cat sat.", "It rained all day."), most=2)


def _batches(loaded: LoadedModel, texts: Sequence[str], most: int) -> Iterator[tuple[IntArray, list[torch.Tensor]]]:
    """Batches of masks: the place of each one's text, and what the head is given after every layer (masks, width)."""
    import torch

    from model_zoo.prediction_heads import lens_vectors
    from model_zoo.running import batches

    encodings, rows, text_of = _masks(loaded, texts, most)
    for batch in batches(loaded, encodings):
        some = [encodings[place] for place in batch]
        with torch.inference_mode():
            layers = lens_vectors(loaded, some, range(len(batch)), [rows[place] for place in batch])
        yield text_of[batch], layers


def _masks(loaded: LoadedModel, texts: Sequence[str], most: int) -> tuple[list[Encoding], list[int], IntArray]:
    """Copies of the texts with one mask each, the row that each is read off, and the place of its text."""
    from model_zoo import masked

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
        for at in sorted(known[which] for which in drawn):
            hidden.append(encoding if causal else masked.mask_positions(loaded, encoding, {at})[0])
            rows.append(at - 1 if causal else at)
            text_of.append(place)
    if not hidden:
        raise InvalidInput("There is no word to mask in these sentences. Bring others.")
    return hidden, rows, np.array(text_of, dtype=np.int64)


def _divergences(loaded: LoadedModel, final: torch.Tensor, read: Sequence[torch.Tensor]) -> torch.Tensor:
    """KL(P ‖ Q) in nats, (read, rows): the head says P of ``final`` (rows, width), and Q of each that is ``read``."""
    import torch

    from model_zoo.prediction_heads import HEAD_NUMBERS, logits_of

    def log_probabilities(states: torch.Tensor) -> torch.Tensor:
        return torch.cat([piece.log_softmax(dim=-1) for piece in logits_of(loaded, states)])

    divergences = []
    rows = max(1, HEAD_NUMBERS // len(loaded.tokenizer))
    for p_states, *others in zip(final.split(rows), *(states.split(rows) for states in read), strict=True):
        p = log_probabilities(p_states)
        divergences.append(torch.stack([(p.exp() * (p - log_probabilities(q))).sum(dim=-1) for q in others]))
    return torch.cat(divergences, dim=1)
