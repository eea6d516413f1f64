"""What a pass of a model costs: models timed side by side in one run, on texts of growing length.

Every model is warmed up first. Then each round times every model at every length, in an order drawn anew: a slow
moment of the machine falls on all models alike. Timed is one pass of one text through what the app runs of a model,
its embeddings and layers (of an encoder-decoder, the encoder's): no tokenizing, no prediction heads.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import torch

from model_zoo.errors import ModelZooError
from model_zoo.heldout import written_pairs
from model_zoo.loading import LoadedModel
from model_zoo.types import CostEvent, CostFailure, CostSample, CostSubject, Encoding

WARM_UP = 2
"""Passes of each model at each length before the first round; the last of them tells how many rounds there is time
for."""
FEWEST_ROUNDS = 5
SECONDS = 15.0
"""What the rounds may take together, as far as the fewest rounds allow."""
SEED = 0


@dataclass(frozen=True, slots=True)
class _Pass:
    """One text of one model, ready to run."""

    model: str
    loaded: LoadedModel
    inputs: dict[str, torch.Tensor]
    n_tokens: int
    n_words: int


def measure(
    loaded: Mapping[str, LoadedModel], lengths: Sequence[int], repeats: int
) -> Generator[CostEvent, None, None]:
    """Yields a subject a model, then a sample a pass, as they are done; close the iterator to stop.

    ``lengths`` are tokens of each model's own; those beyond a model's limit are left out, and where all are, its
    limit is measured. There are at most ``repeats`` rounds, fewer where they would take longer than ``SECONDS``. A
    model that fails gets a ``CostFailure``, and the others go on.
    """
    passes: dict[tuple[str, int], _Pass] = {}
    for model, lease in loaded.items():
        try:
            made = passes_of(model, lease, lengths)
            passes |= {(model, timed_pass.n_tokens): timed_pass for timed_pass in made}
            yield subject(model, lease, made)
        except Exception as error:  # whatever a tokenizer stumbles over
            yield CostFailure(model, f"{model} could not be given the texts to measure it on: {_reason(error)}")
    order = random.Random(SEED)
    n_done, n_rounds = 0, repeats
    warm: dict[tuple[str, int], float] = {}
    for round_ in range(repeats + 1):
        if round_ == 1:
            seconds = sum(warm[key] for key in passes)  # of one round
            n_rounds = min(repeats, max(FEWEST_ROUNDS, int(SECONDS / seconds))) if seconds > 0 else repeats
        if round_ > n_rounds:
            return
        for key in _shuffle(passes, order):
            for _ in range(WARM_UP if round_ == 0 else 1):
                if key not in passes:  # it failed, or a shorter text did
                    continue
                one_pass = passes[key]
                try:
                    seconds, peak = _timed(one_pass)
                except Exception as error:  # out of memory, most likely; torch raises RuntimeError for all it meets
                    model, n_tokens = key
                    passes = {k: v for k, v in passes.items() if k[0] != model or k[1] < n_tokens}
                    yield CostFailure(model, _could_not_run(model, n_tokens, error))
                    continue
                n_done += 1
                if round_ == 0:
                    warm[key] = seconds
                yield CostSample(
                    model=one_pass.model,
                    n_tokens=one_pass.n_tokens,
                    n_words=one_pass.n_words,
                    round=round_,
                    seconds=seconds,
                    peak_bytes=peak,
                    share=min(1.0, n_done / (len(passes) * (WARM_UP + n_rounds))),
                )


def subject(model: str, loaded: LoadedModel, passes: Sequence[_Pass]) -> CostSubject:
    """What is known of a model before it is timed in these passes."""
    return CostSubject(
        model=model,
        info=loaded.info,
        n_bytes=loaded.n_bytes,
        n_threads=torch.get_num_threads(),
        pieces_per_word=_pieces_per_word(loaded),
        lengths=tuple(timed.n_tokens for timed in passes),
    )


def _shuffle(passes: Mapping[tuple[str, int], _Pass], order: random.Random) -> list[tuple[str, int]]:
    """Every pass once: the lengths in random order, and of each length the models right after each other."""
    lengths = sorted({n_tokens for _, n_tokens in passes})
    order.shuffle(lengths)
    turns: list[tuple[str, int]] = []
    for length in lengths:
        models = [key for key in passes if key[1] == length]
        order.shuffle(models)
        turns.extend(models)
    return turns


def _timed(one_pass: _Pass) -> tuple[float, int | None]:
    """Seconds of one pass, and the bytes it took on a GPU beside what lay there; None where that is not known."""
    device = one_pass.loaded.model.device
    machine = torch.get_device_module(device)
    on_cuda = device.type == "cuda"
    with torch.inference_mode():
        if on_cuda:
            machine.reset_peak_memory_stats(device)
            before = machine.memory_allocated(device)
        machine.synchronize()
        begun = time.perf_counter()
        one_pass.loaded.encoder(**one_pass.inputs)
        machine.synchronize()  # a GPU is asked, and answers later
        seconds = time.perf_counter() - begun
    return seconds, machine.max_memory_allocated(device) - before if on_cuda else None


def passes_of(model: str, loaded: LoadedModel, lengths: Sequence[int]) -> list[_Pass]:
    """The same running text for every model, cut at so many tokens of its own; shortest first."""
    fitting = sorted({n for n in lengths if n <= loaded.max_tokens}) or [loaded.max_tokens]
    words = [word for pair in written_pairs() for word in f"{pair.first} {pair.second}".split()]
    passes: dict[int, _Pass] = {}
    for n in fitting:
        # A word has at least one token, so that there are always more than enough.
        encoding = loaded.encode(" ".join(itertools.islice(itertools.cycle(words), n)), None, n)
        passes[len(encoding)] = _Pass(model, loaded, loaded.inputs([encoding]), len(encoding), _n_words(encoding))
    return list(passes.values())


def _n_words(encoding: Encoding) -> int:
    return len({word for word in encoding.word_ids if word is not None})


def _pieces_per_word(loaded: LoadedModel) -> float:
    """Tokens a word, special tokens not counted, over the built-in sentences; punctuation marks count as words."""
    encodings = [loaded.encode(f"{pair.first} {pair.second}") for pair in written_pairs()]
    n_pieces = sum(special.count(False) for special in (encoding.special for encoding in encodings))
    return n_pieces / sum(_n_words(encoding) for encoding in encodings)


def _could_not_run(model: str, n_tokens: int, error: Exception) -> str:
    return (
        f"{model} could not run a text of {n_tokens} tokens, so texts of this length and longer ones were left out: "
        f"{_reason(error)} Choose a smaller model, or a machine with more memory, if memory was what it lacked."
    )


def _reason(error: Exception) -> str:
    """The first line of what a library says, as a sentence; our own messages as they are."""
    if isinstance(error, ModelZooError):
        return str(error)
    lines = str(error).strip().splitlines()
    return (lines[0][:300] if lines else type(error).__name__).rstrip(".") + "."
