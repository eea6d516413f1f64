"""``python -m benchmarks.memory [--repeats N] [--survey N ...]``: what takes the memory of the process, step by step.

A fresh process goes the way of the app: each step stands on those before it. One JSON line a step with what it adds and
the process as it is then, medians over the repeats. Megabytes: ``rss_mb`` is resident memory, files that are mapped
among it (libraries, which processes share); ``uss_mb`` is what is its own.

With ``--survey`` instead: how far a survey of so many sentences takes the resident memory of a script above that with
the model loaded, at its peak (Linux). One sentence in 16 is eight built-in ones in a row, of some 140 words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from benchmarks.measure import arguments, columns, emit
from benchmarks.server import ROOT
from model_zoo.types import MB

PAGES = ("attention", "home", "masked_words", "next_sentence", "layers", "compare")

# Name of the step, and the statements that it is.
STEPS = (
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
    ("freed memory given back", "from model_zoo.allocator import give_back; give_back()"),
)

CHILD = """
import json, sys
import psutil

def opened(name):
    from streamlit.testing.v1 import AppTest
    app = AppTest.from_file("app.py", default_timeout=600)
    app.switch_page(f"pages/{name}/page.py").run()
    assert not app.exception, app.exception

def now():
    used = psutil.Process().memory_full_info()
    return used.rss, used.uss

before = 0, 0
for name, step in [("python", ""), *json.loads(sys.argv[1])]:
    exec(step)
    after = now()
    print(json.dumps([name, *(a - b for a, b in zip(after, before)), *after]), flush=True)
    before = after
"""

SURVEY = """
import json, resource, sys
import psutil
from analysis.corpus.reading import built_in
from analysis.corpus.sentences import Corpus
from evidence.corpus import measure_heads
from model_zoo import DEFAULT_MODEL, Engine

parts, corpus = list(built_in()), Corpus()
for number in range(int(sys.argv[1])):
    text, spans, upos, deprel, heads = "", [], (), (), []
    for part in (parts[(number + place) % len(parts)] for place in range(1 if number % 16 else 8)):
        heads += [head + len(spans) if head >= 0 else head for head in part.heads]
        spans += [(start + len(text), end + len(text)) for start, end in part.spans]
        text, upos, deprel = text + part.text + " ", upos + part.upos, deprel + part.deprel
    corpus.add(text, spans, upos, deprel, heads)
corpus.find_rare()
engine = Engine("cpu")
engine.attend(DEFAULT_MODEL, "The cat sat.")
loaded = psutil.Process().memory_info().rss
for statistics in measure_heads(engine, DEFAULT_MODEL, corpus):
    pass
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([corpus.n_words, statistics.n_tokens, peak - loaded]))
"""


def run_steps(program: str = CHILD, argument: str = json.dumps(STEPS)) -> list[list[Any]]:
    """Of each step its name, the bytes that it adds, and those of the process after it, resident and own; or what
    another program prints.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, argument],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def main() -> None:
    parser = arguments(__doc__, 3)
    parser.add_argument("--survey", type=int, nargs="+", default=[])
    options = parser.parse_args()
    repeats = options.repeats
    for n in options.survey:
        words, tokens, peak = columns([row for _ in range(repeats) for row in run_steps(SURVEY, str(n))])
        emit(survey=n, words=words, tokens=tokens, peak_over_loaded_mb=peak / MB)
    if options.survey:
        return
    for lines in zip(*(run_steps() for _ in range(repeats)), strict=True):
        step, *n_bytes = columns(lines)
        names = ("rss_mb", "uss_mb", "process_rss_mb", "process_uss_mb")
        emit(step=step, **{name: value / MB for name, value in zip(names, n_bytes, strict=True)})


if __name__ == "__main__":
    main()
