"""Sentences as evidence on a page: words framed and tinted, a number beside each, and ways to other pages.

Whoever has found sentences, such as those in which a head looks where it should, draws them by ``show``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from model_zoo.types import ModelInfo
from ui import address, save
from ui.component import component
from ui.widgets import PAIR, TEXT
from viz.component import pack
from viz.example_sentences import SOURCE, ExampleSentence, Span, payload


def show(
    sentences: Sequence[ExampleSentence],
    model: ModelInfo,
    key: str,
    name: str,
    *,
    measure: str = "attention",
    first: int = 10,
    table: bool = True,
) -> None:
    """Draw sentences in the order given, the ``first`` at once and all when the reader asks for them.

    ``measure`` names the number shown beside each (``ExampleSentence.beside``). A sentence with a layer leads to
    Attention, where its token, if it has one, is kept in the picture; with a head also to Cause with that head off,
    if the ``model`` predicts words. The picture and, unless ``table`` is False because the view has a better one, its
    CSV can be saved under a ``name``. ``key`` is that of the component, one for each list on the page.

        show([ExampleSentence("The cat sat.", (8, 11), (((4, 7), 0.83),), beside="83%", layer=2, head=3, token=3)],
             info, "examples of the head", "examples")
    """
    ways = _ways(sentences, model)
    data = payload(
        sentences,
        measure,
        {label: [_href(page, values) for values in of_each] for label, page, of_each in ways},
        first=first,
        file=name,
    )
    save.picture(name)
    if table:
        save.table("Sentences", lambda: _table(sentences, measure), name)
    opened = component("example_sentences", SOURCE)(
        key=key, data=pack({**data, "weights": b""}), on_open_change=lambda: None
    ).open
    if opened:
        place, way = map(int, opened)
        _, page, of_each = ways[way]
        values = of_each[place]
        TEXT.value, PAIR.value = values["text"], ""  # a text too long for an address is found there
        st.switch_page(address.path(page), query_params=address.link(page, **values))


def _ways(sentences: Sequence[ExampleSentence], model: ModelInfo) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """What the ways are called, their pages, and the fields that each sentence sets there."""
    if not sentences or any(sentence.layer is None for sentence in sentences):
        return []
    ways = [("Attention", "attention", [_attention(sentence, model.id) for sentence in sentences])]
    if (model.mlm or model.lm) and all(sentence.head is not None for sentence in sentences):
        ways.append(("Cause", "cause", [_cause(sentence, model.id) for sentence in sentences]))
    return ways


def _attention(sentence: ExampleSentence, model: str) -> dict[str, Any]:
    """The head; of a known token the lines of that alone."""
    assert sentence.layer is not None
    values: dict[str, Any] = {"text": sentence.text, "pair": "", "model": model, "view": "grid"}
    values["layer"] = sentence.layer + 1
    if sentence.head is not None:
        values["head"] = sentence.head + 1
    if sentence.head is not None and sentence.token is not None:
        place = sentence.token + 1
        values |= {"view": "lines", "scope": "head", "token": place, "locked": f"query.{place}"}
        values |= {"hide": False, "words": False}  # which would count other places
    return values


def _cause(sentence: ExampleSentence, model: str) -> dict[str, Any]:
    """The head off; the word is masked and followed that the sentence names, or that whose prediction changes most."""
    assert sentence.layer is not None
    assert sentence.head is not None
    return {
        "text": sentence.text,
        "pair": "",
        "model": model,
        "off": (f"{sentence.layer + 1}.{sentence.head + 1}",),
        "answer": "" if sentence.query is None or len(sentence.masked) != 1 else sentence.text[slice(*sentence.query)],
        "against": "",
        "view": "heads",
        "masks": sentence.masked,
        "find": not sentence.masked,
    }


def _href(page: str, values: Mapping[str, Any]) -> str:
    """An address beside that of the page on screen, without its text."""
    return f"{page}?{urlencode(address.link(page, **{name: values[name] for name in values if name != 'text'}))}"


def _table(sentences: Sequence[ExampleSentence], measure: str) -> pd.DataFrame:
    def written(sentence: ExampleSentence, span: Span | None) -> str:
        return "" if span is None else sentence.text[slice(*span)]

    rows = []
    for sentence in sentences:
        strongest = max(sentence.keys, key=lambda key: key[1], default=(None, float("nan")))
        rows.append(
            {
                "layer": None if sentence.layer is None else sentence.layer + 1,
                "head": None if sentence.head is None else sentence.head + 1,
                "from": written(sentence, sentence.query),
                "to": written(sentence, strongest[0]),
                "expected": written(sentence, sentence.expected),
                measure: sentence.beside,
                "note": sentence.note,
                "sentence": sentence.text,
            }
        )
    frame = pd.DataFrame(rows)
    return frame[[column for column in frame if frame[column].astype(bool).any() and frame[column].notna().any()]]
