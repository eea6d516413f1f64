"""``python -m benchmarks.questions [--repeats N] [--model ID] [--only NAME ...]``: what the engine's questions cost.

Every question beside what a reader would write with transformers alone, with the same weights, in the same process and
in turns: medians after a warm-up, by an engine that remembers no answer. One JSON line per question and length; lines
with ``figure`` are the figures to reach.

- ``fill_mask``: one mask, beside transformers' pipeline. ``token_scores``: a copy with a mask per token, one by one.
- ``batches``: attention of 100 sentences and every head's matrix, beside their hidden states; these beside
  transformers, all sentences padded into one batch; and a list beside one sentence after another.
- ``heads``: every head off by itself, per head beside a plain run. ``gradients``: integrated gradients in 32 steps,
  beside 32 backward passes. ``contributions``: ALTI beside a plain run, value zeroing beside one per token.
- ``corpus``: all measures of heads on the built-in sentences beside their bare batched passes; ``index``: one layer
  of the same sentences on disk, beside the same hidden states without an index.
- ``finetune``: an epoch of all weights, of LoRA, of the top layers and of the head on the built-in sentiments, beside
  all weights by transformers' Trainer: batch 16, AdamW, a linear schedule. The Trainer pads each batch to its longest
  text and draws batches at random, its defaults. Needs the packages of requirements-dev.txt.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoTokenizer,
    DataCollatorWithPadding,
    FillMaskPipeline,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from analysis.corpus.reading import built_in
from analysis.corpus.sentences import Corpus
from benchmarks.attention import text_of
from benchmarks.measure import arguments, at_most, emit, emit_machine, interleaved, medians
from evidence.corpus import measure_heads as measure_corpus_heads
from jobs.indexing import Indexing
from model_zoo import DEFAULT_MODEL, Engine, sources, tuned
from model_zoo.heldout import written_pairs
from model_zoo.types import Change
from training.finetuning import network
from training.finetuning.data import Data, Labelled
from training.finetuning.finetune import Finetune
from training.finetuning.results import Started, Stepped
from training.finetuning.sets import SETS
from training.finetuning.settings import LEARNS, Learns, Settings

SENTENCE: Final = "The keys to the old wooden cabinet in the hall are on the [MASK] beside the door."
STEPS: Final = 32
BATCH: Final = 64
LAYER: Final = 4
EXBERT_BYTES: Final = 47e9
"""What exBERT publishes for its index of a megabyte of text: all layers, and what each head attends to."""


class Bare:
    """A model as transformers loads it, without anything of this project."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
        self.masked_lm = AutoModelForMaskedLM.from_pretrained(folder).eval()

    def run(self, texts: str | Sequence[str], **options: bool) -> Any:
        """The encoder's output for one text, or for several as one padded batch."""
        with torch.inference_mode():
            return self.encoder(**self.tokenizer(texts, padding=True, return_tensors="pt"), **options)

    def run_batches(self, texts: Sequence[str]) -> None:
        """The hidden states of many texts, in padded batches by length."""
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), BATCH):
            self.run(ordered[start : start + BATCH], output_hidden_states=True)

    def log_probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.float().log_softmax(dim=-1)

    def score_tokens(self, text: str) -> list[float]:
        """ln P of every token but the special ones at the ends, one run of the model per token."""
        ids = self.tokenizer(text)["input_ids"]
        scores = []
        with torch.inference_mode():
            for place in range(1, len(ids) - 1):
                masked = torch.tensor([[*ids[:place], self.tokenizer.mask_token_id, *ids[place + 1 :]]])
                logits = self.masked_lm(masked).logits
                scores.append(float(self.log_probabilities(logits[0, place])[ids[place]]))
        return scores

    def differentiate(self, text: str, place: int) -> None:
        """The gradient of the best answer at a masked place, as often as integrated gradients have steps."""
        ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
        ids[0, place] = self.tokenizer.mask_token_id
        embeddings = self.masked_lm.get_input_embeddings()(ids).detach()
        for _ in range(STEPS):
            vectors = embeddings.clone().requires_grad_()
            logits = self.masked_lm(inputs_embeds=vectors).logits
            torch.autograd.grad(self.log_probabilities(logits[0, place]).max(), vectors)


