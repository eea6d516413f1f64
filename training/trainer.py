"""The training loop: steps within a budget, checkpoints that survive a kill, figures on the way.

Every step's data depend on the recipe's seed and the step's number alone, so a resumed run sees what an
uninterrupted one would have seen.
"""

from __future__ import annotations

import ctypes
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import PreTrainedModel

from model_zoo.errors import BadCheckpoint, ModelZooError
from training.batches import Sampler, SpecialTokens, mask_tokens
from training.files import write_atomically
from training.objective import Batch, Objective
from training.recipes import Recipe

CHECKPOINT = "checkpoint.pt"
CHECKPOINT_SECONDS = 180.0
"""A kill loses at most this much work and one step."""

HELD_OUT_SECONDS = 600.0

PAUSE_SECONDS = 30.0
"""A step that took longer than this was paused or the machine slept; it counts as this much of the budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much to train: a number of active minutes, or of steps if ``steps`` is given."""

    minutes: float
    steps: int | None = None

    def spent(self, seconds: float, steps: int) -> float:
        """The share of the budget that is used up, in [0, 1]."""
        share = steps / self.steps if self.steps is not None else seconds / (60 * self.minutes)
        return min(1.0, share)


def learning_rate(recipe: Recipe, step: int, spent: float) -> float:
    """Linear warm-up over the first steps, times linear decay to zero at the end of the budget."""
    return recipe.learning_rate * min(1.0, (step + 1) / recipe.warmup_steps) * (1.0 - spent)


