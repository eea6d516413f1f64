"""Fine-tuning beside transformers' Trainer: seconds an epoch and memory; and the race of the embedded models.

    python -m benchmarks.finetune [--model ID] [--set NAME] [--epochs N]
    python -m benchmarks.finetune --race [--set NAME] [--markdown]

Prints one JSON line each. Both sides train all weights of the same network on the same items in this process, one epoch
in turns (medians after a warm-up): batch 16, AdamW, a linear schedule. The Trainer pads each batch to its longest text
and draws batches at random, its defaults; LoRA, the top layers and the head are ours alone. Memory is the peak of a
process of its own that trains one epoch, less what it took before. Needs the packages of requirements-dev.txt.

The race is that of the page, with default settings and one seed: the embedded models on all examples, and the LSTM, the
default model and its like with random weights on 200.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil
import torch
from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

from benchmarks.measure import emit
from model_zoo import DEFAULT_MODEL, Engine, tuned
from model_zoo.registry import UNTRAINED
from training.finetuning import network
from training.finetuning.data import Data, Labelled
from training.finetuning.finetune import Finetune
from training.finetuning.results import Begun, Stepped, Tuned
from training.finetuning.sets import SETS
from training.finetuning.settings import Learns, Settings
from ui.precomputed import EMBEDDED

FEW = 200
_LEARNS: tuple[Learns, ...] = ("all", "top", "lora", "head")


def ours(engine: Engine, model: str, data: Data, learns: Learns = "all") -> float:
    """Seconds of one epoch by the loop of the app, judging and loading left out."""
    short = replace(data, dev=data.dev[:2], test=data.test[:2])
    question = Finetune(model, short, Settings(learns=learns, epochs=1), tuned.new_id(), keep=False)
    began = ended = 0.0
    for event in engine.stream(question):
        if isinstance(event, Begun):
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
        arguments = TrainingArguments(
            output_dir=folder, num_train_epochs=1, per_device_train_batch_size=settings.batch, learning_rate=rate,
            weight_decay=settings.weight_decay, warmup_steps=settings.warmup, lr_scheduler_type="linear", report_to=[],
            save_strategy="no", logging_strategy="no", disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False,
        )  # fmt: skip
        trainer = Trainer(made, arguments, train_dataset=rows, data_collator=collate)
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
    """Both sides in turns."""
    data = SETS[name].build()
    times: dict[str, list[float]] = {"trainer": [], **{learns: [] for learns in _LEARNS}}
    for _ in range(1 + repeats):
        times["trainer"].append(trainers(engine, model, data))
        for learns in _LEARNS:
            times[learns].append(ours(engine, model, data, learns))
    medians = {side: sorted(found[1:])[len(found[1:]) // 2] for side, found in times.items()}
    peaks = {which: _peak_of_its_own(which, model, name) / 1e6 for which in ("trainer", "ours")}
    emit(
        benchmark="finetune", model=model, set=name, items=len(data.train), threads=torch.get_num_threads(),
        trainer_s=medians["trainer"], ours_s=medians["all"], ratio=medians["all"] / medians["trainer"],
        top_s=medians["top"], lora_s=medians["lora"], head_s=medians["head"], trainer_peak_mb=peaks["trainer"],
        ours_peak_mb=peaks["ours"], peak_ratio=peaks["ours"] / peaks["trainer"],
    )  # fmt: skip


def contest(engine: Engine, name: str) -> list[tuple[str, Tuned]]:
    """Every model of the race, trained one after the other."""
    data = SETS[name].build()
    few = (DEFAULT_MODEL, f"{UNTRAINED}{DEFAULT_MODEL}", "embedded/bilstm") if len(data.train) > FEW else ()
    arms = [*((model, None) for model in EMBEDDED), *((model, FEW) for model in few)]
    found = []
    for model, examples in arms:
        question = Finetune(model, data, Settings(examples=examples), tuned.new_id(), keep=False)
        *_, outcome = engine.stream(question)
        assert isinstance(outcome, Tuned)
        found.append((model, outcome))
    return found


def _row(model: str, found: Tuned) -> dict[str, Any]:
    score = found.score()
    return {
        "model": model, "examples": len(found.data.train), "score": score.measure, "value": score.value,
        "low": score.low, "high": score.high, "always_alike": score.baseline, "ms_a_text": 1000 * found.latency,
        "weights_mb": found.n_bytes / 1e6, "parameters": found.n_parameters, "rate": found.rate,
        "seconds": found.seconds,
    }  # fmt: skip


def markdown(rows: list[dict[str, Any]]) -> str:
    """The race as a table of the README."""
    lines = [
        f"| model | examples | {rows[0]['score']} (95%) | a text, ms | weights, MB | training, s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = row["model"].replace(UNTRAINED, "random weights: ")
        value, low, high = (100 * row[each] for each in ("value", "low", "high"))
        lines.append(
            f"| {name} | {row['examples']} | {value:.0f} ({low:.0f}–{high:.0f}) | {row['ms_a_text']:.1f} | "
            f"{row['weights_mb']:.0f} | {row['seconds']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--set", dest="name", default="sentiment", choices=list(SETS))
    parser.add_argument("--epochs", type=int, default=3, help="epochs that are timed on each side")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="print the race as a table")
    parser.add_argument("--peak", choices=("trainer", "ours"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.race and SETS[arguments.name].kind != "classification":
        parser.error("beside the Trainer, only sets with one label a text are trained; --race takes any")
    engine = Engine("cpu")
    engine.info(arguments.model)
    if arguments.peak:
        data, side = SETS[arguments.name].build(), trainers if arguments.peak == "trainer" else ours
        print(json.dumps({"bytes": peak(lambda: side(engine, arguments.model, data))}))
    elif arguments.race:
        rows = [_row(model, found) for model, found in contest(engine, arguments.name)]
        if arguments.markdown:
            print(markdown(rows))
        else:
            for row in rows:
                emit(benchmark="race", set=arguments.name, **row)
    else:
        compare(engine, arguments.model, arguments.name, arguments.epochs)


if __name__ == "__main__":
    main()
