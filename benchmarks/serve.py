"""``python -m benchmarks.serve [--visitors N] [--seconds N] [--only PART]``: the engine on Ray Serve, beside the same
engine in this process.

Parts, each a line or a few: ``questions`` (one question direct and through Serve: ``overhead_ms``), ``clicks`` (what a
click on a head carries: ``heatmap_bytes``, beside the whole run and the matrix), ``light`` (the web process: seconds to
its start, memory), ``killed`` (a replica killed in the middle of 200 questions: ``lost``, ``wrong``), ``visitors``
(many visitors before one process with an engine of its own, and before two that ask a cluster of two replicas, in
turns), and ``simulation`` (visitors that replicas can hold, from the service times of ``visitors``). Lines with
``figure`` are the figures to reach.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.crowd import KINDS, Crowd, Side, cpu, crowd, owners
from benchmarks.load import PAUSE, warm_up
from benchmarks.measure import arguments, at_least, at_most, columns, emit, emit_machine, medians, percentile95
from benchmarks.server import TOKEN, Cluster, app, cluster
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.types import MB
from serving import wire
from serving.remote import RemoteEngine

SENTENCE = "The cat sat on the mat because it was tired"
# Texts of so many tokens, with the two special ones.
LENGTHS = {16: f"{SENTENCE} and so on.", 128: " ".join([SENTENCE] * 12) + " again and again and again."}

ROUNDS = 2
QUESTIONS = 200
REPLICAS = (1, 2, 4, 8, 16, 32, 64)
_LATE = 1.0
"""Seconds: the 95th percentile of an action should stay below."""


def questions(remote: RemoteEngine, local: Engine) -> None:
    """One visitor asks for attention to texts that nobody has asked for, here and there in turns."""
    numbers = iter(range(10**6))
    for n_tokens, text in LENGTHS.items():

        def attend(engine: Any, text: str = text) -> Callable[[], object]:
            return lambda: engine.attend(DEFAULT_MODEL, f"{next(numbers)} {text}")

        def look(engine: Any, text: str = text) -> Callable[[], object]:
            return lambda: engine.attend(DEFAULT_MODEL, f"{next(numbers)} {text}").head(2, 3)

        tasks = {"direct": attend(local), "serve": attend(remote), "direct look": look(local), "look": look(remote)}
        milliseconds = medians(tasks, 40, warm_up=5)
        overhead = milliseconds["serve"] - milliseconds["direct"]
        emit(
            part="questions",
            tokens=local.attend(DEFAULT_MODEL, f"1 {text}").n_tokens,
            direct_ms=milliseconds["direct"],
            serve_ms=milliseconds["serve"],
            overhead_ms=overhead,
            with_a_head_direct_ms=milliseconds["direct look"],
            with_a_head_serve_ms=milliseconds["look"],
        )
        at_most(f"question of {n_tokens} tokens, ms through Serve more than direct", overhead, 20)


def clicks(remote: RemoteEngine, local: Engine) -> None:
    """What travels for one head that was not looked at before, for models of different depth."""
    for text in LENGTHS.values():
        carried = {}
        for model in (DEFAULT_MODEL, "embedded/tinybert"):
            run, local_run = remote.attend(model, text), local.attend(model, text)
            before = remote.counts.received_bytes
            run.head(0, 1)
            carried[model] = remote.counts.received_bytes - before
            emit(
                part="clicks",
                model=model,
                layers=run.n_layers,
                tokens=run.n_tokens,
                heatmap_bytes=carried[model],
                as_matrix_bytes=local_run.head(0, 1).nbytes,
                whole_run_bytes=len(wire.pack(list(local_run.layers))),
            )
        width = {model: local.info(model).width // local.info(model).n_heads for model in carried}
        a_number = {model: n_bytes / width[model] for model, n_bytes in carried.items()}
        at_most(
            "heatmap's bytes by the width of a head, six layers over two",
            a_number[DEFAULT_MODEL] / a_number["embedded/tinybert"],
            1.2,
        )
        at_most("heatmap, kB", carried[DEFAULT_MODEL] / 1000, 100)


def light(of: Cluster) -> None:
    """A web process that asks a cluster, beside one with an engine: until its health is told, and after its pages."""

    without_docstrings = of.environment | {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": ""}
    for name, environment in (
        ("asks a cluster", of.environment),
        ("asks a cluster, without docstrings", without_docstrings),
        ("has an engine", {}),
    ):
        starts = []
        with app("app.py", environment=environment):  # writes its bytecode, where that is not there
            pass
        for _ in range(3):
            begun = time.perf_counter()
            with app("app.py", environment=environment) as (url, process):
                seconds = time.perf_counter() - begun
                side = Side(name, url, process, owners(2))
                start = side.memory_mb
                asyncio.run(warm_up(side))
                starts.append((seconds, start, side.memory_mb))
        seconds, start, after = columns(starts)
        emit(part="light", web_process=name, start_s=seconds, memory_mb=start, memory_after_eight_views_mb=after)
        if environment is without_docstrings:
            at_most("light web process, s to its start", seconds, 1.5)
            at_most("light web process, MB after eight views", after, 210)


def killed(of: Cluster, remote: RemoteEngine, local: Engine) -> None:
    """Eight threads ask; after a quarter of the answers one of two replicas is killed."""
    texts = [f"The cat number {number} sat on the [MASK]." for number in range(QUESTIONS)]
    answers: dict[str, Any] = {}
    again = remote.counts.retries

    def ask(text: str) -> None:
        answers[text] = remote.fill_mask(DEFAULT_MODEL, text, 3)

    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(ask, text) for text in texts]
        while len(answers) < QUESTIONS // 4:
            time.sleep(0.001)
        at = len(answers)
        of.replicas()[0].kill()
        lost = sum(future.exception() is not None for future in waiting)

    def best(answer: Any) -> list[str]:
        return [prediction.token for mask in answer for prediction in mask.best]

    wrong = sum(best(answers[text]) != best(local.fill_mask(DEFAULT_MODEL, text, 3)) for text in answers)
    emit(
        part="killed",
        questions=QUESTIONS,
        killed_after=at,
        lost=lost,
        wrong=wrong,
        asked_again=remote.counts.retries - again,
    )
    at_most("a replica killed, questions lost", lost, 0)
    at_most("a replica killed, answers wrong", wrong, 0)


async def _visitors(
    own_side: Side, light_ones: Sequence[Side], of: Cluster, n: int, seconds: float
) -> tuple[float, float]:
    """Seconds of processor that an action takes of a light web process, and of a replica."""
    for side in (own_side, *light_ones):
        await warm_up(side)
    alone, together = Crowd(), [Crowd() for _ in light_ones]
    replicas_s = 0.0
    for _ in range(ROUNDS):
        await crowd(own_side, n, seconds / ROUNDS, alone)
        before = cpu(*of.replicas())
        await asyncio.gather(
            *(
                crowd(side, n // len(light_ones), seconds / ROUNDS, into)
                for side, into in zip(light_ones, together, strict=True)
            )
        )
        replicas_s += cpu(*of.replicas()) - before
    alone.emit(f"{n} visitors, an engine of its own", own_side)
    for side, into in zip(light_ones, together, strict=True):
        into.emit(f"{n // len(light_ones)} visitors, on a cluster", side)
    n_actions = sum(len(into.actions) for into in together)
    throughput = sum(into.throughput for into in together)
    web_s = sum(into.server_cpu for into in together) / n_actions
    emit(
        part="visitors",
        own_per_second=alone.throughput,
        cluster_per_second=throughput,
        web_cpu_s_of_action=web_s,
        replica_cpu_s_of_action=replicas_s / n_actions,
    )
    at_least(
        "two web processes with two replicas over one with its own, actions a second",
        throughput / alone.throughput,
        0.8,
    )
    at_most("on a cluster, errors", sum(len(into.faults()) for into in together), 0)
    at_most("on a cluster, mix-ups", sum(into.mix_ups() for into in together), 0)
    return web_s, replicas_s / n_actions


def visitors(of: Cluster, n: int, seconds: float) -> tuple[float, float]:
    of_all = owners(n)
    half = n // 2
    with (
        app("app.py") as (own_url, own_process),
        app("app.py", environment=of.environment) as (a_url, a),
        app("app.py", environment=of.environment) as (b_url, b),
    ):
        light_ones = [Side("cluster A", a_url, a, of_all[:half]), Side("cluster B", b_url, b, of_all[half:])]
        return asyncio.run(_visitors(Side("own engine", own_url, own_process, of_all), light_ones, of, n, seconds))


def p95(n_visitors: int, webs: int, replicas: int, web_s: float, model_s: float, seconds: float = 300.0) -> float:
    """The 95th percentile of an action's seconds where visitors look at each answer for ``PAUSE`` seconds on average.

    A closed queueing network, by events: each visitor stays with one web process, which works on one action at a time
    (as one interpreter does), and then asks the less crowded of two replicas; a replica is one processor. Times of
    service and of looking are exponential.
    """
    chance = random.Random(0)
    free = {"web": [0.0] * webs, "model": [0.0] * replicas}
    events = [(chance.expovariate(1 / PAUSE), visitor, 0, 0.0) for visitor in range(n_visitors)]
    heapq.heapify(events)
    taken = []
    while events:
        now, visitor, step, begun = heapq.heappop(events)
        if now > seconds:
            break
        if step == 0:
            place = visitor % webs
            free["web"][place] = max(now, free["web"][place]) + chance.expovariate(1 / web_s)
            heapq.heappush(events, (free["web"][place], visitor, 1, now))
        elif step == 1:
            place = min(chance.choices(range(replicas), k=2), key=lambda replica: free["model"][replica])
            free["model"][place] = max(now, free["model"][place]) + chance.expovariate(1 / model_s)
            heapq.heappush(events, (free["model"][place], visitor, 2, begun))
        else:
            if now > seconds / 5:  # the queues have filled by then
                taken.append(now - begun)
            heapq.heappush(events, (now + chance.expovariate(1 / PAUSE), visitor, 0, 0.0))
    percentile = percentile95(taken)
    return float("inf") if percentile is None else percentile


def simulation(web_s: float, model_s: float) -> None:
    """The most visitors with p95 under a second, for so many replicas, with as many web processes as hold them."""
    for replicas in REPLICAS:
        webs = max(1, round(replicas * web_s / model_s + 0.5))
        low, high = 1, 2
        while p95(high, webs, replicas, web_s, model_s) < _LATE:
            low, high = high, 2 * high
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            low, high = (middle, high) if p95(middle, webs, replicas, web_s, model_s) < _LATE else (low, middle)
        emit(part="simulation", replicas=replicas, web_processes=webs, visitors=low, web_s=web_s, model_s=model_s)


PARTS = ("questions", "clicks", "light", "killed", "visitors", "simulation")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--visitors", type=int, default=30, help="visitors at the same time")
    parser.add_argument("--seconds", type=float, default=40, help="seconds that the visitors stay on each server")
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="a part to measure; may be given again (default: all)"
    )
    chosen = parser.parse_args()
    parts = chosen.only or PARTS
    owners(chosen.visitors)  # too many are refused before anything is started
    emit_machine(part="machine", kinds=len(KINDS))
    local = Engine(threads=1)
    with cluster("cpus=0.5", "min_replicas=2") as of:
        emit(part="machine", idle_mb=_idle_mb(of), replicas=len(of.replicas()))
        remote = RemoteEngine(of.address, TOKEN)
        remote.info(DEFAULT_MODEL)
        if "questions" in parts:
            questions(remote, local)
        if "clicks" in parts:
            clicks(remote, local)
        if "light" in parts:
            light(of)
        times = visitors(of, chosen.visitors, chosen.seconds) if {"visitors", "simulation"} & set(parts) else None
        if "killed" in parts:
            killed(of, remote, local)
    if times is not None and "simulation" in parts:
        simulation(*times)


def _idle_mb(of: Cluster) -> float:
    """Memory of all processes of an idle cluster, pages that they share counted once for each (USS)."""
    every = [of.process, *of.process.children(recursive=True)]
    return sum(process.memory_full_info().uss for process in every) / MB


if __name__ == "__main__":
    main()