def parameter_groups(modules: list[nn.Module], weight_decay: float) -> list[dict[str, Any]]:
    """Matrices decay towards zero; biases and normalization do not."""
    parameters = [parameter for module in modules for parameter in module.parameters()]
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 pays off: on a GPU, and on a CPU with matrix tiles (AMX).

    On one without them it was measured at 0.6 of the speed of float32.
    """
    return device.type != "cpu" or bool(torch.cpu.get_capabilities().get("amx_bf16", False))


def release_free_memory() -> None:
    """Hand memory that was freed back to the system.

    Batches of different shapes leave holes in the heap of the C library, which it keeps: gigabytes after an hour.
    """
    with suppress(AttributeError, OSError):  # only glibc has the call
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C and SIGTERM into a flag, so that no step is torn; a second Ctrl-C stops at once."""
    stopping = False

    def ask(_number: int, _frame: object) -> None:
        nonlocal stopping
        if stopping:
            raise KeyboardInterrupt
        stopping = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Trainer:
    """Trains one model in one folder. ``corpus_digest`` ties its checkpoints to their corpus."""

    def __init__(
        self,
        recipe: Recipe,
        model: PreTrainedModel,
        objective: Objective,
        sampler: Sampler,
        special: SpecialTokens,
        folder: Path,
        device: torch.device,
        corpus_digest: str,
    ) -> None:
        self.recipe = recipe
        self.model = model.to(device).train()
        self.objective = objective.to(device)
        self.sampler = sampler
        self.special = special
        self.folder = folder
        self.device = device
        self.corpus_digest = corpus_digest
        self.optimizer = torch.optim.AdamW(
            parameter_groups([self.model, self.objective], recipe.weight_decay),
            lr=recipe.learning_rate,
            betas=recipe.betas,
            fused=True,
        )
        self.step = 0
        self.active_seconds = 0.0
        self.tokens = 0

    def batch(self, step: int) -> Batch:
        """The input of a step: a function of the recipe and the step's number."""
        rng = np.random.default_rng((self.recipe.seed, step))
        shares = np.asarray([shape.share for shape in self.recipe.shapes])
        shape = self.recipe.shapes[int(rng.choice(len(shares), p=shares / shares.sum()))]
        rows = self.sampler.rows(shape, max(1, self.recipe.batch_tokens // shape.length), rng)
        return Batch.of(rows, mask_tokens(rows.ids, self.special, self.recipe.mask_rate, rng), self.device)

    def train_step(self, rate: float) -> dict[str, float]:
        """One step of AdamW at this learning rate; returns the losses in nats.

        Raises ModelZooError, before the weights are touched, when the gradient is not finite.
        """
        batch = self.batch(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=multiplies_bfloat16(self.device)):
            losses = self.objective(self.model, batch, self.step)
        losses["loss"].backward()
        trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        norm = nn.utils.clip_grad_norm_(trained, self.recipe.max_gradient_norm)
        if not torch.isfinite(norm):
            raise ModelZooError(
                f"The gradient of step {self.step} is not finite: the training has diverged. Start a new run "
                f"with a lower learning rate in the recipe; the checkpoint in {self.folder} is from before."
            )
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.tokens += int(batch.attention.sum())
        return {name: value.item() for name, value in losses.items()}

    def save(self) -> None:
        """Write the checkpoint; the previous one stays until the new one is on the disk."""
        state = {
            "recipe": asdict(self.recipe),
            "corpus": self.corpus_digest,
            "model": self.model.state_dict(),
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "active_seconds": self.active_seconds,
            "tokens": self.tokens,
            "random_state": torch.get_rng_state(),
        }
        write_atomically(self.folder / CHECKPOINT, lambda handle: torch.save(state, handle))
        release_free_memory()

    def load(self) -> None:
        """Continue from the folder's checkpoint. Raises BadCheckpoint when it is not this recipe's."""
        state = read_checkpoint(self.folder)
        if differing := sorted(
            name
            for name, value in asdict(self.recipe).items()
            if name != "minutes" and state["recipe"].get(name) != value
        ):
            raise BadCheckpoint(
                f"The checkpoint in {self.folder} belongs to another recipe ({state['recipe']['name']}): "
                f"{', '.join(differing)} differ from {self.recipe.name}. Resume it with its own recipe."
            )
        if state["corpus"] != self.corpus_digest:
            raise BadCheckpoint(
                f"The checkpoint in {self.folder} was trained on another corpus file. "
                "Resume it with that file, or start a new run."
            )
        self.model.load_state_dict(state["model"])
        self.objective.load_state_dict(state["objective"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.tokens = state["step"], state["tokens"]
        self.active_seconds = state["active_seconds"]
        torch.set_rng_state(state["random_state"])

    def run(self, budget: Budget, held_out: Callable[[PreTrainedModel], str] | None = None) -> bool:
        """Train until the budget is spent; False when a signal ended it before. Saves at the end either way.

        ``held_out`` gives the figures to print every ten minutes. Raises ModelZooError when the loss is not a number or
        a checkpoint cannot be written; the last checkpoint is intact then.
        """
        last_saved = last_figures = time.monotonic()
        if not (self.folder / CHECKPOINT).exists():
            self.save()  # a full disk is found now, not in three minutes
        bar = tqdm(
            total=100.0,
            unit="%",
            bar_format="{percentage:5.1f}%|{bar:20}| {elapsed} {postfix}",
            mininterval=5,
        )
        with stop_on_signal() as asked_to_stop, bar:
            while (spent := budget.spent(self.active_seconds, self.step)) < 1.0 and not asked_to_stop():
                begun, tokens_before = time.monotonic(), self.tokens
                losses = self.train_step(learning_rate(self.recipe, self.step, spent))
                now = time.monotonic()
                self.active_seconds += min(now - begun, PAUSE_SECONDS)
                bar.n = 100.0 * budget.spent(self.active_seconds, self.step)
                rate = (self.tokens - tokens_before) / max(now - begun, 1e-9)
                parts = " ".join(f"{name} {value:.3f}" for name, value in losses.items() if name != "loss")
                bar.set_postfix_str(f"step {self.step} {parts} {rate:,.0f} tokens/s", refresh=False)
                bar.update(0)
                if held_out is not None and now - last_figures >= HELD_OUT_SECONDS:
                    self._print_figures(held_out)
                    last_figures = time.monotonic()
                if now - last_saved >= CHECKPOINT_SECONDS:
                    self.save()
                    last_saved = time.monotonic()
        self.save()
        if held_out is not None:
            self._print_figures(held_out)
        return spent >= 1.0

    def _print_figures(self, held_out: Callable[[PreTrainedModel], str]) -> None:
        figures = held_out(self.model)
        self.model.train()
        minutes = self.active_seconds / 60
        release_free_memory()
        tqdm.write(f"step {self.step}, {minutes:.1f} min, {self.tokens:,} tokens: held out {figures}")


def read_checkpoint(folder: Path) -> dict[str, Any]:
    """The last checkpoint of a run. Raises BadCheckpoint when there is none or it cannot be read."""
    file = folder / CHECKPOINT
    if not file.is_file():
        raise BadCheckpoint(f"There is no checkpoint in {folder}. Give the folder of an earlier run to --resume.")
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        raise BadCheckpoint(f"{file} cannot be read ({error}). Start a new run in another folder.") from error
    return state
