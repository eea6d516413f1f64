"""Runs with changes, many at once: each change is a row of a batch, and each batch begins at the first layer that any
of its changes touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from model_zoo.errors import InvalidInput, NotSupported
from model_zoo.fair_queue import give_way
from model_zoo.interventions.editing import Editor, Rows
from model_zoo.interventions.layerwise import BLOCKS, Block, LayerwiseRun, layerwise_run, refuse_without_blocks
from model_zoo.interventions.means import Values, means_for, noted
from model_zoo.interventions.reading import Reader, hide_tokens, reader
from model_zoo.loading import LoadedModel
from model_zoo.prediction_heads import predictions_of, slot_at
from model_zoo.types import Change, Effects, Encoding, MaskPrediction, ModelInfo, SentenceScore, Value
from model_zoo.types.wording import check_range, counted

OtherText = str | tuple[str, str | None] | None
"""The text or pair whose run gives the values that are put in; the question has made a pair of it."""

# Tokens in one batch of changed runs.
_BATCH_TOKENS = 2048


def intervene(read: Reader, changes: Sequence[Change], value: Value, other: OtherText, top_k: int) -> Iterator[Effects]:
    """The effects of some changes, in pieces as batches are done; together they cover all changes, in their order."""
    loaded, run = read.loaded, _untouched(read, changes, value)
    with torch.inference_mode():
        logits = run.logits(read)
        read.choose_answers(logits[0])
        logs = logits[0].log_softmax(dim=-1)
        values, of_other = _values(read, changes, value, other)
        effects = Effects(
            encoding=read.encoding,
            model=loaded.info,
            position=read.position,
            answer=read.prediction(logs, read.answer),
            foil=None if read.foil is None else read.prediction(logs, read.foil),
            untouched=read.readings(logits, logs, top_k)[0],
            readings=(),
            other=None if of_other is None else read.readings(of_other, logs, top_k)[0],
        )
    yield effects
    for first, batch in _batches(run, changes, len(read.encoding)):
        give_way()
        with torch.inference_mode():
            final = _run(run, read.encoding, [changes[place] for place in batch], first, values)
            readings = read.readings(read.logits(final), logs, top_k)
        # Batches hold changes that stand together, so that each piece is a run of them.
        yield replace(effects, first=batch[0], readings=tuple(readings))


def ablate(
    read: Reader, change: Change, value: Value, other: OtherText, targets: Sequence[str | int], top_k: int
) -> tuple[MaskPrediction, ...] | SentenceScore:
    """The answers of the one changed run."""
    loaded, kind, run = read.loaded, read.aim.reads, _untouched(read, [change], value)
    with torch.inference_mode():
        values, _ = _values(read, [change], value, other)
        final = _run(run, read.encoding, [change], _first_layer(change, run.n_layers), values)
        if kind == "next sentence":
            assert loaded.info.nsp is not None  # or the reader had refused
            logits = read.logits(final)[0]
            yes, no = logits.tolist()
            return SentenceScore(
                float(logits.softmax(dim=0)[0]), (yes, no), loaded.info.nsp, read.encoding, loaded.info
            )
    if kind == "next token":
        slots = [slot_at(loaded, read.encoding, len(read.encoding), read.row, targets)]
    else:
        original = loaded.encode(read.encoding.text)
        mask = loaded.tokenizer.mask_token_id
        places = [place for place, token in enumerate(read.encoding.ids) if token == mask]
        slots = [slot_at(loaded, original, place, place, targets) for place in places]
    return predictions_of(loaded, final, slots, top_k)


def _untouched(read: Reader, changes: Sequence[Change], value: Value) -> LayerwiseRun:
    """The run of the text as it is. Raises what ``_refuse_impossible`` raises."""
    _refuse_impossible(read.loaded, read.encoding, changes, value)
    with torch.inference_mode():
        return layerwise_run(read.loaded, [read.encoding])


def _first_layer(change: Change, n_layers: int) -> int:
    """The first layer that a change touches; behind the last one where it only touches what leaves that."""
    if change.hidden or any(edge.layer is None for edge in change.edges):
        return 0
    layers = [
        *(layer for layer, _ in change.heads),
        *change.attention,
        *change.feed_forward,
        *change.states,
        *(edge.layer for edge in change.edges if edge.layer is not None),
    ]
    return min(layers, default=n_layers)


def _batches(run: LayerwiseRun, changes: Sequence[Change], n: int) -> Iterator[tuple[int, list[int]]]:
    """The first layer and the places of changes that stand together and begin at one layer."""
    rows = max(1, _BATCH_TOKENS // n)
    batch: list[int] = []
    layer = 0
    for place, change in enumerate(changes):
        begins = _first_layer(change, run.n_layers)
        if batch and (begins != layer or len(batch) >= rows):
            yield layer, batch
            batch = []
        layer = begins
        batch.append(place)
    if batch:
        yield layer, batch


def _run(run: LayerwiseRun, encoding: Encoding, changes: Sequence[Change], first: int, values: Values) -> torch.Tensor:
    """What the head reads of one run a change, (rows, n, width)."""
    loaded, rows, n = run.loaded, len(changes), len(encoding)
    entering = None
    if any(change.hidden for change in changes):
        hidden = layerwise_run(loaded, [hide_tokens(loaded, encoding, change.hidden) for change in changes])
        if not any(map(_more, changes)):
            return hidden.final
        first = min(_first_layer(replace(change, hidden=()), run.n_layers) for change in changes)
        entering = hidden.states[first]
    editor = Editor(_rows_by_layer(run, changes, n, values))
    places = [_places(change, n) for change in changes]

    def between(number: int, states: torch.Tensor) -> torch.Tensor:
        wanted = [row for row, change in enumerate(changes) if number in change.states]
        if not wanted:
            return states
        states = states.clone()
        for row in wanted:
            states[row, places[row]] = values["states", number][0, places[row]].to(states.dtype)
        return states

    final = run.run(
        rows,
        editor,
        first=first,
        states=entering,
        blocks=_blocks_by_layer(changes, places, values),
        between=between,
    )
    # With all states of a layer the run is the other text's from there on, also where words have other pieces there.
    blocks = [
        row for row, change in enumerate(changes) if change.states and not change.edges and len({*places[row]}) == n
    ]
    if blocks:
        final = final.clone()
        final[blocks] = values["final", 0].to(final.dtype)
    return final


def _places(change: Change, n: int) -> list[int]:
    return list(range(n)) if change.positions is None else list(change.positions)


def _rows_by_layer(run: LayerwiseRun, changes: Sequence[Change], n: int, values: Values) -> dict[int, Rows]:
    """Heads that are off and edges that are cut, layer by layer."""
    device, n_heads = run.loaded.model.device, run.loaded.info.n_heads
    rows: dict[int, Rows] = {}
    for row, change in enumerate(changes):
        for layer, head in change.heads:
            of_layer = rows.setdefault(layer, Rows())
            if of_layer.keep is None:
                of_layer.keep = torch.ones(len(changes), n, n_heads, device=device)
                of_layer.fill = values.get(("heads", layer))
            of_layer.keep[row, _places(change, n), head] = 0
        for edge in change.edges:
            for layer in range(run.n_layers) if edge.layer is None else (edge.layer,):
                of_layer = rows.setdefault(layer, Rows())
                if of_layer.hide is None:
                    of_layer.hide = torch.zeros(len(changes), n_heads, n, n, dtype=torch.bool, device=device)
                heads = slice(None) if edge.head is None else edge.head
                of_layer.hide[row, heads, edge.query, edge.key] = True
    return rows


def _blocks_by_layer(
    changes: Sequence[Change], places: Sequence[list[int]], values: Values
) -> dict[tuple[Block, int], Callable[[torch.Tensor], torch.Tensor]]:
    """Whole blocks that are off, by which and layer."""
    edits: dict[tuple[Block, int], Callable[[torch.Tensor], torch.Tensor]] = {}
    for name in BLOCKS:
        for layer in sorted({layer for change in changes for layer in getattr(change, name)}):
            rows = [row for row, change in enumerate(changes) if layer in getattr(change, name)]
            fill = values.get((name, layer))

            def replaced(output: torch.Tensor, rows: list[int] = rows, fill: Any = fill) -> torch.Tensor:
                output = output.clone()
                for row in rows:
                    put = 0.0
                    if fill is not None:
                        put = fill[0].expand(output.shape[1], -1)[places[row]].to(output.dtype)
                    output[row, places[row]] = put
                return output

            edits[name, layer] = replaced
    return edits


def _values(
    read: Reader, changes: Sequence[Change], value: Value, other: OtherText
) -> tuple[Values, torch.Tensor | None]:
    """What is put in, and the logits (1, answers) of the run that it comes from, if it comes from one."""
    loaded = read.loaded
    if value == "zero":
        return {}, None
    with_blocks = any(change.attention or change.feed_forward for change in changes)
    if value == "mean":
        return means_for(loaded, read.encoding, with_blocks), None
    assert isinstance(other, tuple)  # the question says so
    theirs = _other(loaded, read, other)
    run, values = noted(loaded, [theirs.encoding], with_blocks)
    values |= {("states", number): states for number, states in enumerate(run.states)}
    values["final", 0] = run.final
    shares = _shares(loaded, read, theirs)
    if shares is not None:
        m = shares.shape[1]
        for part, vectors in values.items():
            values[part] = torch.einsum("nm,bm...->bn...", shares.to(vectors.dtype), vectors[:, :m])
    return values, theirs.logits(run.final)


def _words(loaded: LoadedModel, mine: Encoding, theirs: Encoding) -> list[tuple[range, range]]:
    """Each word's tokens, and those of the word in its place in the other text. Raises InvalidInput where words do not
    stand for words.
    """
    if _layout(mine) != _layout(theirs):
        here, there = (" and ".join(counted(n, "word") for n in _typed(encoding)) for encoding in (mine, theirs))
        raise InvalidInput(
            f"{loaded.info.id} reads {here} in one text and {there} in the other (a punctuation mark counts as a "
            "word), so it is not clear which words correspond. Give two texts with the same number of words."
        )
    return list(zip(mine.words, theirs.words, strict=True))


def _layout(encoding: Encoding) -> list[tuple[int, bool]]:
    """Says of each word which text it is in, and whether it frames one."""
    return [(encoding.segment_ids[word.start], encoding.special[word.start]) for word in encoding.words]


def _typed(encoding: Encoding) -> list[int]:
    """How many words were typed into each text."""
    typed = [encoding.segment_ids[word.start] for word in encoding.words if encoding.offsets[word.start] != (0, 0)]
    return [typed.count(segment) for segment in ((0,) if encoding.text_pair is None else (0, 1))]


def _shares(loaded: LoadedModel, mine: Reader, theirs: Reader) -> torch.Tensor | None:
    """How much of each token of theirs stands for each of mine, (n, m), None where token stands for token. Words stand
    for words in their order, one of another number of tokens by the mean of all of its own; where the answer is read,
    theirs stands alone.
    """
    words = _words(loaded, mine.encoding, theirs.encoding)
    if all(len(word) == len(other) for word, other in words):
        return None
    shares = torch.zeros(len(mine.encoding), len(theirs.encoding), device=loaded.model.device)
    for word, other in words:
        if len(word) == len(other):
            shares[list(word), list(other)] = 1.0
        else:
            shares[word.start : word.stop, other.start : other.stop] = 1.0 / len(other)
    shares[mine.row] = 0.0
    shares[mine.row, theirs.row] = 1.0
    return shares


def _other(loaded: LoadedModel, read: Reader, other: tuple[str, str | None]) -> Reader:
    """The other text, read for the same answer at the same word. Where no mask is typed into it, its masks stand at the
    words that are masked in this text. Raises InvalidInput where the texts have other words, or masks in other places.
    """
    masked, position = [], None
    if read.position is not None:
        encoding, mask = loaded.encode(*other), loaded.tokenizer.mask_token_id
        words = _words(loaded, read.encoding, encoding)
        like = {at: there for word in words if len(word[0]) == len(word[1]) for at, there in zip(*word, strict=True)}
        typed = mask in encoding.ids
        masks = [at for at, token in enumerate(read.encoding.ids) if token == mask]
        wanted = [read.position] if typed else masks
        if any(at not in like or (typed and encoding.ids[like[at]] != mask) for at in wanted):
            raise InvalidInput(
                f"The other text has no mask in the same place. Type {loaded.tokenizer.mask_token} for the same word "
                "in both texts."
            )
        position = like[read.position]
        masked = [] if typed else [like[at] for at in masks]
    theirs = reader(loaded, *other, masked, replace(read.aim, position=position))
    theirs.answer, theirs.foil = read.answer, read.foil
    return theirs


def _refuse_impossible(loaded: LoadedModel, encoding: Encoding, changes: Sequence[Change], value: Value) -> None:
    """Raises InvalidInput for parts and positions that are not there, NotSupported for what a family cannot be asked.

    Every change is looked at, since one that is wrong would change nothing without a word.
    """
    info, n = loaded.info, len(encoding)
    n_heads, n_layers = info.n_heads, info.n_layers
    if any(change.edges for change in changes):
        refuse_heads(info, [(0, 0)])
    refuse_heads(info, [head for change in changes for head in change.heads])
    blocks = any(change.attention or change.feed_forward for change in changes)
    if blocks:
        refuse_without_blocks(loaded)
    states = any(change.states for change in changes)
    if loaded.layers is None and (blocks or states or any(change.hidden and _more(change) for change in changes)):
        raise NotSupported(
            f"The layers of {info.id} ({info.family}) cannot be run one by one here, so only its heads and edges can "
            "be changed. Switch heads off, or choose another model."
        )
    if states and value != "other":
        raise InvalidInput("Hidden states are patched in from another text. Give one, or switch heads off instead.")
    for change in changes:
        for layer in (*change.attention, *change.feed_forward):
            check_range(info.id, "layer", layer, n_layers)
        for layer in change.states:
            check_range(info.id, "hidden state", layer, n_layers + 1)
        for edge in change.edges:
            check_range("The text", "token", edge.query, n)
            check_range("The text", "token", edge.key, n)
            if edge.layer is not None:
                check_range(info.id, "layer", edge.layer, n_layers)
            if edge.head is not None:
                check_range(info.id, "head", edge.head, n_heads)
        for place in (*(change.positions or ()), *change.hidden):
            check_range("The text", "token", place, n)


def refuse_heads(info: ModelInfo, heads: Iterable[tuple[int, int]]) -> None:
    """Raises InvalidInput for heads (layer, head) that are not there, NotSupported for a model that has none."""
    for layer, head in heads:
        if not info.n_heads:
            raise NotSupported(info.attention_refusal)
        check_range(info.id, "layer", layer, info.n_layers)
        check_range(info.id, "head", head, info.n_heads)


def _more(change: Change) -> bool:
    """Whether a change does more than hide words."""
    return replace(change, hidden=(), positions=None) != Change()
