"""``python -m benchmarks.corpus_index [--sentences N] [--layer L] [--repeats N]``: the index for "Nearest words".

The vectors of one layer of the built-in sentences on disk: bytes a megabyte of text, beside what exBERT publishes for
its own index (47 GB for 1 MB of text; that one holds every layer and what each head attends to, here it is one layer
and attention is computed when somebody asks). ``as_bert_base`` is computed, not measured: what all thirteen states of
BERT-base would take for the same tokens. ``build_s`` is what the job takes, ``passes_s`` the same hidden states
without an index, ``nearest_ms`` a search for 20 tokens, ``once_ms`` one in which every word is found once.
``look_ms`` is the search for sentences in which a noun looks at a verb, in every head.
"""

from __future__ import annotations

import shutil
import time
from typing import Any, Final

import numpy as np

from analysis.corpus.pattern import Pattern
from analysis.corpus.reading import built_in
from benchmarks.measure import arguments, at_most, emit, emit_machine, medians
from jobs.attention_search import AttentionSearchJob
from jobs.indexing import FOLDER, Indexing
from jobs.job import Job
from model_zoo import DEFAULT_MODEL, Engine

PUBLISHED_BYTES: Final = 47e9
"""exBERT's for a megabyte of text."""
_BERT_BASE: Final = 13 * 768 * 2
"""Bytes of a token: after the embeddings and after twelve layers, in half precision."""


def index_of_search(
    engine: Engine, model: str = DEFAULT_MODEL, n: int = 1000, layer: int = 4, repeats: int = 5
) -> dict[str, Any]:
    """The figures by their names, for ``n`` built-in sentences and a layer from 0, after the embeddings."""
    corpus = built_in(n)
    engine.hidden_states(model, "The model is loaded.")
    start = time.perf_counter()
    job = _done(Indexing(engine, model, corpus, layer))
    build = time.perf_counter() - start
    start = time.perf_counter()
    for _ in engine.iter_hidden_states(model, corpus.texts, layers=[layer]):
        pass
    passes = time.perf_counter() - start
    index = job.index
    assert index is not None
    vectors = np.random.default_rng(0).normal(size=(repeats + 2, index.width)).astype(np.float32)
    search = AttentionSearchJob(engine, model, corpus, Pattern("upos", ("NOUN",)), Pattern("upos", ("VERB",)))
    start = time.perf_counter()
    _done(search)
    look = time.perf_counter() - start
    times = medians(
        {
            "nearest_ms": lambda: index.nearest(vectors[0], 20),
            "once_ms": lambda: index.nearest(vectors[1], 20, each_once=True),
        },
        repeats,
    )
    n_text = sum(len(text.encode()) for text in corpus.texts)
    found = {
        "model": model,
        "sentences": len(corpus),
        "text_bytes": n_text,
        "tokens": len(index),
        "width": index.width,
        "disk_bytes": index.file.stat().st_size,
        "bytes_per_mb_of_text": index.file.stat().st_size / n_text * 1e6,
        "build_s": build,
        "passes_s": passes,
        "looked_through": search.n_total,
        "look_ms": 1000 * look,
        **times,
    }
    job.forget()
    return found


def _done(job: Any) -> Any:
    """A job that has come to its end, in this thread."""
    assert isinstance(job, Job)
    while job.running:
        job.advance()
    if job.failure is not None:
        raise SystemExit(job.failure)
    return job


def main() -> None:
    parser = arguments(__doc__, 5, DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--layer", type=int, default=4)
    chosen = parser.parse_args()
    emit_machine(free_disk_gb=shutil.disk_usage(FOLDER.made()).free / 1e9)
    found = index_of_search(Engine("cpu"), chosen.model, chosen.sentences, chosen.layer, chosen.repeats)
    emit(**found)
    tokens_per_mb = found["tokens"] / found["text_bytes"] * 1e6
    emit(as_bert_base_bytes_per_mb_of_text=tokens_per_mb * _BERT_BASE)
    emit(published_bytes_per_mb_of_text=PUBLISHED_BYTES, times_smaller=PUBLISHED_BYTES / found["bytes_per_mb_of_text"])
    at_most("bytes on disk a megabyte of text", found["bytes_per_mb_of_text"], PUBLISHED_BYTES / 100)


if __name__ == "__main__":
    main()
