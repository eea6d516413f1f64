"""Heads switched off in many texts at once, and the gradients of their gates: batches of texts of similar length.

``model_zoo.interventions`` changes one text in many ways; here many texts are changed in the same way, a batch at a
time, and each set of heads goes on from the states of the one before up to the first layer in which they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from analysis.corpus.placing import word_of_token
from evidence.items import GradientPart, Head, HiddenWord, Item, LabelledText, LeftOut, Part, SentencePair
from model_zoo import masked
from model_zoo.capture import as_array
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.fair_queue import give_way
from model_zoo.interventions.editing import Editor, Rows, editing
from model_zoo.interventions.intervene import refuse_heads
from model_zoo.interventions.layerwise import LayerwiseRun
from model_zoo.interventions.reading import class_logits, refuse_without_classes
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import logits_of
from model_zoo.running import batches
from model_zoo.types import Encoding, TunedFor

if TYPE_CHECKING:
    from evidence.questions.head_gradients import HeadGradients
    from evidence.questions.switch_off import SwitchOff

# Tokens in one batch whose gradients are taken: they take several times what a pass takes.
_GRADIENT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class _Row:
    """One text of a batch, and what it adds to the score of an item: ln P of some tokens at some positions, each with
    its sign; or that of a class.
    """

    item: int
    encoding: Encoding
    reads: tuple[tuple[int, int, float], ...] = ()
    label: int = 0


def switched_off(loaded: LoadedModel, question: SwitchOff) -> Iterator[Part]:
    """The parts of the answer: one a batch and set, after one that says which items are left out."""
    refuse_heads(loaded.info, [head for heads in question.sets for head in heads])
    rows, left_out = _rows(loaded, question.items)
    nothing = np.zeros(0, dtype=np.float32)
    yield Part(0, (), nothing, nothing, left_out)
    sets = [_by_layer(loaded, heads) for heads in question.sets]
    order = sorted(range(len(sets)), key=sets.__getitem__)
    for batch in batches(loaded, [row.encoding for row in rows], _task(question.items)):
        some = [rows[place] for place in batch]
        with torch.inference_mode():
            run = LayerwiseRun(loaded, [row.encoding for row in some])
            part = _part(loaded, 0, some, run.final)
        yield part
        states, before = run.states, _by_layer(loaded, ())
        for place in order:
            give_way()
            heads = sets[place]
            first = next((layer for layer, mine in enumerate(heads) if mine != before[layer]), run.n_layers)
            noted = states[:first]

            def note(_: int, entering: torch.Tensor, noted: list[torch.Tensor] = noted) -> torch.Tensor:
                noted.append(entering)
                return entering

            with torch.inference_mode():
                final = run.run(
                    len(some),
                    Editor(_off(run, heads)),
                    first=first if states else 0,
                    states=states[first] if states else None,
                    between=note,
                )
                part = _part(loaded, 1 + place, some, final)
            if states:
                states, before = noted, heads
            yield part


def head_gradients(loaded: LoadedModel, question: HeadGradients) -> Iterator[GradientPart]:
    """The parts of the answer: one a batch, after one that says which items are left out."""
    info = loaded.info
    refuse_heads(info, [(0, 0)])
    rows, left_out = _rows(loaded, question.items)
    with torch.inference_mode():
        _ = loaded.layers  # found once, by a pass of a few words, whose heads have no gates
    yield GradientPart((), np.zeros((0, info.n_layers, info.n_heads), dtype=np.float32), left_out)
    for batch in batches(loaded, [row.encoding for row in rows], _task(question.items), _GRADIENT_TOKENS):
        some = [rows[place] for place in batch]
        n = max(len(row.encoding) for row in some)
        with torch.inference_mode(False), torch.enable_grad():
            gates = [
                torch.ones(len(some), 1, info.n_heads, device=loaded.model.device, requires_grad=True)
                for _ in range(info.n_layers)
            ]
            of_layers = {layer: Rows(keep=gate.expand(-1, n, -1)) for layer, gate in enumerate(gates)}
            with editing(loaded, Editor(of_layers, counts=True)):
                final = LayerwiseRun(loaded, [row.encoding for row in some]).final
            scores, _ = _scores(loaded, some, final)
            gradients = torch.autograd.grad(scores.sum(), gates, materialize_grads=True)  # some layers have no heads
        yield GradientPart(tuple(row.item for row in some), as_array(torch.cat(gradients, dim=1)))


def _task(items: Sequence[Item]) -> TunedFor | None:
    return "classification" if isinstance(items[0], LabelledText) else None


def _by_layer(loaded: LoadedModel, heads: Sequence[Head]) -> tuple[tuple[int, ...], ...]:
    """The heads of each layer that are in a set; sets in the order of these share as many first layers as they can."""
    return tuple(tuple(head for at, head in heads if at == layer) for layer in range(loaded.info.n_layers))


def _off(run: LayerwiseRun, heads: Sequence[tuple[int, ...]]) -> dict[int, Rows]:
    """The same heads off in every text, layer by layer."""
    n = run.inputs["input_ids"].shape[1]
    found = {}
    for layer, mine in enumerate(heads):
        if mine:
            keep = torch.ones(1, n, run.loaded.info.n_heads, device=run.loaded.model.device)
            keep[..., list(mine)] = 0
            found[layer] = Rows(keep=keep)
    return found


def _part(loaded: LoadedModel, which: int, rows: Sequence[_Row], final: torch.Tensor) -> Part:
    scores, best = _scores(loaded, rows, final)
    return Part(which, tuple(row.item for row in rows), as_array(scores), as_array(best))


def _scores(loaded: LoadedModel, rows: Sequence[_Row], final: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What each row adds to its item's score, (rows,), and whether all that it reads were the best guesses."""
    device = final.device
    if not rows[0].reads:
        logs = class_logits(loaded, final, [row.encoding for row in rows]).log_softmax(dim=-1)
        labels = torch.tensor([row.label for row in rows], device=device)
        return logs.gather(1, labels[:, None])[:, 0], (logs.argmax(dim=-1) == labels).float()
    reads = [(place, *read) for place, row in enumerate(rows) for read in row.reads]
    of_row, positions, ids = (torch.tensor([read[at] for read in reads], device=device) for at in range(3))
    signs = torch.tensor([read[3] for read in reads], device=device)
    logs, right, done = [], [], 0
    for logits in logits_of(loaded, final[of_row, positions]):
        wanted = ids[done : done + len(logits)]
        done += len(logits)
        logs.append(logits.gather(1, wanted[:, None])[:, 0] - logits.logsumexp(dim=-1))
        right.append((logits.argmax(dim=-1) == wanted).float())
    scores = torch.zeros(len(rows), device=device).index_add(0, of_row, signs * torch.cat(logs))
    best = torch.ones(len(rows), device=device).scatter_reduce(0, of_row, torch.cat(right), "amin")
    return scores, best


