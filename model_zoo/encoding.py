"""From text to the tokens a model sees: a tokenizer's output as an ``Encoding``."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from model_zoo import alignment, tokenizer_sandbox
from model_zoo.errors import BadCheckpoint, ModelZooError
from model_zoo.text import single_line, word_spans
from model_zoo.types import Encoding


def encode(tokenizer: Any, text: str, text_pair: str | None, max_tokens: int) -> Encoding:
    """Tokenize a text or a pair, cut it at ``max_tokens`` (the longer text first) and count what is left out.

    Not safe for threads: not to cut is a setting of the tokenizer, too. The caller holds the tokenizer's lock.
    """
    all_ids, all_types, parts, all_spans = (_fast if tokenizer.is_fast else _slow)(tokenizer, text, text_pair)
    starts = {(part, span[0]) for part, span in zip(parts, all_spans, strict=True) if span is not None}
    # The tokenizer's own cut would read the texts again, and of a pair make every combination of what is left over.
    kept = _kept(parts, max_tokens)
    ids = [all_ids[place] for place in kept]
    segments = _segments([parts[place] for place in kept])
    texts = (text, text_pair or "")
    spans = [all_spans[place] for place in kept]
    offsets = [
        _offsets(texts[segment], segment, *(span or (0, 0)), starts)
        for segment, span in zip(segments, spans, strict=True)
    ]
    # Those that frame a text ([CLS], [SEP], <s> ...); mask and unknown tokens are content.
    framing = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id, tokenizer.unk_token_id}
    special = tuple(token_id in framing or parts[place] is None for token_id, place in zip(ids, kept, strict=True))
    nowhere = tuple(frames or span is None for frames, span in zip(special, spans, strict=True))
    return Encoding(
        text=text,
        text_pair=text_pair,
        tokens=tuple(token_names(tokenizer, ids)),
        ids=tuple(ids),
        word_ids=_word_ids(texts, segments, offsets, nowhere),
        offsets=tuple(offsets),
        segment_ids=tuple(segments),
        special=special,
        type_ids=tuple(all_types[place] for place in kept),
        n_dropped=len(parts) - len(ids),
    )


class _Piece(int):
    """The id of a token that knows where it is: the tokenizer's own code frames the text with others."""

    part: int | None = None
    span: alignment.Span | None = (0, 0)


_Read = tuple[list[int], list[int], list[int | None], list[alignment.Span | None]]


def _fast(tokenizer: Any, text: str, text_pair: str | None) -> _Read:
    """Ids, types, texts and spans of all tokens."""
    # Some tokenizers keep the types to themselves although their models were trained with them.
    options = {"return_offsets_mapping": True, "return_token_type_ids": True, "verbose": False}
    batch = tokenizer(text, text_pair, truncation=False, **options)
    return batch["input_ids"], batch["token_type_ids"], batch.sequence_ids(0), batch["offset_mapping"]


def _slow(tokenizer: Any, text: str, text_pair: str | None) -> _Read:
    """The same of a tokenizer written in Python, which says neither where its tokens are nor of which text."""
    texts = (text,) if text_pair is None else (text, text_pair)
    with tokenizer_sandbox.time_bounded():
        pieces = [tokenizer.tokenize(written) for written in texts]
        read = [[_Piece(token) for token in tokenizer.convert_tokens_to_ids(of_text)] for of_text in pieces]
        ids = tokenizer.build_inputs_with_special_tokens(*read)
        types = tokenizer.create_token_type_ids_from_sequences(*read)
    for part, written in enumerate(texts):
        spans = alignment.spans(written, pieces[part], tokenizer.unk_token)
        for piece, span in zip(read[part], spans, strict=True):
            piece.part, piece.span = part, span
    framing = _Piece()
    placed = [token if isinstance(token, _Piece) else framing for token in ids]
    return [*map(int, ids)], types, [token.part for token in placed], [token.span for token in placed]


