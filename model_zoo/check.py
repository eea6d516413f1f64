"""Whether published models do what transformers does: ``python -m model_zoo.check [ID ... | --listed]``.

Each model is downloaded if it is not here (into the hub's cache, see HF_HOME), loaded, and held against transformers
alone, in float32 on the CPU: attention and hidden states of a text and of a pair, filled masks, next tokens, next
sentences. Prints one JSON object a model: what it is (model, revision, converted: from a pickle), whether it opens, the
largest differences (attention, states, fill_mask, next_token, next_sentence; null where the model has no such thing),
seconds, and what failed, in a sentence, or null. Ends with 1 if anything failed. An id is one of the registry, of the
hub, or a folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite

import numpy as np
from propcache.api import cached_property

from model_zoo import registry, sources
from model_zoo.by_transformers import Plain
from model_zoo.engine import Engine
from model_zoo.errors import InvalidInput, ModelZooError
from model_zoo.tokenizer import infer_missing_settings
from model_zoo.types import STACKS, AttentionRun, FloatArray, MaskPrediction, ModelInfo, SentenceScore

TEXT = "The cat sat on the mat because it was tired, and the dog was waiting."
TEXT_PAIR = "She walked home."
MASKED = "The cat {mask} on the {mask} because it was tired."


class Unlike(InvalidInput):
    """The engine's answer and that of transformers cannot be compared number by number."""


@dataclass
class Report:
    """What one model came to, a line of the output."""

    model: str
    revision: str | None = None
    opens: bool = False
    converted: bool | None = None
    attention: float | None = None
    states: float | None = None
    fill_mask: float | None = None
    next_token: float | None = None
    next_sentence: float | None = None
    seconds: float = 0.0
    failed: str | None = None


def tolerance(n_layers: int) -> float:
    """How much attention and probabilities may differ: rounding of float32 adds up from layer to layer."""
    return 4e-6 * max(1, n_layers)


STATES_TOLERANCE = 1e-4


def attention_difference(run: AttentionRun, expected: Sequence[FloatArray]) -> float:
    """The largest between a run's weights and those of transformers, (heads, queries, keys) a layer."""
    if run.n_layers != len(expected):
        raise Unlike(f"The engine shows attention of {run.n_layers} layers, transformers of {len(expected)}.")
    return max(_largest(run.layer(layer), maps, "attention") for layer, maps in enumerate(expected))


def states_difference(states: FloatArray, expected: FloatArray) -> float:
    """The largest between hidden states (layers + 1, n, width), as a share of the largest number in them if that is
    more than 1. Raises Unlike if their shapes differ.
    """
    return _largest(states, expected, "hidden states") / max(1.0, float(np.abs(expected).max()))


def masks_difference(predictions: Sequence[MaskPrediction], expected: Sequence[Sequence[tuple[int, float]]]) -> float:
    """The largest between the probabilities of a token, which is among the first of one or of both. What only one of
    them has there should be as probable as the other's last, and the order of equals is nobody's mistake.
    """
    if len(predictions) != len(expected):
        raise Unlike(f"The engine fills {len(predictions)} masks, transformers {len(expected)}.")
    largest = 0.0
    for answer, pairs in zip(predictions, expected, strict=True):
        ours, theirs = {best.id: best.probability for best in answer.best}, dict(pairs)
        for token in ours.keys() | theirs.keys():
            ours_at, other = (known.get(token, min(known.values())) for known in (ours, theirs))
            largest = max(largest, abs(ours_at - other))
    return largest


def sentences_difference(score: SentenceScore, expected: FloatArray) -> float:
    """The largest between the logits, (2,). Raises Unlike if there are not two."""
    return _largest(np.array(score.logits), expected, "sentence scores")


def _largest(actual: FloatArray, expected: FloatArray, noun: str) -> float:
    if actual.shape != expected.shape:
        raise Unlike(f"The engine’s {noun} are of shape {actual.shape}, transformers’ of {expected.shape}.")
    difference = float(np.abs(actual - expected).max(initial=0.0))
    return float("inf") if np.isnan(difference) else difference


def check(model: str) -> Report:
    """Open a model and compare it. What fails is told, and the rest is compared all the same."""
    begun = time.perf_counter()
    report = Report(model)
    failures: list[str] = []
    with closing(Engine("cpu", dtype="float32")) as engine:
        try:
            info = engine.info(model)
            report.revision, report.converted, report.opens = info.revision, info.converted, True
            plain = plainly(info)
        except Exception as error:
            failures.append(_sentence(error))
        else:
            failures += _otherwise_listed(info)
            failures += _compare(report, SideBySide(engine, info, plain))
    report.seconds = round(time.perf_counter() - begun, 2)
    report.failed = " ".join(failures) or None
    return report


def plainly(info: ModelInfo) -> Plain:
    """A model that has been opened, as transformers alone opens it. Raises as ``sources.find`` does."""
    source = sources.find(info.id)
    if source.folder is None or source.untrained:
        raise InvalidInput(f"“{info.id}” has no weights to compare. Name the model itself.")
    elsewhere = any(file.parent != source.folder for file in source.weights)
    return Plain(source.folder, source.weights if elsewhere else (), info.family, infer_missing_settings(source.folder))


