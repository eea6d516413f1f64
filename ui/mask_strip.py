"""The words of a text to click on: a click masks a word, another one unmasks it, and edits carry masks along."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.corruption import moved, shared
from analysis.words import Unit
from model_zoo.types import Encoding, ModelInfo
from ui import notes, widgets
from ui.address import anchors
from ui.field import Field
from ui.messages import as_text, make_distinct, say
from ui.page import View

KEY = "mask_strip"
_MOST_WORDS = 600  # that can be clicked; a browser takes seconds to draw thousands of buttons
MOST_MASKS = 100  # that are filled at a time
_EDITED = 0.5  # of the shorter text is in the other, at its beginning and end: below, it is another text, not an edit

Span = tuple[int, int]
"""From the first character to the one behind the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedText:
    """A text as a model reads it, and its masks: ``masked`` are the tokens that were clicked, ``typed`` the masks that
    stand in the text itself, from 0. ``view`` draws it. An ``example`` stands in for a text in which nothing is masked.
    """

    info: ModelInfo
    encoding: Encoding
    masked: tuple[int, ...] = ()
    typed: tuple[int, ...] = ()
    view: View[Any]
    example: bool = False

    @property
    def model(self) -> str:
        return self.info.id

    @property
    def masks(self) -> tuple[int, ...]:
        """The tokens that are masks, clicked or typed."""
        return tuple(sorted({*self.masked, *self.typed}))

    def has_mask(self, unit: Unit) -> bool:
        return not set(self.masks).isdisjoint(range(unit.start, unit.stop))

    @property
    def names(self) -> list[str]:
        """What the masks are called, in their order, as plain text."""
        tokens = self.encoding.tokens
        return mask_names(["" if place in self.typed else tokens[place] for place in self.masks])

    def name(self, position: int) -> str:
        """What the mask at a token is called, as plain text."""
        return self.names[self.masks.index(position)]

    def ask_words(self, units: Sequence[Unit], field: Field[tuple[int, ...]]) -> DeltaGenerator:
        """``units`` to click on, of which those with a mask are held down; what is clicked is kept in ``field``. The
        original word of a mask stays in view. Returns the line of controls beside them.
        """

        def choose(clicked: list[int]) -> None:
            tokens = {token for place in clicked for token in range(units[place].start, units[place].stop)}
            field.value = tuple(sorted(tokens - set(self.typed)))

        masked = [place for place, unit in enumerate(units) if self.has_mask(unit)]
        return draw([unit.label for unit in units], masked, choose)

    def draw_instead(self, example: Self) -> None:
        """The view of an example, until something is masked here."""
        say(f"Until then, an example: “{example.encoding.text}”")
        self.view.draw(example)

    def say_model(self) -> None:
        """One line about the model, what to think of a text longer than those of its training, and of its words."""
        notes.warn_beyond_training({self.model: len(self.encoding)})
        st.caption(notes.about_model(self.info, len(self.encoding)))
        notes.warn_of_prejudice([self.info])

    def table(self, columns: pd.DataFrame | Mapping[str, object] | Sequence[Mapping[str, object]]) -> pd.DataFrame:
        """A table to save, of columns or of rows, that begins with what it is of: model, revision and text."""
        text = " | ".join(filter(None, (self.encoding.text, self.encoding.text_pair)))
        about = pd.DataFrame({"model": self.model, "revision": self.info.revision, "text": text}, index=[0])
        return about.merge(pd.DataFrame(columns), how="cross")


def masks_of(
    encoding: Encoding, mask_id: int | None, field: Field[tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``masked`` and ``typed`` of a ``MaskedText``: the clicked tokens, kept in ``field`` and moved along where the
    text was edited, and the masks in the text itself.
    """
    typed = tuple(place for place, token in enumerate(encoding.ids) if token == mask_id)
    spans = [None if special else span for span, special in zip(encoding.offsets, encoding.special, strict=True)]
    clicked = carry_masks(field, encoding.text, spans)
    return tuple(place for place in clicked if place not in typed), typed


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A text as it was when words of it were clicked last, and where each of its places stands."""

    text: str
    spans: tuple[Span | None, ...]
    clicked: tuple[int, ...]


def carry_masks(field: Field[tuple[int, ...]], text: str, spans: Sequence[Span | None]) -> tuple[int, ...]:
    """The clicked places, moved along when the text was edited or is cut differently by now, and kept in ``field``.

    ``spans`` says where each place stands in the text, None for one that cannot be clicked. Of a place whose text was
    edited that stays which covers what is left of it; in a text that shares too little with the one before, none does.
    """
    clicked, here = field.value, tuple(spans)
    before: _Anchor | None = anchors().get(field.key)
    if before is not None and set(clicked) <= set(before.clicked) and (before.text, before.spans) != (text, here):
        covered = {at for place in clicked for at in range(*(before.spans[place] or (0, 0)))}
        edited = sum(shared(before.text, text)) >= _EDITED * min(len(before.text), len(text))
        still = set(moved(before.text, text, covered)) if edited else set()
        clicked = tuple(
            place for place, span in enumerate(here) if span is not None and not still.isdisjoint(range(*span))
        )
    clicked = tuple(place for place in clicked if place < len(here) and here[place] is not None)
    field.value = clicked
    anchors()[field.key] = _Anchor(text, here, clicked)
    return clicked


def draw(labels: Sequence[str], clicked: Collection[int], choose: Callable[[list[int]], None]) -> DeltaGenerator:
    """The first words as buttons, those at the places ``clicked`` held down; ``choose`` is given the places after a
    click, those of words without a button as they were. Beyond two rows they scroll. Returns the line of controls
    beside them.
    """
    words = make_distinct(map(as_text, labels[:_MOST_WORDS]))
    st.session_state[KEY] = sorted(place for place in clicked if place < len(words))
    hidden = [place for place in clicked if place >= len(words)]
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="words"):
        with st.container(key="word_strip"):
            with widgets.running_as(labels, "word strip"):
                st.pills(
                    "Click words to mask them",
                    range(len(words)),
                    selection_mode="multi",
                    key=KEY,
                    format_func=lambda place: words[place] if place < len(words) else "",
                    on_change=lambda: choose([*st.session_state[KEY], *hidden]),
                    label_visibility="collapsed",
                )
            if len(labels) > len(words):
                st.caption(f"Only the first {len(words):,} of {len(labels):,} words can be clicked here.")
        return widgets.controls()


def too_many(n_masks: int) -> str | None:
    """A sentence, if there are more masks than are filled at a time."""
    if n_masks <= MOST_MASKS:
        return None
    return f"There are {n_masks:,} masks here, and at most {MOST_MASKS} can be filled at a time. Remove some."


def mask_names(stood: Sequence[str]) -> list[str]:
    """What masks are called, as plain text: their number, and what ``stood`` there, "" for one that was typed."""
    return [f"Mask {number}: " + (f"was “{was}”" if was else "typed") for number, was in enumerate(stood, start=1)]


def choose_mask(field: Field[int], names: Sequence[str]) -> int:
    """The mask that a view is about, by its place among all, of which there is at least one; ``names`` are those of
    all. It is asked for only where there are several.
    """
    if len(names) == 1:
        return 0
    if field.value not in range(len(names)):
        field.value = 0
    masks = field.offering(dict(enumerate(names)))
    return int(st.selectbox("Mask", **masks, label_visibility="collapsed", width=180))
