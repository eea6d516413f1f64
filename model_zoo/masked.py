"""What a model believes stands behind a mask: predictions, scores of whole texts, the logit lens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from model_zoo import embedding_table, registry
from model_zoo.encoding import failures_told
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.interventions.editing import Editor, Rows, editing
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import Slot, answers_of, lens, logits_of, predictions, slot_at, states_of
from model_zoo.running import batches
from model_zoo.text import foreign_mask
from model_zoo.types import (
    Encoding,
    FittedLens,
    MaskLens,
    MaskPrediction,
    Prediction,
    Scheme,
    Shift,
    TokenScores,
    Vocabulary,
    Without,
)

# Predictions of before and after among which the largest shift is looked for.
_SHIFTED_AMONG = 50


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


def vocabulary(loaded: LoadedModel) -> Vocabulary:
    """The tokens by id, and which of them have a role."""
    tokenizer = loaded.tokenizer
    return Vocabulary(
        tokens=tuple(loaded.token_names(range(len(tokenizer)))),
        size=loaded.vocabulary_size,
        mask_id=tokenizer.mask_token_id,
        mask_token=tokenizer.mask_token,
        unknown_id=tokenizer.unk_token_id,
        special_ids=frozenset(tokenizer.all_special_ids),
    )


def refuse_unmaskable(encoding: Encoding, masked: Collection[int]) -> None:
    """Raises InvalidInput for positions that are not in the text, or frame it."""
    for position in sorted(masked):
        if not 0 <= position < len(encoding) or encoding.special[position]:
            raise InvalidInput(
                f"Token {position} cannot be masked: the text has tokens 0 to {len(encoding) - 1}, "
                "and its special tokens cannot be masked. Choose another token."
            )


def _refuse_unplaced(encoding: Encoding, positions: Collection[int]) -> None:
    """Raises InvalidInput for tokens that stand nowhere in the text, so that nothing can be written in their place."""
    for position in {*positions} & {*encoding.unplaced}:
        raise InvalidInput(
            f"Token {position} (“{encoding.tokens[position]}”) has no place in the text, which its tokenizer rewrites "
            "before it reads it. Choose another token."
        )


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


def fill_mask(
    loaded: LoadedModel,
    texts: Sequence[str],
    masked: Sequence[Collection[int]],
    top_k: int,
    targets: Sequence[str | int] = (),
) -> Iterator[tuple[int, tuple[MaskPrediction, ...]]]:
    """The best tokens for every mask of every text: those typed, and those at the positions ``masked`` for it. Yields
    (index of the text, answers) as batches are done.
    """
    hidden, slots = [], []
    for which, (text, places) in enumerate(zip(texts, masked, strict=True)):
        try:
            masks, requested = _mask_and_slots(loaded, text, places, targets)
        except InvalidInput as error:
            error.which = which
            raise
        hidden.append(masks)
        slots.append(requested)
    yield from predictions(loaded, hidden, slots, top_k)


def _mask_and_slots(
    loaded: LoadedModel, text: str, masked: Collection[int], targets: Sequence[str | int] = ()
) -> tuple[Encoding, list[Slot]]:
    """The encoding of a text, its masks, and the answers wanted there. Raises what ``fill_mask`` raises."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    hidden, positions = mask_positions(loaded, encoding, masked)
    return hidden, [slot_at(loaded, encoding, position, position, targets) for position in positions]


def restore(
    loaded: LoadedModel, text: str, ids: Sequence[int], positions: Sequence[int], top_k: int
) -> tuple[MaskPrediction, ...]:
    """What the model makes of a text of which it is given ``ids`` instead of its own, at some positions."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    refuse_unmaskable(encoding, positions)
    if len(ids) != len(encoding):
        raise InvalidInput(f"The text has {len(encoding)} tokens, and {len(ids)} ids were given. Give one a token.")
    if not positions:
        return ()
    slots = [Slot(position, position, encoding.ids[position]) for position in positions]
    ((_, answers),) = predictions(loaded, [replace(encoding, ids=tuple(ids))], [slots], top_k)
    return answers


def fill_without(
    loaded: LoadedModel, text: str, masked: Collection[int], without: Without, top_k: int
) -> tuple[MaskPrediction, ...]:
    """As ``fill_mask``, of a model that is kept from seeing what comes later, or where tokens stand."""
    hidden, slots = _mask_and_slots(loaded, text, masked)
    if without and loaded.family.anatomy is None:  # others have ways of their own, such as distances between tokens
        raise NotSupported(
            f"{loaded.info.id} ({loaded.info.family}) cannot be kept from seeing later tokens or positions here, "
            "since its attention is not known part by part. Choose another model, such as BERT."
        )
    n, device = len(hidden), loaded.model.device
    every = torch.ones(1, 1, n, n, dtype=torch.bool, device=device)
    editor, changed = Editor(counts=True), {}
    if without == "future":  # beside what the network hides by itself, as a window of near tokens (ModernBERT) does
        editor.rows = dict.fromkeys(range(loaded.info.n_layers), Rows(hide=every.triu(1)))
    elif without == "positions":  # a window tells where tokens stand, too, so nothing is hidden from any
        same = torch.full((1, n), embedding_table.first_position(loaded), device=device)
        changed = {"attention_mask": every, "position_ids": same}
    with editing(loaded, editor):
        ((_, answers),) = predictions(loaded, [hidden], [slots], top_k, changed)
    return answers


def fill_all(loaded: LoadedModel, text: str, masked: Collection[int]) -> Iterator[MaskPrediction]:
    """Fill one mask at a time, the most confident first, with its best token; yields each as it is filled.

    Every step runs the model again on what has been filled so far.
    """
    hidden, slots = _mask_and_slots(loaded, text, masked)
    while slots:
        ((_, answers),) = predictions(loaded, [hidden], [slots], 1)
        surest = max(answers, key=lambda answer: answer.best[0].probability)
        yield surest
        slots = [slot for slot in slots if slot.position != surest.position]
        ids = list(hidden.ids)
        ids[surest.position] = surest.best[0].id
        hidden = replace(hidden, ids=tuple(ids))


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


def mask_lens(
    loaded: LoadedModel, text: str, masked: Collection[int], top_k: int, fitted: FittedLens | None = None
) -> tuple[MaskLens, ...]:
    """The head applied to each mask's hidden state after every layer, see ``prediction_heads.lens``."""
    return lens(loaded, *_mask_and_slots(loaded, text, masked), top_k, fitted)


