"""Lesson 1: words to pieces."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ui.learn.case import Case
from ui.learn.lesson import Choice, Lesson, Option, Source, Step


def _words_and_pieces(case: Case) -> tuple[int, int]:
    encoding = case.encoding
    own = [word for word, special in zip(encoding.word_ids, encoding.special, strict=True) if not special]
    return len(set(own)), len(own)


def _text(_case: Case) -> str:
    return "A model reads no letters and no words. It reads [[tokens|token]]: pieces from a fixed list."


def _ask(case: Case) -> Choice:
    words, pieces = _words_and_pieces(case)
    return Choice(
        f"Your text has {words} words and signs. How many tokens does the model make of them?",
        (
            Option(
                "As many", "Some words are cut." if pieces > words else "Every one is in the list.", pieces == words
            ),
            Option(
                "More",
                "At least one word is not in the list." if pieces > words else "None is cut here.",
                pieces > words,
            ),
        ),
    )


def _figure(case: Case) -> None:
    st.markdown(" ".join(f"`{word}`" for word in case.text.split()))


def _reveal(case: Case) -> None:
    st.markdown(" ".join(f"`{token}`" for token in case.encoding.tokens))


def _why(_case: Case) -> str:
    return "The list is finite, and texts are not."


def _numbers(case: Case) -> pd.DataFrame:
    return pd.DataFrame({"token": case.encoding.tokens, "id": case.encoding.ids})


LESSON = Lesson(
    name="pieces",
    title="Words to pieces",
    question="What does a model read of a text?",
    examples=(("The cat sat on the mat because it was tired.", ""), ("That was unbelievably good.", "")),
    pages=("masked_words",),
    steps=(
        Step(
            title="Words and pieces",
            at="pieces",
            text=_text,
            figure=_figure,
            ask=_ask,
            reveal=_reveal,
            why=_why,
            numbers=_numbers,
            sources=(Source("Wu et al.", 2016, "Google's Neural Machine Translation System"),),
        ),
    ),
)
