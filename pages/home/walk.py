"""The visitor's sentence on its way through the whole model, and where a click on a place of the picture leads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import streamlit as st

from analysis.words import to_follow
from model_zoo import DEFAULT_MODEL
from model_zoo.types import AttentionRun, MaskPrediction
from ui import TEXT, Example, Examples, Page, address, notes, save, widgets
from ui.component import component
from viz.anatomy import SOURCE, payload
from viz.component import pack
from web.engine import engine

LAYER: Final = widgets.LAYER.default
HEAD: Final = widgets.HEAD.default
"""The head that is opened, the one that all pages open on; both from 1."""

EXAMPLES: Final = Examples(
    (TEXT,),
    tuple(
        Example(text, {TEXT: text})
        for text in (
            TEXT.default,
            "The dogs near the house [MASK] hungry.",
            "The animal did not cross the street because it was too tired.",
            "Unbelievably, she walked home in the rain.",
        )
    ),
)

_LESSON_OF: Final = {
    place: (lesson, int(step))
    for place, lesson, step in (
        line.split("\t") for line in (Path(__file__).parent / "places.tsv").read_text(encoding="utf-8").splitlines()[1:]
    )
}
"""The lesson about a place, and its step; from other places one goes to a page: see ``way_from``."""

_KEY = "home-walk"


def draw(pages: Mapping[str, Page[Any]]) -> None:
    """The text box, and below it the picture, which moves by itself. ``pages`` are the others, by their names."""
    with widgets.input_line():
        text, _ = widgets.texts(second=False)
        widgets.try_example(EXAMPLES)
    run = engine().attend(DEFAULT_MODEL, text)
    sent = _sent(run, text, pages)
    save.picture(sent["file"])
    with st.container(key="walk-picture"):
        clicked = component("anatomy", SOURCE)(key=_KEY, data=pack(sent), on_open_change=lambda: None).open
    notes.warn_of_reading(run.encoding, DEFAULT_MODEL)
    if clicked:
        page, values = way_from(clicked["place"], text, int(clicked["token"]), int(clicked["layer"]))
        st.switch_page(address.path(page), query_params=address.link(page, **values))


def way_from(place: str, text: str, token: int, layer: int) -> tuple[str, dict[str, Any]]:
    """The page about a place, and the fields that it is given, by their names. ``token`` and ``layer`` count from 0."""
    state = {"text": text, "model": DEFAULT_MODEL}
    if place == "output":
        return "masked_words", state | {"masks": () if _typed_mask(text) is not None else (token,)}
    if place == "layer":
        return "attention", state | {"layer": layer + 1}
    if place == "head":
        return "attention", state | {"layer": LAYER, "head": HEAD, "view": "grid"}
    lesson, step = _LESSON_OF[place]
    return "learn", state | {"lesson": lesson, "step": step, "token": token, "layer": LAYER, "head": HEAD}


def _sent(run: AttentionRun, text: str, pages: Mapping[str, Page[Any]]) -> Mapping[str, Any]:
    anatomy = engine().dissect(DEFAULT_MODEL, text, layer=LAYER - 1, head=HEAD - 1)
    mask, word = _typed_mask(text), to_follow(anatomy.encoding)
    position = word if mask is None else mask
    return payload(
        anatomy,
        predictions=None if position is None else _prediction(text, position, hide=mask is None),
        position=position or 0,
        flows=np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)]),
        opens=_opens(pages),
    )


def _typed_mask(text: str) -> int | None:
    ids = engine().encode(DEFAULT_MODEL, text).ids
    mask = engine().vocabulary(DEFAULT_MODEL).mask_id
    return ids.index(mask) if mask in ids else None


def _prediction(text: str, position: int, hide: bool) -> MaskPrediction:
    answers = engine().fill_mask(DEFAULT_MODEL, text, masked=(position,) if hide else ())
    return next(answer for answer in answers if answer.position == position)


def _opens(pages: Mapping[str, Page[Any]]) -> dict[str, str]:
    """What a click on each place opens, in words: a step of a lesson by its own title."""
    steps = {(mention.values["lesson"], mention.values["step"]): mention.label for mention in pages["learn"].mentions()}
    lessons = {place: f"“{steps[step]}”" for place, step in _LESSON_OF.items()}
    places = {"output": "masked_words", "layer": "attention", "head": "attention"}
    return lessons | {place: f"the page “{pages[page].title}”" for place, page in places.items()}
