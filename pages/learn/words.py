"""The words of a lesson: the Markdown file beside it, as its steps and its questions from memory use it.

The first heading is the lesson's title; each ``##`` heading begins a chapter: the aims, the examples, a step (the name
of its class, a colon, its title), or the questions from memory. Below a heading stand lines ``name: words``, such as
``terms``, ``text``, ``ask`` or ``why`` (an indented line goes on), or a list. Below a question stand the answers to
choose from, ``- [x] answer -> reply``; see ``Answer``.

In words ``{name}`` stands for a number or a name that the step computes, ``{name:.1f}`` for one written in Python's
way, and ``{name:percent}``, ``{name:signed 3}``, ``{name:plus 2}``, ``{name:quoted}`` and ``{name:plain}`` for one
written in the app's ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

from model_zoo.types import signed
from ui import as_text
from ui.glossary import quote
from viz.layout import percent

_NAMED = re.compile(r"([a-z_ ]+?)(?: \(([^)]+)\))?: (.+)")
_REPEATED = ("ask", "point", "meeting")  # names that a chapter may have several times
_ANSWER = re.compile(r"- \[([^\]]*)\] (.+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """``mark`` says when the answer is right: "x" always, " " never, ``name`` where that value is true, ``<0.5`` where
    the number that is asked for is below 0.5 and not below an earlier bound.

    ``replies`` are to who chooses it: the only one; or where it is right, and where it is wrong; or where it is right,
    where it is too low, and where it is too high.
    """

    mark: str
    text: str
    replies: tuple[str, ...]


@dataclass(slots=True)
class Part:
    """What stands behind a name, and the answers below it. ``order`` is what brackets after the name say of these:
    "numbers" (by size, each once), or "range of …" (the right one is that which holds this number).
    """

    line: int
    text: str
    order: str = ""
    answers: list[Answer] = field(default_factory=list)


@dataclass(slots=True)
class Chapter:
    """A heading, "name: title", with the ``parts`` and ``items`` below it."""

    file: str
    line: int
    name: str
    title: str
    parts: list[tuple[str, Part]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)

    def find(self, name: str) -> Part | None:
        """The part of a name, if there is one."""
        return next((part for called, part in self.parts if called == name), None)

    def part(self, name: str) -> Part:
        """The same. Raises ValueError, with file and line, where there is none."""
        if (part := self.find(name)) is None:
            raise ValueError(f"{self.file}:{self.line}: “{self.title or self.name}” has no line “{name}: …”.")
        return part

    def listed(self, name: str) -> tuple[str, ...]:
        """The values of a part, which commas separate; none where there is no such part."""
        part = self.find(name)
        return () if part is None else tuple(value.strip() for value in part.text.split(","))


def read(path: Path) -> dict[str, Chapter]:
    """The chapters of a file by their names, the first, "", being what stands below its title. Raises ValueError, with
    file and line, for what cannot be understood.
    """
    chapters: dict[str, Chapter] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        here = f"{path.name}:{number}"
        if line.startswith("#"):
            hashes, _, heading = line.partition(" ")
            name, _, title = heading.partition(": ") if hashes == "##" else ("", "", heading)
            if name in chapters or (hashes == "#") == bool(chapters):
                raise ValueError(f"{here}: “{heading}” is there already, or stands above the title of the lesson.")
            chapters[name] = chapter = Chapter(path.name, number, name, title)
        elif not chapters:
            raise ValueError(f"{here}: a lesson begins with its title, “# …”.")
        elif line.strip():
            _read_line(chapter, line, number, here)
    return chapters


def _read_line(chapter: Chapter, line: str, number: int, here: str) -> None:
    last = chapter.parts[-1][1] if chapter.parts else None
    if (answer := _ANSWER.fullmatch(line)) and last is not None:
        text, *replies = answer[2].split(" -> ")
        if not 1 <= len(replies) <= 3:
            raise ValueError(f"{here}: an answer is written “- [x] answer -> reply”, with one to three replies.")
        last.answers.append(Answer(answer[1], text, tuple(replies)))
    elif line.startswith("  ") and last is not None:
        last.text += f"\n{line[2:]}"
    elif line.startswith("- "):
        chapter.items.append(line[2:])
    elif named := _NAMED.fullmatch(line):
        if chapter.find(named[1]) and named[1] not in _REPEATED:
            raise ValueError(f"{here}: a second “{named[1]}: …” in “{chapter.title or chapter.name}”.")
        chapter.parts.append((named[1], Part(number, named[3].strip(), named[2] or "")))
    else:
        raise ValueError(f"{here}: neither a heading, nor “name: words”, nor an answer “- [x] answer -> reply”.")


class Filled(Formatter):
    """Fills the names in words: from ``values``, else from other parts of the chapter, else from what the step has."""

    def __init__(self, chapter: Chapter, step: object, values: Mapping[str, Any]) -> None:
        self._chapter, self._step, self._values = chapter, step, values

    def fill(self, words: str) -> str:
        """The words with their names filled; a blank before a name that stands for nothing goes, too."""
        filled = ""
        for literal, name, how, _ in self.parse(words):
            filled += literal
            if name is not None:
                value, _ = self.get_field(name, (), {})
                text = self.format_field(value, how or "")
                filled = filled + text if text else filled.removesuffix(" ")
        return filled

    def value(self, path: str) -> Any:
        """What a name stands for, or a part of it: "case.layer", "shares[0]"."""
        return self.get_field(path, (), {})[0]

    def get_value(self, key: int | str, args: object, kwargs: object) -> Any:  # noqa: ARG002
        """Raises ValueError, with the file, for a name that nothing has."""
        name = str(key)
        if name in self._values:
            return self._values[name]
        if (part := self._chapter.find(name)) is not None:
            return self.fill(part.text)
        if hasattr(type(self._step), name) or name in vars(self._step):
            return getattr(self._step, name)
        raise ValueError(f"{self._chapter.file}: the step “{self._chapter.title}” computes no “{name}”.")

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value as the app writes it, or as Python does."""
        match format_spec.split():
            case ["quoted"]:
                return quote(str(value))
            case ["plain"]:
                return as_text(str(value))
            case ["percent"]:
                return percent(value)
            case ["signed" | "plus" as how, *digits]:
                return signed(value, *map(int, digits), plus=how == "plus")
        return format(value, format_spec)
