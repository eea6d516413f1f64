"""What models cost, from timed passes: medians and quartiles by length of text, growth, speed, quality in a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from model_zoo.types import CostSample, CostSubject, Quality, Shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(Shows):
    """The passes of one model over a text of ``n_tokens`` tokens (``n_words`` words): seconds of the median pass.

    Half of the ``n`` passes took between ``low`` and ``high`` seconds (the quartiles). ``peak_bytes`` is the median
    of what a pass took on a GPU, None elsewhere.
    """

    model: str
    n_tokens: int
    n_words: int
    n: int
    median: float
    low: float
    high: float
    peak_bytes: int | None

    @property
    def tokens_per_second(self) -> float:
        return self.n_tokens / self.median

    @property
    def words_per_second(self) -> float:
        """Compares models of different vocabularies, which the number of tokens does not."""
        return self.n_words / self.median


def latencies(samples: Iterable[CostSample]) -> dict[str, tuple[Latency, ...]]:
    """Sorts samples by model, in the order they first appear, and by length, shortest first; without warm-up passes."""
    groups: dict[str, dict[int, list[CostSample]]] = {}
    for sample in samples:
        if sample.round > 0:
            groups.setdefault(sample.model, {}).setdefault(sample.n_tokens, []).append(sample)
    return {
        model: tuple(_latency(by_length[n_tokens]) for n_tokens in sorted(by_length))
        for model, by_length in groups.items()
    }


def _latency(samples: Sequence[CostSample]) -> Latency:
    low, median, high = np.quantile([sample.seconds for sample in samples], [0.25, 0.5, 0.75])
    peaks = [sample.peak_bytes for sample in samples if sample.peak_bytes is not None]
    return Latency(
        model=samples[0].model,
        n_tokens=samples[0].n_tokens,
        n_words=samples[0].n_words,
        n=len(samples),
        median=float(median),
        low=float(low),
        high=float(high),
        peak_bytes=int(np.median(peaks)) if peaks else None,
    )


def spread(curves: Iterable[Sequence[Latency]]) -> float:
    """How far the middle half of the passes reaches, as a share of the median: the median over models and lengths.

    Raises ValueError where nothing was measured.
    """
    shares = [(latency.high - latency.low) / latency.median for curve in curves for latency in curve]
    if not shares:
        raise ValueError("there is no spread: no model has a length that was measured")
    return float(np.median(shares))


def doubling(curve: Sequence[Latency]) -> float | None:
    """How many times as long a text twice as long takes, between the two longest: 2 is linear growth, 4 quadratic.

    None for fewer than two lengths.
    """
    if len(curve) < 2:
        return None
    shorter, longer = curve[-2:]
    exponent = math.log(longer.median / shorter.median) / math.log(longer.n_tokens / shorter.n_tokens)
    return float(2**exponent)


@dataclass(frozen=True, slots=True)
class ModelCost(Shows):
    """All that was measured of one model; ``curve`` and ``quality`` as far as there was time."""

    subject: CostSubject
    curve: tuple[Latency, ...] = field(repr=False)
    quality: Quality | None

    def at(self, n_tokens: int) -> Latency | None:
        """What was measured at this length; None where nothing was."""
        return next((latency for latency in self.curve if latency.n_tokens == n_tokens), None)

    def to_frame(self) -> pd.DataFrame:
        """One row a length, as ``frame``."""
        return frame([self])


def frame(costs: Sequence[ModelCost]) -> pd.DataFrame:
    """One row per model and length, with what the model is and how good it is in each row; times in milliseconds."""
    return pd.DataFrame([_facts(cost) | _times(latency) for cost in costs for latency in cost.curve])


def _facts(cost: ModelCost) -> dict[str, object]:
    subject, quality = cost.subject, cost.quality or Quality(n_total=0)
    return {
        "model": subject.model,
        "revision": subject.info.revision,
        "device": subject.info.device,
        "numbers": subject.info.dtype,
        "threads": subject.n_threads,
        "parameters": subject.info.parameters,
        "weights_bytes": subject.n_bytes,
        "pieces_per_word": subject.pieces_per_word,
        "time_factor_per_doubling": doubling(cost.curve),
        "mlm_accuracy": quality.mlm_accuracy,
        "mlm_loss": quality.mlm_loss,
        "masked_tokens": quality.n_masked,
        "replaced_accuracy": quality.replaced_accuracy,
        "replaced_tokens": quality.n_replaced,
        "kept_accuracy": quality.kept_accuracy,
        "kept_tokens": quality.n_kept,
        "nsp_accuracy": quality.nsp_accuracy,
        "pairs": quality.n_pairs,
    }


def _times(latency: Latency) -> dict[str, object]:
    return {
        "tokens": latency.n_tokens,
        "words": latency.n_words,
        "passes": latency.n,
        "median_ms": 1000 * latency.median,
        "quartile_1_ms": 1000 * latency.low,
        "quartile_3_ms": 1000 * latency.high,
        "tokens_per_second": latency.tokens_per_second,
        "words_per_second": latency.words_per_second,
        "peak_bytes": latency.peak_bytes,
    }
