"""Seconds for probing every layer of a model on all built-in tasks: encoding, probing, and the bare passes.

``python -m benchmarks.probing [--model ID] [--sentences 1000] [--mdl]`` prints the timings and the table of accuracies
with intervals as Markdown, as they are quoted in the README: the best layer in bold, beside the best baseline without a
model and the best layer of random weights (chosen as the model's is).
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence

from analysis.probing import TASKS, Failed, Settings, TaskResult, run
from benchmarks.measure import arguments
from model_zoo import DEFAULT_MODEL, Engine
from model_zoo.registry import UNTRAINED
from model_zoo.types import MB, HiddenStates


def bare_passes(engine: Engine, model: str, settings: Settings) -> tuple[float, int]:
    """Seconds the same model takes for the same distinct sentences with nothing around it, and their number.

    Sentences are tokenized and put into padded batches of 64 by length before the clock starts.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    from model_zoo import sources

    folder = sources.find(model).folder
    assert folder is not None  # the engine has loaded it by now
    tokenizer = AutoTokenizer.from_pretrained(folder)
    bare = AutoModel.from_pretrained(folder).eval().to(engine.device)
    texts: dict[str, None] = {}
    for task in TASKS.values():
        texts.update(dict.fromkeys(task.build(settings.sentences, settings.seed).texts))
    ordered = sorted(texts, key=lambda text: len(tokenizer(text)["input_ids"]))
    batches = [
        tokenizer(ordered[i : i + 64], padding=True, return_tensors="pt").to(engine.device)
        for i in range(0, len(ordered), 64)
    ]
    with torch.inference_mode():
        bare(**batches[0])
        start = time.perf_counter()
        for batch in batches:
            bare(**batch, output_hidden_states=True)
        if engine.device == "cuda":
            torch.cuda.synchronize()
    return time.perf_counter() - start, len(ordered)


class Timed:
    """The engine's encoder, with the seconds spent in it."""

    def __init__(self, engine: Engine, model: str) -> None:
        self.engine, self.model = engine, model
        self.seconds = 0.0

    def __call__(self, texts: Sequence[str]) -> Iterator[tuple[int, HiddenStates]]:
        states = self.engine.iter_hidden_states(self.model, texts)
        while True:
            start = time.perf_counter()
            try:
                state = next(states)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - start
            yield state


def percent(value: float | None) -> str:
    """A share as a percentage, or a dash."""
    return "–" if value is None else f"{100 * value:.0f}"


def table(results: Sequence[TaskResult]) -> str:
    """Layers x tasks in Markdown: percentage correct with the 95 % interval, baselines first."""
    n_layers = max(len(result.layers) for result in results)
    names = ["embeddings", *(str(layer) for layer in range(1, n_layers))]
    lines = [
        "| task | majority | no model | " + " | ".join(names) + " | random weights | expected layer |",
        "|---" * (n_layers + 5) + "|",
    ]
    for result in results:
        cells = [f"{percent(layer.accuracy)} ({percent(layer.low)}–{percent(layer.high)})" for layer in result.layers]
        cells[result.best.layer] = f"**{cells[result.best.layer]}**"
        depth = result.expected_layer
        title = TASKS[result.task].title
        row = [
            title,
            percent(result.majority),
            percent(result.without_model.accuracy),
            *cells,
            percent(chance.accuracy if (chance := result.random_weights) else None),
            "–" if depth is None else f"{depth.value:.1f} ({depth.low:.1f}–{depth.high:.1f})",
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = arguments(__doc__, model=DEFAULT_MODEL)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mdl", action="store_true")
    chosen = parser.parse_args()
    settings = Settings(sentences=chosen.sentences, seed=chosen.seed, mdl=chosen.mdl, untrained=True)
    engine = Engine()
    print(engine.info(chosen.model))
    bare, n_texts = bare_passes(engine, chosen.model, settings)

    encode = Timed(engine, chosen.model)
    results = []
    start = time.perf_counter()
    random_weights = Timed(engine, f"{UNTRAINED}{chosen.model}")
    for event in run(encode, TASKS.values(), settings, untrained=random_weights):
        if isinstance(event, TaskResult):
            results.append(event)
            print(f"{time.perf_counter() - start:7.1f} s  {event.task}", file=sys.stderr)
        elif isinstance(event, Failed):
            print(f"{event.task}: {event.reason}", file=sys.stderr)
    total = time.perf_counter() - start - random_weights.seconds
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory *= 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    print(f"\n{n_texts:,} different sentences, {len(results)} tasks, seed {settings.seed}\n")
    print("| bare forward passes | encoding | ratio | probing | total | peak memory |")
    print("|---|---|---|---|---|---|")
    seconds = [f"{bare:.1f} s", f"{encode.seconds:.1f} s", f"{encode.seconds / bare:.2f}"]
    seconds += [f"{total - encode.seconds:.1f} s", f"{total:.1f} s", f"{memory / MB:.0f} MB"]
    print("| " + " | ".join(seconds) + " |\n")
    if results:
        print(table(results))
    return 0 if len(results) == len(TASKS) else 1


if __name__ == "__main__":
    sys.exit(main())
