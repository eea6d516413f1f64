"""Questions on short passages, with the answer's place in the passage, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tools.sets.topics import TIME, Event, Fact, Slot, Topic, listed, read
from tools.sets.writing import Deck, generator, numbered, shuffled
from training.finetuning.data import SPLITS, PassageQuestion, Split

_PASSAGES: Final[Mapping[Split, int]] = {"train": 228, "dev": 40, "test": 60}
_N_EVENTS = 4  # events of a passage; one fact of the topic or two are told of two people each, and some are left out
_ANSWERED = 5  # questions of a passage that it answers
_UNANSWERED = 2  # and that it does not
_MOST_OF_ONE = 2  # answered questions on one event
_BY_ROLE = 0.45  # share of the people who are told by what they are, not by name
_AT_A_TIME = 0.4  # share of the facts of which is told when, in place of their own way
_IN_FRONT = 0.4  # share of the times that stand first
_STANDS_THERE = 0.5  # share of the questions on facts left out that ask of somebody whom the passage names
_ON_EVENTS = 0.5  # share of the unanswered questions that are on a fact that is told, where there is one of their sort

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
        twice = int(self.rng.integers(1, _N_EVENTS // 2 + 1))
        mentioned, left = order[: _N_EVENTS - twice], order[_N_EVENTS - twice :]
        people = self._people()
        events: list[Event] = []
        for place in sorted((*mentioned, *mentioned[:twice])):
            events.append(self._event(place, people.pop(), events))
        absent = [self._event(place, people.pop(), events) for place in left]
        passage, places = self._passage(events)
        answered = self._answered(events, passage, places)
        sorts = [sort for sort, _ in shuffled(self.rng, answered)[:_UNANSWERED]]
        return [*(item for _, item in answered), *self._unanswered(sorts, events, absent, passage)]

    def _people(self) -> list[str]:
        """Some that are all different, by name or by what they are."""
        roles = list(shuffled(self.rng, self.topic.people))
        people: list[str] = []
        while len(people) < _N_EVENTS + len(self.topic.facts):
            by_role = roles and self.rng.random() < _BY_ROLE
            people.append(roles.pop() if by_role else self.names.draw(*people))
        return people[::-1]

    def _event(self, place: int, who: str, others: list[Event]) -> Event:
        """One that shares neither its thing nor its way with the others."""
        fact = self.topic.facts[place]
        thing = self.things[place].draw(*(event.what for event in others))
        kind, way = self._way(fact, self.ways[place], [event.way for event in others])
        return Event(fact, who, thing, kind, way)

    def _way(self, fact: Fact, ways_deck: Deck[str], taken: list[str]) -> tuple[str | None, str]:
        """A time or the fact's own way, none of those taken; nothing where all are."""
        at_a_time = fact.kind == TIME or self.rng.random() < _AT_A_TIME
        kind, deck, ways = (TIME, self.times, self.topic.times) if at_a_time else (fact.kind, ways_deck, fact.ways)
        return (kind, deck.draw(*taken)) if set(ways) - set(taken) else (None, "")

    def _passage(self, events: list[Event]) -> tuple[str, list[dict[Slot, int]]]:
        """The text, and for each event where its slots begin. At most two events share a sentence."""
        text, places = self.openings.draw(), []
        joined = int(self.rng.integers(_N_EVENTS))  # to the one before; the first to none
        for place, event in enumerate(events):
            together = place == joined and place > 0
            front = not together and event.kind == TIME and self.rng.random() < _IN_FRONT
            clause, starts = event.clause(front)
            text = text[:-1] + ", and " if together else text + " "
            places.append({slot: len(text) + start for slot, start in starts.items()})
            text += (clause if together else clause[0].upper() + clause[1:]) + "."
        return text, places

    def _answered(
        self, events: list[Event], passage: str, places: list[dict[Slot, int]]
    ) -> list[tuple[str, PassageQuestion]]:
        """Gives the questions that the passage answers, each with its sort."""
        every = [
            (place, sort, question, slot)
            for place, event in enumerate(events)
            for sort, questions in event.questions().items()
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
        self, sorts: Sequence[str], events: list[Event], absent: list[Event], passage: str
    ) -> list[PassageQuestion]:
        """One of each sort: on a fact left out, on a way that is not told, or on somebody who did other things. Who did
        what is left out is asked where there is none.
        """
        others = [event.by(other.who) for event in events for other in events if other.fact != event.fact]
        chosen: list[str] = []
        for sort in sorts:
            named = [event.by(events[int(self.rng.integers(_N_EVENTS))].who) for event in absent]
            of_absent = [
                question
                for event in (named if self.rng.random() < _STANDS_THERE else absent)
                for question, _ in event.questions()[sort]
            ]
            of_events = [question for event in events for question in event.unanswered_questions()[sort]]
            if sort in ("what", "way"):
                of_events += [question for event in others for question, _ in event.questions()[sort]]
            first, second = (of_events, of_absent) if self.rng.random() < _ON_EVENTS else (of_absent, of_events)
            last = [question for event in absent for question, _ in event.questions()["who"]]
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
