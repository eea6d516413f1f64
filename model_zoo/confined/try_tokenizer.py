"""A confined process that tries a tokenizer, read from standard input as ``tokenizer.json`` holds it.

It reads words, runs of every letter of a keyboard (on which expressions backtrack) and, for rules that replace, every
character of Unicode's first plane and what those rules look for. Padding and cuts that the file asks for are switched
off, as they are wherever the app reads a text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer


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


def main() -> None:
    tokenizer = Tokenizer.from_buffer(sys.stdin.buffer.read())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if tokenizer.normalizer is not None:
        searched = list(strings(json.loads(tokenizer.normalizer.__getstate__())))
        for text in ("", "a", *searched, "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))):
            if len(tokenizer.normalizer.normalize_str(text)) > 100 * len(text) + 1000:
                sys.exit("it makes a text more than a hundred times as long")
    runs = " ".join(chr(code) * 64 + "!" for code in range(32, 127))
    for text in (
        "The cat sat.",
        "\u00dcn\u00ef \u4e2d\u6587 \u0645\u0631 \u0939\u093f \U0001f469\u200d\U0001f52c\n",
        runs,
    ):
        found = tokenizer.encode(text, text)
        if len(found.ids) > 40 * len(text) + 16:
            sys.exit("it makes more than forty tokens of a letter")
        tokenizer.decode(found.ids)
    if len(tokenizer.encode("").ids) > 16:
        sys.exit("it makes more than sixteen tokens of no text")


main()
