"""What a model believes stands behind a mask: predictions, scores of whole texts, the logit lens.

The encoder runs once, then the masked-word head on the rows asked for and no others: most of the work of a
small model is its projection onto the vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from model_zoo import registry
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.types import (
    SCHEMES,
    Encoding,
    MaskLens,
    MaskPrediction,
    Prediction,
    Scheme,
    Shift,
    TokenScores,
    Vocabulary,
)

LARGEST_TOP_K = 1000

# The mask tokens of common families, to recognize one that belongs to another model.
_MASKS = ("[MASK]", "<mask>", "<extra_id_0>")

# Numbers in one piece of the head's output: 64 MB of float32.
_HEAD_NUMBERS = 2**24
# Tokens in one batch of copies of a text, each with another mask: keeps two cores busy in a laptop's memory.
_BATCH_TOKENS = 2048
# Predictions of before and after among which the largest shift is looked for.
_SHIFTED_AMONG = 50


@dataclass(frozen=True, slots=True)
class _Answer:
    """A row of the head's output: the best tokens; ln P and rank (from 1) of each target, nan and 0 for
    none.
    """

    best: tuple[Prediction, ...]
    log_probabilities: tuple[float, ...]
    ranks: tuple[int, ...]
    log_total: float


class _Output(tuple[torch.Tensor, ...]):
    """A network's output with everything but the vectors left out: other attributes are None."""

    @property
    def last_hidden_state(self) -> torch.Tensor:
        return self[0]

    def __getattr__(self, name: str) -> None:
        return None


