"""What a model predicts in many sentences with heads switched off (``SwitchOff``), and how important each head is by
the gradient of its gate (``HeadGradients``, Michel et al. 2019).

``model_zoo.interventions`` changes one text in many ways; here many texts are changed in the same way, a batch of texts
of similar length at a time, and each set of heads goes on from the states of the one before up to the first layer in
which they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from analysis.corpus.placing import word_of_token
from evidence.items import Head, HiddenWord, Item, LabelledText, LeftOut, SentencePair, check_items
from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.question import LoadedModel, Streamed, normalize
from model_zoo.types import EQUAL_NATS, Encoding, FloatArray, TunedFor, counted
from model_zoo.types.arrays import ReadOnly
from model_zoo.types.shows import DataFrame, Shows, table

if TYPE_CHECKING:
    import torch

    from model_zoo.interventions.editing import Rows
    from model_zoo.interventions.layerwise import LayerwiseRun

# Tokens in one batch whose gradients are taken: they take several times what a pass takes.
_GRADIENT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Part(ReadOnly):
    """What one batch adds to the scores of some ``items`` with the heads of ``which`` set off (0: none), and to how
    many of them had the wanted answer as their best. ``left_out`` are the items that cannot be scored, and why.
    """

    which: int
    items: tuple[int, ...]
    scores: FloatArray
    best: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchedOff(ReadOnly, Shows):
    """Scores (1 + sets, items) in nats: with nothing off, then with each set of heads off; nan for items that were
    ``left_out``, each with the reason.

    ``right`` (1 + sets, items) is 1 where the item is answered rightly: the hidden word is the best guess, the right
    sentence has the higher score (a tie counts half), the label is the most probable.
    """

    scores: FloatArray
    right: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()

    def __repr__(self) -> str:
        sets, items = self.scores.shape
        return f"<SwitchedOff {counted(items, 'item')}, {counted(sets - 1, 'set')} of heads>"

    def to_frame(self) -> DataFrame:
        """One row a set of heads and item: set (0 is nothing off, 1 the first set), item, score (nats), right."""
        which, item = np.indices(self.scores.shape).reshape(2, -1)
        return table({"set": which, "item": item, "score": self.scores.reshape(-1), "right": self.right.reshape(-1)})


@dataclass(frozen=True, slots=True)
class SwitchOff(Streamed[Part, SwitchedOff]):
    """The scores of many items with nothing off, and with each of several sets of heads off together.

    Heads are (layer, head) from 0, replaced by zeros at the input of the output projection, as ``Ablate`` does; a set
    runs from the first layer in which it differs from the one before. Raises NotSupported for a model without the head
    that the items need or without heads, InvalidInput for heads that are not there and labels that it does not know.
    """

    remembered = False  # work in the background asks thousands of these, each once
    full_precision = True

    model: str
    items: tuple[Item, ...]
    sets: tuple[tuple[Head, ...], ...] = ()

    def check(self) -> None:
        sets = tuple(tuple(sorted({(int(layer), int(head)) for layer, head in heads})) for heads in self.sets)
        normalize(self, items=check_items(self.items), sets=sets)

    def parts(self, loaded: LoadedModel) -> Iterator[Part]:
        """One part per batch and set of heads, after one that says which items are left out."""
        import torch

        from model_zoo.fair_queue import give_way
        from model_zoo.interventions.editing import Editor
        from model_zoo.interventions.intervene import refuse_heads
        from model_zoo.interventions.layerwise import LayerwiseRun
        from model_zoo.running import batches

        refuse_heads(loaded.info, [head for heads in self.sets for head in heads])
        rows, left_out = _rows(loaded, self.items)
        nothing = np.zeros(0, dtype=np.float32)
        yield Part(0, (), nothing, nothing, left_out)
        sets = [_group_by_layer(loaded, heads) for heads in self.sets]
        order = sorted(range(len(sets)), key=sets.__getitem__)
        for batch in batches(loaded, [row.encoding for row in rows], _task(self.items)):
            some = [rows[place] for place in batch]
            with torch.inference_mode():
                run = LayerwiseRun(loaded, [row.encoding for row in some])
                part = _part(loaded, 0, some, run.final)
            yield part
            states, before = run.states, _group_by_layer(loaded, ())
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
                        Editor(_gates_off(run, heads)),
                        first=first if states else 0,
                        states=states[first] if states else None,
                        between=note,
                    )
                    part = _part(loaded, 1 + place, some, final)
                if states:
                    states, before = noted, heads
                yield part

    def combine(self, parts: Sequence[Part]) -> SwitchedOff:
        n_sets, n = 1 + len(self.sets), len(self.items)
        scores, best = np.zeros((n_sets, n), dtype=np.float64), np.zeros((n_sets, n), dtype=np.float32)
        for part in parts:
            np.add.at(scores[part.which], list(part.items), part.scores)
            np.add.at(best[part.which], list(part.items), part.best)
        left_out = tuple(reason for part in parts for reason in part.left_out)
        gone = [place for place, _ in left_out]
        if isinstance(self.items[0], SentencePair):
            best = np.where(np.abs(scores) < EQUAL_NATS, 0.5, scores > 0).astype(np.float32)
        scores[:, gone] = best[:, gone] = np.nan
        return SwitchedOff(scores.astype(np.float32), best, left_out)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, (HiddenWord("The cat sat.", (4, 7)),), (((0, 0),),))


@dataclass(frozen=True, slots=True)
class GradientPart(ReadOnly):
    """What one batch adds to the gradients (k, layers, heads) of some of the items."""

    items: tuple[int, ...]
    gradients: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()


@dataclass(frozen=True, slots=True)
class Gradients(ReadOnly, Shows):
    """For each item the derivative of its score by each head's gate, (items, layers, heads) in nats, nan for items
    that were ``left_out``.

    A gate ξ multiplies what a head gives to the output projection; it is 1 in the model as it is, and 0 with the head
    off. So the importance of Michel et al. 2019 (eq. 3, not scaled by layer) is the mean over items of the absolute
    values, and minus the mean estimates, to first order, how much the score changes when the head is switched off.
    """

    gradients: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()

    def __repr__(self) -> str:
        items, layers, heads = self.gradients.shape
        return f"<Gradients of {counted(items, 'item')}: {counted(layers, 'layer')} × {counted(heads, 'head')}>"

    def to_frame(self) -> DataFrame:
        """One row an item and head: item, layer, head, gradient (nats; nan for items that were left out)."""
        item, layer, head = np.indices(self.gradients.shape).reshape(3, -1)
        return table({"item": item, "layer": layer, "head": head, "gradient": self.gradients.reshape(-1)})


@dataclass(frozen=True, slots=True)
class HeadGradients(Streamed[GradientPart, Gradients]):
    """The gradients of the items' scores by every head's gate, at the model as it is.

    Items and scores are those of ``SwitchOff``, and it raises as that does.
    """

    remembered = False  # a job asks each once
    full_precision = True

    model: str
    items: tuple[Item, ...]

    def check(self) -> None:
        normalize(self, items=check_items(self.items))

    def parts(self, loaded: LoadedModel) -> Iterator[GradientPart]:
        """One part per batch, after one that says which items are left out."""
        import torch

        from model_zoo.capture import as_array
        from model_zoo.interventions.editing import Editor, Rows, editing
        from model_zoo.interventions.intervene import refuse_heads
        from model_zoo.interventions.layerwise import LayerwiseRun
        from model_zoo.running import batches

        info = loaded.info
        refuse_heads(info, [(0, 0)])
        rows, left_out = _rows(loaded, self.items)
        with torch.inference_mode():
            _ = loaded.layers  # found once, by a pass of a few words, whose heads have no gates
        yield GradientPart((), np.zeros((0, info.n_layers, info.n_heads), dtype=np.float32), left_out)
        for batch in batches(loaded, [row.encoding for row in rows], _task(self.items), _GRADIENT_TOKENS):
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
                gradients = torch.autograd.grad(
                    scores.sum(), gates, materialize_grads=True
                )  # some layers have no heads
            yield GradientPart(tuple(row.item for row in some), as_array(torch.cat(gradients, dim=1)))

    def combine(self, parts: Sequence[GradientPart]) -> Gradients:
        gradients = np.zeros((len(self.items), *parts[0].gradients.shape[1:]), dtype=np.float64)
        for part in parts:
            np.add.at(gradients, list(part.items), part.gradients)
        left_out = tuple(reason for part in parts for reason in part.left_out)
        gradients[[place for place, _ in left_out]] = np.nan
        return Gradients(gradients.astype(np.float32), left_out)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, (HiddenWord("The cat sat.", (4, 7)),))


@dataclass(frozen=True, slots=True)
class _Row:
    """One text of a batch, and what it adds to the score of an item: ln P of some tokens at some positions, each with
    its sign; or that of a class.
    """

    item: int
    encoding: Encoding
    reads: tuple[tuple[int, int, float], ...] = ()
    label: int = 0


def _task(items: Sequence[Item]) -> TunedFor | None:
    return "classification" if isinstance(items[0], LabelledText) else None


def _group_by_layer(loaded: LoadedModel, heads: Sequence[Head]) -> tuple[tuple[int, ...], ...]:
    """The heads of each layer that are in a set; sets in the order of these share as many first layers as they can."""
    return tuple(tuple(head for at, head in heads if at == layer) for layer in range(loaded.info.n_layers))


def _gates_off(run: LayerwiseRun, heads: Sequence[tuple[int, ...]]) -> dict[int, Rows]:
    """The same heads off in every text, layer by layer."""
    import torch

    from model_zoo.interventions.editing import Rows

    n = run.inputs["input_ids"].shape[1]
    rows = {}
    for layer, mine in enumerate(heads):
        if mine:
            keep = torch.ones(1, n, run.loaded.info.n_heads, device=run.loaded.model.device)
            keep[..., list(mine)] = 0
            rows[layer] = Rows(keep=keep)
    return rows


def _part(loaded: LoadedModel, which: int, rows: Sequence[_Row], final: torch.Tensor) -> Part:
    from model_zoo.capture import as_array

    scores, best = _scores(loaded, rows, final)
    return Part(which, tuple(row.item for row in rows), as_array(scores), as_array(best))


def _scores(loaded: LoadedModel, rows: Sequence[_Row], final: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What each row adds to its item's score, (rows,), and whether all that it reads were the best guesses."""
    import torch

    from model_zoo.interventions.reading import class_logits
    from model_zoo.prediction_heads import logits_of

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
    from model_zoo import masked
    from model_zoo.interventions.reading import refuse_without_classes

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
                texts = _hidden_word(loaded, number, item)
            case SentencePair():
                texts = _pair(loaded, number, item)
            case LabelledText():
                texts = [_labelled(loaded, number, item)]
        if isinstance(texts, str):
            left_out.append((number, texts))
        else:
            rows += texts
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
    number: int, encoding: Encoding, places: Sequence[int], mask: int, wanted: Sequence[tuple[Encoding, float]]
) -> _Row:
    """The text with some places masked, and asked for what stands there in some encodings, each with its sign."""
    ids = tuple(mask if place in places else token for place, token in enumerate(encoding.ids))
    reads = tuple((place, source.ids[place], sign) for source, sign in wanted for place in places)
    return _Row(number, replace(encoding, ids=ids), reads)


