"""The course: all lessons with what each answers, how far one has come, and the way on."""

from __future__ import annotations

import streamlit as st

from ui.learn import fields, keeper, teaching
from ui.learn.lesson import Lesson
from ui.learn.lessons import LESSONS


def draw() -> None:
    """How far one has come, and a card a lesson, in order."""
    answered = fields.answers()
    done = {
        lesson.name: sum((lesson.name, step) in answered for step in range(1, len(lesson.steps) + 1))
        for lesson in LESSONS.values()
    }
    place = keeper.place()
    if place is not None:
        _progress(*place, sum(done.values()))
    with st.container(horizontal=True, vertical_alignment="center", key="together"):
        teaching.draw()
        if not teaching.teaches():
            teaching.join()
    with st.container(key="course"):
        for number, lesson in enumerate(LESSONS.values(), start=1):
            _card(number, lesson, done[lesson.name])


def _progress(lesson: str, step: int, done: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        st.button(
            f"Go on: lesson {list(LESSONS).index(lesson) + 1}, step {step}",
            key="go on",
            type="primary",
            icon=":material/play_arrow:",
            on_click=fields.go,
            args=(lesson, step),
        )
        st.markdown(f"{done} of {sum(len(each.steps) for each in LESSONS.values())} steps done", width="content")
        st.button(
            "Forget my answers",
            key="forget",
            type="tertiary",
            icon=":material/delete:",
            help="They are kept in this browser and in the address of this page.",
            on_click=keeper.forget,
        )


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
