"""``python -m benchmarks.turns [--visitors 20] [--clicking 5] [--seconds 60]``: clicks, while many have work done.

Visitors without a browser start jobs of every kind at once (``JOBS``), each long enough to last. Some more click
through Attention with texts that nobody has asked for, before and meanwhile. One JSON line for the clicks of each
time, and one for each kind of job: how far its visitors' jobs have come, which is alike where turns are fair, and how
many of them have not begun.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from benchmarks.crowd import WORDS
from benchmarks.measure import arguments, emit, emit_machine, percentile95
from benchmarks.server import app
from benchmarks.streamlit_client import Answer, Visitor, visiting

_TEXT = "The dogs near the house [MASK] hungry."
_OWN = "\n".join(f"The {word} near the {WORDS[place - 1]} is old." for place, word in enumerate(WORDS))
JOBS: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "training": ("train", {"view": "train", "set": "sentiment", "epochs": "20"}, "Train"),
    "race": ("train", {"view": "race", "set": "sentiment", "epochs": "10"}, "Race"),
    "distillation": ("train", {"view": "distillation", "set": "sentiment", "epochs": "10"}, "Train teacher.*"),
    "probing": ("layers", {"view": "layers", "tasks": "tense,negation", "sentences": "2000"}, "Run .*"),
    "cost": ("compare", {"view": "cost"}, "Measure .*"),
    "survey": ("corpus", {"view": "all"}, "Measure .*"),
    "search": ("corpus", {"view": "search"}, "Search all"),
    "index": ("corpus", {"view": "search", "search": "nearest"}, "Read .*"),
    "switching off": ("corpus", {"view": "matters"}, "Switch .*"),
    "lens": ("masked_words", {"view": "layers", "lens": "fitted", "lens_sentences": _OWN}, "Fit a lens"),
    "greedy": ("cause", {"view": "heads", "text": _TEXT}, "Run the.*"),
}
"""The page, its address, and a pattern for the button's label."""

_PAUSE = 0.5


def progress(answer: Answer) -> float | None:
    """How far the job on a page is, in [0, 1]; None where none is at work or it waits for its first turn."""
    for element in answer.elements():
        if element.WhichOneof("type") == "progress":
            return None if element.progress.text.startswith("Waiting for its turn:") else element.progress.value / 100
    return None


async def clicks(visitors: Sequence[Visitor], seconds: float, name: str, numbers: itertools.count[int]) -> None:
    """What the visitors' clicks took, all together."""
    took = [
        each for them in await asyncio.gather(*(_clicks(one, seconds, numbers) for one in visitors)) for each in them
    ]
    p95 = percentile95(took)
    emit(clicks=name, n=len(took), median_s=statistics.median(took), p95_s=p95, longest_s=max(took))


async def _clicks(visitor: Visitor, seconds: float, numbers: itertools.count[int]) -> list[float]:
    """One look after the other at heads of new texts, and what they took."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        number = next(numbers)
        word, other = WORDS[number % len(WORDS)], WORDS[(number * 7 + 3) % len(WORDS)]
        answer = await visitor.open("attention", {"view": "neuron", "text": f"The {word} saw {number} of the {other}."})
        errors = list(answer.errors())
        if errors:
            raise RuntimeError(str(errors))
        took.append(answer.seconds)
        await asyncio.sleep(_PAUSE)
    return took


async def measure(url: str, n_visitors: int, n_clicking: int, seconds: float) -> None:
    numbers = itertools.count()
    async with AsyncExitStack() as stack:
        clicking = [await stack.enter_async_context(visiting(url)) for _ in range(n_clicking)]
        await clicks(clicking, 10, "warm-up", numbers)
        await clicks(clicking, seconds / 2, "alone", numbers)
        kinds = list(itertools.islice(itertools.cycle(JOBS), n_visitors))
        visitors = [await stack.enter_async_context(visiting(url)) for _ in kinds]

        async def start(visitor: Visitor, kind: str) -> None:
            page, query, label = JOBS[kind]
            button = (await visitor.open(page, query)).button(label)
            if button is None:
                raise RuntimeError(f"{kind}: there is no button")
            await visitor.press(button)

        await asyncio.gather(*map(start, visitors, kinds))
        await clicks(clicking, seconds, f"beside {n_visitors} jobs", numbers)
        found = await asyncio.gather(*(each.set() for each in visitors))
        for kind in JOBS:
            shares = [progress(answer) for answer, its in zip(found, kinds, strict=True) if its == kind]
            running = sorted(share for share in shares if share is not None)
            emit(jobs=kind, n=len(shares), not_at_work=shares.count(None), shares=running)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--visitors", type=int, default=20, help="visitors whose jobs run in the background")
    parser.add_argument("--clicking", type=int, default=5, help="visitors who click meanwhile")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of clicks beside the work")
    chosen = parser.parse_args()
    emit_machine(scenario="machine")
    with app("app.py") as (url, _process):
        asyncio.run(measure(url, chosen.visitors, chosen.clicking, chosen.seconds))


if __name__ == "__main__":
    main()