def _pair(loaded: LoadedModel, number: int, item: SentencePair) -> list[_Row] | LeftOut:
    from model_zoo import masked

    both = loaded.encode(item.good), loaded.encode(item.bad)
    mask, unknown = loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id
    if any(mask in encoding.ids for encoding in both):
        return "mask"
    if any(encoding.n_dropped for encoding in both):
        return "cut"
    if any(unknown in encoding.ids for encoding in both):
        return "unknown"
    places = _one_word(*both)
    if places:
        return [_masked(number, both[0], places, mask, [(both[0], 1.0), (both[1], -1.0)])]
    return [
        _Row(
            number,
            replace(encoding, ids=masked.ids_hiding(encoding, place, mask, "word l2r")),
            ((place, encoding.ids[place], sign),),
        )
        for encoding, sign in zip(both, (1.0, -1.0), strict=True)
        for place, special in enumerate(encoding.special)
        if not special
    ]


def _one_word(good: Encoding, bad: Encoding) -> range | None:
    """The tokens of the one word in which two texts of as many tokens differ; None where that is not how they do."""
    if len(good) != len(bad):
        return None
    other = [place for place, (left, two) in enumerate(zip(good.ids, bad.ids, strict=True)) if left != two]
    word = next((word for word in good.words if other and other[0] in word), None)
    return word if word in bad.words and word is not None and all(place in word for place in other) else None
