"""Links for a lesson: a page as it is to be opened, each with a question to think about while one looks.

What the questions take for granted was found by asking the models that ship with the app. Its tests ask them again, so
that a retrained model cannot leave a question without its answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from ui.field import Field, pattern, read_values, whole_state

ASKED: Field[str] = Field("question", "", pattern("[a-z0-9-]{1,80}", "is not the name of a question.", empty=True))
"""The name of the prepared link that opened the page; its question is shown above the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class LessonLink:
    """``values`` are the fields not at their defaults, ``question`` is what looking there can answer, as Markdown."""

    title: str
    values: Mapping[Field[Any], Any]
    question: str

    @property
    def name(self) -> str:
        """Its title as an address has it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True, slots=True, eq=False)
class LessonLinks:
    """The links of a page, in their order, under a ``heading`` that several pages can share. A link decides all of
    ``decides``: what it does not name gets its default, so that no link shows what was set for the one before.
    """

    heading: str
    decides: tuple[Field[Any], ...]
    links: tuple[LessonLink, ...]

    def state(self, link: LessonLink) -> dict[Field[Any], Any]:
        """All the fields that a link sets."""
        return whole_state(self.decides, {**link.values, ASKED: link.name})

    def ask(self) -> None:
        """The question of the link that opened the page, above the picture, until it is closed."""
        link = next((link for link in self.links if link.name == ASKED.value), None)
        if link is None:
            ASKED.value = ""  # of another page
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-question"):
            st.markdown(f":material/school: {link.question}", width="stretch")
            st.button("Close", key="close-the-question", icon=":material/close:", type="tertiary", on_click=close)


def read_lesson_links(page: str, decides: tuple[Field[Any], ...]) -> LessonLinks:
    """The links in ``lesson_links.toml`` of a page's folder: a heading, and of each link its title, its question and
    the values of fields, as they stand in an address.
    """
    file = Path(__file__).parents[1] / "pages" / page / "lesson_links.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    links = [
        LessonLink(link["title"], read_values(decides, link["values"]), link["question"]) for link in content["links"]
    ]
    return LessonLinks(content["heading"], decides, tuple(links))


def close() -> None:
    """No question above the picture. For the callback of a widget."""
    ASKED.value = ""
