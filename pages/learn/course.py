"""The course: all lessons, how far one has come, and the way on; for teachers, plans of a class and worksheets."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from classroom.widgets import join_menu, teacher_menu
from pages.learn import fields, keeper, worksheet
from pages.learn.case import Case
from pages.learn.fields import LESSON, STEP
from pages.learn.lesson import Lesson
from pages.learn.lessons import LESSONS
from pages.learn.plans import PLANS, Plan, links, prepared
from ui import MODEL, PAIR, TEXT, Mention, failures_as_messages, glossary, save, widgets


def draw() -> None:
    """How far one has come, and a card a lesson, in order."""
    answered = fields.answers()
    done = {
        lesson.name: sum((lesson.name, step) in answered for step in range(1, len(lesson.steps) + 1))
        for lesson in LESSONS.values()
    }
    place = keeper.place()
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        if place is not None:
            _progress(*place, sum(done.values()))
        teacher_menu()
        join_menu()
    above = st.container()
    with st.container(key="answer-course"):
        for number, lesson in enumerate(LESSONS.values(), start=1):
            _card(number, lesson, done[lesson.name])
    teach = fields.TEACH.value
    with (
        above if teach else st.container(),
        st.expander("For teachers: plans and worksheets", icon=":material/event_note:", expanded=teach),
        failures_as_messages(),
    ):
        _for_teachers()


def _progress(lesson: str, step: int, done: int) -> None:
    st.button(
        f"Continue: lesson {list(LESSONS).index(lesson) + 1}, step {step}",
        key="go-on",
        type="primary",
        icon=":material/play_arrow:",
        on_click=fields.go,
        args=(lesson, step),
    )
    st.markdown(f"{done} of {sum(len(entry.steps) for entry in LESSONS.values())} steps done", width="content")
    st.button(
        "Clear my answers",
        key="forget",
        type="tertiary",
        icon=":material/delete:",
        help="They are kept in this browser and in this page’s link.",
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
        if lesson.terms:
            st.markdown(f'<span class="terms">{glossary.list_terms(lesson.terms)}</span>', unsafe_allow_html=True)
        st.caption(f"{lesson.minutes} minutes · {done} of {n_steps} steps done")


def mentions() -> Iterator[Mention]:
    """Every step that explains a term, with the terms of its lesson at the first one."""
    for number, lesson in enumerate(LESSONS.values(), start=1):
        for place, step in enumerate(lesson.steps, start=1):
            named = dict.fromkeys((*(lesson.terms if place == 1 else ()), *step.terms))
            if named:
                label = f"Lesson {number}.{place}: {step.title}"
                yield Mention(label, {LESSON.name: lesson.name, STEP.name: place}, tuple(named))


def _for_teachers() -> None:
    """Plans of a class with their steps to open, and worksheets about the sentence that was typed."""
    text, pair = widgets.short_enough(TEXT.value), widgets.short_enough(PAIR.value)
    case, own_sentence = Case(MODEL.value, text, pair if pair.strip() else None), fields.own_sentence()
    sentence = (
        "your sentence"
        if own_sentence
        else "each lesson’s own example; type a sentence in any lesson to use that instead"
    )
    st.markdown(f"Worksheets use {sentence}. They open in a browser for printing, with the solutions at the end.")
    sections = [worksheet.section(lesson, case, own_sentence=own_sentence) for lesson in LESSONS.values()]
    save.button(
        "Worksheets of all lessons (HTML)", lambda: worksheet.html("Learn", sections), "learn-worksheets", "html"
    )
    chosen = widgets.choice("Plan", fields.PLAN, label_visibility="collapsed")
    _plan(next(plan for plan in PLANS if plan.name == chosen), case, own_sentence)


def _plan(plan: Plan, case: Case, own_sentence: bool) -> None:
    st.markdown(plan.about)
    for number, meeting in enumerate(plan.meetings, start=1):
        if len(plan.meetings) > 1:
            st.subheader(f"Meeting {number}: {meeting.title}", anchor=False)
        with st.container(key=f"plan {plan.name} {number}"):
            for begin, end, row in meeting.timed():
                minutes, teacher, students, steps = st.columns([1, 5, 4, 4])
                minutes.markdown(f"**{begin}–{end}**")
                teacher.markdown(row.teacher)
                students.markdown(row.students)
                for label, lesson, step in links(row):
                    steps.button(
                        label,
                        key=f"plan {plan.name} {number} {begin} {lesson} {step}",
                        type="tertiary",
                        on_click=fields.go,
                        args=(lesson, step),
                    )
                with steps:
                    for page, link in prepared(row):
                        page.draw_lesson_link(link, f"{plan.name} {number} {begin}")
    sections = [
        worksheet.section(LESSONS[lesson], case, own_sentence=own_sentence, steps=steps)
        for lesson, steps in plan.steps().items()
    ]
    name = f"learn-plan-{plan.name}"
    save.button("Plan and worksheet (HTML)", lambda: worksheet.html(plan.title, sections, plan), name, "html")