def _rows(loaded: LoadedModel, items: Sequence[Item]) -> tuple[list[_Row], tuple[tuple[int, LeftOut], ...]]:
    """The texts that are run for the items, and which items cannot be scored. Raises as the questions say."""
    if isinstance(items[0], LabelledText):
        refuse_without_classes(loaded)
    elif loaded.info.lm:
        raise NotSupported(
            f"{loaded.info.id} reads left to right and predicts no hidden words. Choose a model that was trained to "
            "fill masks, such as BERT."
        )
    else:
        masked.refuse_without_head(loaded)
    rows: list[_Row] = []
    left_out: list[tuple[int, LeftOut]] = []
    for number, item in enumerate(items):
        match item:
            case HiddenWord():
                found = _hidden_word(loaded, number, item)
            case SentencePair():
                found = _pair(loaded, number, item)
            case LabelledText():
                found = [_labelled(loaded, number, item)]
        if isinstance(found, str):
            left_out.append((number, found))
        else:
            rows += found
    return rows, tuple(left_out)


def _labelled(loaded: LoadedModel, number: int, item: LabelledText) -> _Row:
    if item.label not in loaded.info.labels:
        raise InvalidInput(
            f"{loaded.info.id} knows no label “{item.label}”, only {', '.join(loaded.info.labels)}. Choose the data "
            "that it was trained on."
        )
    return _Row(number, loaded.encode(item.text, item.pair), label=loaded.info.labels.index(item.label))


def _hidden_word(loaded: LoadedModel, number: int, item: HiddenWord) -> list[_Row] | LeftOut:
    encoding = loaded.encode(item.text)
    mask, unknown = loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id
    if mask in encoding.ids or encoding.text != item.text:
        return "mask"
    start, end = item.span
    places = np.flatnonzero(word_of_token(encoding, [item.span]) == 0).tolist()
    first, last = (encoding.offsets[places[0]][0], encoding.offsets[places[-1]][1]) if places else (end, start)
    if last < end or first > start:
        return "cut" if encoding.n_dropped and last >= _read_to(encoding) else "shared"
    if encoding.text[first:start].strip():
        return "shared"
    if any(encoding.ids[place] == unknown for place in places):
        return "unknown"
    return [_masked(number, encoding, places, mask, [(encoding, 1.0)])]


def _read_to(encoding: Encoding) -> int:
    """The character up to which the text was read."""
    return max(
        (end for (_, end), special in zip(encoding.offsets, encoding.special, strict=True) if not special), default=0
    )


def _masked(
    number: int, encoding: Encoding, places: Sequence[int], mask: int, asked: Sequence[tuple[Encoding, float]]
) -> _Row:
    """The text with some places masked, and asked for what stands there in some encodings, each with its sign."""
    ids = tuple(mask if place in places else token for place, token in enumerate(encoding.ids))
    reads = tuple((place, one.ids[place], sign) for one, sign in asked for place in places)
    return _Row(number, replace(encoding, ids=ids), reads)


def _pair(loaded: LoadedModel, number: int, item: SentencePair) -> list[_Row] | LeftOut:
    both = loaded.encode(item.good), loaded.encode(item.bad)
    mask, unknown = loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id
    if any(mask in one.ids for one in both):
        return "mask"
    if any(one.n_dropped for one in both):
        return "cut"
    if any(unknown in one.ids for one in both):
        return "unknown"
    places = _one_word(*both)
    if places:
        return [_masked(number, both[0], places, mask, [(both[0], 1.0), (both[1], -1.0)])]
    return [
        _Row(
            number,
            replace(one, ids=masked.ids_hiding(one, place, mask, "word l2r")),
            ((place, one.ids[place], sign),),
        )
        for one, sign in zip(both, (1.0, -1.0), strict=True)
        for place, special in enumerate(one.special)
        if not special
    ]


def _one_word(good: Encoding, bad: Encoding) -> range | None:
    """The tokens of the one word in which two texts of as many tokens differ; None where that is not how they do."""
    if len(good) != len(bad):
        return None
    other = [place for place, (one, two) in enumerate(zip(good.ids, bad.ids, strict=True)) if one != two]
    word = next((word for word in good.words if other and other[0] in word), None)
    return word if word in bad.words and word is not None and all(place in word for place in other) else None
