"""The course: all lessons with what each answers, how far one has come, and the way on."""

from __future__ import annotations

import streamlit as st

from ui.learn import fields
from ui.learn.lesson import Lesson
from ui.learn.lessons import LESSONS


def draw() -> None:
    """A card a lesson, in order."""
    done = fields.answers()
    with st.container(key="course"):
        for number, lesson in enumerate(LESSONS.values(), start=1):
            _card(number, lesson, sum((lesson.name, step) in done for step in range(1, len(lesson.steps) + 1)))


def _card(number: int, lesson: Lesson, done: int) -> None:
    n_steps = len(lesson.steps)
    with st.container(border=True, key=f"lesson card {lesson.name}"):
        st.button(
            f"{number} · {lesson.title}",
            key=f"open {lesson.name}",
            type="tertiary",
            icon=":material/check_circle:" if done == n_steps else None,
            on_click=fields.go,
            args=(lesson.name, min(done + 1, n_steps)),
        )
        st.markdown(lesson.question)
        st.caption(f"{lesson.minutes} minutes · {done} of {n_steps} steps done")
