"""A confined process that tries a tokenizer, read from standard input as ``tokenizer.json`` or sentencepiece's file
holds it: the argument is the library.

It reads words, runs of every letter of a keyboard (on which expressions backtrack) and, for rules that replace, every
character of Unicode's first plane and what those rules look for. Padding and cuts that the file asks for are switched
off, as they are wherever the app reads a text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def strings(rule: Any) -> Iterator[str]:
    """What the rules of a normalizer look for, at whatever depth."""
    if isinstance(rule, dict):
        for name, value in rule.items():
            if name == "String" and isinstance(value, str):
                yield value
            else:
                yield from strings(value)
    elif isinstance(rule, list):
        for value in rule:
            yield from strings(value)


def try_sentencepiece(rules: bytes) -> None:
    from sentencepiece import SentencePieceProcessor

    pieces = SentencePieceProcessor()
    try:
        pieces.LoadFromSerializedProto(rules)
    except RuntimeError:  # no file of this library, which says so wherever it is read
        return
    try_out(pieces.Normalize, (), pieces.Encode)


def try_tokenizers(rules: bytes) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(rules)
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def encode(text: str) -> list[int]:
        ids = tokenizer.encode(text, text or None).ids
        tokenizer.decode(ids)
        return ids

    normalizer = tokenizer.normalizer
    searched = [] if normalizer is None else [*strings(json.loads(normalizer.__getstate__()))]
    try_out(None if normalizer is None else normalizer.normalize_str, searched, encode)


def try_out(
    normalize: Callable[[str], str] | None, searched: Sequence[str], encode: Callable[[str], Sequence[int]]
) -> None:
    if normalize is not None:
        for text in ("", "a", *searched, "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))):
            if len(normalize(text)) > 100 * len(text) + 1000:
                sys.exit("it makes a text more than a hundred times as long")
    runs = " ".join(chr(code) * 64 + "!" for code in range(32, 127))
    for text in (
        "The cat sat.",
        "\u00dcn\u00ef \u4e2d\u6587 \u0645\u0631 \u0939\u093f \U0001f469\u200d\U0001f52c\n",
        runs,
    ):
        if len(encode(text)) > 40 * len(text) + 16:
            sys.exit("it makes more than forty tokens of a letter")
    if len(encode("")) > 16:
        sys.exit("it makes more than sixteen tokens of no text")


{"sentencepiece": try_sentencepiece, "tokenizers": try_tokenizers}[sys.argv[1]](sys.stdin.buffer.read())
