"""``python -m benchmarks.corpus [--repeats N] [--only PART ...]``: every head measured on a corpus.

Parts, each a line or a few: ``speed`` (all measures, relations, trees and examples of the built-in sentences, beside
the bare batched forward passes of the same sentences, in turns), ``memory`` (what the process holds after 1,000 and
after 20,000 sentences), ``page`` (what each view sends, and a click on another head beside a click on a bare Streamlit
page, both without a browser), ``visitors`` (eight who look at heads of new texts while a survey runs), ``replicas``
(a survey asked of a cluster of one and of two replicas). What the search's index takes is told by
``python -m benchmarks.corpus_index``. Lines with ``figure`` are the figures to reach.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from functools import reduce
from pathlib import Path
from typing import Final

import psutil
import torch
from streamlit.proto.WidgetStates_pb2 import WidgetState

from analysis.corpus.reading import built_in
from analysis.corpus.sentences import Corpus
from benchmarks.crowd import WORDS
from benchmarks.latency import BARE_PAGE
from benchmarks.measure import arguments, at_most, emit, emit_machine, interleaved, medians, percentile95
from benchmarks.server import TOKEN, app, cluster
from benchmarks.streamlit_client import Answer, Visitor, visiting
from evidence.corpus import measure_heads
from evidence.questions.measure_heads import MeasureHeads
from model_zoo import DEFAULT_MODEL, Engine, running
from model_zoo.engine_interface import EngineInterface
from model_zoo.types import MB
from pages import PAGES
from serving.remote import RemoteEngine
from web import allocator

RATIO: Final = 1.4
MEMORY_MB: Final = 60
CLICK: Final = 2.0
PAGE_KB: Final = 300
LATE: Final = 1.0
_VISITORS: Final = 8
_PAUSE: Final = 0.5
_MANY: Final = 20_000


def corpus(n: int = 1000) -> Corpus:
    found = built_in(n)
    found.find_rare()
    return found


def surveyed(engine: EngineInterface, sentences: Corpus) -> None:
    for _ in measure_heads(engine, DEFAULT_MODEL, sentences):
        pass


def speed(repeats: int) -> None:
    """The survey of all built-in sentences beside their forward passes alone, each with its tokenization."""
    engine, sentences = Engine("cpu"), corpus()
    some = sentences.take(range(len(sentences)))
    engine.info(DEFAULT_MODEL)
    with engine._memory.lease(DEFAULT_MODEL) as loaded:

        def bare() -> None:
            encodings = [loaded.encode(sentence.text) for sentence in some]
            for batch in running.batches(loaded, encodings):
                with torch.inference_mode():
                    loaded.encoder(**loaded.inputs([encodings[place] for place in batch]))

        def whole() -> None:
            for _ in MeasureHeads(DEFAULT_MODEL, some).parts(loaded):
                pass

        gc.freeze()  # as the app does
        found = medians({"passes_ms": bare, "survey_ms": whole}, repeats, warm_up=1)
    emit(part="speed", sentences=len(sentences), threads=torch.get_num_threads(), **found)
    at_most("survey over bare passes", found["survey_ms"] / found["passes_ms"], RATIO)


def memory(_repeats: int) -> None:
    """What the process holds when 1,000 sentences are measured, and when 20,000 are, with the sentences; its allocator
    told to keep less of what was freed, as the app's is.
    """
    allocator.keep_less()
    engine, process = Engine("cpu"), psutil.Process()
    held = {}
    for n in (1000, _MANY):
        sentences = corpus(n)
        last = reduce(lambda _, latest: latest, measure_heads(engine, DEFAULT_MODEL, sentences))
        gc.collect()
        allocator.give_back()
        held[n] = process.memory_info().rss / MB
        emit(part="memory", sentences=n, process_mb=held[n], cases_mb=last.cases.n_bytes / MB)
    at_most("MB more after 20,000 sentences than after 1,000", held[_MANY] - held[1000], MEMORY_MB)


def _stepper(answer: Answer, label: str) -> str:
    """The id of a stepper on a page."""
    for element in answer.elements():
        if element.WhichOneof("type") == "number_input" and element.number_input.label == label:
            return element.number_input.id
    raise SystemExit(f"there is no stepper “{label}” on the page")


async def _page(url: str, bare_url: str, repeats: int) -> None:
    (page,) = (one for one in PAGES if one.name == "corpus")
    async with AsyncExitStack() as stack:
        for view in page.views:
            visitor = await stack.enter_async_context(visiting(url))
            answer = await visitor.open("corpus", {"view": view.name})
            emit(part="page", view=view.name, kb=answer.n_bytes / 1000, seconds=answer.seconds)
            at_most(f"kB of “{view.title}”", answer.n_bytes / 1000, PAGE_KB)
        visitor = await stack.enter_async_context(visiting(url))
        bare = await stack.enter_async_context(visiting(bare_url))
        stepper = _stepper(await visitor.open("corpus", {"view": "head"}), "Head")
        button = (await bare.open("", {})).button("one more")
        assert button is not None
        times: dict[str, list[float]] = {"head": [], "bare": []}
        for number in range(repeats + 2):
            clicked = await visitor.set(WidgetState(id=stepper, double_value=number % 12 + 1))
            times["head"].append(clicked.seconds)
            times["bare"].append((await bare.press(button)).seconds)
    found = {name: sorted(values[2:])[len(values[2:]) // 2] for name, values in times.items()}
    emit(part="page", click_on_a_head_s=found["head"], bare_click_s=found["bare"])
    at_most("a click on a head over a click on a bare page", found["head"] / found["bare"], CLICK)


def page(repeats: int) -> None:
    """What the views send, and what a click on a head takes beside one on a bare page."""
    with tempfile.TemporaryDirectory() as folder, app("app.py") as (url, _process):
        script = Path(folder) / "bare.py"
        script.write_text(BARE_PAGE, encoding="utf-8")
        with app(str(script)) as (bare_url, _bare):
            asyncio.run(_page(url, bare_url, max(20, repeats)))


async def _visitors(url: str, seconds: float) -> None:
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(url)) for _ in range(_VISITORS)]

        async def clicks(visitor: Visitor, place: int, seconds: float, took: list[float]) -> None:
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                word = WORDS[(place * 13 + len(took)) % len(WORDS)]
                answer = await visitor.open(
                    "attention", {"view": "neuron", "text": f"The {word} saw {len(took)} of the {place} mice."}
                )
                took.append(answer.seconds)
                await asyncio.sleep(_PAUSE)

        async def everybody(name: str, seconds: float) -> float | None:
            took: list[float] = []
            await asyncio.gather(*(clicks(each, place, seconds, took) for place, each in enumerate(visitors)))
            p95 = percentile95(took)
            emit(part="visitors", clicks=name, n=len(took), p95_s=p95, longest_s=max(took))
            return p95

        await everybody("warm-up", 5)
        await everybody("alone", seconds)
        measuring = await stack.enter_async_context(visiting(url))
        opened = await measuring.open("corpus", {"view": "relations", "model": DEFAULT_MODEL})
        button = opened.button("Measure .*")
        if button is None:
            raise SystemExit("there is no button that measures")
        await measuring.press(button)
        late = await everybody("while a survey runs", seconds)
    at_most("95th percentile of others' clicks while a survey runs, s", late, LATE)


def visitors(_repeats: int) -> None:
    """Eight visitors who open heads of new texts, alone and while one more has a corpus measured."""
    with app("app.py") as (url, _process):
        asyncio.run(_visitors(url, 20))


@contextmanager
def _asked(replicas: int) -> Iterator[RemoteEngine]:
    with cluster(f"min_replicas={replicas}", f"max_replicas={replicas}", "cpus=0.5") as found:
        engine = RemoteEngine(found.address, TOKEN)
        for _ in range(8):  # until both have been heard of
            engine.attend(DEFAULT_MODEL, f"Hello number {time.monotonic_ns()}.")
        yield engine


def replicas(repeats: int) -> None:
    """A survey of 1,000 sentences asked of a cluster of one replica and of two, on the same cores."""
    sentences = corpus()
    with _asked(1) as one, _asked(2) as two:

        def timed(engine: RemoteEngine) -> Callable[[int], float]:
            def task(_number: int) -> float:
                start = time.perf_counter()
                surveyed(engine, sentences)
                return time.perf_counter() - start

            return task

        found = interleaved({"one_s": timed(one), "two_s": timed(two)}, repeats, warm_up=1)
    emit(part="replicas", **found, one_over_two=found["one_s"] / found["two_s"])


PARTS: Final[dict[str, Callable[[int], None]]] = {
    "speed": speed,
    "memory": memory,
    "page": page,
    "visitors": visitors,
    "replicas": replicas,
}


def main(given: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, 5)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = parser.parse_args(given)
    emit_machine(benchmark="corpus")
    for name in chosen.only:
        PARTS[name](chosen.repeats)


if __name__ == "__main__":
    main()