def _sentence(error: Exception) -> str:
    """What went wrong; transformers and torch raise whatever they stumble over."""
    if isinstance(error, ModelZooError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else f"{type(error).__name__}."


def _otherwise_listed(info: ModelInfo) -> Iterator[str]:
    """Yields where the registry says something else of a model, a sentence each."""
    spec = registry.find(info.id)
    if spec is None:
        return
    for noun, listed, actual in (
        ("family", spec.family, info.family),
        ("layers", spec.layers, info.n_layers),
        ("heads", spec.heads, info.n_heads),
        ("width", spec.width, info.width),
        ("longest text", spec.max_tokens, info.max_tokens if spec.max_tokens is not None else None),
        ("masked words", spec.mlm, info.mlm),
        ("next sentence", spec.nsp, info.nsp),
        ("decoder", spec.cross_attention, info.cross_attention),
    ):
        if listed != actual:
            yield f"The list of models says {noun}: {listed}, the checkpoint {actual}."


@dataclass
class SideBySide:
    """A model in the engine, and by transformers alone."""

    engine: Engine
    info: ModelInfo
    plain: Plain
    top_k: int = 7  # predictions that are compared

    @cached_property
    def encoded(self) -> list[tuple[list[FloatArray], FloatArray]]:
        return self.plain.encoded([(TEXT, None), (TEXT_PAIR, None), (TEXT, TEXT_PAIR)])

    def attention(self) -> float:
        attend = partial(self.engine.attend, self.info.id)
        ours = [*self.engine.attend(self.info.id, [TEXT, TEXT_PAIR]), attend(TEXT, TEXT_PAIR)]
        runs = [(run, maps) for run, (maps, _) in zip(ours, self.encoded, strict=True)]
        if self.info.cross_attention:
            decoder = self.plain.decoded(TEXT, TEXT_PAIR)
            runs += [(attend(TEXT, TEXT_PAIR, stack=stack), decoder[stack]) for stack in STACKS[1:]]
        return max(attention_difference(run, expected) for run, expected in runs)

    def states(self) -> float:
        actual = self.engine.hidden_states(self.info.id, [TEXT, TEXT_PAIR])  # batched, the shorter one padded
        return max(states_difference(ours, theirs) for ours, (_, theirs) in zip(actual, self.encoded, strict=False))

    @property
    def _masked(self) -> str:
        return MASKED.format(mask=self.plain.tokenizer.mask_token)

    def fill_mask(self) -> float:
        texts = [self._masked, f"{self._masked} {self._masked}"]  # batched, as above
        predictions = self.engine.fill_mask(self.info.id, texts, top_k=self.top_k)
        return max(
            masks_difference(ours, self.plain.filled(text, self.top_k))
            for ours, text in zip(predictions, texts, strict=True)
        )

    def next_token(self) -> float:
        predictions = self.engine.next_tokens(self.info.id, [TEXT, TEXT_PAIR], top_k=self.top_k)
        expected = [self.plain.predicted(text, self.top_k, masked=False) for text in (TEXT, TEXT_PAIR)]
        return masks_difference(predictions, [after for (after,) in expected])

    def without_head(self) -> float:
        """Of predictions without the first head. Raises NotComparable where transformers has no such run."""
        maps, _ = self.encoded[0]
        head = next((layer for layer, of_layer in enumerate(maps) if of_layer.size), 0), 0
        text = TEXT if self.info.lm else self._masked
        predictions = self.engine.ablate(self.info.id, text, [head], top_k=self.top_k)
        assert isinstance(predictions, tuple)  # of one text
        return masks_difference(predictions, self.plain.predicted(text, self.top_k, not self.info.lm, head))

    def next_sentence(self) -> float:
        score = self.engine.next_sentence(self.info.id, TEXT, TEXT_PAIR)
        return sentences_difference(score, self.plain.sentence_logits(TEXT, TEXT_PAIR))


def _compare(report: Report, both: SideBySide) -> Iterator[str]:
    """Fill in the differences; yields what failed, a sentence each."""
    info, rounding = both.info, tolerance(both.info.n_layers)
    for name, title, has, most, difference_of in (
        ("attention", "Attention", info.n_heads > 0, rounding, both.attention),
        ("states", "Hidden states", True, STATES_TOLERANCE, both.states),
        ("fill_mask", "Filled masks", info.mlm, rounding, both.fill_mask),
        ("next_token", "Next tokens", info.lm, rounding, both.next_token),
        ("next_sentence", "Sentence scores", info.nsp is not None, 10 * rounding, both.next_sentence),
    ):
        if not has:
            continue
        try:
            difference = difference_of()
        except Exception as error:
            yield f"{title} cannot be compared: {_sentence(error)}"
            continue
        if isfinite(difference):  # JSON has no other numbers
            setattr(report, name, float(f"{difference:.3g}"))
        if not difference <= most:
            yield f"{title}: the difference from transformers is {difference:.2g}, more than {most:.2g}."


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where something failed."""
    parser = argparse.ArgumentParser(
        f"python -m {__spec__.name}",
        description="Download models, open them, and compare their numbers with those of transformers alone.",
    )
    parser.add_argument("models", nargs="*", metavar="ID", help="registry id, Hugging Face id or folder")
    parser.add_argument("--listed", action="store_true", help="all models of the app's list (14 GB of downloads)")
    options = parser.parse_args(arguments)
    models = [*(registry.MODELS if options.listed else ()), *options.models]
    if not models:
        parser.error("name a model, or --listed for all")
    status = 0
    for model in dict.fromkeys(models):
        report = check(model)
        print(json.dumps(asdict(report), ensure_ascii=False), flush=True)
        status |= report.failed is not None
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
