"""From a network's vectors to its answers over the vocabulary: the model's own head, on the rows asked for alone.

What masked words (``masked``) and next tokens (``causal``) share. The network runs once, then the head on those rows
and no others: most of the work of a small model is its projection onto the vocabulary.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.loading import LoadedModel
from model_zoo.running import batches
from model_zoo.text import check
from model_zoo.types import Encoding, FittedLens, MaskLens, MaskPrediction, Prediction, Target

# Numbers in one piece of the head's output: 16 MB of float32, of which a few are held at a time.
HEAD_NUMBERS = 2**22


@dataclass(frozen=True, slots=True)
class Slot:
    """A ``position`` to predict, read off the vector at ``row``: the mask's own, or that of the token before.

    ``original`` is the id of what the text has there, None for a typed mask and after the text; ``targets`` are words
    and their ids.
    """

    position: int
    row: int
    original: int | None = None
    targets: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the head's output: the best tokens; ln P and rank (from 1) of each target, nan and 0 for none."""

    best: tuple[Prediction, ...]
    log_probabilities: tuple[float, ...]
    ranks: tuple[int, ...]
    log_total: float


class Output(tuple[torch.Tensor | None, ...]):
    """A network's output with everything but the vectors left out: other attributes are None."""

    @property
    def last_hidden_state(self) -> torch.Tensor | None:
        return self[0]

    def __getattr__(self, name: str) -> None:
        return None


