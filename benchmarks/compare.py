"""``python -m benchmarks.compare [--repeats N]``: what comparing two models costs beside running and drawing both.

First a line for each length of text: ``compare_ms`` is everything from two loaded models to three figures as they
are sent to the browser (both models run, their words aligned, one head of each on the common words, their
difference), ``alone_ms`` the two runs and the same three figures drawn from matrices that already exist.
The last line is the matrix of all heads of two models with 12 layers of 12 heads, on 64 words, from queries and keys.

The second model is one with a vocabulary of its own, so that words are not aligned by luck.
"""

from __future__ import annotations

import numpy as np
import torch

from analysis.alignment import REST, Alignment, align, map_to_common_words
from analysis.divergence import head_matrix, jensen_shannon
from analysis.views import Weights
from benchmarks.attention import text_of
from benchmarks.measure import arguments, emit, medians
from model_zoo import DEFAULT_MODEL, loading, running, sources
from model_zoo.types import AttentionRun, Encoding, FloatArray, ModelInfo, QueryKeyLayer
from viz.compare import difference
from viz.component import pack
from viz.heatmap import heatmap

TOKENS = (16, 64, 128)
REPEATS = 25
HEAD = (1, 3)  # layer, head: exists in every bundled model
SECOND_MODEL = "embedded/modernbert"
N_LAYERS = N_HEADS = 12
N_WORDS = 64
WIDTH = 64  # of a head


def shared_words(run: AttentionRun, alignment: Alignment, place: int) -> FloatArray:
    """One head's attention on the common words."""
    return map_to_common_words(run.head(*HEAD), alignment.units[place], run.encoding.special)


def drawn(a: FloatArray, b: FloatArray, labels: tuple[str, ...], names: tuple[str, str]) -> int:
    """Both heatmaps and the difference as they are sent; their size, so that no work can be skipped."""
    keys = [*labels, REST]
    pictures = heatmap(a, labels, keys), heatmap(b, labels, keys), difference(a, b, labels, keys, names=names)
    return sum(len(pack(picture)) for picture in pictures)


def measure(first: loading.LoadedModel, second: loading.LoadedModel, n_tokens: int, repeats: int) -> None:
    text = text_of(n_tokens)
    names = first.info.id, second.info.id.rsplit("/", 1)[-1]
    runs = [running.attend(loaded, text, None) for loaded in (first, second)]
    alignment = align([run.encoding for run in runs])
    matrices = [shared_words(run, alignment, place) for place, run in enumerate(runs)]

    def attend() -> list[AttentionRun]:
        return [running.attend(loaded, text, None) for loaded in (first, second)]

    def alone() -> None:
        attend()
        drawn(matrices[0], matrices[1], alignment.labels, names)

    def compare() -> None:
        found = attend()
        common = align([run.encoding for run in found])
        a, b = (shared_words(run, common, place) for place, run in enumerate(found))
        drawn(a, b, common.labels, names)

    times = medians({"alone_ms": alone, "compare_ms": compare}, repeats)
    # What comes between the two, by itself: too little to be seen as a difference of noisy times.
    parts = medians(
        {
            "align_ms": lambda: align([run.encoding for run in runs]),
            "merge_ms": lambda: [shared_words(run, alignment, place) for place, run in enumerate(runs)],
        },
        repeats,
    )
    what = {"models": list(names), "tokens": [run.n_tokens for run in runs], "words": len(alignment)}
    emit(benchmark="compare", **what, **times, **parts, ratio=times["compare_ms"] / times["alone_ms"])


def made_up_run(seed: int, pieces: int) -> AttentionRun:
    """Random queries and keys on ``N_WORDS`` words, of which every fourth is cut into ``pieces`` tokens."""
    words = [f"word{number:04}" for number in range(N_WORDS)]
    cuts = [pieces if number % 4 == 0 else 1 for number in range(N_WORDS)]
    starts = [number * 9 for number in range(N_WORDS)]
    tokens = [
        (word[8 * piece // n : 8 * (piece + 1) // n], number, (start + 8 * piece // n, start + 8 * (piece + 1) // n))
        for number, (word, n, start) in enumerate(zip(words, cuts, starts, strict=True))
        for piece in range(n)
    ]
    n_tokens = len(tokens) + 2
    random = np.random.default_rng(seed)

    def vectors() -> FloatArray:
        return random.normal(size=(N_HEADS, n_tokens, WIDTH)).astype(np.float32)

    return AttentionRun(
        encoding=Encoding(
            text=" ".join(words),
            text_pair=None,
            tokens=("[CLS]", *(token for token, _, _ in tokens), "[SEP]"),
            ids=tuple(range(n_tokens)),
            word_ids=(None, *(word for _, word, _ in tokens), None),
            offsets=((0, 0), *(span for _, _, span in tokens), (0, 0)),
            segment_ids=(0,) * n_tokens,
            special=(True, *[False] * len(tokens), True),
        ),
        model=ModelInfo(
            id="made up",
            revision="",
            family="bert",
            n_layers=N_LAYERS,
            n_heads=N_HEADS,
            width=N_HEADS * WIDTH,
            parameters=0,
            max_tokens=None,
            mlm=False,
            nsp=None,
            device="cpu",
            dtype="float32",
        ),
        layers=tuple(
            QueryKeyLayer(query=vectors(), key=vectors(), value=vectors(), scaling=0.3) for _ in range(N_LAYERS)
        ),
    )


def measure_heads(repeats: int) -> None:
    a, b = made_up_run(0, 2), made_up_run(1, 3)
    alignment = align([a.encoding, b.encoding])
    assert len(alignment) == N_WORDS
    maps = np.random.default_rng(2).dirichlet(np.full(N_WORDS + 1, 0.2), (2, N_LAYERS * N_HEADS, N_WORDS))
    maps_a, maps_b = maps.astype(np.float32)
    times = medians(
        {
            "head_matrix_ms": lambda: head_matrix(Weights(a), Weights(b), alignment),
            "divergence_ms": lambda: jensen_shannon(maps_a, maps_b),
        },
        repeats,
    )
    what = {"heads": [N_LAYERS * N_HEADS] * 2, "tokens": [a.n_tokens, b.n_tokens], "words": N_WORDS}
    emit(benchmark="head matrix", **what, **times)


def main() -> None:
    repeats = arguments(__doc__, REPEATS).parse_args().repeats
    cpu = torch.device("cpu")
    first, second = (loading.load(sources.find(model), cpu) for model in (DEFAULT_MODEL, SECOND_MODEL))
    for n_tokens in TOKENS:
        measure(first, second, n_tokens, repeats)
    measure_heads(repeats)


if __name__ == "__main__":
    main()