def token_names(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Tokens as they are shown. Networks have more rows than their tokenizers have tokens where somebody rounded the
    number up: nothing was ever trained to stand there. Signs that nobody sees go by their role (CANINE's [CLS]), or are
    written out.
    """
    n = len(tokenizer)
    names = tokenizer.convert_ids_to_tokens([id if id < n else 0 for id in ids])
    names = [f"(unused {id})" if id >= n or name is None else name for id, name in zip(ids, names, strict=True)]
    if tokenizer.is_fast:
        return names
    roles = {name: f"[{role.removesuffix('_token').upper()}]" for role, name in tokenizer.special_tokens_map.items()}
    return [name if name.isprintable() else roles.get(name) or single_line(name) for name in names]


def shifted(encoding: Encoding, start: str, start_id: int) -> Encoding:
    """A text as a decoder is given it in training: a start token first, and every token one place later.

    The last token drops out: it is only ever an answer.
    """
    return replace(
        encoding,
        tokens=(start, *encoding.tokens[:-1]),
        ids=(start_id, *encoding.ids[:-1]),
        word_ids=(None, *encoding.word_ids[:-1]),
        offsets=((0, 0), *encoding.offsets[:-1]),
        segment_ids=(0, *encoding.segment_ids[:-1]),
        special=(True, *encoding.special[:-1]),
        type_ids=None,
    )


def _kept(parts: list[int | None], max_tokens: int) -> list[int]:
    """The places of the tokens that stay, given the text that each is of (None: it frames them): all those that frame,
    and of the texts the beginnings, as equal in length as they can be.
    """
    if len(parts) <= max_tokens:
        return list(range(len(parts)))
    room = max(0, max_tokens - parts.count(None))
    shorter, longer = sorted((0, 1), key=parts.count)
    lengths = {shorter: min(parts.count(shorter), room // 2)}
    lengths[longer] = room - lengths[shorter]
    kept = []
    for place, part in enumerate(parts):
        if part is not None:
            lengths[part] -= 1
        if part is None or lengths[part] >= 0:
            kept.append(place)
    return kept


def _segments(sequence_ids: list[int | None]) -> list[int]:
    """Special tokens belong to the text before them; those at the start to the first."""
    segments: list[int] = []
    for sequence_id in sequence_ids:
        segments.append(sequence_id if sequence_id is not None else (segments[-1] if segments else 0))
    return segments


def _offsets(text: str, segment: int, start: int, end: int, starts: set[tuple[int | None, int]]) -> tuple[int, int]:
    """A token's characters. Some tokenizers count the space before a word to the token; a word's label should not have
    it. Uncased ones drop combining marks, and the accent at the end of "cafe\\u0301" would belong to no token: it goes
    to the letter that it stands on, unless another token begins there.
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end < len(text) and unicodedata.category(text[end]).startswith("M") and (segment, end) not in starts:
        end += 1
    return start, end


def _word_ids(
    texts: tuple[str, str], segments: list[int], offsets: list[tuple[int, int]], nowhere: tuple[bool, ...]
) -> tuple[int | None, ...]:
    """Number the words through both texts by where each token starts; spaces count to the word after them, and what
    has no place in the text to none.

    A typed mask such as [MASK] or <mask> starts at a bracket, which is a word: it merges with no neighbour.
    """
    ends = tuple([end for _, end in word_spans(text)] for text in texts)
    word_ids: list[int | None] = []
    numbers: dict[tuple[int, int], int] = {}
    for segment, (start, _), is_nowhere in zip(segments, offsets, nowhere, strict=True):
        if is_nowhere:
            word_ids.append(None)
            continue
        word = min(bisect_right(ends[segment], start), len(ends[segment]) - 1)
        word_ids.append(numbers.setdefault((segment, word), len(numbers)))
    return tuple(word_ids)


@contextmanager
def as_bad_checkpoint(model: str) -> Iterator[None]:
    """Whatever a tokenizer fails with inside the block becomes BadCheckpoint; its library's panics are no Exception."""
    try:
        yield
    except ModelZooError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise BadCheckpoint(
            f"The tokenizer of “{model}” failed on this text. Change the text, or choose another model."
        ) from error


def is_panic(error: BaseException) -> bool:
    """Whether this is the way in which a library written in Rust fails; its class cannot be imported."""
    return type(error).__name__ == "PanicException"
