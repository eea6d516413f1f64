"""``python -m benchmarks.sinks [--networks N] [--sentences N]``: what the rule of ``analysis.sinks`` says of
the bundled models, and how often it gives a name to a head that has learned nothing.

A case is a head, a special token and one of the built-in sentences. "random weights" are networks of the same shapes,
each drawn with a seed of its own. "scores stretched" are these with the scores of every layer multiplied until they
vary as much as the trained model's: random weights by themselves spread attention nearly evenly, and no head of theirs
gives one token much. Intervals (95%) are over heads, whose weights are drawn independently. No times: these numbers
are the same on every machine, up to rounding. Prints README's table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch

from analysis import sinks as rule
from analysis.intervals import interval, mean_spread
from benchmarks.measure import arguments, markdown_table
from model_zoo import Engine, running, sinks
from model_zoo.heldout import spread_pairs
from model_zoo.loading import LoadedModel
from model_zoo.registry import MODELS, UNTRAINED
from model_zoo.types import AttentionRun, BoolArray, DoubleArray, QueryKeyLayer, Sinks

RANDOM, STRETCHED = "random weights", "scores stretched"

NAMES: Final[Mapping[str, Callable[[Sinks], BoolArray]]] = {
    "much attention": rule.much_attention,
    "does nothing": rule.does_nothing,
    "broadcasts": rule.broadcasts,
    "either name": lambda weights: rule.does_nothing(weights) | rule.broadcasts(weights),
}


def sentences(n: int) -> list[str]:
    """So many built-in sentences, of all subjects alike."""
    return [pair.first for pair in spread_pairs(n)]


def runs(loaded: LoadedModel, texts: Sequence[str]) -> list[AttentionRun]:
    """Their runs with hidden states, in their order."""
    made = running.attend_many(loaded, [(text, None) for text in texts], states_of=True)
    return [run for _, run in sorted(made, key=lambda numbered: numbered[0])]


def draw_anew(loaded: LoadedModel, seed: int) -> None:
    """Give a network the random weights of a seed."""
    model = loaded.model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = type(model)(model.config)
        drawn.init_weights()
    model.load_state_dict(drawn.state_dict())


def deviations(run: AttentionRun) -> DoubleArray:
    """The standard deviation of the scores in each layer, over what a query may see, (layers,)."""
    every = (layer.load() for layer in run.layers)
    scores = [layer.scores(slice(None)) for layer in every if isinstance(layer, QueryKeyLayer)]
    return np.array([head_scores[np.isfinite(head_scores)].std() for head_scores in scores], dtype=np.float64)


def stretched(run: AttentionRun, factors: DoubleArray) -> AttentionRun:
    """The same run with the scores of every layer multiplied."""
    layers = (layer.load() for layer in run.layers)
    return replace(
        run,
        layers=tuple(
            replace(layer, scaling=layer.scaling * float(factor))
            for layer, factor in zip(layers, factors, strict=True)
            if isinstance(layer, QueryKeyLayer)
        ),
    )


def by_head(cases: Sequence[BoolArray]) -> DoubleArray:
    """In which share of the cases each head has a name, (all heads,), from (layers, heads, k) a sentence."""
    return np.stack(cases).mean(axis=(0, -1)).ravel()


def of_networks(loaded: LoadedModel, trained: Sequence[AttentionRun], n: int) -> Iterator[tuple[str, list[Sinks]]]:
    """What networks with random weights do, as they are and stretched, one after the other."""
    texts = [run.encoding.text for run in trained]
    wanted = np.mean([deviations(run) for run in trained], axis=0)
    for seed in range(n):
        draw_anew(loaded, seed)
        trained_runs = runs(loaded, texts)
        factors = wanted / np.mean([deviations(run) for run in trained_runs], axis=0)
        yield RANDOM, list(map(sinks.measure_run, trained_runs))
        yield STRETCHED, [sinks.measure_run(stretched(run, factors)) for run in trained_runs]


@dataclass(frozen=True, slots=True)
class Row:
    """How many cases of some networks have each of ``NAMES``, and the shares with 95% intervals over heads."""

    networks: str
    heads: int
    cases: int
    counts: dict[str, int]
    shares: dict[str, tuple[float, float, float]]


def row(name: str, networks: Sequence[Sequence[Sinks]]) -> Row:
    counts, shares = {}, {}
    heads = cases = 0
    for word, test in NAMES.items():
        named = [[test(head) for head in network] for network in networks]
        of_heads = np.concatenate([by_head(network) for network in named])
        heads, cases = len(of_heads), sum(head_cases.size for network in named for head_cases in network)
        counts[word] = sum(int(head_cases.sum()) for network in named for head_cases in network)
        share = counts[word] / cases
        shares[word] = (share, *interval(share, [mean_spread(of_heads)], heads))
    return Row(name, heads, cases, counts, shares)


def as_markdown(rows: Sequence[Row]) -> str:
    """README's table."""

    def cell(table_row: Row, word: str) -> str:
        share, low, high = (100 * value for value in table_row.shares[word])
        return f"{table_row.counts[word]:,}: {share:.1f} ({low:.1f}–{high:.1f})"

    return markdown_table(
        ("networks", "heads", "cases", *(f"{word}, %" for word in NAMES)),
        [[line.networks, f"{line.heads:,}", f"{line.cases:,}", *(cell(line, word) for word in NAMES)] for line in rows],
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--sentences", type=int, default=100)
    chosen = parser.parse_args()
    engine, texts = Engine("cpu"), sentences(chosen.sentences)
    models = [spec.id for spec in MODELS.values() if spec.hub_id is None and spec.attention]
    trained_ones: dict[str, list[list[Sinks]]] = {}
    drawn: dict[str, list[list[Sinks]]] = {}
    for model in models:
        with engine._memory.lease(model) as loaded:
            trained = runs(loaded, texts)
        trained_ones[f"`{model}`"] = [list(map(sinks.measure_run, trained))]
        with engine._memory.lease(UNTRAINED + model) as loaded:
            for kind, sampled in of_networks(loaded, trained, chosen.networks):
                drawn.setdefault(kind, []).append(sampled)
    print(as_markdown([row(name, networks) for name, networks in (trained_ones | drawn).items()]))


if __name__ == "__main__":
    main()
