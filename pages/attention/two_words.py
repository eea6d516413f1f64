"""Two words of a text to click on: one that looks, and one that is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.findings import pair_worth_seeing
from analysis.words import Unit, word_units
from model_zoo.types import Encoding
from pages.attention.scene import Scene
from ui import TEXT, Field, as_text, make_distinct, places, widgets
from ui.mask_strip import Span, carry_masks
from viz.layout import clipped, visible_text
from web.engine import engine

# Places among the words, special tokens included; none as long as the page chooses.
FROM: Field[tuple[int, ...]] = Field("looks", (), places("word"), of="attention")
TO: Field[tuple[int, ...]] = Field("at", (), places("word"), of="attention")

_OPENS_WITH = {TEXT.default: ("it", "cat")}  # any other text with the pair between which a head looks most
_LONG = 40  # words; beyond, they scroll
_SCROLLED = 150  # px
_MOST_BUTTONS = 150  # words; more take a browser long to draw, and a person long to find: they are a list
_LONGEST = 30  # characters of a word


def chosen(scene: Scene) -> tuple[Unit, Unit]:
    """The word that looks and the one that is looked at: the visitor's choice, kept when the text is edited, and where
    there is none, a pair worth seeing.
    """
    queries, keys = word_units(scene.run.encoding), word_units(scene.run.key_encoding)
    query, key = _chosen_place(FROM, scene.run.encoding, queries), _chosen_place(TO, scene.run.key_encoding, keys)
    if query is None or key is None:
        FROM.value = TO.value = ()
        query, key = _opening(scene, queries, keys)
    return queries[query], keys[key]


def choose(query: int, key: int) -> None:
    """Ask about these places from now on; for the callback of a widget."""
    FROM.value, TO.value = (query,), (key,)


def draw(scene: Scene, query: Unit, key: Unit) -> None:
    """The words of both sides as buttons; a click asks about another one."""
    queries, keys = word_units(scene.run.encoding), word_units(scene.run.key_encoding)
    from_, to = queries.index(query), keys.index(key)
    _strip("From", queries, from_, lambda place: choose(place, to))
    _strip("To", keys, to, lambda place: choose(from_, place))


def quoted(unit: Unit, longest: int = _LONGEST) -> str:
    """A word in quotation marks, cut where it is longer than so many characters."""
    return f"“{clipped(visible_text(unit.label), longest)}”"


def named(unit: Unit, among: Sequence[Unit]) -> str:
    """A word in quotation marks, with its place where it stands more than once."""
    if sum(other.label == unit.label for other in among) == 1:
        return quoted(unit)
    return f"{quoted(unit)} (word {among.index(unit) + 1})"


def _chosen_place(field: Field[tuple[int, ...]], encoding: Encoding, units: Sequence[Unit]) -> int | None:
    """The place that was chosen, wherever its word stands by now; None where there is none."""
    spans = [_span(encoding, unit) for unit in units]
    positions = carry_masks(field, f"{encoding.text}\n{encoding.text_pair or ''}", spans)
    return positions[0] if positions else None


def _span(encoding: Encoding, unit: Unit) -> Span:
    """Where a word stands in both texts together; nowhere for a special token, which no edit keeps."""
    if unit.special:
        return (0, 0)
    before = len(encoding.text) + 1 if unit.segment else 0
    spans = encoding.offsets[unit.start : unit.stop]
    return before + min(first for first, _ in spans), before + max(last for _, last in spans)


def _opening(scene: Scene, queries: Sequence[Unit], keys: Sequence[Unit]) -> tuple[int, int]:
    words = _OPENS_WITH.get(scene.text)
    if words is not None:
        sides = [[unit.label for unit in units] for units in (queries, keys)]
        if all(word in labels for word, labels in zip(words, sides, strict=True)):
            return sides[0].index(words[0]), sides[1].index(words[1])
    return engine().derived(("a pair worth seeing", *scene.run_key), lambda: pair_worth_seeing(scene.run))


def _strip(label: str, units: Sequence[Unit], place: int, chosen: Callable[[int], None]) -> None:
    key = f"{label} this word"
    st.session_state[key] = place

    def choose_it() -> None:
        chosen(st.session_state[key])

    words = [clipped(visible_text(unit.label), _LONGEST) for unit in units]
    if len(words) > _MOST_BUTTONS:
        numbered = [f"{number} · {word}" for number, word in enumerate(words, start=1)]
        st.selectbox(label, range(len(words)), key=key, format_func=numbered.__getitem__, on_change=choose_it)
        return
    long = len(words) > _LONG
    buttons = make_distinct(map(as_text, words))
    with st.container(height=_SCROLLED if long else "content", border=long), widgets.running_as(words, label):
        st.pills(label, range(len(words)), required=True, key=key, format_func=buttons.__getitem__, on_change=choose_it)
