"""The words of a text to click on: a click masks a word, another one unmasks it, and edits carry masks along."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.corruption import moved
from ui.address import anchors
from ui.field import Field
from ui.messages import as_text, told_apart

_MOST_WORDS = 600  # that can be clicked; a browser takes seconds to draw thousands of buttons
MOST_MASKS = 100  # that are filled at a time

Span = tuple[int, int]
"""From the first character to the one behind the last."""


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A text as it was when words of it were clicked last, and where each of its places stands."""

    text: str
    spans: tuple[Span | None, ...]
    clicked: tuple[int, ...]


def carried(field: Field[tuple[int, ...]], text: str, spans: Sequence[Span | None]) -> tuple[int, ...]:
    """The clicked places, moved along when the text was edited or is cut differently by now, and kept in ``field``.

    ``spans`` says where each place stands in the text, None for one that cannot be clicked. Of a place whose text was
    edited that stays which covers what is left of it.
    """
    clicked, here = field.value, tuple(spans)
    before: _Anchor | None = anchors().get(field.key)
    if before is not None and set(clicked) <= set(before.clicked) and (before.text, before.spans) != (text, here):
        covered = {at for place in clicked for at in range(*(before.spans[place] or (0, 0)))}
        still = set(moved(before.text, text, covered))
        clicked = tuple(
            place for place, span in enumerate(here) if span is not None and not still.isdisjoint(range(*span))
        )
    clicked = tuple(place for place in clicked if place < len(here) and here[place] is not None)
    field.value = clicked
    anchors()[field.key] = _Anchor(text, here, clicked)
    return clicked


def draw(labels: Sequence[str], clicked: Collection[int], key: str, choose: Callable[[list[int]], None]) -> None:
    """The first words as buttons, those at the places ``clicked`` held down; ``choose`` is given the places after a
    click, those of words without a button as they were. Beyond two rows they scroll.
    """
    shown = told_apart(map(as_text, labels[:_MOST_WORDS]))
    st.session_state[key] = sorted(place for place in clicked if place < len(shown))
    hidden = [place for place in clicked if place >= len(shown)]
    with st.container(key="word_strip"):
        st.pills(
            "Click words to mask them",
            range(len(shown)),
            selection_mode="multi",
            key=key,
            format_func=lambda place: shown[place] if place < len(shown) else "",
            on_change=lambda: choose([*st.session_state[key], *hidden]),
            label_visibility="collapsed",
        )
        if len(labels) > len(shown):
            st.caption(f"The first {len(shown):,} of {len(labels):,} words can be clicked here.")


def too_many(n_masks: int) -> str | None:
    """A sentence, if there are more masks than are filled at a time."""
    if n_masks <= MOST_MASKS:
        return None
    return f"There are {n_masks:,} masks here, and at most {MOST_MASKS} are filled at a time. Take some away."


def one_mask(field: Field[int], names: Sequence[str]) -> int:
    """The mask that a view is about, by its place among all, of which there is at least one; ``names`` say what is
    read of each. It is asked for only where there are several.
    """
    places = range(len(names))
    if len(names) == 1:
        return 0
    if field.value not in places:
        field.value = 0
    return int(
        st.selectbox(
            "Mask",
            places,
            **field.bound,
            format_func=lambda place: names[place],
            label_visibility="collapsed",
            width=180,
        )
    )
