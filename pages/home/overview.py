"""The home page from top to bottom: the walk of a sentence, ways in, what each page answers, links for a lesson.

What needs no model is drawn first, so that it appears at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from classroom.widgets import code_form
from model_zoo import DEFAULT_MODEL
from pages.home import walk
from ui import TEXT, LessonLink, Page, failures_as_messages, figures, page_link

_STYLE = (Path(__file__).parent / "home.css").read_text(encoding="utf-8")


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
            {"teach": True},
            "Plans for 45 minutes, 90 minutes and six meetings, slides, worksheets, and a room where your class "
            "follows along.",
        ),
        (
            "I do research",
            ":material/biotech:",
            "attention",
            {
                "text": TEXT.default,
                "pair": "",
                "model": DEFAULT_MODEL,
                "layer": walk.LAYER,
                "head": walk.HEAD,
                "view": "heads",
            },
            "Every head measured and labelled by stated rules, every number exportable with its model and revision.",
        ),
    )


def draw(pages: Mapping[str, Page[Any]]) -> None:
    """``pages`` are the others, by their names."""
    st.html(f"<style>{_STYLE}</style>")
    first = st.container(key="walk")
    with st.container(key="entrances"):
        for title, icon, leads_to, values, about in _entrances(pages):
            with st.container(border=True, key=f"card {title}"):
                page_link(leads_to, f"**{title}**", icon, **values)
                st.markdown(about)
        with st.container(border=True, key="join"):
            st.markdown("**Joining a class?**")
            code_form()
    st.header("What each page answers", anchor=False)
    with st.container(key="answered"):
        for page in pages.values():
            with st.container(border=True, gap=None, key=f"card {page.name}"):
                page_link(page.name, f"**{page.title}**", page.icon)
                st.markdown(page.question)
    _for_a_lesson(pages)
    with first, failures_as_messages(), figures.placeholder_figure():
        walk.draw(pages)


def _for_a_lesson(pages: Mapping[str, Page[Any]]) -> None:
    st.header("For a lesson", anchor=False)
    st.markdown(
        "Ready-made pages, each with a question above the picture that students answer by looking. “Copy link” copies "
        "one to share with a class."
    )
    groups: dict[str, list[tuple[Page[Any], LessonLink]]] = {}
    for page in pages.values():
        if page.lesson_links is not None:
            group = groups.setdefault(page.lesson_links.heading, [])
            group += [(page, link) for link in page.lesson_links.links]
    with st.container(key="for-a-lesson"):
        for heading, links in groups.items():
            with st.expander(heading):
                for page, link in links:
                    page.draw_lesson_link(link)