class _FixedEncoder(torch.nn.Module):
    """Stands where the encoder was and hands out the vectors it is given instead of computing them: in the place of
    tokens, or as an ``output`` of its own.
    """

    def __init__(self, encoder: Any, output: Output | None = None) -> None:
        super().__init__()
        self._output = output
        object.__setattr__(self, "_encoder", encoder)  # not as a submodule: this is a reference, no part

    def forward(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> Output:
        if self._output is not None:
            return self._output
        return Output((input_ids, input_ids[:, 0]))  # vectors, and what a sentence head would read

    def __getattr__(self, name: str) -> Any:
        encoder = object.__getattribute__(self, "_encoder")
        part = getattr(encoder, name)
        return self if part in encoder.children() and len(encoder._modules) == 1 else part  # OPT calls what it wraps


def head_of(model: Any, output: Output | None = None) -> Any:
    """The model's own head as a function of vectors (batch, n, width), whatever the family calls its parts; with an
    ``output`` of the network, as a function of the network's inputs that reads this output.
    """
    head = copy.copy(model)
    head._modules = {**model._modules, model.base_model_prefix: _FixedEncoder(model.base_model, output)}
    return head


def scores_of(output: Any) -> torch.Tensor:
    """The scores over the vocabulary in what a head gives."""
    logits = getattr(output, "prediction_logits", None)
    return output.logits if logits is None else logits


def states_of(
    loaded: LoadedModel, encodings: Sequence[Encoding], changed: Mapping[str, torch.Tensor] = MappingProxyType({})
) -> torch.Tensor:
    """The vectors that the head reads: (batch, longest, width). ``changed`` are inputs other than the usual ones."""
    return loaded.model.base_model(**(loaded.inputs(encodings) | dict(changed)))[0]


def logits_of(loaded: LoadedModel, states: torch.Tensor) -> Iterator[torch.Tensor]:
    """The head's output for rows of states (rows, width), in pieces (some rows, vocabulary), float32."""
    head = head_of(loaded.model)
    rows_a_piece = max(1, HEAD_NUMBERS // len(loaded.tokenizer))
    for piece in states.split(rows_a_piece):
        yield scores_of(head(piece[None]))[0].float()


def answers_of(
    loaded: LoadedModel, states: torch.Tensor, targets: Sequence[Sequence[int | None]], top_k: int
) -> list[Answer]:
    """Answers for rows of states (rows, width); ``targets`` names the tokens to be followed, row by row."""
    n_targets = max((len(row) for row in targets), default=0)
    wanted = torch.tensor([[-1 if t is None else t for t in row] for row in targets], device=states.device).reshape(
        len(states), n_targets
    )
    answers: list[Answer] = []
    for logits in logits_of(loaded, states):
        totals = logits.logsumexp(dim=-1)
        piece = logits - totals[:, None]  # ln P
        ids_wanted = wanted[len(answers) : len(answers) + len(piece)]
        highest, ids = piece.topk(min(top_k, piece.shape[-1]), dim=-1)
        of_targets = piece.gather(1, ids_wanted.clamp(min=0))
        ranks = torch.stack(
            [(piece > of_targets[:, [t]]).sum(dim=-1) + 1 for t in range(n_targets)] or [ids[:, 0]], dim=-1
        )
        columns = [t.tolist() for t in (highest.exp(), ids, ids_wanted, of_targets, ranks, totals)]
        for probabilities, best, wanted_ids, logs, places, total in zip(*columns, strict=True):
            names = loaded.token_names(best)
            answers.append(
                Answer(
                    tuple(Prediction(*entry) for entry in zip(names, best, probabilities, strict=True)),
                    tuple(float("nan") if a < 0 else log for a, log in zip(wanted_ids, logs, strict=True)),
                    tuple(0 if a < 0 else rank for a, rank in zip(wanted_ids, places[: len(wanted_ids)], strict=True)),
                    total,
                )
            )
    return answers


def predictions(
    loaded: LoadedModel,
    encodings: Sequence[Encoding],
    slots: Sequence[Sequence[Slot]],
    top_k: int,
    changed: Mapping[str, torch.Tensor] = MappingProxyType({}),
) -> Iterator[tuple[int, tuple[MaskPrediction, ...]]]:
    """The answers to each text's slots, best tokens first; texts are batched by length. Yields (index of the text,
    answers) as batches are done. ``changed`` are inputs of a single text other than the usual ones.
    """
    for batch in batches(loaded, encodings):
        of_batch = [(place, slot) for place, index in enumerate(batch) for slot in slots[index]]
        if not of_batch:
            yield from ((index, ()) for index in batch)
            continue
        with torch.inference_mode():
            states = states_of(loaded, [encodings[index] for index in batch], changed)
            rows = states[[place for place, _ in of_batch], [slot.row for _, slot in of_batch]]
            answers = iter(answers_of(loaded, rows, [_followed(slot) for _, slot in of_batch], top_k))
        for index in batch:
            yield index, tuple(_prediction(loaded, slot, next(answers)) for slot in slots[index])


def predictions_of(
    loaded: LoadedModel, states: torch.Tensor, slots: Sequence[Slot], top_k: int
) -> tuple[MaskPrediction, ...]:
    """The answers to a text's slots, given the vectors that the head reads (1, n, width)."""
    with torch.inference_mode():
        answers = answers_of(loaded, states[0, [slot.row for slot in slots]], list(map(_followed, slots)), top_k)
    return tuple(_prediction(loaded, slot, answer) for slot, answer in zip(slots, answers, strict=True))


def slot_at(
    loaded: LoadedModel, encoding: Encoding, position: int, row: int, targets: Sequence[str | int] = ()
) -> Slot:
    """The slot at a position, or after the text, with the words that are asked for there."""
    wanted = tuple(target_id(loaded, encoding, position, target) for target in targets)
    known = encoding.ids[position] if position < len(encoding) else None
    return Slot(position, row, None if known == loaded.tokenizer.mask_token_id else known, wanted)


def _followed(slot: Slot) -> list[int | None]:
    """The tokens whose probability is wanted there."""
    return [slot.original, *(id for _, id in slot.targets)]


def _prediction(loaded: LoadedModel, slot: Slot, answer: Answer) -> MaskPrediction:
    targets = tuple(
        Target(word, loaded.token_names([token])[0], token, math.exp(log), log, rank)
        for (word, token), log, rank in zip(slot.targets, answer.log_probabilities[1:], answer.ranks[1:], strict=False)
    )
    if slot.original is None:
        return MaskPrediction(slot.position, answer.best, answer.log_total, targets=targets)
    log = answer.log_probabilities[0]
    original = Prediction(loaded.token_names([slot.original])[0], slot.original, math.exp(log))
    return MaskPrediction(slot.position, answer.best, answer.log_total, original, answer.ranks[0], log, targets=targets)


def lens_vectors(
    loaded: LoadedModel, encodings: Sequence[Encoding], places: Sequence[int], rows: Sequence[int]
) -> list[torch.Tensor]:
    """What the logit lens gives to the head after the embeddings and after every layer, (len(rows), width) each: the
    vectors at ``rows`` of the texts at ``places``. The last is what the head reads in the model itself.

    Where a norm follows the last layer, the layers before go through it too, or the head could not read them. Raises
    NotSupported for an encoder-decoder, whose head reads the decoder, and for networks whose hidden states are not what
    the head reads.
    """
    if loaded.model.config.is_encoder_decoder:
        raise NotSupported(
            f"The masked-word head of {loaded.info.id} reads its decoder, not the encoder's layers, "
            "so the prediction cannot be traced through them. Choose an encoder such as BERT."
        )
    output = loaded.model.base_model(**loaded.inputs(encodings), output_hidden_states=True)
    last, layers, norm = output[0], output.hidden_states[:-1], loaded.final_norm
    of_norm = getattr(norm, "weight", last)
    if of_norm.shape[-1] != last.shape[-1] or any(getattr(states, "shape", None) != last.shape for states in layers):
        raise NotSupported(
            f"The layers of {loaded.info.id} differ in size from what its prediction head reads, "
            "so the prediction cannot be traced through them. Choose another model."
        )
    at = list(places), list(rows)
    return [*(states[at] if norm is None else norm(states[at]) for states in layers), last[at]]


def mapped(loaded: LoadedModel, layers: Sequence[torch.Tensor], fitted: FittedLens) -> list[torch.Tensor]:
    """What a fitted lens makes of the vectors (rows, width) after each layer but the last. Raises InvalidInput for a
    lens of another model or of other weights.
    """
    if (fitted.model, fitted.revision) != (loaded.info.id, loaded.info.revision) or fitted.n_layers != len(layers):
        raise InvalidInput(
            f"This lens was fitted to {fitted.model} with other weights than {loaded.info.id} has here, "
            "and would show nothing true of them. Fit a lens to this model."
        )
    changes, _ = fitted.arrays()
    results = []
    for states, change in zip(layers, torch.tensor(changes, device=loaded.model.device), strict=True):
        results.append((states.float() + states.float() @ change[:-1] + change[-1]).to(states.dtype))
    return results


def lens(
    loaded: LoadedModel, encoding: Encoding, slots: Sequence[Slot], top_k: int, fitted: FittedLens | None = None
) -> tuple[MaskLens, ...]:
    """The head applied to the vectors after every layer (the logit lens: nostalgebraist 2020), or to what a ``fitted``
    lens makes of them.

    The last layer gives the model's own answer. Raises what ``lens_vectors`` and ``mapped`` raise.
    """
    rows = [slot.row for slot in slots]
    with torch.inference_mode():
        *layers, final = lens_vectors(loaded, [encoding], [0] * len(rows), rows)
        if fitted is not None:
            layers = mapped(loaded, layers, fitted)
        answers = answers_of(loaded, final, [[] for _ in slots], 1)
        targets = [[answer.best[0].id, of_slot.original] for answer, of_slot in zip(answers, slots, strict=True)]
        every = [*layers, final]
        followed = answers_of(loaded, torch.cat(every), targets * len(every), top_k)
    lenses = []
    for place, slot in enumerate(slots):
        mine = followed[place :: len(slots)]
        lenses.append(
            MaskLens(
                slot.position,
                tuple(row.best for row in mine),
                mine[-1].best[0],
                tuple(row.ranks[0] for row in mine),
                tuple(row.log_probabilities[0] for row in mine),
                None if slot.original is None else tuple(row.ranks[1] for row in mine),
            )
        )
    return tuple(lenses)


def target_id(loaded: LoadedModel, encoding: Encoding, position: int, target: str | int) -> tuple[str, int]:
    """A word that is asked for at a position, and its id there; ``position`` may be the one after the text.

    A word is what the tokenizer makes of it at this place of this text, so that "cat" is "Ġcat" between words. A word
    that is not a single token there is looked up in the vocabulary as the model writes it ("##ing", "Ġcat"), and a
    number is an id. Raises InvalidInput for anything else.
    """
    name = loaded.tokenizer.convert_ids_to_tokens
    if isinstance(target, int):
        if not 0 <= target < loaded.vocabulary_size:
            raise InvalidInput(f"There is no token {target}: {loaded.info.id} has {loaded.vocabulary_size:,}.")
        return loaded.token_names([target])[0], target
    check(target, "A target")
    text = encoding.text
    if position < len(encoding):
        start, end = encoding.offsets[position]
        before, after = text[:start], text[end:]
    else:
        before, after = (text if text[-1].isspace() else f"{text} "), ""
    written = target.strip()
    again = loaded.encode(f"{before}{written}{after}")
    span = len(before), len(before) + len(written)
    pieces = [
        place
        for place, (start, end) in enumerate(again.offsets)
        if start < span[1] and end > span[0] and not again.special[place]
    ]
    if len(pieces) == 1:
        place = pieces[0]
        if again.offsets[place] == span and again.ids[place] != loaded.tokenizer.unk_token_id:
            return target, again.ids[place]
    known = loaded.tokenizer.convert_tokens_to_ids(target)
    if known is not None and name(known) == target:
        return target, known
    made = " ".join(again.tokens[place] for place in pieces)
    raise InvalidInput(
        f"“{target}” is not one token of {loaded.info.id} at this place; its tokenizer makes “{made}” of it. "
        "Ask for a word of one token, or for a token as the model writes it."
    )
