"""The command line of pretraining: from arguments to a trainer, and the finished model to a folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging

from model_zoo.errors import BadCheckpoint, InvalidInput, ModelZooError
from model_zoo.float8 import save_float8
from model_zoo.loading import best_device
from model_zoo.sources import WEIGHTS
from training.batches import Sampler
from training.corpus import file_digest, tokenized
from training.evaluation_sets import EvaluationSet, corpus_set
from training.models import (
    ARCHITECTURES,
    load_complete,
    make_config,
    make_model,
    make_tokenizer,
    special_tokens,
)
from training.objective import Objective
from training.recipes import RECIPES, Recipe
from training.tallies import masked_words, next_sentences
from training.trainer import CHECKPOINT, Budget, Trainer, read_checkpoint

FIGURES_SAMPLE = 160
"""Texts and pairs of the held-out set that are looked at during training; evaluation uses all."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m look_inside_bert.training.pretrain", description="Pretrain one of the bundled models."
    )
    parser.add_argument("recipe", choices=sorted(RECIPES))
    parser.add_argument("--corpus", type=Path, metavar="FILE.jsonl.xz", help="documents to train on")
    parser.add_argument("--minutes", type=float, help="active time to train, all runs together (default: the recipe's)")
    parser.add_argument("--steps", type=int, help="train for this many steps instead of minutes")
    parser.add_argument("--out", type=Path, help="folder of a new run (default: runs/RECIPE)")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="folder of an earlier run to continue")
    parser.add_argument("--start", type=Path, metavar="DIR", help="model to continue from, with a new warm-up")
    parser.add_argument("--device", type=torch.device, default=best_device(), help="cpu, cuda or mps")
    parser.add_argument(
        "--export", type=Path, metavar="DIR", help="train nothing: write the model of --resume to this folder"
    )
    return parser


def _held_out(
    held_out: EvaluationSet, tokenizer: PreTrainedTokenizerFast, nsp: bool
) -> Callable[[PreTrainedModel], str]:
    special = special_tokens(tokenizer)

    def figures(model: PreTrainedModel) -> str:
        model.eval()
        loss, right = masked_words(model, tokenizer, special, held_out.texts)
        pairs = ""
        if nsp and held_out.pairs:
            pairs = f", {next_sentences(model, tokenizer, held_out.pairs):.1%} of pairs right"
        return f"loss {loss:.3f}, {right:.1%} of masked tokens right{pairs}"

    return figures


def make_trainer(
    recipe: Recipe, corpus: Path, folder: Path, device: torch.device, start: Path | None, resume: bool
) -> tuple[Trainer, PreTrainedTokenizerFast]:
    """Everything a run needs, from its folder's checkpoint where ``resume``. Raises ModelZooError's kinds."""
    digest = file_digest(corpus)
    if resume:
        read_checkpoint(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder / "tokenizer")
    else:
        if (folder / CHECKPOINT).exists():
            raise InvalidInput(
                f"{folder} already holds a run. Continue it with --resume {folder}, or name another --out."
            )
        tokenizer = make_tokenizer(recipe, corpus, start)
        tokenizer.save_pretrained(folder / "tokenizer")
    special = special_tokens(tokenizer)
    tokens = tokenized(corpus, tokenizer, folder.parent / "cache")
    sampler = Sampler(tokens, recipe.group_weights, special, recipe.shapes)
    architecture = ARCHITECTURES[recipe.architecture]
    teacher = None
    if recipe.distillation is not None:
        teacher = load_complete(architecture.model, WEIGHTS / recipe.distillation.teacher)
        teacher = teacher.eval().requires_grad_(False).to(device)
    if resume:
        model = architecture.model(make_config(recipe, tokenizer))
    else:
        model = make_model(recipe, tokenizer, tokens.log_unigram(len(tokenizer)), start, teacher)
    objective = Objective(
        architecture, teacher, recipe.distillation, model.config.hidden_size, model.config.num_hidden_layers
    )
    trainer = Trainer(recipe, model, objective, sampler, special, folder, device, digest)
    if resume:
        trainer.load()
    return trainer, tokenizer


def export(recipe: Recipe, run: Path, target: Path) -> None:
    """Write the model of a run's last checkpoint, compressed, with its tokenizer, to ``target``.

    Raises BadCheckpoint where there is none or it is of another recipe.
    """
    state = read_checkpoint(run)
    if state["recipe"]["name"] != recipe.name:
        raise BadCheckpoint(f"The run in {run} is of the recipe {state['recipe']['name']}, not {recipe.name}.")
    tokenizer = AutoTokenizer.from_pretrained(run / "tokenizer")
    model = ARCHITECTURES[recipe.architecture].model(make_config(recipe, tokenizer))
    model.load_state_dict(state["model"])
    save_float8(model, target)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        content = json.loads((run / "tokenizer" / file).read_text(encoding="utf-8"))
        compact = json.dumps(content, ensure_ascii=False, separators=(",", ":"))  # much of it is indentation
        (target / file).write_text(compact, encoding="utf-8")
    minutes = state["active_seconds"] / 60
    print(f"{target}: step {state['step']}, {minutes:.1f} minutes, {state['tokens']:,} tokens.")


def _train(options: argparse.Namespace, recipe: Recipe) -> int:
    if options.corpus is None:
        raise InvalidInput("Training needs a corpus. Give the path of a .jsonl.xz file with --corpus.")
    if options.resume is not None and options.start is not None:
        raise InvalidInput("--resume continues a run, --start begins one. Give one of the two.")
    budget = Budget(minutes=options.minutes or recipe.minutes, steps=options.steps)
    if budget.minutes <= 0 or (budget.steps is not None and budget.steps <= 0):
        raise InvalidInput("The time to train must be positive. Give --minutes or --steps above 0.")
    folder = options.resume or options.out or Path("runs") / recipe.name
    trainer, tokenizer = make_trainer(
        recipe, options.corpus, folder, options.device, options.start, options.resume is not None
    )
    sample = corpus_set(options.corpus).sample(FIGURES_SAMPLE)
    figures = _held_out(sample, tokenizer, trainer.objective.architecture.next_sentence is not None)
    print(f"{recipe.name}: step {trainer.step}, held out {figures(trainer.model)}", flush=True)
    trainer.model.train()
    if not trainer.run(budget, figures):
        print(f"Stopped at step {trainer.step}; saved. Continue with --resume {folder}.", file=sys.stderr)
        return 130
    export(recipe, folder, folder / "model")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when done, 2 when something could not be used, 130 when stopped by a signal."""
    options = _parser().parse_args(arguments)
    recipe = RECIPES[options.recipe]
    logging.set_verbosity_error()  # the bar and the figures are the output
    logging.disable_progress_bar()
    try:
        if options.export is None:
            return _train(options, recipe)
        if options.resume is None:
            raise InvalidInput("--export writes the model of an earlier run. Name its folder with --resume.")
        export(recipe, options.resume, options.export)
    except ModelZooError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped at once; the last checkpoint is intact.", file=sys.stderr)
        return 130
    return 0
