"""The loop: from a loaded model and a task to a tuned model, with an event for every step.

Of all epochs the one with the best score on the development split is kept, and tested. Every step's data depend on the
seed and the step alone, and a stopped run keeps its state: one that goes on ends where an uninterrupted one ends.
Between two events others can have their turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from analysis.sentence_vectors import pair_cosines, usual_vector
from model_zoo import tuned
from model_zoo.errors import InvalidInput
from model_zoo.loading import LoadedModel
from model_zoo.running import batches as padded_batches
from model_zoo.running import hidden_states
from model_zoo.types import Encoding
from training.finetuning import lora, scores, stopped
from training.finetuning.baselines import Baseline, candidates, strongest
from training.finetuning.data import Data, Split, Tagged, check
from training.finetuning.folder import save
from training.finetuning.network import CachedEncoder, SmallVocabulary, fresh, seconds_a_text, set_learning
from training.finetuning.results import (
    Evaluated,
    Event,
    FirstVectors,
    Heartbeat,
    Prediction,
    Started,
    Stepped,
    Tuned,
    best_of,
)
from training.finetuning.schedule import Phase, batches, n_batches, rate_after, rate_at
from training.finetuning.settings import MOST_EPOCHS, TOKENS_A_PASS, Settings, recommended_rate
from training.finetuning.tasks import TASKS
from training.finetuning.tasks.base import IGNORED, Batch
from training.objective import divergence
from training.trainer import parameter_groups

GRADIENT_NORM = 1.0
"""Gradients are scaled down to this norm, as in Devlin et al. 2019."""

_PICTURED = 200
_TIMED = 9
_ENCODED_AT_ONCE = 200
_DIVERGED = 5.0  # times the loss at the start, and above it by this much
_EVALUATE_AFTER = 0.02  # of a budget in seconds: an LSTM has many short epochs


Soft = tuple[tuple[float, ...], ...]
"""A teacher's scores (items, labels)."""


def tune(
    loaded: LoadedModel, model: str, data: Data, settings: Settings, id: str, soft: Soft | None, keep: bool
) -> Generator[Event, None, None]:
    """See ``finetune.Finetune``, whose fields these are."""
    run = _Run(loaded, model, data, settings, id, soft, keep)
    try:
        yield from run.events()
    except GeneratorExit:
        stopped.save(id, run.state())
        raise