def built_in_sentences(n: int) -> list[str]:
    """The first sentences that come with the project, without repetitions."""
    return list(dict.fromkeys(text for pair in written_pairs() for text in (pair.first, pair.second)))[:n]


def measure_fill_mask(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    text = SENTENCE.replace("[MASK]", bare.tokenizer.mask_token)
    pipeline = FillMaskPipeline(model=bare.masked_lm, tokenizer=bare.tokenizer, top_k=10)
    theirs, ours = pipeline(text)[0], engine.fill_mask(model, text)[0].best[0]
    assert theirs["token"] == ours.id
    assert abs(theirs["score"] - ours.probability) < 1e-5
    milliseconds = medians({"ours": lambda: engine.fill_mask(model, text), "pipeline": lambda: pipeline(text)}, repeats)
    emit(question="fill_mask", **milliseconds, ratio=milliseconds["ours"] / milliseconds["pipeline"])


def measure_token_scores(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    text = text_of(64)
    ours = engine.token_scores(model, text).log_probabilities[1:-1].tolist()
    assert max(abs(a - b) for a, b in zip(ours, bare.score_tokens(text), strict=True)) < 1e-4
    tasks = {"ours": lambda: engine.token_scores(model, text), "loop": lambda: bare.score_tokens(text)}
    milliseconds = medians(tasks, max(3, repeats // 5), warm_up=1)
    emit(question="token_scores", **milliseconds, times_faster=milliseconds["loop"] / milliseconds["ours"])


def measure_batches(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    texts = built_in_sentences(100)

    def compute_all_maps() -> None:
        for run in engine.attend(model, texts):
            for layer in range(run.n_layers):
                run.layer(layer)

    tasks: dict[str, Callable[[], object]] = {
        "states": lambda: engine.hidden_states(model, texts),
        "attend": lambda: engine.attend(model, texts),
        "all_maps": compute_all_maps,
        "attend_in_turn": lambda: [engine.attend(model, text) for text in texts],
        "bare": lambda: bare.run(texts, output_hidden_states=True),
    }
    milliseconds = medians(tasks, max(3, repeats // 2))
    states = milliseconds["states"]
    emit(
        question="batches",
        texts=len(texts),
        **milliseconds,
        attend_over_states=milliseconds["attend"] / states,
        all_maps_over_states=milliseconds["all_maps"] / states,
        in_turn_over_list=milliseconds["attend_in_turn"] / milliseconds["attend"],
        states_over_bare=states / milliseconds["bare"],
    )


def measure_heads(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    info = engine.info(model)
    changes = [Change(heads=((layer, head),)) for layer in range(info.n_layers) for head in range(info.n_heads)]
    for n_tokens, target in ((16, 0.25), (128, 0.5)):
        texts = new_texts(n_tokens)

        def switch_off(texts: Iterator[str] = texts, place: int = n_tokens // 2) -> None:
            engine.intervene(model, next(texts), changes, masked=(place,), top_k=1)

        milliseconds = medians({"all_heads": switch_off, "run": partial(bare.run, next(texts))}, repeats)
        ratio = milliseconds["all_heads"] / milliseconds["run"] / len(changes)
        emit(question="heads", tokens=n_tokens, heads=len(changes), **milliseconds)
        at_most(f"a head off over a plain run, {n_tokens} tokens", ratio, target)


def measure_gradients(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    for n_tokens in (16, 128):
        text, place = text_of(n_tokens), n_tokens // 2
        tasks: dict[str, Callable[[], object]] = {
            "integrated": partial(engine.attribute, model, text, masked=(place,), steps=STEPS),
            "backward": partial(bare.differentiate, text, place),
        }
        milliseconds = medians(tasks, max(3, repeats // 5), warm_up=1)
        emit(question="gradients", tokens=n_tokens, steps=STEPS, **milliseconds)
        ratio = milliseconds["integrated"] / milliseconds["backward"]
        at_most(f"integrated gradients over backward passes, {n_tokens} tokens", ratio, 1.1)


def measure_contributions(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    for n_tokens, targets in ((16, (None, 0.35)), (128, (2.5, 0.35))):
        text = text_of(n_tokens)
        tasks: dict[str, Callable[[], object]] = {"run": partial(bare.run, text)}
        for measure in ("ALTI", "value zeroing"):
            tasks[measure] = partial(engine.contributions, model, text, measure=measure)
        milliseconds = medians(tasks, repeats)
        emit(question="contributions", tokens=n_tokens, **milliseconds)
        for measure, n_passes, target in zip(("ALTI", "value zeroing"), (1, n_tokens), targets, strict=True):
            if target is not None:
                ratio = milliseconds[measure] / milliseconds["run"] / n_passes
                at_most(f"{measure} over {n_passes} forward passes, {n_tokens} tokens", ratio, target)


def measure_corpus(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    corpus = marked_corpus()

    def measure_all() -> None:
        for _ in measure_corpus_heads(engine, model, corpus):
            pass

    milliseconds = medians(
        {"measures": measure_all, "passes": partial(bare.run_batches, corpus.texts)}, max(3, repeats // 5), 1
    )
    emit(question="corpus", sentences=len(corpus), **milliseconds)
    at_most("all measures of heads over bare passes", milliseconds["measures"] / milliseconds["passes"], 1.4)


def measure_index(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    del bare
    corpus = marked_corpus()
    n_bytes = []

    def build() -> None:
        job = Indexing(engine, model, corpus, LAYER)
        while job.running:
            job.advance()
        if job.index is None:
            raise SystemExit(job.failure)
        n_bytes.append(job.index.file.stat().st_size)
        job.forget()

    def pass_through() -> None:
        for _ in engine.iter_hidden_states(model, corpus.texts, layers=[LAYER]):
            pass

    milliseconds = medians({"index": build, "passes": pass_through}, max(3, repeats // 5), 1)
    per_megabyte = n_bytes[-1] / sum(len(text.encode()) for text in corpus.texts) * 1e6
    emit(question="index", sentences=len(corpus), disk_bytes=n_bytes[-1], **milliseconds)
    at_most("bytes of an index on disk per megabyte of text", per_megabyte, EXBERT_BYTES / 100)


def measure_finetune(engine: Engine, model: str, bare: Bare, repeats: int) -> None:
    del bare
    data = SETS["sentiment"].build()
    sides: dict[str, Callable[[int], float]] = {"trainer": lambda _: time_trainer(engine, model, data)}
    for learns in LEARNS:
        sides[learns] = partial(lambda learns, _: time_epoch(engine, model, data, learns), learns)
    seconds = interleaved(sides, max(3, repeats // 5), warm_up=1)
    emit(question="finetune", items=len(data.train), **seconds, ratio=seconds["all"] / seconds["trainer"])


def time_epoch(engine: Engine, model: str, data: Data, learns: Learns) -> float:
    """Seconds of one epoch by the loop of the app, judging and loading left out."""
    short = replace(data, dev=data.dev[:2], test=data.test[:2])
    question = Finetune(model, short, Settings(learns=learns, epochs=1), tuned.new_id(), keep=False)
    began = ended = 0.0
    for event in engine.stream(question):
        if isinstance(event, Started):
            began = time.perf_counter()
        elif isinstance(event, Stepped):
            ended = time.perf_counter()
    return ended - began


def time_trainer(engine: Engine, model: str, data: Data) -> float:
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


def marked_corpus() -> Corpus:
    """The built-in treebank, its rare words marked."""
    corpus = built_in(1000)
    corpus.find_rare()
    return corpus


def new_texts(n_tokens: int) -> Iterator[str]:
    """Texts of so many tokens of which no two follow each other, so that no run of the last text can serve the next."""
    return (text_of(n_tokens, first) for first in itertools.cycle(range(7)))


QUESTIONS: Final = {
    name.removeprefix("measure_"): function for name, function in list(globals().items()) if name.startswith("measure_")
}


def main() -> None:
    parser = arguments(__doc__, 15, DEFAULT_MODEL)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    options = parser.parse_args()
    engine = Engine("cpu", result_bytes=0)
    engine.info(options.model)
    folder = sources.find(options.model).folder
    if folder is None:
        parser.error(f"{options.model} is not on this disk; run it once in the app, or choose another model")
    bare = Bare(folder)
    emit_machine(model=options.model, threads=torch.get_num_threads())
    for name in options.only:
        QUESTIONS[name](engine, options.model, bare, options.repeats)


if __name__ == "__main__":
    main()
