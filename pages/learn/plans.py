"""Plans of a class: what happens minute by minute, in which steps of which lessons, with which other pages.

How long a row takes comes from its steps (``Step.minutes``) and from the minutes of talk added to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from pages.learn import words
from pages.learn.lessons import LESSONS
from pages.learn.words import Answer, Chapter, Part
from ui import LessonLink, Page


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a meeting: what the teacher and the class do, as Markdown, and its ``steps``, each by its lesson's name
    and its number from 1, or a whole ``lesson``; ``pages`` are prepared links (``ui.lesson_links``), each by its page
    and its name. ``talk`` are the minutes it takes beyond its steps; None for what is left of the meeting.
    """

    talk: int | None
    teacher: str
    students: str
    steps: tuple[tuple[str, int], ...] = ()
    lesson: str = ""
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def all_steps(self) -> tuple[tuple[str, int], ...]:
        """Its steps, and every one of its lesson."""
        every_step = range(1, len(LESSONS[self.lesson].steps) + 1) if self.lesson else ()
        return (*self.steps, *((self.lesson, step) for step in every_step))

    @property
    def at_least(self) -> int:
        """The minutes of its steps and its talk."""
        of_steps = sum(LESSONS[lesson].steps[step - 1].minutes for lesson, step in self.all_steps)
        return ceil(of_steps) + (self.talk or 0)


@dataclass(frozen=True, slots=True)
class Meeting:
    """``minutes`` that a class spends together; one row takes what the others leave of them."""

    title: str
    minutes: int
    rows: tuple[Row, ...]

    @property
    def left(self) -> int:
        """The minutes that its rows leave to the one that takes the rest."""
        return self.minutes - sum(row.at_least for row in self.rows if row.talk is not None)

    def timed(self) -> Iterator[tuple[int, int, Row]]:
        """Each row with the minutes at which it begins and ends, the first from 0."""
        begin = 0
        for row in self.rows:
            end = begin + (self.left if row.talk is None else row.at_least)
            yield begin, end, row
            begin = end


@dataclass(frozen=True, slots=True)
class Plan:
    """``name`` tells it from others; ``meetings`` are in the order of the course."""

    name: str
    title: str
    about: str
    meetings: tuple[Meeting, ...]

    def steps(self) -> dict[str, tuple[int, ...]]:
        """The steps of each lesson, lessons in the order in which they come."""
        by_lesson: dict[str, list[int]] = {}
        for meeting in self.meetings:
            for row in meeting.rows:
                for lesson, step in row.all_steps:
                    by_lesson.setdefault(lesson, []).append(step)
        return {lesson: tuple(dict.fromkeys(steps)) for lesson, steps in by_lesson.items()}


def title(lesson: str, step: int) -> str:
    """What a step of a plan is called: the numbers of its lesson and of the step, and its own title."""
    return f"{_number(lesson)}.{step} {LESSONS[lesson].steps[step - 1].title}"


def links(row: Row) -> Iterator[tuple[str, str, int]]:
    """What a row opens: the label, the lesson and the step of each of its steps; its whole lesson under one label."""
    yield from ((title(lesson, step), lesson, step) for lesson, step in row.steps)
    if row.lesson:
        yield f"Lesson {_number(row.lesson)}: {LESSONS[row.lesson].title}", row.lesson, 1


def prepared(row: Row) -> Iterator[tuple[Page[Any], LessonLink]]:
    """The other pages that a row opens, as prepared for a lesson. Raises KeyError for a link that does not exist."""
    from pages import PAGES  # the page of these plans is one of them

    links_by_name = {
        (page.name, link.name): (page, link) for page in PAGES if page.lesson_links for link in page.lesson_links.links
    }
    yield from (links_by_name[name] for name in row.pages)


def _number(lesson: str) -> int:
    return list(LESSONS).index(lesson) + 1


def _read() -> tuple[Plan, ...]:
    """The plans of ``plans.md``. Each row of a session has minutes of talk or "rest", what the teacher does, what the
    class does, and what is opened. Raises ValueError with the file's line if something is missing.
    """
    chapters = words.read(Path(__file__).with_suffix(".md"))
    return tuple(
        Plan(
            chapter.name,
            chapter.title,
            chapter.part("about").text,
            tuple(
                Meeting(part.text, int(part.order.split()[0]), tuple(_row(chapter, part, row) for row in part.answers))
                for name, part in chapter.parts
                if name == "meeting"
            ),
        )
        for chapter in chapters.values()
        if chapter.name
    )


def _row(chapter: Chapter, meeting: Part, row: Answer) -> Row:
    students, *opened = row.replies
    steps: list[tuple[str, int]] = []
    pages: list[tuple[str, str]] = []
    lesson = ""
    for entry in ", ".join(opened).split(", ") if opened else ():
        page, _, link = entry.partition("/")
        name, _, step = entry.partition(" ")
        if link:
            pages.append((page, link))
        elif name not in LESSONS or not (step or "1").isdigit() or int(step or 1) > len(LESSONS[name].steps):
            raise ValueError(f"{chapter.file}:{meeting.line}: in “{meeting.text}”: there is no “{entry}”.")
        elif step:
            steps.append((name, int(step)))
        else:
            lesson = name
    talk = None if row.mark == "rest" else int(row.mark)
    return Row(talk, row.text, students, tuple(steps), lesson, tuple(pages))


PLANS: Final = _read()