class _Given(torch.nn.Module):
    """Stands where the encoder was and hands out the vectors it is given instead of computing them."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        object.__setattr__(self, "_encoder", encoder)  # not as a submodule: this is a reference, no part

    def forward(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> _Output:
        return _Output((input_ids, input_ids[:, 0]))  # vectors, and what a sentence head would read

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_encoder"), name)


def _head(model: Any) -> Any:
    """The model's own head as a function of vectors (batch, n, width), whatever the family calls its
    parts.
    """
    head = copy.copy(model)
    head._modules = {**model._modules, model.base_model_prefix: _Given(model.base_model)}
    return head


def _scores(output: Any) -> torch.Tensor:
    found = getattr(output, "prediction_logits", None)
    return output.logits if found is None else found


def refuse_without_head(loaded: LoadedModel) -> None:
    """Raises NotSupported, with the reason, for a checkpoint without a masked-word head of its own."""
    if loaded.info.mlm:
        return
    spec = registry.find(loaded.info.id)
    reason = (
        spec.note
        if spec is not None and not spec.mlm
        else "Its checkpoint holds no weights for a masked-word (MLM) head, and with random ones its answers would "
        "mean nothing."
    )
    raise NotSupported(
        f"{spec.name if spec else loaded.info.id} cannot fill masks. {reason} Choose a model with a "
        "masked-word head, "
        f"such as {registry.DEFAULT_MODEL}."
    )


def vocabulary(loaded: LoadedModel) -> Vocabulary:
    """The tokens by id, and which of them have a role."""
    tokenizer = loaded.tokenizer
    return Vocabulary(
        tokens=tuple(token or "" for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))),
        mask_id=tokenizer.mask_token_id,
        mask_token=tokenizer.mask_token,
        unknown_id=tokenizer.unk_token_id,
        special_ids=frozenset(tokenizer.all_special_ids),
    )


def _checked(encoding: Encoding, masked: Collection[int]) -> None:
    for position in sorted(masked):
        if not 0 <= position < len(encoding) or encoding.special[position]:
            raise InvalidInput(
                f"Token {position} cannot be masked: the text has tokens 0 to {len(encoding) - 1}, and those "
                "that "
                "frame it are not for masking. Choose another token."
            )


def _hidden(loaded: LoadedModel, encoding: Encoding, masked: Collection[int]) -> tuple[Encoding, list[int]]:
    """The encoding with ``masked`` replaced by the mask, and the positions of all masks, typed ones
    included.
    """
    _checked(encoding, masked)
    mask = loaded.tokenizer.mask_token_id
    ids = tuple(mask if place in masked else token for place, token in enumerate(encoding.ids))
    positions = [place for place, token in enumerate(ids) if token == mask]
    if not positions:
        raise InvalidInput(_no_mask(loaded, encoding))
    return replace(encoding, ids=ids), positions


def _no_mask(loaded: LoadedModel, encoding: Encoding) -> str:
    own = loaded.tokenizer.mask_token
    if encoding.n_dropped and own in encoding.text:
        return (
            f"No mask is left: {loaded.info.id} reads {len(encoding)} tokens at most, and every {own} lies "
            "behind "
            "them. Shorten the text before it."
        )
    foreign = next((mask for mask in _MASKS if mask != own and mask in encoding.text), None)
    if foreign is not None:
        return f"{foreign} is the mask of other models and plain letters to this one. Type {own} instead."
    return f"There is no mask in the text. Choose a word to mask, or type {own}."


def _states(loaded: LoadedModel, encodings: Sequence[Encoding]) -> torch.Tensor:
    """The vectors that the head reads: (batch, longest, width)."""
    states: torch.Tensor = loaded.model.base_model(**loaded.inputs(encodings))[0]
    return states


def _logits(loaded: LoadedModel, states: torch.Tensor) -> Iterator[torch.Tensor]:
    """The head's output for rows of states (rows, width), in pieces (some rows, vocabulary),
    float32.
    """
    head = _head(loaded.model)
    rows_a_piece = max(1, _HEAD_NUMBERS // len(loaded.tokenizer))
    for piece in states.split(rows_a_piece):
        yield _scores(head(piece[None]))[0].float()


def _answers(
    loaded: LoadedModel, states: torch.Tensor, targets: Sequence[Sequence[int | None]], top_k: int
) -> list[_Answer]:
    """Answers for rows of states (rows, width); ``targets`` names the tokens to be followed, row by row."""
    n_targets = max((len(row) for row in targets), default=0)
    wanted = torch.tensor([[-1 if t is None else t for t in row] for row in targets], device=states.device).reshape(
        len(states), n_targets
    )
    found: list[_Answer] = []
    for logits in _logits(loaded, states):
        totals = logits.logsumexp(dim=-1)
        piece = logits - totals[:, None]  # ln P
        ids_wanted = wanted[len(found) : len(found) + len(piece)]
        highest, ids = piece.topk(min(top_k, piece.shape[-1]), dim=-1)
        of_targets = piece.gather(1, ids_wanted.clamp(min=0))
        ranks = torch.stack(
            [(piece > of_targets[:, [t]]).sum(dim=-1) + 1 for t in range(n_targets)] or [ids[:, 0]], dim=-1
        )
        columns = [t.tolist() for t in (highest.exp(), ids, ids_wanted, of_targets, ranks, totals)]
        for probabilities, best, asked, logs, places, total in zip(*columns, strict=True):
            names = loaded.tokenizer.convert_ids_to_tokens(best)
            found.append(
                _Answer(
                    tuple(Prediction(*entry) for entry in zip(names, best, probabilities, strict=True)),
                    tuple(float("nan") if a < 0 else log for a, log in zip(asked, logs, strict=True)),
                    tuple(0 if a < 0 else rank for a, rank in zip(asked, places[: len(asked)], strict=True)),
                    total,
                )
            )
    return found


def _predictions(
    loaded: LoadedModel,
    hidden: Encoding,
    positions: Sequence[int],
    originals: Sequence[int | None],
    top_k: int,
) -> tuple[MaskPrediction, ...]:
    if not 1 <= top_k <= LARGEST_TOP_K:
        raise InvalidInput(f"{top_k} predictions cannot be shown. Choose 1 to {LARGEST_TOP_K}.")
    with torch.inference_mode():
        states = _states(loaded, [hidden])[0, list(positions)]
        answers = _answers(loaded, states, [[original] for original in originals], top_k)
    return tuple(
        MaskPrediction(position, answer.best, answer.log_total)
        if original is None
        else MaskPrediction(
            position,
            answer.best,
            answer.log_total,
            Prediction(
                loaded.tokenizer.convert_ids_to_tokens(original),
                original,
                float(np.exp(answer.log_probabilities[0])),
            ),
            answer.ranks[0],
            answer.log_probabilities[0],
        )
        for position, original, answer in zip(positions, originals, answers, strict=True)
    )


def fill_mask(loaded: LoadedModel, text: str, top_k: int, masked: Collection[int]) -> tuple[MaskPrediction, ...]:
    """The best tokens for every mask of a text: those typed and those at the positions ``masked``."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    hidden, positions = _hidden(loaded, encoding, masked)
    originals = [_original(loaded, encoding, position) for position in positions]
    return _predictions(loaded, hidden, positions, originals, top_k)


def _original(loaded: LoadedModel, encoding: Encoding, position: int) -> int | None:
    found = encoding.ids[position]
    return None if found == loaded.tokenizer.mask_token_id else found


