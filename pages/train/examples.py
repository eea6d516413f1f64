"""A few of the examples a model will learn from: what stands where the curves will be."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from model_zoo.types import counted
from training.finetuning.data import BuiltIn, Data, Item, Labelled, PassageQuestion, Scored, Tagged
from training.finetuning.entities import type_of
from ui import as_text
from viz.layout import clipped

_SHOWN = 5
_LONGEST_CELL = 160  # characters


def draw(data: Data, built_in: BuiltIn | None) -> None:
    """The question, and items of the training split as a table."""
    st.subheader(built_in.question if built_in else "What it will learn from", anchor=False)
    n = len(data.train)
    st.table(table(data.first(_SHOWN, 0).train))
    count_text = f"{min(_SHOWN, n)} of {counted(n, 'training example')}" if n > _SHOWN else "All training examples"
    st.caption(f"{count_text}, with the correct answers.")


def table(items: Sequence[Item]) -> pd.DataFrame:
    """An item a row: its text or texts, and what is true of it. Items are of one kind."""
    rows = [{name: as_text(clipped(text, _LONGEST_CELL)) for name, text in _row(item).items()} for item in items]
    frame = pd.DataFrame(rows)
    return frame.set_index(frame.columns[0])


def _row(item: Item) -> dict[str, str]:
    match item:
        case Labelled():
            second = {} if item.pair is None else {"second text": item.pair}
            return {"text": item.text, **second, "label": item.label}
        case Tagged():
            return {"text": item.text, "entities": _entities(item)}
        case PassageQuestion():
            answers = " | ".join(dict.fromkeys(text for _, text in item.answers))
            passage = _around(item.pair, item.answers[0][0] if item.answers else 0)
            return {"question": item.text, "passage": passage, "answer": answers or "(no answer)"}
        case Scored():
            return {"text": item.text, "second text": item.pair, "score": f"{item.score:g}"}


def _around(passage: str, place: int) -> str:
    """The passage from some words before a character on."""
    start = max(0, passage.rfind(" ", 0, max(0, place - _LONGEST_CELL // 3)) + 1)
    return f"… {passage[start:]}" if start else passage


def _entities(item: Tagged) -> str:
    """Each entity with its type: “Maria Rossi” (PERSON)."""
    entities: list[tuple[list[str], str]] = []
    for word, tag in zip(item.words, item.tags, strict=True):
        if tag.startswith("B-"):
            entities.append(([word], type_of(tag)))
        elif tag.startswith("I-"):
            entities[-1][0].append(word)
    return ", ".join(f"“{' '.join(words)}” ({of})" for words, of in entities) or "none"
