"""Tokenizers of whatever files a model is published with give the ids and offsets that transformers gives itself."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from checkpoints import SENTENCES
from published import LAYOUTS, Publication
from transformers import CONFIG_MAPPING, AutoTokenizer

from model_zoo import tokenizer
from model_zoo.encoding import encode

# One layout for each set of files, class and way to write them.
_KINDS = {
    (layout.checkpoint, layout.tokenizer, str(layout.tokenizer_json), layout.cased): hub_id
    for hub_id, layout in LAYOUTS.items()
}
# By letters that none of the tiny vocabularies has, and by what normalizers, pre-tokenizers and cuts are tried by.
_PARTS = (
    "Zürich naïve cafe\u0301 Ångström",
    "\u4e2d\u6587\u5b57\u7b26 测试",
    "日本語のテキスト",
    "مرحبا بالعالم",
    "שלום עולם",
    "Привет мир",
    "\U0001f469\u200d\U0001f52c and \U0001f44d\U0001f3fd",
    "two  blanks   here",
    "tab\tand\nline",
    "it's ``quoted'' text",
    "1,024.5%",
    "ﬁne ﬀ ligatures",
    "İstanbul ıß",
    "a\u00a0b\u3000c",
    "e-mail@example.org",
    "x" * 120,
    "don't can't",
    "[MASK] <mask> [SEP]",
)
_LONG = "the cat sat on the mat and it was late " * 60  # 600 words


def texts() -> list[str]:
    """200 of them: sentences, each part by itself, and both together in both orders."""
    found = [*SENTENCES, *_PARTS, _LONG, "", " ", "!", "\U0001f600" * 3]
    for number, part in enumerate(_PARTS):
        for step in range(5):
            sentence = SENTENCES[(number * 5 + step) % len(SENTENCES)]
            found += [f"{part} {sentence}"] if step % 2 else [f"{sentence} {part}"]
    found += [f"{first} {second}" for first, second in pairwise(SENTENCES)]
    found += [f"{part}, {other}" for part in _PARTS[:4] for other in _PARTS[4:]]
    return found[:200]


def test_there_are_two_hundred() -> None:
    assert len(texts()) == 200
    assert max(map(len, texts())) > 2000


@pytest.mark.parametrize("hub_id", _KINDS.values())
def test_ids_and_offsets_are_those_of_transformers(hub_id: str, publication: Callable[[str], Publication]) -> None:
    """Of the files as they are published, and of the same tokenizer as it is saved whole today."""
    published = publication(hub_id)
    config = CONFIG_MAPPING[_kind(published.original)].from_pretrained(published.original)
    ours = tokenizer.read(published.folder, config, hub_id, listed=True)
    whole = AutoTokenizer.from_pretrained(published.original)
    for text in texts():
        expected = whole(text, truncation=False, padding=False, return_offsets_mapping=True, verbose=False)
        found = encode(ours, text, None, 10**6)
        assert list(found.ids) == expected["input_ids"], text
        assert found.n_dropped == 0
        for mine, theirs in zip(found.offsets, expected["offset_mapping"], strict=True):
            assert _without_marks(text[slice(*mine)]) == _without_marks(text[slice(*theirs)]), text
            assert mine[0] >= theirs[0]


def _kind(folder: Path) -> str:
    kind: str = json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"]
    return kind


def _without_marks(span: str) -> str:
    """What a token stands for, without the space that some count to it, and without the accents at its end, which the
    app gives to the letter that they stand on.
    """
    kept = span.strip()
    while kept and unicodedata.category(kept[-1]).startswith("M"):
        kept = kept[:-1]
    return kept
