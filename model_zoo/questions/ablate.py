"""What a model predicts when parts of it are switched off."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from model_zoo.question import LoadedModel, Question
from model_zoo.types import Change, Edge, MaskPrediction, Reads, SentenceScore, TargetAnswer, Value


@dataclass(frozen=True, slots=True)
class Ablate(Question[tuple[MaskPrediction, ...] | SentenceScore]):
    """What a model predicts when parts of it are switched off: as ``fill_mask``, for a causal model the next token as
    ``next_tokens``, and with a ``text_pair`` as ``next_sentence``.

    ``heads`` are (layer, head) from 0; ``attention`` and ``feed_forward`` are layers whose whole block is off;
    ``edges`` say which token may not attend to which. The ``value`` of a part that is off is "zero"; or its "mean"
    over 100 built-in sentences, at each token over those of its kind: each special token, masks, full stops, a first
    token that no special one precedes, and words; or with "other" its value in the run of the ``other`` text, which has
    as many words: see ``Change``. With nothing off the model is unchanged. Raises InvalidInput for parts that are not
    there, NotSupported for models without the head or the parts.
    """

    full_precision = True
    example_fields: ClassVar = {"text": "The cat sat.", "heads": ((0, 0),), "masked": (2,), "top_k": 3}

    model: str
    text: str
    heads: Iterable[tuple[int, int]] = ()
    text_pair: str | None = None
    attention: Iterable[int] = ()
    feed_forward: Iterable[int] = ()
    edges: Iterable[Edge] = ()
    masked: Collection[int] = ()
    value: Value = "zero"
    other: str | tuple[str, str | None] | None = None
    top_k: int = 10
    targets: Sequence[str | int] = ()

    def answer(self, loaded: LoadedModel) -> tuple[MaskPrediction, ...] | SentenceScore:
        from model_zoo.interventions.intervene import ablate
        from model_zoo.interventions.reading import reader

        reads: Reads = "next sentence" if self.text_pair is not None else "next token" if loaded.info.lm else "mask"
        read = reader(loaded, self.text, self.text_pair, self.masked, TargetAnswer(reads))
        change = Change(tuple(self.heads), tuple(self.attention), tuple(self.feed_forward), edges=tuple(self.edges))
        return ablate(read, change, self.value, self.other, self.targets, self.top_k)
