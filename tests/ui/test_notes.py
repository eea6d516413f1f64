"""What pages say of a model beside its pictures."""

from dataclasses import replace

import pytest

from model_zoo import DEFAULT_MODEL, Engine
from ui import notes


@pytest.mark.parametrize(("dtype", "digits"), [("bfloat16", 2), ("float16", 3)])
def test_numbers_that_are_rounded_more_are_told(dtype, digits, engine, checkpoint) -> None:
    info = engine.info(str(checkpoint("bert")))
    assert "digits" not in notes.about_model(info, 5)
    line = notes.about_model(replace(info, dtype=dtype, device="cuda"), 5)
    assert f"{dtype} on cuda" in line
    assert f"It runs in {dtype} here, which keeps about {digits} digits of every number" in line


def test_tokens_without_a_place_in_the_text_are_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = engine.encode(DEFAULT_MODEL, "The cat sat.")
    sentences: list[str] = []
    monkeypatch.setattr(notes, "note", sentences.append)
    notes.warn_of_reading(placed, DEFAULT_MODEL)
    assert sentences == []
    word_ids = tuple(None if at == 2 else word for at, word in enumerate(placed.word_ids))
    notes.warn_of_reading(replace(placed, word_ids=word_ids), DEFAULT_MODEL)
    (sentence,) = sentences
    assert placed.tokens[2] in sentence
