"""``python -m benchmarks.probing [--model ID] [--sentences 1000] [--seed N]``: all built-in tasks at every layer.

Prints README's table of accuracies with intervals: the best layer in bold, beside the best baseline without a model and
the best layer of random weights (chosen as the model's is). ``benchmarks.questions`` says what encoding takes beside
bare passes (``states_over_bare``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from analysis.probing import TASKS, Failed, Settings, TaskResult, run
from benchmarks.measure import arguments, markdown_table
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.registry import UNTRAINED


def percent(value: float | None) -> str:
    """A share as a percentage, or a dash."""
    return "–" if value is None else f"{100 * value:.0f}"


def table(results: Sequence[TaskResult]) -> str:
    """Layers x tasks in Markdown: percentage correct with the 95 % interval, baselines first."""
    n_layers = max(len(result.layers) for result in results)
    names = ("embeddings", *(str(layer) for layer in range(1, n_layers)))
    rows = []
    for result in results:
        cells = [f"{percent(layer.accuracy)} ({percent(layer.low)}–{percent(layer.high)})" for layer in result.layers]
        cells[result.best.layer] = f"**{cells[result.best.layer]}**"
        depth = result.expected_layer
        row = [
            TASKS[result.task].title,
            percent(result.majority),
            percent(result.without_model.accuracy),
            *cells,
            percent(chance.accuracy if (chance := result.random_weights) else None),
            "–" if depth is None else f"{depth.value:.1f} ({depth.low:.1f}–{depth.high:.1f})",
        ]
        rows.append(row)
    return markdown_table(("task", "majority", "no model", *names, "random weights", "expected layer"), rows)


def main() -> int:
    parser = arguments(__doc__, model=DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    engine = Engine()
    encode, untrained = (
        partial(engine.iter_hidden_states, model) for model in (chosen.model, f"{UNTRAINED}{chosen.model}")
    )
    settings = Settings(sentences=chosen.sentences, seed=chosen.seed, untrained=True)
    events = list(run(encode, TASKS.values(), settings, untrained=untrained))
    for event in events:
        if isinstance(event, Failed):
            print(f"{event.task}: {event.reason}", file=sys.stderr)
    results = [event for event in events if isinstance(event, TaskResult)]
    if results:
        print(table(results))
    return 0 if len(results) == len(TASKS) else 1


if __name__ == "__main__":
    sys.exit(main())
