"""The home page from top to bottom: a model at work, three ways in, what each page answers, links for a lesson.

What needs no model is drawn first, so that it appears at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.home import at_work
from ui import LessonLink, Page, failures_as_messages, figures, page_link


def _entrances(pages: Mapping[str, Page[Any]]) -> tuple[tuple[str, str, str, Mapping[str, Any], str], ...]:
    """The ways into the app: title, icon, the page one leads to, the fields that it sets there, and what it is for."""
    return (
        (
            "I am new",
            ":material/waving_hand:",
            "learn",
            {"lesson": "pieces"},
            f"{pages['learn'].how} Look, predict, then check.",
        ),
        (
            "I teach",
            ":material/school:",
            "learn",
            {},
            "Lessons as slides, a worksheet with your class’s sentence, plans for 45 minutes, 90 minutes and six "
            "meetings, and a shared room where students follow along.",
        ),
        (
            "I do research",
            ":material/biotech:",
            "attention",
            at_work.LOOKING | {"view": "heads"},
            "Every head measured and labelled by stated rules, every number exportable with its model and revision.",
        ),
    )


def draw(pages: Mapping[str, Page[Any]]) -> None:
    """``pages`` are the others, by their names."""
    alive = st.container(key="alive")
    for column, (title, icon, page, values, about) in zip(st.columns(3), _entrances(pages), strict=True):
        with column.container(border=True, height="stretch", key=f"card {title}"):
            page_link(page, f"**{title}**", icon, **values)
            st.markdown(about)
    lesson, answers = st.columns(2, gap="large")
    with lesson:
        _for_a_lesson(pages)
    with answers:
        _what_pages_answer(pages)
    with alive, failures_as_messages(), figures.announced():
        at_work.draw()


def _what_pages_answer(pages: Mapping[str, Page[Any]]) -> None:
    st.header("What each page answers", anchor=False)
    for page in pages.values():
        with st.container(gap=None):
            page_link(page.name, f"**{page.title}**", page.icon)
            st.markdown(f"{page.question} {page.how}")


def _for_a_lesson(pages: Mapping[str, Page[Any]]) -> None:
    """The prepared links by groups, each with its question."""
    st.header("For a lesson", anchor=False)
    st.markdown(
        "Ready-made pages, each with a question students answer by looking. To share one with a class, copy its "
        "link: right-click, or press and hold on a phone."
    )
    groups: dict[str, list[tuple[Page[Any], LessonLink]]] = {}
    for page in pages.values():
        if page.lesson_links is not None:
            found = groups.setdefault(page.lesson_links.heading, [])
            found += [(page, link) for link in page.lesson_links.links]
    for heading, links in groups.items():
        with st.expander(heading):
            for page, link in links:
                with st.container(gap=None):
                    page_link(page.name, f"**{link.title}**", page.icon, **page.values_of(link))
                    st.markdown(link.question)
