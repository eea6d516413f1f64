"""Topics of short passages as plain text: who did what, and when, where, why, how, with what or for whom.

Each split has a file, ``questions_train.txt`` and so on. A block of it is a topic: ``# name: opening sentences``
(slashes between them), ``= people``, and one fact per line: ``base past | things | kind: ways | slot: question``. Lists
have semicolons, and "_" is a space within a verb. Things that are people have ``whom:`` before them. ``kind`` is one of
``KINDS``, or the fact has "none". The last part, if there is one, asks in other words, with {who} and {what}; ``who``
or ``way`` answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from tools.sets.writing import blocks
from training.finetuning.data import Split

Slot = Literal["who", "what", "way"]

TIME: Final = "when"
_PERSONS: Final = "whom: "
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    TIME: ("", "When did {who} {base} {what}?"),
    "where": ("", "Where did {who} {base} {what}?"),
    "why": ("", "Why did {who} {base} {what}?"),
    "how": ("", "How did {who} {base} {what}?"),
    "long": ("for ", "For how long did {who} {base} {what}?"),
    "price": ("for ", "For how much did {who} {base} {what}?"),
    "for": ("for ", "For what did {who} {base} {what}?"),
    "whom": ("for ", "For whom did {who} {base} {what}?"),
    "with": ("with ", "With what did {who} {base} {what}?"),
    "company": ("with ", "With whom did {who} {base} {what}?"),
    "to": ("to ", "To whom did {who} {base} {what}?"),
    "from": ("from ", "From whom did {who} {base} {what}?"),
    "origin": ("from ", "Where did {who} {base} {what} from?"),
}
"""For each kind of way the word before it, which is no part of the answer, and the question."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What somebody did, with everything that can stand in its slots."""

    base: str
    past: str
    things: tuple[str, ...]
    persons: bool
    kind: str | None
    ways: tuple[str, ...]
    paraphrase: tuple[str, Slot] | None


@dataclass(frozen=True, slots=True)
class Topic:
    """One scene. ``times`` are the ways of its facts that say when."""

    name: str
    openings: tuple[str, ...]
    people: tuple[str, ...]
    facts: tuple[Fact, ...]

    @property
    def times(self) -> tuple[str, ...]:
        return tuple(way for fact in self.facts if fact.kind == TIME for way in fact.ways)


@dataclass(frozen=True, slots=True)
class Event:
    """A fact with its slots filled. ``kind`` and ``way`` are what is told of it: its own, a time in place of it, or
    nothing (None and "").
    """

    fact: Fact
    who: str
    what: str
    kind: str | None
    way: str

    def by(self, who: str) -> Event:
        """The same, done by somebody else."""
        return replace(self, who=who)

    def questions(self) -> dict[str, list[tuple[str, Slot]]]:
        """What it answers, by sort: (question, slot that answers it)."""
        questions: dict[str, list[tuple[str, Slot]]] = {
            "who": [(self._ask("Who {past} {what}?"), "who")],
            "what": [(self._ask(f"{'Whom' if self.fact.persons else 'What'} did {{who}} {{base}}?"), "what")],
            "way": [(self._ask(KINDS[self.kind][1]), "way")] if self.kind else [],
            "paraphrase": [],
        }
        if self.fact.paraphrase and (self.fact.paraphrase[1] == "who" or self.kind == self.fact.kind):
            questions["paraphrase"].append((self._ask(self.fact.paraphrase[0]), self.fact.paraphrase[1]))
        return questions

    def unanswered_questions(self) -> dict[str, list[str]]:
        """Questions on it, by sort, that it does not answer: what way there was, where another is told."""
        questions: dict[str, list[str]] = {"who": [], "what": [], "way": [], "paraphrase": []}
        if self.kind != TIME:
            questions["way"].append(self._ask(KINDS[TIME][1]))
        elif self.fact.kind not in (None, TIME, "where"):  # the scene may be thought to say where
            questions["way"].append(self._ask(KINDS[self.fact.kind][1]))
            if self.fact.paraphrase and self.fact.paraphrase[1] == "way":
                questions["paraphrase"].append(self._ask(self.fact.paraphrase[0]))
        return questions

    def clause(self, front: bool) -> tuple[str, dict[Slot, int]]:
        """The sentence without its full stop, and where its slots begin; the way in ``front`` or at the end."""
        before = KINDS[self.kind][0] if self.kind else ""
        start = f"{self.way}, " if front else ""
        head = f"{start}{self.who} {self.fact.past} "
        text = head + self.what
        places: dict[Slot, int] = {"who": len(start), "what": len(head), "way": 0}
        if self.kind and not front:
            text += f" {before}{self.way}"
            places["way"] = len(text) - len(self.way)
        return text, places

    def slot(self, slot: Slot) -> str:
        return {"who": self.who, "what": self.what, "way": self.way}[slot]

    def _ask(self, question: str) -> str:
        """The question on it: what the passage speaks of first is known by then, so that "a" becomes "the"."""
        return question.format(who=_the(self.who), what=_the(self.what), base=self.fact.base, past=self.fact.past)


def read(split: Split) -> tuple[Topic, ...]:
    """The topics of a split, in the order of its file."""
    return tuple(map(_topic, blocks(f"questions_{split}")))


def _topic(lines: list[str]) -> Topic:
    name, openings = lines[0].removeprefix("# ").split(": ", 1)
    people = listed(lines[1].removeprefix("= "))
    return Topic(name, tuple(openings.split(" / ")), people, tuple(_fact(line) for line in lines[2:]))


def _fact(line: str) -> Fact:
    verb, things, way, *rest = line.split(" | ")
    base, past = (form.replace("_", " ") for form in verb.split())
    kind, _, ways = way.partition(": ")
    question: tuple[str, Slot] | None = None
    if rest:
        slot, _, wording = rest[0].partition(": ")
        question = (wording, "who" if slot == "who" else "way")
    persons = things.startswith(_PERSONS)
    return Fact(
        base, past, listed(things.removeprefix(_PERSONS)), persons, kind if ways else None, listed(ways), question
    )


def listed(text: str) -> tuple[str, ...]:
    """What stands between semicolons."""
    return tuple(part.strip() for part in text.split(";") if part)


def _the(name: str) -> str:
    return re.sub(r"^an? ", "the ", name)