def shifts(
    loaded: LoadedModel, before: tuple[str, Collection[int]], after: tuple[str, Collection[int]], top_k: int
) -> tuple[tuple[Shift, ...], ...]:
    """How the predictions at each mask moved between two texts with masked positions, largest change first.

    Looked at are the 50 best tokens of either side: far down the list, differences of ln P are large and mean
    nothing. Raises InvalidInput when the texts have different numbers of masks.
    """
    refuse_without_head(loaded)
    sides = [mask_positions(loaded, loaded.encode(text), masked) for text, masked in (before, after)]
    if len(sides[0][1]) != len(sides[1][1]):
        raise InvalidInput(
            f"There are {len(sides[0][1])} masks before the change and {len(sides[1][1])} after it. "
            "Replace a word that is not masked with one that contains no mask."
        )
    by_position = []
    with torch.inference_mode():
        first, second = (states_of(loaded, [hidden])[0, positions] for hidden, positions in sides)
        for pair in zip(first, second, strict=True):
            logs = torch.cat(list(logits_of(loaded, torch.stack(pair)))).log_softmax(dim=-1)  # (2, vocabulary)
            candidates = logs.topk(min(_SHIFTED_AMONG, logs.shape[-1]), dim=-1).indices.unique()
            moved = logs[:, candidates]
            order = (moved[1] - moved[0]).abs().argsort(descending=True)[:top_k]
            ids = candidates[order].tolist()
            names = loaded.token_names(ids)
            by_position.append(
                tuple(
                    Shift(*entry)
                    for entry in zip(names, ids, moved[0, order].tolist(), moved[1, order].tolist(), strict=True)
                )
            )
    return tuple(by_position)


def masked_text(loaded: LoadedModel, text: str, masked: Collection[int]) -> str:
    """The text with the masked tokens written as the model's mask, to be typed anywhere else."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    refuse_unmaskable(encoding, masked)
    _refuse_unplaced(encoding, masked)
    written, rest = encoding.text, len(encoding.text)
    for position in sorted(masked, reverse=True):
        start, end = encoding.offsets[position]
        end = min(end, rest)  # pieces of one character (bytes) share its span
        written, rest = written[:start] + loaded.tokenizer.mask_token + written[end:], start
    return written


def fill_masks(loaded: LoadedModel, text: str, fills: Mapping[int, int]) -> str:
    """The text with the tokens at some positions replaced by others (position -> id), spaced as they read.

    A piece that continues a word ("##ing") joins the word before it.
    """
    encoding = loaded.encode(text)
    refuse_unmaskable(encoding, fills)
    _refuse_unplaced(encoding, fills)
    for token in fills.values():
        if not 0 <= token < len(loaded.tokenizer):
            raise InvalidInput(
                f"Number {token} of the vocabulary of {loaded.info.id} stands for no token, so it cannot be written. "
                "Choose another prediction."
            )
    written, rest = encoding.text, len(encoding.text)
    for position, token in sorted(fills.items(), reverse=True):
        piece = _surface_form(loaded, token)
        start, end = encoding.offsets[position]
        before, after = written[:start], written[min(end, rest) :]
        if not piece.startswith(" "):
            before = before.rstrip()
        elif not before or before[-1].isspace():
            piece = piece.lstrip()
        written, rest = before + piece + after, len(before)
    return written


def _surface_form(loaded: LoadedModel, token: int) -> str:
    """How a token reads after another word: " cat", or "s" for one that continues a word."""
    tokenizer = loaded.tokenizer
    with failures_told(loaded.info.id):
        before = tokenizer.encode("a", add_special_tokens=False)
        written: str = tokenizer.decode([*before, token], clean_up_tokenization_spaces=False)
        return written.removeprefix(tokenizer.decode(before, clean_up_tokenization_spaces=False))