def restore(
    loaded: LoadedModel, text: str, ids: Sequence[int], positions: Sequence[int], top_k: int
) -> tuple[MaskPrediction, ...]:
    """What the model makes of a text of which it is given ``ids`` instead of its own, at the positions asked
    for.
    """
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    _checked(encoding, positions)
    if len(ids) != len(encoding):
        raise InvalidInput(f"The text has {len(encoding)} tokens, and {len(ids)} ids were given. Give one a token.")
    if not positions:
        return ()
    originals = [encoding.ids[position] for position in positions]
    return _predictions(loaded, replace(encoding, ids=tuple(ids)), positions, originals, top_k)


def fill_all(loaded: LoadedModel, text: str, masked: Collection[int]) -> Iterator[MaskPrediction]:
    """Fill one mask at a time, the most confident first, with its best token; yields each as it is filled.

    Every step runs the model again on what has been filled so far.
    """
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    hidden, positions = _hidden(loaded, encoding, masked)
    while positions:
        originals = [_original(loaded, encoding, position) for position in positions]
        answers = _predictions(loaded, hidden, positions, originals, 1)
        surest = max(answers, key=lambda answer: answer.best[0].probability)
        yield surest
        positions.remove(surest.position)
        ids = list(hidden.ids)
        ids[surest.position] = surest.best[0].id
        hidden = replace(hidden, ids=tuple(ids))


