"""Masks in a text: which tokens are hidden, and scores of whole texts by hiding each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from model_zoo import registry
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import Slot, answers_of, slot_at, states_of
from model_zoo.running import batches
from model_zoo.text import foreign_mask
from model_zoo.types import Encoding, Prediction, Scheme, TokenScores


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported, with the reason, for a checkpoint without a masked-word head of its own."""
    if loaded.info.mlm:
        return
    spec = registry.find(loaded.info.id)
    reason = (
        spec.note
        if spec is not None and not spec.mlm
        else "Its checkpoint holds no weights for a masked-word (MLM) head, "
        "and with random ones its answers would mean nothing."
    )
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} cannot fill masks. {reason} "
        f"Choose a model with a masked-word head, such as {registry.DEFAULT_MODEL}."
    )


def refuse_unmaskable(encoding: Encoding, masked: Collection[int]) -> None:
    """Raises InvalidInput for positions that are not in the text, or frame it."""
    for position in sorted(masked):
        if not 0 <= position < len(encoding) or encoding.special[position]:
            raise InvalidInput(
                f"Token {position} cannot be masked: the text has tokens 0 to {len(encoding) - 1}, "
                "and its special tokens cannot be masked. Choose another token."
            )


def encode_replaceable(loaded: LoadedModel, text: str, positions: Collection[int]) -> Encoding:
    """The tokens of a text of which some are written anew. Raises InvalidInput for positions that are not in it, that
    frame it, or that stand nowhere in the text, so that nothing can be written in their place.
    """
    encoding = loaded.encode(text)
    refuse_unmaskable(encoding, positions)
    for position in {*positions} & {*encoding.unplaced}:
        raise InvalidInput(
            f"Token {position} (“{encoding.tokens[position]}”) has no place in the text, which its tokenizer rewrites "
            "before it reads it. Choose another token."
        )
    return encoding


def mask_positions(loaded: LoadedModel, encoding: Encoding, masked: Collection[int]) -> tuple[Encoding, list[int]]:
    """The encoding with ``masked`` replaced by the mask, and the positions of all masks, also of typed ones."""
    refuse_unmaskable(encoding, masked)
    mask = loaded.tokenizer.mask_token_id
    ids = tuple(mask if place in masked else token for place, token in enumerate(encoding.ids))
    positions = [place for place, token in enumerate(ids) if token == mask]
    if not positions:
        raise InvalidInput(_no_mask(loaded, encoding))
    return replace(encoding, ids=ids), positions


def _no_mask(loaded: LoadedModel, encoding: Encoding) -> str:
    mask_token = loaded.tokenizer.mask_token
    if encoding.n_dropped and mask_token in encoding.text:
        return (
            f"No mask is left: {loaded.info.id} reads {len(encoding)} tokens at most, "
            f"and every {mask_token} comes after them. Shorten the text before it."
        )
    return (
        foreign_mask(encoding.text, mask_token)
        or f"There is no mask in the text. Choose a word to mask, or type {mask_token}."
    )


def mask_and_slots(
    loaded: LoadedModel, text: str, masked: Collection[int], targets: Sequence[str | int] = ()
) -> tuple[Encoding, list[Slot]]:
    """The encoding of a text, its masks, and the answers wanted there. Raises what ``questions.fill_mask`` says."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    hidden, positions = mask_positions(loaded, encoding, masked)
    return hidden, [slot_at(loaded, encoding, position, position, targets) for position in positions]


def token_scores(
    loaded: LoadedModel,
    texts: Sequence[str],
    scheme: Scheme = "original",
    positions: Sequence[Collection[int] | None] | None = None,
) -> Iterator[tuple[int, TokenScores]]:
    """ln P of every token: as many copies of a text as it has tokens, each with one of them masked, and by the scheme
    "word l2r" what follows it in its word. ``positions`` are those of the tokens to be scored, text by text; None for
    all. Yields (index of the text, scores) as the copies are run, short texts first.
    """
    refuse_without_head(loaded)
    encodings = [loaded.encode(text) for text in texts]
    mask = loaded.tokenizer.mask_token_id
    every = positions or [None] * len(texts)
    wanted = [range(len(tokens)) if chosen is None else chosen for tokens, chosen in zip(encodings, every, strict=True)]
    copies = [
        (index, place)
        for index, encoding in enumerate(encodings)
        for place, (token, special) in enumerate(zip(encoding.ids, encoding.special, strict=True))
        if not special and token != mask and place in wanted[index]
    ]
    waiting = Counter(index for index, _ in copies)
    logs = [np.full(len(encoding), np.nan, dtype=np.float32) for encoding in encodings]
    guesses: list[list[Prediction | None]] = [[None] * len(encoding) for encoding in encodings]

    def scores(index: int) -> TokenScores:
        return TokenScores(encodings[index], loaded.info, logs[index], tuple(guesses[index]), scheme)

    for index in range(len(texts)):
        if not waiting[index]:
            yield index, scores(index)
    for batch in batches(loaded, [encodings[index] for index, _ in copies]):
        chosen = [copies[number] for number in batch]
        hidden = [
            replace(encodings[index], ids=ids_hiding(encodings[index], place, mask, scheme)) for index, place in chosen
        ]
        with torch.inference_mode():
            states = states_of(loaded, hidden)[torch.arange(len(chosen)), [place for _, place in chosen]]
            answers = answers_of(loaded, states, [[encodings[index].ids[place]] for index, place in chosen], 1)
        for (index, place), answer in zip(chosen, answers, strict=True):
            logs[index][place], guesses[index][place] = answer.log_probabilities[0], answer.best[0]
            waiting[index] -= 1
            if not waiting[index]:
                yield index, scores(index)


def ids_hiding(encoding: Encoding, place: int, mask: int, scheme: Scheme) -> tuple[int, ...]:
    """The ids with the mask at one place and, by "word l2r", at the places after it in its word."""
    word = encoding.word_ids[place] if scheme == "word l2r" else None
    return tuple(
        mask if other == place or (word is not None and other > place and encoding.word_ids[other] == word) else token
        for other, token in enumerate(encoding.ids)
    )
