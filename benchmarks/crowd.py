"""Visitors who come to a served app at the same time: their texts, the pages they open, and the results."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

import psutil

from benchmarks.measure import emit, percentile95
from benchmarks.streamlit_client import Answer, Visitor, visiting
from model_zoo.types import MB

KINDS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "attention, all heads": ("attention", {"view": "grid"}),
    "attention, one head": ("attention", {"view": "neuron", "layer": "3", "head": "5"}),
    "attention, lines": ("attention", {"view": "lines"}),
    "masked words": ("masked_words", {"view": "predictions"}),
    "next sentence": ("next_sentence", {"view": "probability"}),
    "layers": ("layers", {"view": "movement"}),
    "compare, tokens": ("compare", {"view": "tokens"}),
    "compare, attention": ("compare", {"view": "attention"}),
}

# Each is one token of the bundled model, so that it stands in what is drawn of the tokens, too.
_WORDS = (
    "otter violin marble lantern pepper saddle glacier falcon beetle ribbon cedar harbor copper walnut mustard velvet "
    "thunder pirate rocket penguin dragon camel monkey spider turtle rabbit pigeon whale shark tiger panther cobra "
    "viper raven eagle robin sparrow goose donkey sheep wolf lizard olive lemon banana cherry peach maple willow "
    "bamboo orchid lily daisy ivory amber ruby emerald pearl jade silk wool cotton linen leather bronze granite castle "
    "temple palace cabin tower bridge tunnel canal lagoon meadow prairie desert canyon volcano comet meteor planet "
    "rainbow blizzard hammer shovel ladder barrel basket bucket candle pillow blanket mirror piano guitar trumpet "
    "flute drum banjo harp"
)
WORDS = _WORDS.split()
QUALITIES = ("old", "new", "small", "quiet", "famous", "broken", "narrow", "heavy", "bright", "empty", "early")
DEEDS = ("seen", "lost", "sold", "painted", "carried", "watched", "counted", "cleaned", "drawn", "moved", "kept")

# Seconds after which an answer counts as never given.
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Owner:
    """Two words that stand in all texts of one visitor and in nobody else's."""

    words: tuple[str, str]
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def query(self) -> dict[str, str]:
        """The text and the second text of an action; never the same twice."""
        first, second = self.words
        number = next(self._numbers)
        quality, deed = QUALITIES[number % len(QUALITIES)], DEEDS[number // len(QUALITIES) % len(DEEDS)]
        return {
            "text": f"The {first} near the {quality} {second} was {deed} on day {number} because it was there.",
            "pair": f"On day {number} nobody had {deed} it again.",
        }


def owners(n: int) -> list[Owner]:
    """So many visitors, each with two words of his own. Raises SystemExit where there are not words enough."""
    if not 2 <= n <= len(WORDS) // 2:
        raise SystemExit(f"--visitors must be 2 to {len(WORDS) // 2}: each has two words of his own")
    return [Owner(words) for words in zip(WORDS[::2], WORDS[1::2], strict=True)][:n]


@dataclass(frozen=True, slots=True)
class Action:
    """One page opened by the visitor at ``place``: when it was asked for, how long it took, and the answer; None where
    there was none, and once it is ``checked``. ``faults`` are what was wrong, ``mixed_up`` whether the answer was
    another visitor's.
    """

    place: int
    kind: str
    begun: float
    seconds: float
    answer: Answer | None
    faults: tuple[str, ...] = ()
    mixed_up: bool = False


class Side:
    """A server that is measured."""

    def __init__(self, name: str, url: str, process: subprocess.Popen[bytes], owners: Sequence[Owner]) -> None:
        self.name, self.url, self.process, self.owners = name, url, process, owners
        self.inside = psutil.Process(process.pid)

    @property
    def memory_mb(self) -> float:
        return float(self.inside.memory_info().rss) / MB

    @property
    def threads(self) -> int:
        return int(self.inside.num_threads())

    async def act(self, visitor: Visitor, place: int, kind: str) -> Action:
        """One action of a visitor, who owns the words at ``place``."""
        page, view = KINDS[kind]
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await visitor.open(page, {**view, **self.owners[place].query()})
        except (TimeoutError, OSError) as error:
            return Action(place, kind, begun, time.perf_counter() - begun, None, (type(error).__name__,))
        return Action(place, kind, begun, answer.seconds, answer)

    def checked(self, action: Action) -> Action:
        """Looks into the answer. That takes milliseconds: not for while others wait for theirs."""
        if action.answer is None:
            return action
        mine = self.owners[action.place]
        faults = [*action.answer.complaints()]
        if not action.answer.holds(*mine.words):
            faults.append("the answer is about another text")
        mixed_up = any(action.answer.holds(*other.words) for other in self.owners if other is not mine)
        return replace(action, answer=None, faults=tuple(faults), mixed_up=mixed_up)

    async def keep_acting(
        self, visitor: Visitor, place: int, seconds: float, pause: float, fewest: int
    ) -> list[Action]:
        """Actions of all kinds in turn until the seconds are over; each visitor begins with another kind."""
        if pause:  # people do not click in step
            await asyncio.sleep(pause * place / len(self.owners))
        end = time.perf_counter() + seconds
        kinds = itertools.islice(itertools.cycle(KINDS), place % len(KINDS), None)
        actions: list[Action] = []
        while time.perf_counter() < end or len(actions) < fewest:
            actions.append(await self.act(visitor, place, next(kinds)))
            if actions[-1].answer is None:
                break
            await asyncio.sleep(pause)
        return actions


@dataclass(slots=True)
class Crowd:
    """What visitors who came at the same time did, in one or several rounds."""

    actions: list[Action] = field(default_factory=list)
    seconds: float = 0.0
    peak_mb: float = 0.0
    client_cpu: float = 0.0
    server_cpu: float = 0.0

    @property
    def throughput(self) -> float:
        """Actions a second, from the first question to the last answer of each round."""
        return len(self.actions) / self.seconds

    def kinds(self) -> dict[str, float]:
        """Median seconds of each kind."""
        by_kind = defaultdict(list)
        for action in self.actions:
            by_kind[action.kind].append(action.seconds)
        return {kind: statistics.median(by_kind[kind]) for kind in KINDS if kind in by_kind}

    def median(self) -> float:
        return statistics.median(action.seconds for action in self.actions)

    def p95(self) -> float | None:
        return percentile95(action.seconds for action in self.actions)

    def worst(self) -> float:
        """The longest action, as a multiple of the median of its kind."""
        medians = self.kinds()
        return max(action.seconds / medians[action.kind] for action in self.actions)

    def faults(self) -> list[str]:
        return [fault for action in self.actions for fault in action.faults]

    def mix_ups(self) -> int:
        return sum(action.mixed_up for action in self.actions)

    def emit(self, scenario: str, side: Side, **more: object) -> None:
        faults, n = self.faults(), len(self.actions)
        took = {"per_second": self.throughput, "median_s": self.median(), "p95_s": self.p95()}
        wrong = {"errors": len(faults), "first_errors": sorted(set(faults))[:3], "mix_ups": self.mix_ups()}
        cost = {"peak_mb": self.peak_mb, "cpu_s_of_action": self.server_cpu / n}
        cores = {"client_cpu": self.client_cpu / self.seconds, "server_cpu": self.server_cpu / self.seconds}
        fields = {"scenario": scenario, "server": side.name, "actions": n}
        emit(**fields, **took, worst_over_median=self.worst(), **wrong, **cost, **cores, **more)


def cpu(*processes: psutil.Process) -> float:
    """Seconds of processor that some processes have taken."""
    return float(sum(times.user + times.system for times in (process.cpu_times() for process in processes)))


@asynccontextmanager
async def measured(side: Side, into: Crowd) -> AsyncIterator[None]:
    """Adds to ``into`` what the block takes in time, processor and memory."""
    client = psutil.Process()

    async def watch() -> None:
        while True:
            into.peak_mb = max(into.peak_mb, side.memory_mb)
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    begun, ours, theirs = time.perf_counter(), cpu(client), cpu(side.inside)
    try:
        yield
    finally:
        into.seconds += time.perf_counter() - begun
        into.client_cpu += cpu(client) - ours
        into.server_cpu += cpu(side.inside) - theirs
        watching.cancel()


async def crowd(side: Side, n_visitors: int, seconds: float, into: Crowd, pause: float = 0.0, fewest: int = 1) -> None:
    """New visitors at once, each acting at least ``fewest`` times, ``pause`` seconds after the last answer."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(side.url)) for _ in range(n_visitors)]
        async with measured(side, into):
            visits = await asyncio.gather(
                *(side.keep_acting(visitor, place, seconds, pause, fewest) for place, visitor in enumerate(visitors))
            )
        into.actions += map(side.checked, itertools.chain.from_iterable(visits))
