"""Fixtures of training: a small corpus, one thread, a small teacher."""

import json
import lzma
import random
from pathlib import Path

import pytest
import torch
from small_recipes import SMALL

from training import command, models
from training.corpus import Document
from training.models import ARCHITECTURES, make_config, make_tokenizer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Documents of six sentences of random words, as many as it takes for three of them to be held out."""
    dice = random.Random(0)
    words = ["the", "a", "red", "old", "dog", "cat", "house", "river", "runs", "sees", "near", "under", "and"]
    documents: list[tuple[str, ...]] = []
    while sum(Document("a:b", True, document).held_out for document in documents) < 3:
        documents.append(tuple(" ".join(dice.choices(words, k=6)) + "." for _ in range(6)))
    lines = [json.dumps({"source": "tales:x", "ordered": True, "sentences": sentences}) for sentences in documents]
    path = tmp_path_factory.mktemp("corpus") / "small.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    return path


@pytest.fixture(scope="module")
def teacher(corpus: Path, tmp_path_factory):
    """A small teacher where the bundled models would lie."""
    weights = tmp_path_factory.mktemp("weights")
    recipe = SMALL["bert"]
    tokenizer = make_tokenizer(recipe, corpus, None)
    torch.manual_seed(1)
    model = ARCHITECTURES["bert"].model(make_config(recipe, tokenizer))
    model.save_pretrained(weights / "small-teacher")
    tokenizer.save_pretrained(weights / "small-teacher")
    with pytest.MonkeyPatch.context() as patch:
        for module in (models, command):
            patch.setattr(module, "WEIGHTS", weights)
        yield