class _Run(stopped.Progress):
    """One training, from the first event to the outcome."""

    def __init__(
        self, loaded: LoadedModel, model: str, data: Data, settings: Settings, id: str, soft: Soft | None, keep: bool
    ) -> None:
        super().__init__()
        self.loaded, self.model, self.settings = loaded, model, settings
        self.id, self.soft, self.keep = id, soft, keep
        self.data: Data = check(data.first(settings.examples, settings.seed))
        self.task = TASKS[self.data.kind]
        self.pads = loaded.pads_for(self.data.kind)
        self.network = fresh(loaded, self.data, self.settings)
        # LoRA's are added to the others in the end.
        self.n_parameters = sum(w.numel() for name, w in self.network.named_parameters() if not lora.is_own(name))
        self.encodings: dict[Split, list[Encoding]] = {}
        self.vocabulary: SmallVocabulary | None = None
        self.cached: CachedEncoder | None = None
        self.features: dict[Split, list[torch.Tensor]] = {}
        self.optimizer: torch.optim.Optimizer | None = None
        self.learning: dict[str, nn.Parameter] = {}
        self.kept: dict[str, torch.Tensor] = {}  # of what learns, after the best epoch so far
        settings, info = self.settings, loaded.info
        self.shape = info.width, info.n_heads > 0
        rate = settings.rate_for(*self.shape)
        self.phases = [
            Phase("head", settings.head_first, recommended_rate("head", *self.shape)),
            Phase(settings.learns, settings.epochs - settings.head_first, rate),
        ]
        if settings.learns == "head":
            self.phases = [Phase("head", settings.epochs, rate)]
        if settings.seconds is not None:
            last = self.phases[-1]
            self.phases[-1] = Phase(last.learns, max(last.epochs, MOST_EPOCHS), last.rate)
        self.phases = [phase for phase in self.phases if phase.epochs]

    # What happens, in order.

    def events(self) -> Iterator[Event]:
        yield from self._encode()
        resumed = stopped.load(self.id)
        if resumed is not None:
            self.phase, self.step_of_phase = resumed.phase, resumed.step_of_phase
        n_learning = self._enter(self.phase)
        if resumed is not None:
            self._restore(resumed)
        so_far = tuple(self.steps), tuple(self.evaluated), tuple(self.first_vectors)
        yield Started(self.n_parameters, n_learning, self._n_steps, *so_far)
        if self.cached is not None:
            yield from self._remember()
        if not self.evaluated:
            yield from self._evaluate()
        yield from self._epochs()
        while self.phase < len(self.phases) - 1:
            self.phase, self.step_of_phase = self.phase + 1, 0
            n_learning = self._enter(self.phase)
            yield from self._epochs()
        yield from self._finish(n_learning)

    def _encode(self) -> Iterator[Event]:
        for split in ("train", "dev", "test"):
            items = self.data.split(split)
            self.encodings[split] = encodings = []
            for place, item in enumerate(items):
                encodings.append(self.loaded.encode(item.text, item.pair, self.settings.max_tokens))
                if place % _ENCODED_AT_ONCE == _ENCODED_AT_ONCE - 1:
                    yield Heartbeat()

    @property
    def _lengths(self) -> list[int]:
        return [len(encoding) for encoding in self.encodings["train"]]

    @property
    def _steps_an_epoch(self) -> int:
        return n_batches(self._lengths, self.settings.batch, pads=self.pads)

    @property
    def _n_steps(self) -> int:
        if self.settings.seconds is not None:
            return 0
        return self._steps_an_epoch * sum(phase.epochs for phase in self.phases)

    def _enter(self, number: int) -> int:
        """Begin a phase: choose what learns. Returns how many numbers that is."""
        phase = self.phases[number]
        self._leave()
        n_learning = set_learning(self.network, phase.learns, self.settings.layers)
        if self.network.get_input_embeddings().weight.requires_grad:
            ids = {number for encodings in self.encodings.values() for encoding in encodings for number in encoding.ids}
            self.vocabulary = SmallVocabulary(self.network, ids)
        self.learning = {name: weight for name, weight in self.network.named_parameters() if weight.requires_grad}
        if phase.learns == "head":
            self._stand_in()
        if self.kept:  # so far only the head's: the others were as they are now
            self._keep(self.learning.keys() - self.kept.keys())
        groups = parameter_groups([self.network], self.settings.weight_decay)
        self.optimizer = torch.optim.AdamW(groups, lr=phase.rate, fused=True)
        return n_learning

    def _leave(self) -> None:
        """Undo what a phase put into the network for speed."""
        if self.vocabulary is not None:
            self.vocabulary.restore(self.decay)
        if self.cached is not None:
            setattr(self.network, self.network.base_model_prefix, self.cached.encoder)
        self.vocabulary, self.cached, self.features, self.learning = None, None, {}, {}

    def _stand_in(self) -> None:
        """Where nothing below the head changes, its input is computed once."""
        self.cached = CachedEncoder(self.network.base_model)
        setattr(self.network, self.network.base_model_prefix, self.cached)

    def _remember(self) -> Iterator[Event]:
        assert self.cached is not None
        encoder = self.cached.encoder.eval()
        for split, encodings in self.encodings.items():
            states: dict[int, torch.Tensor] = {}
            for batch in padded_batches(self.loaded, encodings, self.data.kind):
                inputs = self.loaded.inputs([encodings[place] for place in batch])
                began = time.perf_counter()
                with torch.no_grad():
                    hidden = encoder(**inputs).last_hidden_state
                states |= {place: hidden[row, : len(encodings[place])].clone() for row, place in enumerate(batch)}
                self.seconds += (time.perf_counter() - began) * (split == "train")
                yield Heartbeat()
            self.features[split] = [states[place] for place in range(len(encodings))]

    def _epochs(self) -> Iterator[Event]:
        """The epochs of a phase, from where it stands."""
        if self.cached is not None and not self.features:
            yield from self._remember()
        phase, pads = self.phases[self.phase], self.pads
        an_epoch = self._steps_an_epoch
        before = sum(earlier.epochs for earlier in self.phases[: self.phase])
        while True:
            epoch, place = divmod(self.step_of_phase, an_epoch)
            over = epoch == phase.epochs or self._spent()
            if self.evaluated[-1].step < self.step and (over or (place == 0 and self._worth_evaluating())):
                yield from self._evaluate()
            if over or self._has_stalled(before):
                return
            order = batches(self._lengths, self.settings.batch, self.settings.seed, before + epoch, pads=pads)
            yield from self._step(order[place], before + (self.step_of_phase + 1) / an_epoch)

    def _spent(self) -> bool:
        return self.settings.seconds is not None and self.seconds >= self.settings.seconds

    def _has_stalled(self, before: int) -> bool:
        """Whether the score has not risen for as many epochs as are waited for, in the last phase, which has ``before``
        epochs before it.
        """
        patience, trained = self.settings.patience, [evaluated for evaluated in self.evaluated if evaluated.step]
        if patience is None or not trained or self.phase < len(self.phases) - 1:
            return False
        highest = max(trained, key=lambda evaluated: evaluated.score)
        return trained[-1].epoch - max(before, highest.epoch) >= patience

    def _worth_evaluating(self) -> bool:
        if self.settings.seconds is None:
            return True
        last = next((step.seconds for step in self.steps if step.step == self.evaluated[-1].step), 0.0)
        return self.seconds - last >= _EVALUATE_AFTER * self.settings.seconds

    # One step, and evaluating.

    def _step(self, places: Sequence[int], epoch: float) -> Iterator[Event]:
        assert self.optimizer is not None
        phase, settings = self.phases[self.phase], self.settings
        if settings.seconds is None:
            share = rate_at(self.step_of_phase, self._steps_an_epoch * phase.epochs, settings.warmup)
        else:
            share = rate_after(min(1.0, self.seconds / settings.seconds), settings.warmup)
        rate = phase.rate * share
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        passes = [(some, self._targets("train", some)) for some in self._passes(places)]
        counts = [int((targets != IGNORED).sum()) for _, targets in passes]
        total = 0.0
        self.network.train()
        for number, ((some, targets), n) in enumerate(zip(passes, counts, strict=True)):
            began = time.perf_counter()
            # Seeded for each pass, so that dropout is the same whoever else draws numbers meanwhile.
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(settings.seed * 1_000_003 + self.step * 1_009 + number)
                loss = self._loss(self._output("train", some), targets, some) * (n / max(1, sum(counts)))
                loss.backward()
            total += float(loss.detach())
            self.seconds += time.perf_counter() - began
            if number < len(passes) - 1:
                yield Heartbeat()
        if self.first_loss is None:
            self.first_loss = total
        if not math.isfinite(total) or total > _DIVERGED * (self.first_loss + 1):
            raise InvalidInput(
                f"The training diverged at step {self.step + 1}: its loss rose to {total:.3g}. Choose a smaller "
                f"learning rate than {phase.rate:g}, such as {recommended_rate(phase.learns, *self.shape):g}."
            )
        began = time.perf_counter()
        nn.utils.clip_grad_norm_([w for w in self.network.parameters() if w.requires_grad], GRADIENT_NORM)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.vocabulary is not None:
            self.decay *= 1 - rate * settings.weight_decay
        self.seconds += time.perf_counter() - began
        self.step += 1
        self.step_of_phase += 1
        self.steps.append(Stepped(self.step, epoch, total, rate, self.seconds))
        yield self.steps[-1]

    def _passes(self, places: Sequence[int]) -> Iterator[Sequence[int]]:
        """The items of a batch in as many passes as are asked for, and no pass too long for those who wait."""
        longest = max(len(self.encodings["train"][place]) for place in places)
        fitting = max(1, TOKENS_A_PASS // longest)
        size = min(fitting, math.ceil(len(places) / self.settings.accumulate))
        for start in range(0, len(places), size):
            yield places[start : start + size]

    def _targets(self, split: Split, places: Sequence[int]) -> torch.Tensor:
        items = [self.data.split(split)[place] for place in places]
        return self.task.targets(self._batch(split, places), items).to(self.network.device)

    def _batch(self, split: Split, places: Sequence[int]) -> Batch:
        items = [self.data.split(split)[place] for place in places]
        words = [item.spans if isinstance(item, Tagged) else None for item in items]
        return Batch([self.encodings[split][place] for place in places], self.data.labels, words)

    def _output(self, split: Split, places: Sequence[int]) -> Any:
        inputs = self.loaded.inputs([self.encodings[split][place] for place in places])
        if self.vocabulary is not None:
            inputs["input_ids"] = self.vocabulary.places(inputs["input_ids"])
        if self.cached is not None:
            self.cached.states = nn.utils.rnn.pad_sequence(
                [self.features[split][place] for place in places], batch_first=True
            )
        output = self.network(**inputs)
        return self.task.without_padding(output, inputs.get("attention_mask"))

    def _loss(self, output: Any, targets: torch.Tensor, places: Sequence[int]) -> torch.Tensor:
        loss = self.task.loss(output, targets)
        if self.soft is None:
            return loss
        teacher = torch.tensor([self.soft[place] for place in places], device=self.network.device)
        soft = divergence(self.task.soft_scores(output), teacher, self.settings.temperature)
        return self.settings.alpha * loss + (1 - self.settings.alpha) * soft

    def _evaluate(self) -> Iterator[Event]:
        """Loss and score on the development split, and where its texts stand; what is best so far is kept."""
        loss, predictions, vectors = yield from self._answers("dev")
        score = scores.value(self.data.measure, self.data.dev, predictions)
        epoch = self.steps[-1].epoch if self.steps else 0.0
        self.evaluated.append(Evaluated(self.step, epoch, loss, score))
        if best_of(self.evaluated) is self.evaluated[-1]:
            self._keep(self.learning)
        pictured = epoch == int(epoch) and (self.settings.seconds is None or len(self.first_vectors) < MOST_EPOCHS)
        if pictured:
            self.first_vectors.append(FirstVectors(int(epoch), vectors))
        yield self.evaluated[-1]  # only now: all of it, or nothing, is known to one that is stopped
        if pictured:
            yield self.first_vectors[-1]

    def _keep(self, names: Iterable[str]) -> None:
        """Copy weights that learn as they are now, in the place of earlier copies."""
        for name in names:
            weight = self.learning[name].detach()
            if name in self.kept:
                self.kept[name].copy_(weight)
            else:
                self.kept[name] = weight.clone()
        self.kept_decay = self.decay

    def _take_best(self) -> None:
        """Put what was kept back into the network."""
        for name, weight in self.kept.items():
            self.learning[name].data.copy_(weight)
        self.decay = self.kept_decay

    def _answers(self, split: Split) -> Generator[Event, None, tuple[float, list[Prediction], np.ndarray]]:
        """Mean loss and the predictions for a split, in its order, and the last layer's first vectors."""
        encodings = self.encodings[split]
        answers: dict[int, Prediction] = {}
        vectors: dict[int, np.ndarray] = {}
        total, counted = 0.0, 0
        firsts: list[torch.Tensor] = []
        self.network.eval()
        hook = self.network.base_model.register_forward_hook(
            lambda _module, _inputs, output: firsts.append(output.last_hidden_state[:, 0])
        )
        try:
            for batch in padded_batches(self.loaded, encodings, self.data.kind):
                with torch.no_grad():
                    output = self._output(split, batch)
                    targets = self._targets(split, batch)
                    n = int((targets != IGNORED).sum())
                    total += float(self.task.loss(output, targets)) * n if n else 0.0
                counted += n
                answers |= dict(zip(batch, self.task.read(output, self._batch(split, batch)), strict=True))
                first = firsts.pop().float().cpu().numpy()
                vectors |= {place: first[row] for row, place in enumerate(batch) if place < _PICTURED}
                yield Heartbeat()
        finally:
            hook.remove()
        kept = np.stack([vectors[place] for place in sorted(vectors)])
        return total / max(1, counted), [answers[place] for place in range(len(encodings))], kept

    # The end.

    def _finish(self, n_learning: int) -> Iterator[Event]:
        self._take_best()
        _loss, predictions, _vectors = yield from self._answers("test")
        baseline = yield from self._strongest_baseline()
        evaluation = scores.evaluate(self.data, predictions, beside=baseline.test)
        yield Heartbeat()
        self._leave()  # from here on it does not stop
        self.optimizer, self.kept = None, {}
        if self.settings.learns == "lora":
            lora.merge(self.network)
        texts = [self.loaded.inputs([encoding]) for encoding in self.encodings["test"][:_TIMED]]
        latency = seconds_a_text(self.network, texts)
        outcome = Tuned(
            id=self.id,
            base=self.model,
            data=self.data,
            settings=self.settings,
            scores=evaluation,
            predictions=tuple(predictions),
            rate=self.phases[-1].rate,
            n_parameters=self.n_parameters,
            n_learning=n_learning,
            n_bytes=4 * self.n_parameters,
            latency=latency,
            seconds=self.seconds,
            steps=tuple(self.steps),
            evaluated=tuple(self.evaluated),
            first_vectors=tuple(self.first_vectors),
            strongest_baseline=baseline.name,
        )
        tuned.forget(self.id)  # the state of an earlier stop
        if self.keep:
            with tuned.writing(self.id, 4 * self.n_parameters) as folder:
                save(self.network, self.loaded, outcome, folder)
        yield outcome

    def _strongest_baseline(self) -> Generator[Event, None, Baseline]:
        """The strongest of the baselines that need no tuning."""
        cosines: dict[Split, list[float]] | None = None
        if self.data.kind == "similarity":
            cosines = {"dev": (yield from self._cosines("dev")), "test": (yield from self._cosines("test"))}
        baselines = []
        for baseline in candidates(self.data, cosines):
            baselines.append(baseline)
            yield Heartbeat()
        return strongest(self.data, baselines)

    def _cosines(self, split: Split) -> Generator[Event, None, list[float]]:
        """Of the two texts of each item: their usual vectors in the last layer of the model as it was."""
        items = self.data.split(split)
        texts = [(text, None) for item in items for text in (item.text, item.pair or "")]
        vectors: dict[int, np.ndarray] = {}
        for place, states in hidden_states(self.loaded, texts, [self.loaded.info.n_layers]):
            of_text = usual_vector(states, self.loaded.info.pooling)
            vectors[place] = np.zeros(states.states.shape[-1]) if of_text is None else of_text[0]
            yield Heartbeat()
        first, second = (np.stack([vectors[2 * place + side] for place in range(len(items))]) for side in (0, 1))
        return pair_cosines(first, second).tolist()

    # Stopping and going on.

    def state(self) -> stopped.State | None:
        """What is needed to go on; None before the first step."""
        if self.optimizer is None or not self.steps:
            return None
        weights: dict[str, torch.Tensor] = {**self.learning}
        return stopped.State(
            **stopped.progress(self), weights=weights, kept=self.kept, moments=stopped.moments(self.optimizer)
        )

    def _restore(self, state: stopped.State) -> None:
        assert self.optimizer is not None
        for name, value in stopped.progress(state).items():
            setattr(self, name, value)
        for name, weight in state.weights.items():
            self.learning[name].data.copy_(weight)
        self.kept = {name: weight.to(self.network.device) for name, weight in state.kept.items()}
        stopped.set_moments(self.optimizer, state.moments)
