"""``python -m benchmarks.load [--visitors N] [--seconds N] [--texts N]``: a class at once, and what it leaves behind.

Visitors without a browser open pages over real websockets. An action is a full run of a page with a text that nobody
has asked for before; a kind is a page and what is shown on it. Two servers run beside each other and are asked in
turns: this app, and the same app unbounded and never frozen, the baseline. Each visitor's texts hold two words of his
own, so an answer that holds another visitor's two is a mix-up.

Lines with ``scenario`` are what was measured. ``client_cpu`` and ``server_cpu`` are in cores: where they add up to all
there are, the visitors take time from the app. Lines with ``figure`` are the figures to reach. Nothing runs longer than
``PATIENCE`` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import signal
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import psutil

from benchmarks.measure import emit
from benchmarks.server import app
from benchmarks.streamlit_client import Answer, Visitor, visiting

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

# Each is one token of the embedded model, so that it stands in what is drawn of the tokens, too.
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
# Seconds after which the app forgets a visitor who left; two minutes by default.
FORGOTTEN_AFTER = 5
ROUNDS = 2
LEAVERS = 50
STOPPED_SECONDS = 20.0
PAUSE = 8.0


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


@dataclass(frozen=True, slots=True)
class Action:
    """One page opened by the visitor at ``place``: when it was asked for, how long it took, and the answer; None where
    there was none, for a ``failure``.
    """

    place: int
    kind: str
    begun: float
    seconds: float
    answer: Answer | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """An action, what was wrong about its answer, and whether that was another visitor's."""

    place: int
    kind: str
    begun: float
    seconds: float
    faults: tuple[str, ...]
    mixed_up: bool


class Side:
    """A server that is measured."""

    def __init__(self, name: str, url: str, process: subprocess.Popen[bytes], owners: Sequence[Owner]) -> None:
        self.name, self.url, self.process, self.owners = name, url, process, owners
        self.inside = psutil.Process(process.pid)

    @property
    def memory_mb(self) -> float:
        return float(self.inside.memory_info().rss) / 2**20

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
            return Action(place, kind, begun, time.perf_counter() - begun, None, type(error).__name__)
        return Action(place, kind, begun, answer.seconds, answer)

    def judged(self, action: Action) -> Judged:
        """Looks into the answer. That takes milliseconds: not for while others wait for theirs."""
        faults, mixed_up = [action.failure], False
        if action.answer is not None:
            mine = self.owners[action.place]
            faults = list(action.answer.complaints())
            if not action.answer.holds(*mine.words):
                faults.append("the answer is about another text")
            mixed_up = any(action.answer.holds(*other.words) for other in self.owners if other is not mine)
        return Judged(action.place, action.kind, action.begun, action.seconds, tuple(faults), mixed_up)

    async def keep_acting(self, visitor: Visitor, place: int, seconds: float, pause: float) -> list[Action]:
        """Actions of all kinds in turn until the seconds are over; each visitor begins with another kind."""
        if pause:  # people do not click in step
            await asyncio.sleep(pause * place / len(self.owners))
        end = time.perf_counter() + seconds
        kinds = itertools.islice(itertools.cycle(KINDS), place % len(KINDS), None)
        actions: list[Action] = []
        while time.perf_counter() < end or not actions:
            actions.append(await self.act(visitor, place, next(kinds)))
            if actions[-1].answer is None:
                break
            await asyncio.sleep(pause)
        return actions


@dataclass(slots=True)
class Crowd:
    """What visitors who came at the same time did, in one or several rounds."""

    actions: list[Judged] = field(default_factory=list)
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

    def p95(self) -> float:
        ordered = sorted(action.seconds for action in self.actions)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]

    def worst(self) -> float:
        """The longest action, as a multiple of the median of its kind."""
        medians = self.kinds()
        return max(action.seconds / medians[action.kind] for action in self.actions)

    def faults(self) -> list[str]:
        return [fault for action in self.actions for fault in action.faults]

    def mix_ups(self) -> int:
        return sum(action.mixed_up for action in self.actions)

    def emit(self, scenario: str, side: Side, **more: object) -> None:
        emit(
            scenario=scenario,
            server=side.name,
            actions=len(self.actions),
            per_second=self.throughput,
            median_s=self.median(),
            p95_s=self.p95(),
            worst_over_median=self.worst(),
            errors=len(self.faults()),
            first_errors=sorted(set(self.faults()))[:3],
            mix_ups=self.mix_ups(),
            peak_mb=self.peak_mb,
            client_cpu=self.client_cpu / self.seconds,
            server_cpu=self.server_cpu / self.seconds,
            **more,
        )


