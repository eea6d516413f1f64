"""Links for a lesson: a page as it is to be opened, each with a question to think about while one looks.

What the questions take for granted was found by asking the models that ship with the app. Its tests ask them again, so
that a retrained model cannot leave a question without its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ui.field import Field, whole_state


@dataclass(frozen=True, slots=True, eq=False)
class LessonLink:
    """``values`` are the fields that are not as they are at first, ``question`` what a student can answer by looking
    there, as Markdown.
    """

    title: str
    values: Mapping[Field[Any], Any]
    question: str


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
        return whole_state(self.decides, link.values)
