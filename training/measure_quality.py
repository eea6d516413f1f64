"""A question of this package: how well a model does on the built-in held-out sentences. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model_zoo.errors import NotSupported
from model_zoo.question import Streamed
from model_zoo.types import Quality

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel
    from training.evaluation_sets import EvaluationSet
    from training.tallies import Count


@dataclass(frozen=True, slots=True)
class MeasureQuality(Streamed[Quality, Quality]):
    """The figures of ``python -m training.evaluate``.

    The parts are what is known so far, after every batch; the answer is the last of them, which is all there is.
    """

    model: str

    def parts(self, loaded: LoadedModel) -> Iterator[Quality]:
        return measure_quality(loaded)

    def combine(self, parts: Sequence[Quality]) -> Quality:
        return parts[-1]

    def replay(self, merged: Quality) -> Iterable[Quality]:
        return (merged,)

    @classmethod
    def example(cls, model: str) -> MeasureQuality:
        return cls(model)


def measure_quality(
    loaded: LoadedModel, held_out: EvaluationSet | None = None, counts: dict[str, Count] | None = None
) -> Generator[Quality, None, None]:
    """How well a model does on held-out texts and pairs: what is known so far after every batch, in the end all.

    ``held_out`` is ``written_set()`` unless another set is given. A model without a head gets the reason
    instead of a figure. What the figures are made of is put into ``counts``: "masked", "replaced", "kept", "pairs".
    """
    from model_zoo.masked import refuse_without_head as refuse_without_mlm
    from training.evaluation_sets import written_set
    from training.models import special_tokens
    from training.tallies import iter_masked_words, iter_next_sentences, loaded_encoder

    held_out = written_set() if held_out is None else held_out
    no_mlm = _refusal(refuse_without_mlm, loaded)
    no_nsp = _refusal(_refuse_without_nsp, loaded)
    texts = held_out.texts if no_mlm is None else ()
    pairs = held_out.pairs if no_nsp is None else ()
    encode = loaded_encoder(loaded)
    counts = {} if counts is None else counts
    quality = Quality(n_total=len(texts) + len(pairs), no_mlm=no_mlm, no_nsp=no_nsp)
    yield quality
    if texts:
        for words in iter_masked_words(loaded.model, encode, special_tokens(loaded.tokenizer), texts):
            quality = replace(
                quality,
                n_done=words.n_read,
                mlm_loss=words.masked.mean_loss,
                mlm_accuracy=words.masked.accuracy,
                n_masked=words.masked.n,
                replaced_accuracy=words.replaced.accuracy,
                n_replaced=words.replaced.n,
                kept_accuracy=words.kept.accuracy,
                n_kept=words.kept.n,
            )
            counts |= {"masked": words.masked, "replaced": words.replaced, "kept": words.kept}
            yield quality
    for evaluated in iter_next_sentences(loaded.model, encode, pairs):
        n_done = len(texts) + evaluated.n
        quality = replace(quality, n_done=n_done, nsp_accuracy=evaluated.accuracy, n_pairs=evaluated.n)
        counts["pairs"] = evaluated
        yield quality


def _refusal(refuse: Callable[[LoadedModel], None], loaded: LoadedModel) -> str | None:
    try:
        refuse(loaded)
    except NotSupported as error:
        return str(error)
    return None


def _refuse_without_nsp(loaded: LoadedModel) -> None:
    from model_zoo.sentence import refuse_without_head

    if loaded.info.nsp == "SOP":
        raise NotSupported(
            f"{loaded.info.id} was trained on the order of two sentences (SOP), which is a different question "
            "from whether one follows the other. Choose a BERT with a next-sentence head to compare."
        )
    refuse_without_head(loaded)
