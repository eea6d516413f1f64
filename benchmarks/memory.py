"""``python -m benchmarks.memory [--repeats N]``: what takes the memory of the process, import by import.

``alone`` is one import in a fresh process. ``app`` is a fresh process that goes the way of the app: each step stands
on those before it and adds what its line says, with the process as it is then. ``threads`` is 30 threads that ask the
engine for attention at once, as glibc is and as ``web.allocator`` sets it. Megabytes: ``rss_mb`` is resident memory,
files that are mapped among it (libraries, which processes share); ``uss_mb`` is what is its own; ``objects`` are what
the garbage collector looks at. Medians over the repeats, each of which takes every process once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.measure import arguments, columns, emit
from benchmarks.server import ROOT
from model_zoo.types import MB

_ALONE = (
    "streamlit numpy pandas plotly.graph_objects scipy.special huggingface_hub tokenizers torch torch._dynamo "
    "torch.distributed.tensor transformers transformers.modeling_utils sklearn.linear_model bertviz model_zoo.registry"
)

PAGES = ("attention", "home", "masked_words", "next_sentence", "layers", "compare")

# Name of the step, and the statements that it is.
APP = (
    ("streamlit", "import streamlit, streamlit.starlette, streamlit.testing.v1"),
    ("numpy", "import numpy"),
    ("pandas", "import pandas"),
    ("plotly", "import plotly.graph_objects"),
    ("registry", "import model_zoo.registry"),
    ("pages", "import pages"),
    ("torch", "import torch"),
    (
        "torch's compiler and distributed parts",
        "import torch._dynamo, torch.distributed.tensor, torch.distributed.fsdp",
    ),
    ("transformers", "import transformers.modeling_utils"),
    ("loading", "import model_zoo.loading"),
    ("default model", "from web.engine import engine; engine().info('embedded/bert')"),
    ("other bundled models", "[engine().info('embedded/' + name) for name in ('tinybert', 'modernbert', 'bilstm')]"),
    *((f"page {name}", f"opened({name!r})") for name in PAGES),
    ("freed memory given back", "from web.allocator import give_back; give_back()"),
)

CHILD = """
import gc, json, sys, time
import psutil

process = psutil.Process()

def opened(name):
    from streamlit.testing.v1 import AppTest
    app = AppTest.from_file("app.py", default_timeout=600)
    app.switch_page(f"pages/{name}/page.py").run()
    assert not app.exception, app.exception

def now():
    used = process.memory_full_info()
    return used.rss, used.uss, len(gc.get_objects())

before = now()
print(json.dumps(["python", 0.0, *before, *before]), flush=True)
for name, step in json.loads(sys.argv[1]):
    start = time.perf_counter()
    exec(step)
    seconds = time.perf_counter() - start
    after = now()
    print(json.dumps([name, seconds, *(a - b for a, b in zip(after, before)), *after]), flush=True)
    before = after
"""

THREADS = """
import json, sys, threading, time
import psutil
from web.allocator import give_back, keep_less
from web.engine import engine

if sys.argv[1] == "set":
    keep_less()
engine().info("embedded/bert")
process = psutil.Process()
before = highest = process.memory_info().rss

def ask(thread):
    global highest
    for i in range(20):
        text = f"Thread {thread} asks for a text of its own, number {i}, that nobody else has asked for yet today."
        engine().attend("embedded/bert", text).head(2, 3)
        highest = max(highest, process.memory_info().rss)

threads = [threading.Thread(target=ask, args=(i,)) for i in range(30)]
start = time.perf_counter()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
seconds = time.perf_counter() - start
after = process.memory_info().rss
give_back()
print(json.dumps([600 / seconds, *(n - before for n in (highest, after, process.memory_info().rss))]))
"""


def child(code: str, argument: str) -> list[list[Any]]:
    """The lists that ``code`` prints as lines of JSON, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, argument],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def used(numbers: Sequence[float], prefix: str = "") -> dict[str, float]:
    """Resident and own memory in megabytes, and objects, by name."""
    rss, uss, objects = numbers
    return {f"{prefix}rss_mb": rss / MB, f"{prefix}uss_mb": uss / MB, f"{prefix}objects": objects}


def tell(kind: str, runs: list[list[list[Any]]]) -> None:
    """One line a step: what it added, and the whole process after it; medians over ``runs``."""
    for lines in zip(*runs, strict=True):
        step, seconds, *numbers = columns(lines)
        emit(
            benchmark="memory",
            kind=kind,
            step=step,
            seconds=seconds,
            **used(numbers[:3]),
            **used(numbers[3:], "process_"),
        )


def main() -> None:
    repeats = arguments(__doc__, 3).parse_args().repeats
    alone: dict[str, list[list[list[Any]]]] = {name: [] for name in _ALONE.split()}
    app: list[list[list[Any]]] = []
    threads: dict[str, list[list[Any]]] = {"as it is": [], "set": []}
    for _ in range(repeats):
        app.append(child(CHILD, json.dumps(APP)))
        for name, runs in alone.items():
            runs.append(child(CHILD, json.dumps([(name, f"import {name}")]))[1:])
        for name, lines in threads.items():
            lines += child(THREADS, name)
    for runs in alone.values():
        tell("alone", runs)
    tell("app", app)
    for name, lines in threads.items():
        per_second, *n_bytes = columns(lines)
        memory = {
            at: value / MB for at, value in zip(("highest_mb", "after_mb", "given_back_mb"), n_bytes, strict=True)
        }
        emit(benchmark="memory", kind="threads", allocator=name, answers_per_second=per_second, **memory)


if __name__ == "__main__":
    main()