def token_scores(loaded: LoadedModel, text: str, scheme: Scheme = "original") -> TokenScores:
    """ln P of every token: as many copies of the text as it has tokens, each with one of them masked, and by the scheme
    "word l2r" what follows it in its word.
    """
    if scheme not in SCHEMES:
        raise InvalidInput(f"There is no scheme {scheme!r}. Choose {' or '.join(map(repr, SCHEMES))}.")
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    mask = loaded.tokenizer.mask_token_id
    scored = [
        place
        for place, (token, special) in enumerate(zip(encoding.ids, encoding.special, strict=True))
        if not special and token != mask
    ]
    logs = np.full(len(encoding), np.nan, dtype=np.float32)
    guesses: list[Prediction | None] = [None] * len(encoding)
    rows_a_batch = max(1, _BATCH_TOKENS // len(encoding))
    for start in range(0, len(scored), rows_a_batch):
        places = scored[start : start + rows_a_batch]
        copies = [replace(encoding, ids=_hiding(encoding, place, mask, scheme)) for place in places]
        with torch.inference_mode():
            states = _states(loaded, copies)[torch.arange(len(places)), places]
            answers = _answers(loaded, states, [[encoding.ids[place]] for place in places], 1)
        for place, answer in zip(places, answers, strict=True):
            logs[place], guesses[place] = answer.log_probabilities[0], answer.best[0]
    return TokenScores(encoding, loaded.info, logs, tuple(guesses), scheme)


def _hiding(encoding: Encoding, place: int, mask: int, scheme: Scheme) -> tuple[int, ...]:
    """The ids with the mask at one place and, by "word l2r", at the places after it in its word."""
    word = encoding.word_ids[place] if scheme == "word l2r" else None
    return tuple(
        mask if other == place or (word is not None and other > place and encoding.word_ids[other] == word) else token
        for other, token in enumerate(encoding.ids)
    )


def mask_lens(loaded: LoadedModel, text: str, masked: Collection[int], top_k: int) -> tuple[MaskLens, ...]:
    """The head applied to each mask's hidden state after every layer (the logit lens: nostalgebraist 2020).

    Where a norm stands behind the last layer, the layers before go through it too, or the head could not read them.
    The last layer gives the model's own answer. Raises NotSupported for an encoder-decoder, whose head reads
    the decoder, and for networks whose hidden states are not what the head reads.
    """
    refuse_without_head(loaded)
    if loaded.model.config.is_encoder_decoder:
        raise NotSupported(
            f"The masked-word head of {loaded.info.id} reads its decoder, not the encoder's layers, so the "
            "guess cannot "
            "be followed through them. Choose an encoder such as BERT."
        )
    hidden, positions = _hidden(loaded, encoding := loaded.encode(text), masked)
    with torch.inference_mode():
        output = loaded.model.base_model(**loaded.inputs([hidden]), output_hidden_states=True)
        final = output[0][0, positions]  # (masks, width)
        layers = [states[0, positions] for states in output.hidden_states[:-1]]
        if loaded.final_norm is not None:
            layers = [loaded.final_norm(states) for states in layers]
        if any(states.shape != final.shape for states in layers):
            raise NotSupported(
                f"The layers of {loaded.info.id} differ in width from what its masked-word head reads, so "
                "the guess "
                "cannot be followed through them. Choose another model."
            )
        originals = [_original(loaded, encoding, position) for position in positions]
        answers = _answers(loaded, final, [[] for _ in positions], 1)
        targets = [[answer.best[0].id, original] for answer, original in zip(answers, originals, strict=True)]
        every = [*layers, final]
        rows = _answers(loaded, torch.cat(every), targets * len(every), top_k)
    found = []
    for place, (position, original) in enumerate(zip(positions, originals, strict=True)):
        mine = rows[place :: len(positions)]
        found.append(
            MaskLens(
                position,
                tuple(row.best for row in mine),
                mine[-1].best[0],
                tuple(row.ranks[0] for row in mine),
                tuple(row.log_probabilities[0] for row in mine),
                None if original is None else tuple(row.ranks[1] for row in mine),
            )
        )
    return tuple(found)


def shifts(
    loaded: LoadedModel,
    before: tuple[str, Collection[int]],
    after: tuple[str, Collection[int]],
    top_k: int,
) -> tuple[tuple[Shift, ...], ...]:
    """How the predictions at each mask moved between two texts with their masked positions, largest change
    first.

    Looked at are the 50 best tokens of either side: far down the list, differences of ln P are large and mean
    nothing. Raises InvalidInput when the texts have different numbers of masks.
    """
    refuse_without_head(loaded)
    sides = [_hidden(loaded, loaded.encode(text), masked) for text, masked in (before, after)]
    if len(sides[0][1]) != len(sides[1][1]):
        raise InvalidInput(
            f"There are {len(sides[0][1])} masks before the change and {len(sides[1][1])} after it. Replace "
            "a word "
            "that is not masked, by one without a mask."
        )
    found = []
    with torch.inference_mode():
        first, second = (_states(loaded, [hidden])[0, positions] for hidden, positions in sides)
        for pair in zip(first, second, strict=True):
            logs = torch.cat(list(_logits(loaded, torch.stack(pair)))).log_softmax(dim=-1)  # (2, vocabulary)
            candidates = logs.topk(min(_SHIFTED_AMONG, logs.shape[-1]), dim=-1).indices.unique()
            moved = logs[:, candidates]
            order = (moved[1] - moved[0]).abs().argsort(descending=True)[:top_k]
            ids = candidates[order].tolist()
            names = loaded.tokenizer.convert_ids_to_tokens(ids)
            found.append(
                tuple(
                    Shift(*entry)
                    for entry in zip(names, ids, moved[0, order].tolist(), moved[1, order].tolist(), strict=True)
                )
            )
    return tuple(found)


def masked_text(loaded: LoadedModel, text: str, masked: Collection[int]) -> str:
    """The text with the masked tokens written as the model's mask, to be typed anywhere else."""
    refuse_without_head(loaded)
    encoding = loaded.encode(text)
    _checked(encoding, masked)
    written, rest = encoding.text, len(encoding.text)
    for position in sorted(masked, reverse=True):
        start, end = encoding.offsets[position]
        end = min(end, rest)  # pieces of one character (bytes) share its span
        written, rest = written[:start] + loaded.tokenizer.mask_token + written[end:], start
    return written


def put(loaded: LoadedModel, text: str, fills: Mapping[int, int]) -> str:
    """The text with the tokens at some positions replaced by others (position -> id), spaced as they read.

    A piece that continues a word ("##ing") joins the word before it.
    """
    encoding = loaded.encode(text)
    _checked(encoding, fills)
    written, rest = encoding.text, len(encoding.text)
    for position, token in sorted(fills.items(), reverse=True):
        piece = _as_written(loaded, token)
        start, end = encoding.offsets[position]
        before, after = written[:start], written[min(end, rest) :]
        if not piece.startswith(" "):
            before = before.rstrip()
        elif not before or before[-1].isspace():
            piece = piece.lstrip()
        written, rest = before + piece + after, len(before)
    return written


def _as_written(loaded: LoadedModel, token: int) -> str:
    """How a token reads after another word: " cat", or "s" for one that continues a word."""
    tokenizer = loaded.tokenizer
    before = tokenizer.encode("a", add_special_tokens=False)
    written: str = tokenizer.decode([*before, token], clean_up_tokenization_spaces=False)
    return written.removeprefix(tokenizer.decode(before, clean_up_tokenization_spaces=False))
