"""Fine-tuning beside transformers' Trainer: seconds an epoch and memory; and the race of the bundled models.

    python -m benchmarks.finetune [--model ID] [--set NAME] [--epochs N]
    python -m benchmarks.finetune --race [--set NAME] [--seeds N] [--few] [--log FILE] [--markdown] [--write]

Prints JSON lines. Both sides train all weights of the same network on the same items in this process, one epoch
in turns (medians after a warm-up): batch 16, AdamW, a linear schedule. The Trainer pads each batch to its longest text
and draws batches at random, its defaults; LoRA, the top layers and the head are ours alone. Memory is the peak of a
process of its own that trains one epoch (ours two, since a copy of the best is kept), less what it took before. Needs
the packages of requirements-dev.txt.

The race is that of the page, with default settings: the bundled models, and the published all-MiniLM-L6-v2 where its
package is installed, on all examples of every built-in set; with ``--few`` also the default model, its like with random
weights and the LSTM on 200. A line a training, with its predictions for the test split. With ``--log`` lines go to that
file, too, and trainings in it are not repeated: the race can be interrupted. ``--markdown`` prints tables
instead: means over seeds with intervals over seeds and items. ``--write`` puts what seeds and the strongest baseline
reached where the page and the cards read it (training/finetuning/seeds.json).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

from benchmarks.measure import arguments, emit, interleaved
from model_zoo import DEFAULT_MODEL, Engine, tuned
from model_zoo.registry import UNTRAINED
from model_zoo.sources import packaged
from model_zoo.types import MB
from training.finetuning import network
from training.finetuning.data import Data, Item, Labelled, PassageQuestion, Tagged
from training.finetuning.finetune import Finetune
from training.finetuning.results import (
    Answered,
    AnswerSpan,
    Classified,
    Prediction,
    Rated,
    Started,
    Stepped,
    TaggedWords,
    Tuned,
)
from training.finetuning.scores import MEASURES, evaluate
from training.finetuning.seeds import SeedScores, fingerprint, write
from training.finetuning.sets import SETS
from training.finetuning.settings import LEARNS, Learns, Settings
from ui.precomputed import EMBEDDED

FEW = 200
_PUBLISHED = "sentence-transformers/all-MiniLM-L6-v2"


def ours(engine: Engine, model: str, data: Data, learns: Learns = "all", epochs: int = 1) -> float:
    """Seconds of one epoch, or of some, by the loop of the app, judging and loading left out."""
    short = replace(data, dev=data.dev[:2], test=data.test[:2])
    question = Finetune(model, short, Settings(learns=learns, epochs=epochs), tuned.new_id(), keep=False)
    began = ended = 0.0
    for event in engine.stream(question):
        if isinstance(event, Started):
            began = time.perf_counter()
        elif isinstance(event, Stepped):
            ended = time.perf_counter()
    return ended - began


def trainers(engine: Engine, model: str, data: Data) -> float:
    """Seconds of one epoch by transformers' Trainer, loading left out."""
    settings = Settings(epochs=1)
    with engine._memory.lease(model) as loaded:
        made = network.fresh(loaded, data, settings).requires_grad_(True)
        rows = [
            dict(loaded.tokenizer(item.text, item.pair, truncation=True, max_length=settings.max_tokens))
            | {"labels": data.labels.index(item.label)}
            for item in data.train
            if isinstance(item, Labelled)
        ]
        rate = settings.rate_for(loaded.info.width, loaded.info.n_heads > 0)
        collate = DataCollatorWithPadding(loaded.tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        how = {"weight_decay": settings.weight_decay, "warmup_steps": settings.warmup, "lr_scheduler_type": "linear"}
        quiet = {"save_strategy": "no", "logging_strategy": "no", "report_to": [], "disable_tqdm": True}
        size = {"num_train_epochs": 1, "per_device_train_batch_size": settings.batch, "learning_rate": rate}
        of_trainer = TrainingArguments(folder, **size, **how, **quiet, use_cpu=True, dataloader_pin_memory=False)
        trainer = Trainer(made, of_trainer, train_dataset=rows, data_collator=collate)
        trainer.remove_callback(PrinterCallback)  # standard output is for our JSON lines
        began = time.perf_counter()
        trainer.train()
        return time.perf_counter() - began


def peak(side: Callable[[], float]) -> float:
    """Bytes by which this process grew at most while a side trained, looked at every few milliseconds."""
    process, over = psutil.Process(), threading.Event()
    before = highest = process.memory_info().rss

    def watch() -> None:
        nonlocal highest
        while not over.wait(0.005):
            highest = max(highest, process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    side()
    over.set()
    watching.join()
    return float(highest - before)


def _peak_of_its_own(which: str, model: str, name: str) -> float:
    command = [sys.executable, "-m", "benchmarks.finetune", "--peak", which, "--model", model, "--set", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["bytes"])


def compare(engine: Engine, model: str, name: str, repeats: int) -> None:
    """Time both sides in turns."""
    data = SETS[name].build()
    sides = {"trainer_s": lambda _: trainers(engine, model, data)} | {
        "ours_s" if learns == "all" else f"{learns}_s": partial(_ours_in_turn, engine, model, data, learns)
        for learns in LEARNS
    }
    took = interleaved(sides, repeats, warm_up=1)
    peaks = {f"{which}_peak_mb": _peak_of_its_own(which, model, name) / MB for which in ("trainer", "ours")}
    ratios = {
        "ratio": took["ours_s"] / took["trainer_s"],
        "peak_ratio": peaks["ours_peak_mb"] / peaks["trainer_peak_mb"],
    }
    fields = {"model": model, "set": name, "items": len(data.train), "threads": torch.get_num_threads()}
    emit(benchmark="finetune", **fields, **took, **peaks, **ratios)


def _ours_in_turn(engine: Engine, model: str, data: Data, learns: Learns, _number: int) -> float:
    return ours(engine, model, data, learns)


Run = dict[str, Any]
"""One training, as one line of JSON: what was trained on what, its scores, and what it said of the test split."""


def racers() -> list[str]:
    """The bundled models, and the published one where the package that ships it is installed."""
    return [*EMBEDDED, *([_PUBLISHED] if packaged(_PUBLISHED) is not None else [])]


def candidates(data: Data, models: Sequence[str], seeds: int, *, few: bool) -> Iterator[Run]:
    """What is to be trained, each as the part of its line that tells it from others: a seed of every model first."""
    counts: list[tuple[str, int]] = [(model, len(data.train)) for model in models]
    if few and len(data.train) > FEW:
        counts += [(model, FEW) for model in (DEFAULT_MODEL, f"{UNTRAINED}{DEFAULT_MODEL}", "embedded/bilstm")]
    for seed in range(seeds):
        for model, examples in counts:
            of_set = {"set": data.name, "items": fingerprint(data)}
            yield of_set | {"model": model, "examples": examples, "seed": seed}


def trained(engine: Engine, data: Data, candidate: Run) -> Run:
    """Train one, with default settings."""
    settings = Settings(seed=candidate["seed"], examples=candidate["examples"])
    *_, result = engine.stream(Finetune(candidate["model"], data, settings, tuned.new_id(), keep=False))
    assert isinstance(result, Tuned)
    score = result.score()
    scored = {"score": score.measure, "value": score.value, "always_alike": score.baseline}
    chosen = {"epoch": result.best.epoch, "dev": result.best.score}
    beside = {"trivial": score.strongest_baseline, "trivial_is": result.strongest_baseline}
    costs = {
        "ms_a_text": 1000 * result.latency,
        "weights_mb": result.n_bytes / MB,
        "seconds": result.seconds,
    }
    predictions = [_plain(prediction) for prediction in result.predictions]
    return candidate | scored | chosen | beside | costs | {"rate": result.rate, "said": predictions}


def _plain(prediction: Prediction) -> Any:
    """What the scores need of a prediction, as JSON."""
    match prediction:
        case Classified():
            return prediction.label
        case TaggedWords():
            return prediction.tags
        case Answered():
            return prediction.text
        case Rated():
            return prediction.score


def _read(value: Any, item: Item) -> Prediction:
    """The prediction again."""
    if isinstance(item, Labelled):
        return Classified(value, ())
    if isinstance(item, Tagged):
        return TaggedWords(item.words, tuple(value), (1.0,) * len(value))
    if isinstance(item, PassageQuestion):
        return Answered((AnswerSpan(0, len(value), value, 1.0),) if value else (), 0.0)
    return Rated(value)


def race(
    data: Data, wanted: Iterable[Run], train: Callable[[Data, Run], Run], log: Path | None, *, quiet: bool
) -> list[Run]:
    """Every run that is wanted: from the log, or trained now, and then written there and to the output."""
    lines = log.read_text(encoding="utf-8").splitlines() if log is not None and log.exists() else []
    known = [json.loads(line) for line in lines]
    runs = []
    for candidate in wanted:
        run = next((known_run for known_run in known if candidate.items() <= known_run.items()), None)
        if run is None:
            run = train(data, candidate)
            line = json.dumps(run)
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    print(line, file=file)
            if not quiet:
                print(line, flush=True)
        runs.append(run)
    return runs


def together(data: Data, runs: Sequence[Run]) -> SeedScores:
    """The runs of a model as one: their mean with its interval over seeds and items, and what it stands beside."""
    predictions = [[_read(value, item) for value, item in zip(run["said"], data.test, strict=True)] for run in runs]
    score, first = evaluate(data, *predictions)[0], runs[0]
    return SeedScores(
        values=tuple(round(run["value"], 4) for run in runs),
        mean=round(score.value, 4),
        low=round(score.low, 4),
        high=round(score.high, 4),
        baseline=round(first["trivial"], 4),
        baseline_is=first["trivial_is"],
    )


def markdown(data: Data, runs: Sequence[Run]) -> str:
    """The race as a table of the README: means over seeds, with intervals over seeds and items."""
    written = _percent if MEASURES[data.measure].percent else _hundredths
    lines = [
        f"| {data.title.lower()} | examples | {MEASURES[data.measure].title} (95%) | seeds | weights, MB |",
        "|---|---|---|---|---|",
    ]
    for (model, examples), group in _by_model(runs).items():
        name = f"`{model.removeprefix(UNTRAINED)}`"
        name = f"random weights of {name}" if model.startswith(UNTRAINED) else name
        score = together(data, group)
        lines.append(
            f"| {name} | {examples} | {written(score.mean)} ({written(score.low)}–{written(score.high)}) | "
            f"{len(score.values)}: {written(min(score.values))} to {written(max(score.values))} | "
            f"{group[0]['weights_mb']:.0f} |"
        )
    full_runs = [run for run in runs if run["examples"] == len(data.train)]
    beside = {"majority baseline": full_runs[0]["always_alike"]} if full_runs[0]["always_alike"] is not None else {}
    for run in full_runs:
        of = f" ({run['model']})" if "model" in run["trivial_is"] else ""
        beside[run["trivial_is"] + of] = run["trivial"]
    return "\n".join([*lines, *(f"| {name} | | {written(value)} | | |" for name, value in beside.items())])


def _percent(value: float) -> str:
    return f"{100 * value:.0f}"


def _hundredths(value: float) -> str:
    return f"{value:.2f}"


def _by_model(runs: Iterable[Run]) -> dict[tuple[str, int], list[Run]]:
    """The runs by model and number of examples: the seeds of each together."""
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        groups.setdefault((run["model"], run["examples"]), []).append(run)
    return groups


def main() -> None:
    parser = arguments(__doc__, model=DEFAULT_MODEL)
    parser.add_argument(
        "--set", dest="name", choices=list(SETS), help="the set (default: sentiment; in the race all sets)"
    )
    parser.add_argument("--epochs", type=int, default=3, help="epochs that are timed on each side")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each model in the race")
    parser.add_argument("--racer", dest="racers", action="append", help="a model of the race; may be given again")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--markdown", action="store_true", help="print the race as tables")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--peak", choices=("trainer", "ours"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    engine = Engine("cpu")
    if chosen.race:
        for name in [chosen.name] if chosen.name else SETS:
            data = SETS[name].build()
            wanted = candidates(data, chosen.racers or racers(), chosen.seeds, few=chosen.few)
            runs = race(data, wanted, partial(trained, engine), chosen.log, quiet=chosen.markdown)
            if chosen.markdown:
                print(markdown(data, runs), end="\n\n", flush=True)
            if chosen.write:
                groups = _by_model(run for run in runs if run["examples"] == len(data.train))
                write(data, {model: together(data, group) for (model, _), group in groups.items()})
        return
    name = chosen.name or "sentiment"
    if SETS[name].kind != "classification":
        parser.error("beside the Trainer, only sets with one label a text are trained; --race takes any")
    engine.info(chosen.model)
    if chosen.peak:
        # From the second epoch on, ours has a copy of the best one beside it.
        data, side = SETS[name].build(), trainers if chosen.peak == "trainer" else partial(ours, epochs=2)
        print(json.dumps({"bytes": peak(lambda: side(engine, chosen.model, data))}))
    else:
        compare(engine, chosen.model, name, chosen.epochs)


if __name__ == "__main__":
    main()
