"""What the address of the page "Learn" holds: the lesson, the step, the answers so far, what is followed, the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import streamlit as st

from classroom.session import cancel_sync
from pages.learn.lessons import LESSONS
from pages.learn.plans import PLANS
from pages.learn.walk import FOLLOWED
from ui import PAIR, SWITCH, TEXT, Field, names, one_of, within
from viz.sketch import LEVELS

MOST_STEPS: Final = 12
_LOOKED_UP: Final = "lesson_position"
SHOWN: Final = "x"
"""The answer of who wanted to see it without a guess."""

LESSON: Field[str] = Field("lesson", "", one_of("the lesson", ["", *LESSONS]), of="learn", step=True)
"""Empty where all lessons are shown."""
STEP: Field[int] = Field("step", 1, within("the step", 1, MOST_STEPS), of="learn", step=True)
ANSWERS: Field[tuple[str, ...]] = Field(
    "answers",
    (),
    names(r"[a-z]+\.[1-9][0-9]?\.(?:[1-9]|x|d[0-9a-z]{1,64})", "is not an answer to a step of a lesson."),
    of="learn",
    stays=True,
)

_PLANS: Final = {plan.name: plan.title for plan in PLANS}
PLAN: Field[str] = Field("plan", PLANS[0].name, one_of("the plan", _PLANS), of="learn")

TEACH: Field[bool] = Field("teach", False, SWITCH, of="learn")
"""Whether the plans stand open above the lessons."""

FIELDS: Final = (LESSON, STEP, ANSWERS, FOLLOWED, PLAN, TEACH)


def answers() -> dict[tuple[str, int], str]:
    """The answers so far, by lesson and step (from 1)."""
    by_step = {}
    for entry in ANSWERS.value:
        lesson, step, answer = entry.split(".")
        by_step[lesson, int(step)] = answer
    return by_step


def keep(by_step: Mapping[tuple[str, int], str]) -> None:
    """Make these the answers so far."""
    ANSWERS.value = tuple(f"{lesson}.{step}.{answer}" for (lesson, step), answer in by_step.items())


def answer(lesson: str, step: int, value: str) -> None:
    """Keep what was answered at a step (from 1): the number of an option from 1, ``drawn``, or ``SHOWN``."""
    keep(answers() | {(lesson, step): value})


def go(lesson: str, step: int = 1) -> None:
    """Open a step (from 1) of a lesson; where one teaches, for the whole room."""
    cancel_sync()
    LESSON.value, STEP.value = lesson, step


def look(lesson: str) -> None:
    """Open a lesson to look something up, which is no progress; see ``looks``."""
    go(lesson)
    st.session_state[_LOOKED_UP] = lesson, 1


def looks() -> bool:
    """Whether the step that is open was only looked up: it was neither answered nor come to in another way."""
    here = LESSON.value, STEP.value
    if st.session_state.get(_LOOKED_UP) != here:
        st.session_state.pop(_LOOKED_UP, None)
        return False
    return here not in answers()


def own_sentence() -> bool:
    """Whether the texts are the visitor's own, and not those that the app or a lesson begins with."""
    known = [(TEXT.default, PAIR.default), *(pair for lesson in LESSONS.values() for pair in lesson.examples)]
    return (TEXT.value, PAIR.value) not in known


def drawn(heights: Iterable[float], top: float) -> str:
    """Heights from 0 to ``top`` as the answer that an address holds: a level is one sign, 0 to 9, then a to z."""
    signs = "0123456789abcdefghijklmnopqrstuvwxyz"
    return "d" + "".join(signs[round(min(max(height / top, 0), 1) * LEVELS)] for height in heights)


def heights(answer: str, top: float) -> tuple[float, ...]:
    """The heights that ``drawn`` wrote, each at one of its levels."""
    return tuple(int(sign, 36) / LEVELS * top for sign in answer[1:])
