"""Texts by which what is typed is tried: what is text wherever it is escaped, and two hundred for tokenizers."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

from checkpoints import SENTENCES

_TEXTS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))
NASTY: tuple[str, ...] = tuple(_TEXTS["nasty"])
_PARTS: tuple[str, ...] = tuple(_TEXTS["parts"])
_LONG = "the cat sat on the mat and it was late " * 60  # 600 words


def texts() -> list[str]:
    """200 of them: sentences, each part by itself, and both together in both orders."""
    candidates = [*SENTENCES, *_PARTS, _LONG, "", " ", "!", "\U0001f600" * 3]
    for number, part in enumerate(_PARTS):
        for step in range(5):
            sentence = SENTENCES[(number * 5 + step) % len(SENTENCES)]
            candidates += [f"{part} {sentence}"] if step % 2 else [f"{sentence} {part}"]
    candidates += [f"{first} {second}" for first, second in pairwise(SENTENCES)]
    candidates += [f"{part}, {other}" for part in _PARTS[:4] for other in _PARTS[4:]]
    return candidates[:200]


# What of them Markdown would take for something else, where no backslash precedes it.
MARKDOWN = re.compile(
    r"(?<!\\)(?:<img|</?script|<!--|\$x\$|\]\(javascript|\]\(http://example|:material/home:|:red\[|\*\*b\*\*|&amp;)"
)