@asynccontextmanager
async def measured(side: Side, into: Crowd) -> AsyncIterator[None]:
    """Adds to ``into`` what the block takes in time, processor and memory."""
    client = psutil.Process()

    async def watch() -> None:
        while True:
            into.peak_mb = max(into.peak_mb, side.memory_mb)
            await asyncio.sleep(0.2)

    def cpu(process: psutil.Process) -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    watching = asyncio.create_task(watch())
    begun, ours, theirs = time.perf_counter(), cpu(client), cpu(side.inside)
    try:
        yield
    finally:
        into.seconds += time.perf_counter() - begun
        into.client_cpu += cpu(client) - ours
        into.server_cpu += cpu(side.inside) - theirs
        watching.cancel()


async def crowd(side: Side, n_visitors: int, seconds: float, into: Crowd, pause: float = 0.0) -> None:
    """New visitors who act at the same time, each with ``pause`` seconds between an answer and his next question."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(side.url)) for _ in range(n_visitors)]
        async with measured(side, into):
            found = await asyncio.gather(
                *(side.keep_acting(visitor, place, seconds, pause) for place, visitor in enumerate(visitors))
            )
        into.actions += map(side.judged, itertools.chain.from_iterable(found))


def figure(name: str, value: float, target: float, reached: Callable[[float, float], bool]) -> None:
    emit(figure=name, value=value, target=target, reached=reached(value, target))


def at_most(value: float, target: float) -> bool:
    return value <= target


def at_least(value: float, target: float) -> bool:
    return value >= target


async def warm_up(side: Side) -> None:
    """Every kind twice: torch, the models and the figures are loaded before anything is measured."""
    async with visiting(side.url) as visitor:
        for kind in (*KINDS, *KINDS):
            faults = side.judged(await side.act(visitor, 0, kind)).faults
            if faults:
                raise RuntimeError(f"{side.name}, {kind}: {'; '.join(faults)}")


async def one_and_many(ours: Side, baseline: Side, n_visitors: int, seconds: float) -> None:
    """One visitor, then many without pause, on both servers in turns."""
    alone = {side: Crowd() for side in (ours, baseline)}
    together = {side: Crowd() for side in (ours, baseline)}
    for side in (ours, baseline) * ROUNDS:
        await crowd(side, 1, seconds / ROUNDS, alone[side])
        await crowd(side, n_visitors, seconds / ROUNDS, together[side])
    for side in (ours, baseline):
        alone[side].emit("one visitor", side, median_s_by_kind={k: round(s, 3) for k, s in alone[side].kinds().items()})
        together[side].emit(f"{n_visitors} visitors", side)
    app_alone, app_together = alone[ours], together[ours]
    figure("one visitor, median s of an action", app_alone.median(), 0.1, at_most)
    figure("many over one visitor, actions a second", app_together.throughput / app_alone.throughput, 0.9, at_least)
    figure(
        "many over the baseline's many, actions a second",
        app_together.throughput / together[baseline].throughput,
        3,
        at_least,
    )
    figure("many, worst action over the median of its kind", app_together.worst(), 15, at_most)
    figure("many, errors", len(app_together.faults()), 0, at_most)
    figure("many, mix-ups", app_together.mix_ups(), 0, at_most)
    figure("many, MB at the most", app_together.peak_mb, 900, at_most)


async def with_pauses(side: Side, n_visitors: int, seconds: float) -> None:
    """Many visitors who look at what they got before they ask again."""
    found = Crowd()
    await crowd(side, n_visitors, max(seconds, 3 * PAUSE), found, PAUSE)
    found.emit(f"{n_visitors} visitors, {PAUSE:.0f} s apart", side)
    figure("many with pauses, p95 s", found.p95(), 1, at_most)


async def many_texts(side: Side, n_texts: int) -> None:
    """One visitor with one text after another: memory after every tenth of them, and what it grew after the first
    two tenths.
    """
    found = Crowd()
    step = max(1, n_texts // 10)
    memory: list[float] = []
    async with visiting(side.url) as visitor, measured(side, found):
        for number, kind in zip(range(1, n_texts + 1), itertools.cycle(KINDS), strict=False):
            found.actions.append(side.judged(await side.act(visitor, 0, kind)))
            if number % step == 0:
                memory.append(side.memory_mb)
    later = memory[1:]
    slope = statistics.linear_regression(range(len(later)), later).slope if len(later) > 1 else 0.0
    found.emit(f"{n_texts} texts", side, memory_mb=[round(mb) for mb in memory], mb_per_tenth=slope)
    figure("many texts, memory at the end over that after a fifth of them", later[-1] / later[0], 1.03, at_most)


async def leaving(side: Side) -> None:
    """Visitors who close the page 50 ms after they asked for it."""
    threads, memory = side.threads, side.memory_mb

    async def leave(place: int) -> None:
        async with visiting(side.url) as visitor:
            page, view = list(KINDS.values())[place % len(KINDS)]
            await visitor.ask(page, {**view, **side.owners[place % len(side.owners)].query()})
            await asyncio.sleep(0.05)

    await asyncio.gather(*(leave(place) for place in range(LEAVERS)))
    most, begun = side.threads, time.perf_counter()
    while time.perf_counter() - begun < PATIENCE and (
        side.threads > threads or time.perf_counter() - begun < 2 * FORGOTTEN_AFTER
    ):
        most = max(most, side.threads)
        await asyncio.sleep(0.1)
    gone_after = time.perf_counter() - begun
    async with visiting(side.url) as visitor:  # an app that is asked forgets those who left
        after = side.judged(await side.act(visitor, 0, next(iter(KINDS))))
    emit(
        scenario=f"{LEAVERS} visitors leave in the middle of a run",
        server=side.name,
        threads=threads,
        most_threads=most,
        threads_after=side.threads,
        seconds=gone_after,
        memory_mb=memory,
        memory_after_mb=side.memory_mb,
        errors=len(after.faults),
    )
    figure("leavers, threads more than before", side.threads - threads, 0, at_most)
    figure("leavers, memory over what it was", side.memory_mb / memory, 1.03, at_most)


async def stopped(side: Side, seconds: float = STOPPED_SECONDS) -> None:
    """The process stands still under five visitors and goes on."""
    found = Crowd()
    visits = asyncio.create_task(crowd(side, 5, seconds + 10, found))
    await asyncio.sleep(2)
    side.process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        side.process.send_signal(signal.SIGCONT)
        going_on = time.perf_counter()
    await visits
    served = {action.place for action in found.actions if action.begun > going_on and not action.faults}
    found.emit(f"stopped for {seconds:.0f} s under 5 visitors", side, served_afterwards=len(served))
    figure("stopped process, visitors served afterwards", len(served), 5, at_least)
    figure("stopped process, errors", len(found.faults()), 0, at_most)


async def measure(ours: Side, baseline: Side, n_visitors: int, seconds: float, n_texts: int) -> None:
    for side in (ours, baseline):
        await warm_up(side)
        emit(scenario="warm", server=side.name, memory_mb=side.memory_mb, threads=side.threads)
    await one_and_many(ours, baseline, n_visitors, seconds)
    await with_pauses(ours, n_visitors, seconds)
    await many_texts(ours, n_texts)
    await leaving(ours)
    await stopped(ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30, help="who come at the same time")
    parser.add_argument("--seconds", type=float, default=20, help="of each scenario, on each server")
    parser.add_argument("--texts", type=int, default=1000, help="of the visitor who asks about many")
    chosen = parser.parse_args()
    if not 5 <= chosen.visitors <= len(WORDS) // 2:
        parser.error(f"--visitors must be 5 to {len(WORDS) // 2}: each has two words of his own")
    owners = [Owner(words) for words in zip(WORDS[::2], WORDS[1::2], strict=True)][: chosen.visitors]
    forgetful = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(FORGOTTEN_AFTER)}
    emit(scenario="machine", cores=os.cpu_count(), load_before=os.getloadavg()[0])
    with (
        app("app.py", environment=forgetful) as (url, process),
        app("app.py", "benchmarks.unbounded", forgetful) as (plain_url, plain),
    ):
        ours = Side("app", url, process, owners)
        baseline = Side("baseline", plain_url, plain, owners)
        asyncio.run(measure(ours, baseline, chosen.visitors, chosen.seconds, chosen.texts))


if __name__ == "__main__":
    main()
