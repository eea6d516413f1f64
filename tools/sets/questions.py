"""Questions on short passages, with the answer's place in the passage, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tools.sets.topics import TIME, Deed, Fact, Slot, Topic, listed, read
from tools.sets.writing import Deck, generator, numbered, shuffled
from training.finetuning.data import SPLITS, PassageQuestion, Split

_PASSAGES: Final[Mapping[Split, int]] = {"train": 228, "dev": 40, "test": 60}
_TOLD = 4  # deeds of a passage; one fact of the topic or two are told of two people each, and some are left out
_ANSWERED = 5  # questions of a passage that it answers
_UNANSWERED = 2  # and that it does not
_MOST_OF_ONE = 2  # answered questions on one deed
_BY_ROLE = 0.45  # share of the people who are told by what they are, not by name
_AT_A_TIME = 0.4  # share of the facts of which is told when, in place of their own way
_IN_FRONT = 0.4  # share of the times that stand first
_STANDS_THERE = 0.5  # share of the questions on facts left out that ask of somebody whom the passage names
_UNTOLD = 0.5  # share of the unanswered questions that are on a fact that is told, where there is one of their sort

NAMES: Final[Mapping[Split, tuple[str, ...]]] = {
    "train": listed(
        "Anna; Peter; Maria; John; Laura; David; Emma; Mark; Rose; Daniel; Julia; Robert; Grace; Thomas; "
        "Helen; Frank; Sarah; Clara; Martin; Alice; Jack; Nora; Steven; Omar; Lily; Adam; Yusuf; Karen; Leo; "
        "Mia; Samuel; Rita; Ben; Zoe; Carlos; Ivan"
    ),
    "dev": listed("Olivia; George; Hannah; Paul; Irene; Victor; Tess; Amir; Bella; Leon; Priya; Carl"),
    "test": listed(
        "Lucy; Henry; Ruth; Oscar; Simon; Diana; Walter; Ella; Hugo; Joy; Edward; Kenji; Fatima; Bruno; "
        "Edith; Ravi; Sonja; Felix"
    ),
}

TOPICS: Final[Mapping[Split, tuple[Topic, ...]]] = {split: read(split) for split in SPLITS}


class _Writer:
    """Writes the passages of one topic, with their questions."""

    def __init__(self, topic: Topic, names: Deck[str], rng: np.random.Generator) -> None:
        self.topic, self.names, self.rng = topic, names, rng
        self.things = [Deck(rng, fact.things) for fact in topic.facts]
        self.ways = [Deck(rng, fact.ways) for fact in topic.facts]
        self.openings, self.times = Deck(rng, topic.openings), Deck(rng, topic.times)

    def items(self) -> list[PassageQuestion]:
        """The questions on one new passage."""
        order = shuffled(self.rng, range(len(self.topic.facts)))
        twice = int(self.rng.integers(1, _TOLD // 2 + 1))
        mentioned, left = order[: _TOLD - twice], order[_TOLD - twice :]
        people = self._people()
        deeds: list[Deed] = []
        for place in sorted((*mentioned, *mentioned[:twice])):
            deeds.append(self._deed(place, people.pop(), deeds))
        absent = [self._deed(place, people.pop(), deeds) for place in left]
        passage, places = self._passage(deeds)
        answered = self._answered(deeds, passage, places)
        sorts = [sort for sort, _ in shuffled(self.rng, answered)[:_UNANSWERED]]
        return [*(item for _, item in answered), *self._unanswered(sorts, deeds, absent, passage)]

    def _people(self) -> list[str]:
        """Some that are all different, by name or by what they are."""
        roles = list(shuffled(self.rng, self.topic.people))
        people: list[str] = []
        while len(people) < _TOLD + len(self.topic.facts):
            by_role = roles and self.rng.random() < _BY_ROLE
            people.append(roles.pop() if by_role else self.names.draw(*people))
        return people[::-1]

    def _deed(self, place: int, who: str, others: list[Deed]) -> Deed:
        """One that shares neither its thing nor its way with the others."""
        fact = self.topic.facts[place]
        thing = self.things[place].draw(*(deed.what for deed in others))
        kind, way = self._way(fact, self.ways[place], [deed.way for deed in others])
        return Deed(fact, who, thing, kind, way)

    def _way(self, fact: Fact, ways_deck: Deck[str], taken: list[str]) -> tuple[str | None, str]:
        """A time or the fact's own way, none of those taken; nothing where all are."""
        at_a_time = fact.kind == TIME or self.rng.random() < _AT_A_TIME
        kind, deck, ways = (TIME, self.times, self.topic.times) if at_a_time else (fact.kind, ways_deck, fact.ways)
        return (kind, deck.draw(*taken)) if set(ways) - set(taken) else (None, "")

    def _passage(self, events: list[Deed]) -> tuple[str, list[dict[Slot, int]]]:
        """The text, and for each deed where its slots begin. At most two deeds share a sentence."""
        text, places = self.openings.draw(), []
        joined = int(self.rng.integers(_TOLD))  # to the one before; the first to none
        for place, deed in enumerate(events):
            together = place == joined and place > 0
            front = not together and deed.kind == TIME and self.rng.random() < _IN_FRONT
            clause, starts = deed.clause(front)
            text = text[:-1] + ", and " if together else text + " "
            places.append({slot: len(text) + start for slot, start in starts.items()})
            text += (clause if together else clause[0].upper() + clause[1:]) + "."
        return text, places

    def _answered(
        self, events: list[Deed], passage: str, places: list[dict[Slot, int]]
    ) -> list[tuple[str, PassageQuestion]]:
        """Gives the questions that the passage answers, each with its sort."""
        every = [
            (place, sort, question, slot)
            for place, deed in enumerate(events)
            for sort, questions in deed.questions().items()
            for question, slot in questions
        ]
        counts: Counter[int] = Counter()
        answered: list[tuple[str, PassageQuestion]] = []
        for place, sort, question, slot in shuffled(self.rng, every):
            if counts[place] < _MOST_OF_ONE and len(answered) < _ANSWERED:
                counts[place] += 1
                start = places[place][slot]
                answer = passage[start : start + len(events[place].slot(slot))]
                answered.append((sort, PassageQuestion(question, passage, ((start, answer),), self.topic.name)))
        return answered

    def _unanswered(
        self, sorts: Sequence[str], events: list[Deed], absent: list[Deed], passage: str
    ) -> list[PassageQuestion]:
        """One of each sort: on a fact left out, on a way that is not told, or on somebody who did other things. Who did
        what is left out is asked where there is none.
        """
        others = [deed.by(other.who) for deed in events for other in events if other.fact != deed.fact]
        chosen: list[str] = []
        for sort in sorts:
            named = [deed.by(events[int(self.rng.integers(_TOLD))].who) for deed in absent]
            of_absent = [
                question
                for deed in (named if self.rng.random() < _STANDS_THERE else absent)
                for question, _ in deed.questions()[sort]
            ]
            of_told = [question for deed in events for question in deed.untold()[sort]]
            if sort in ("what", "way"):
                of_told += [question for deed in others for question, _ in deed.questions()[sort]]
            first, second = (of_told, of_absent) if self.rng.random() < _UNTOLD else (of_absent, of_told)
            last = [question for deed in absent for question, _ in deed.questions()["who"]]
            every = (*shuffled(self.rng, first), *shuffled(self.rng, second), *last)
            chosen.append(next(question for question in every if question not in chosen))
        return [PassageQuestion(question, passage, (), self.topic.name) for question in chosen]


def make_items(split: Split) -> list[tuple[int, PassageQuestion]]:
    """All questions, each with its number in the split; those on one passage stand together."""
    rng = generator(split)
    names = Deck(rng, NAMES[split])
    writers = [_Writer(topic, names, rng) for topic in TOPICS[split]]
    items = [item for number in range(_PASSAGES[split]) for item in writers[number % len(writers)].items()]
    return numbered(rng, items)
