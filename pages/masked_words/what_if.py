"""View "What if": one word replaced by another, and which predictions that changes most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from analysis import corruption
from analysis.agreement import readable
from analysis.words import Unit
from model_zoo.errors import InvalidInput
from model_zoo.types import Shift
from pages.masked_words.fields import REPLACE, REPLACEMENT
from pages.masked_words.scene import Scene
from ui import View, as_python, ask_for, caption, figures, make_distinct, notes, say, widgets
from viz.bars import shifts
from viz.direction import isolated
from web.engine import engine

_MOST_SHIFTED = 8  # masks whose changes are drawn
_MOST_TRIED = 20  # predictions among which the example is looked for


def draw(scene: Scene) -> None:
    controls = scene.row(switch=False)  # a telephone has no room for it
    if controls is None:
        return
    units = [unit for unit in scene.units if not scene.has_mask(unit)]
    if not units:
        raise InvalidInput("Every word is masked, so there is none to replace. Unmask one.")
    with controls:
        unit, other = (max(units, key=_length), "") if scene.example else _ask(units)
    encoding = scene.encoding
    start, end = encoding.offsets[unit.start][0], encoding.offsets[unit.stop - 1][1]
    example = ""
    if not other.strip():
        other = _example(scene, encoding.text[:start], encoding.text[end:], unit.label)
        if not other:
            ask_for("Type a word to replace it with.")
            return
        example = f"An example: “{unit.label}” is replaced by “{other}”, which the model predicts there."
        if not scene.example:
            example += " Type another word."
    changed = encoding.text[:start] + other.strip() + encoding.text[end:]
    moved = corruption.moved(encoding.text, changed, corruption.characters(encoding, scene.masked))
    changed_encoding = engine().encode(scene.model, changed)
    notes.warn_beyond_training({scene.model: len(changed_encoding)}, shorter=len(encoding))
    masked = corruption.tokens_over(changed_encoding, moved)
    before, after = (scene.text, scene.masked), (changed, masked)
    all_shifts = engine().mask_shifts(scene.model, before, after)
    answers = [engine().fill_mask(scene.model, text, 5, masked=m) for text, m in (before, after)]
    visible = all_shifts[:_MOST_SHIFTED]
    _put_python(scene, (changed, masked), visible)
    reach = max(abs(shift.difference) for one_mask in visible for shift in one_mask)
    for first in range(0, len(visible), 2):
        for column, number in zip(st.columns(2, gap="large"), range(first, first + 2), strict=True):
            if number >= len(visible):
                break
            with column:
                figure = partial(shifts, visible[number], scene.name(scene.masks[number]), reach=reach)
                figures.show(figure, f"shifts {number}", "what-if")
                for name, side in zip(("before", "after"), answers, strict=True):
                    best = " · ".join(f"{isolated(e.token)} {e.probability:.0%}" for e in side[number].best)
                    say(f"{name}: {best}")
    if example:
        caption(example)
    st.caption(
        "The largest changes in ln P among the 50 best predictions before and after; 0.69 is a factor of 2. Blue "
        "became more likely, orange less. Below each picture are the five best predictions before and after."
    )


def _put_python(scene: Scene, after: tuple[str, tuple[int, ...]], visible: Sequence[Sequence[Shift]]) -> None:
    some = f"[:{_MOST_SHIFTED}]" if len(scene.masks) > _MOST_SHIFTED else ""
    as_python.put(
        f"""
        before = {as_python.literal((scene.text, scene.masked))}  # the text and its masked tokens, from 0
        after = {as_python.literal(after)}
        shifts = engine.mask_shifts({as_python.literal(scene.model)}, before, after){some}
        numbers = pd.concat([pd.DataFrame(of_mask) for of_mask in shifts])  # ln P before and after
        """,
        lambda: pd.concat([pd.DataFrame(of_mask) for of_mask in visible]),
    )


def _example(scene: Scene, before: str, after: str, word: str) -> str:
    """What the model would put in the place of a word: its best prediction that is another word, "" without one."""
    place = sum(scene.encoding.offsets[typed][0] < len(before) for typed in scene.typed)
    answers = engine().fill_mask(scene.model, f"{before}[MASK]{after}", _MOST_TRIED)
    candidates = (readable(entry.token) for entry in answers[place].best) if place < len(answers) else iter(())
    return next(
        (candidate for candidate in candidates if candidate.isalpha() and candidate.lower() != word.lower()), ""
    )


def _length(unit: Unit) -> int:
    return len(unit.label)


def _ask(units: Sequence[Unit]) -> tuple[Unit, str]:
    """The word to replace, at first the longest, and what takes its place."""
    if REPLACE.value not in range(len(units)):
        REPLACE.value = units.index(max(units, key=_length))
    labels = make_distinct(f"Replace “{unit.label}”" for unit in units)
    words = REPLACE.offering(dict(enumerate(labels)))
    place = st.selectbox("Replace", **words, label_visibility="collapsed", width=190)
    other = st.text_input(
        "with", **REPLACEMENT.bound, placeholder="with another word", label_visibility="collapsed", width=160
    )
    return units[place], widgets.short_enough(other, "Replace with")


VIEW = View(
    "what if",
    "What if",
    draw,
    "Replace one word by another: which predictions become more likely, and which less?",
    fields=(REPLACE, REPLACEMENT),
    needs=("mlm",),
    tab=70,
)
