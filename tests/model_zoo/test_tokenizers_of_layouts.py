"""Tokenizers of whatever files a model is published with give the ids and offsets that transformers gives itself."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from published import LAYOUTS, Publication
from transformers import CONFIG_MAPPING, AutoTokenizer
from tried_texts import texts

from model_zoo.encoding import encode
from model_zoo.tokenizer import read_tokenizer

# One layout for each set of files, class and way to write them.
_KINDS = {
    (layout.checkpoint, str(layout.tokenizer), str(layout.tokenizer_json), layout.cased): hub_id
    for hub_id, layout in LAYOUTS.items()
}


def test_there_are_two_hundred() -> None:
    assert len(texts()) == 200
    assert max(map(len, texts())) > 2000


@pytest.mark.parametrize("hub_id", _KINDS.values())
def test_ids_and_offsets_are_those_of_transformers(hub_id: str, publication: Callable[[str], Publication]) -> None:
    """Of the files as they are published, and of the same tokenizer as it is saved whole today."""
    published = publication(hub_id)
    config = CONFIG_MAPPING[_kind(published.original)].from_pretrained(published.original)
    ours = read_tokenizer(published.folder, config, hub_id, listed=True)
    full = AutoTokenizer.from_pretrained(published.original)
    for text in texts():
        expected = full(text, truncation=False, padding=False, return_offsets_mapping=True, verbose=False)
        encoding = encode(ours, text, None, 10**6)
        assert list(encoding.ids) == expected["input_ids"], text
        assert encoding.n_dropped == 0
        for mine, theirs in zip(encoding.offsets, expected["offset_mapping"], strict=True):
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
