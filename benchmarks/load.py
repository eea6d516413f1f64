"""``python -m benchmarks.load [--visitors N] [--seconds N] [--texts N]``: a class at once, and what it leaves behind.

Visitors without a browser open pages over real websockets. An action is a full run of a page with a text that nobody
has asked for before; a kind is a page and what is shown on it. Two servers run beside each other and are asked in
turns: this app, and the same app unbounded and never frozen, the baseline. Each visitor's texts hold two words of his
own, so an answer that holds another visitor's two is a mix-up.

Lines with ``scenario`` are what was measured. ``client_cpu`` and ``server_cpu`` are in cores: where they add up to all
there are, the visitors take time from the app; ``cpu_s_of_action`` is what an action costs the server, whatever else
the machine does. Lines with ``figure`` are the figures to reach. No answer is waited for longer than ``PATIENCE``
seconds.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
import statistics
import time

from benchmarks.crowd import KINDS, PATIENCE, Crowd, Side, crowd, measured, owners
from benchmarks.measure import arguments, at_least, at_most, emit, emit_machine
from benchmarks.server import app
from benchmarks.streamlit_client import visiting

# Seconds after which the app forgets a visitor who left; two minutes by default.
FORGOTTEN_AFTER = 5
ROUNDS = 2
# Of the visitor who asks about many texts.
LONGEST = 150.0
LEAVERS = 50
STOPPED_SECONDS = 20.0
PAUSE = 8.0


async def warm_up(side: Side) -> None:
    """Every kind twice: torch, the models and the figures are loaded before anything is measured."""
    async with visiting(side.url) as visitor:
        for kind in (*KINDS, *KINDS):
            faults = side.checked(await side.act(visitor, 0, kind)).faults
            if faults:
                raise RuntimeError(f"{side.name}, {kind}: {'; '.join(faults)}")


async def one_and_many(ours: Side, baseline: Side, n_visitors: int, seconds: float) -> None:
    """One visitor, then many without a pause, on both servers in turns."""
    alone = {side: Crowd() for side in (ours, baseline)}
    together = {side: Crowd() for side in (ours, baseline)}
    for side in (ours, baseline) * ROUNDS:
        await crowd(side, 1, seconds / ROUNDS, alone[side], fewest=len(KINDS))
        await crowd(side, n_visitors, seconds / ROUNDS, together[side])
    for side in (ours, baseline):
        alone[side].emit("one visitor", side, median_s_by_kind={k: round(s, 3) for k, s in alone[side].kinds().items()})
        together[side].emit(f"{n_visitors} visitors", side)
    app_alone, app_together = alone[ours], together[ours]
    at_most("one visitor, median s of an action", app_alone.median(), 0.1)
    at_least("many over one visitor, actions a second", app_together.throughput / app_alone.throughput, 0.9)
    at_least(
        "many over the baseline's many, actions a second", app_together.throughput / together[baseline].throughput, 3
    )
    at_most("many, worst action over the median of its kind", app_together.worst(), 15)
    at_most("many, errors", len(app_together.faults()), 0)
    at_most("many, mix-ups", app_together.mix_ups(), 0)
    at_most("many, MB at the most", app_together.peak_mb, 944)


async def with_pauses(side: Side, n_visitors: int, seconds: float) -> None:
    """Many visitors who look at what they got before they ask again."""
    visitors = Crowd()
    await crowd(side, n_visitors, max(seconds, 3 * PAUSE), visitors, PAUSE)
    visitors.emit(f"{n_visitors} visitors, {PAUSE:.0f} s apart", side)
    at_most("many with pauses, p95 s", visitors.p95(), 1)


async def many_texts(side: Side, n_texts: int) -> None:
    """One visitor with one text after another: memory after every tenth of them, and what it grew after the first
    two tenths. Ends early on a machine where it would take too long.
    """
    visit = Crowd()
    step = max(1, n_texts // 10)
    memory: list[float] = []
    kinds = itertools.cycle(KINDS)
    async with visiting(side.url) as visitor, measured(side, visit):
        begun = time.perf_counter()
        while len(visit.actions) < n_texts and time.perf_counter() - begun < LONGEST:
            visit.actions.append(side.checked(await side.act(visitor, 0, next(kinds))))
            if len(visit.actions) % step == 0:
                memory.append(side.memory_mb)
    later = memory[1:]
    slope = statistics.linear_regression(range(len(later)), later).slope if len(later) > 1 else None
    visit.emit(f"{n_texts} texts", side, memory_mb=[round(mb) for mb in memory], mb_more_a_tenth=slope)
    growth = later[-1] / later[0] if len(visit.actions) == n_texts else None  # None: too slow to tell
    at_most("many texts, memory at the end over that after a fifth of them", growth, 1.03)


async def calm(side: Side, threads: int, seconds: float) -> int:
    """Wait for that long, and on until there are as few threads as before; the most there were meanwhile."""
    most, begun = side.threads, time.perf_counter()
    while (waited := time.perf_counter() - begun) < seconds or (side.threads > threads and waited < PATIENCE):
        most = max(most, side.threads)
        await asyncio.sleep(0.05)
    return most


async def leaving(side: Side) -> None:
    """Visitors who close the page 50 ms after they asked for it."""
    await calm(side, side.threads, 2)  # the visitors before them are gone
    threads, memory = side.threads, side.memory_mb

    async def leave(place: int) -> None:
        async with visiting(side.url) as visitor:
            page, view = list(KINDS.values())[place % len(KINDS)]
            await visitor.ask(page, {**view, **side.owners[place % len(side.owners)].query()})
            await asyncio.sleep(0.05)

    await asyncio.gather(*(leave(place) for place in range(LEAVERS)))
    begun = time.perf_counter()
    most = await calm(side, threads, 0)
    seconds = time.perf_counter() - begun
    await asyncio.sleep(FORGOTTEN_AFTER)
    async with visiting(side.url) as visitor:  # an app that is asked forgets those who left
        after = side.checked(await side.act(visitor, 0, next(iter(KINDS))))
    await calm(side, threads, 2)
    emit(
        scenario=f"{LEAVERS} visitors leave in the middle of a run",
        server=side.name,
        threads=threads,
        most_threads=most,
        threads_after=side.threads,
        seconds=seconds,
        memory_mb=memory,
        memory_after_mb=side.memory_mb,
        errors=len(after.faults),
    )
    at_most("leavers, threads more than before", side.threads - threads, 0)
    at_most("leavers, memory over what it was", side.memory_mb / memory, 1.03)


async def stopped(side: Side, seconds: float = STOPPED_SECONDS) -> None:
    """The process is stopped under five visitors and continues."""
    visitors = Crowd()
    visits = asyncio.create_task(crowd(side, 5, seconds + 10, visitors))
    await asyncio.sleep(2)
    side.process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        side.process.send_signal(signal.SIGCONT)
        going_on = time.perf_counter()
    await visits
    served = {action.place for action in visitors.actions if action.begun > going_on and not action.faults}
    visitors.emit(f"stopped for {seconds:.0f} s under 5 visitors", side, served_afterwards=len(served))
    at_least("stopped process, visitors served afterwards", len(served), 5)
    at_most("stopped process, errors", len(visitors.faults()), 0)


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
    parser = arguments(__doc__)
    parser.add_argument("--visitors", type=int, default=30, help="visitors at the same time")
    parser.add_argument("--seconds", type=float, default=20, help="seconds of each scenario, on each server")
    parser.add_argument("--texts", type=int, default=1000, help="texts of the visitor who asks about many")
    chosen = parser.parse_args()
    if chosen.texts < 20:
        parser.error("--texts must be 20 or more: memory is looked at after each tenth of them")
    if chosen.visitors < 5:
        parser.error("--visitors must be 5 or more: so many are there when the process is stopped")
    class_ = owners(chosen.visitors)
    forgetful = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(FORGOTTEN_AFTER)}
    emit_machine(scenario="machine")
    with (
        app("app.py", environment=forgetful) as (url, process),
        app("app.py", "benchmarks.unbounded", forgetful) as (plain_url, plain),
    ):
        ours, baseline = Side("app", url, process, class_), Side("baseline", plain_url, plain, class_)
        asyncio.run(measure(ours, baseline, chosen.visitors, chosen.seconds, chosen.texts))


if __name__ == "__main__":
    main()
