"""Answers in a passage: a score as start and one as end for every token; the best span has the highest sum.

"No answer" is [CLS] as start and end (SQuAD 2.0, Rajpurkar et al. 2018; Devlin et al. 2019, section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from model_zoo.types import Encoding
from training.finetuning.data import Item, PassageQuestion, cast_all
from training.finetuning.results import Answered, AnswerSpan, Prediction
from training.finetuning.tasks.base import IGNORED, Batch, Task

LONGEST = 30
"""Tokens of the longest answer that is considered."""

N_SPANS = 5


def passage(encoding: Encoding) -> list[int]:
    """The places of the passage's tokens."""
    return [
        place
        for place, (segment, special) in enumerate(zip(encoding.segment_ids, encoding.special, strict=True))
        if segment == 1 and not special
    ]


def ends(encoding: Encoding, item: PassageQuestion) -> tuple[int, int]:
    """The places of an answer's first and last token; [CLS] where there is none, IGNORED where it was cut off."""
    if not item.answers:
        return 0, 0
    start, text = item.answers[0]
    offsets, end = encoding.offsets, start + len(text)
    within = [place for place in passage(encoding) if offsets[place][0] < end and offsets[place][1] > start]
    cut = not within or offsets[within[-1]][1] < start + len(text.rstrip())
    return (IGNORED, IGNORED) if cut else (within[0], within[-1])


class Answering(Task):
    kind = "answering"
    n_outputs = 2

    def without_padding(self, output: Any, mask: torch.Tensor | None) -> Any:
        if mask is not None:  # else what one text is answered would depend on the length of others
            output.start_logits = output.start_logits.masked_fill(mask == 0, -torch.inf)
            output.end_logits = output.end_logits.masked_fill(mask == 0, -torch.inf)
        return output

    def targets(self, batch: Batch, items: Sequence[Item]) -> torch.Tensor:
        return torch.tensor(list(map(ends, batch.encodings, cast_all(PassageQuestion, items))))

    def loss(self, output: Any, targets: torch.Tensor) -> torch.Tensor:
        of_ends = [
            functional.cross_entropy(logits.float(), targets[:, side], ignore_index=IGNORED, reduction="sum")
            for side, logits in enumerate((output.start_logits, output.end_logits))
        ]
        return torch.stack(of_ends).sum() / (targets != IGNORED).sum().clamp(min=1)

    def read(self, output: Any, batch: Batch) -> list[Prediction]:
        return list(map(_read, output.start_logits.float(), output.end_logits.float(), batch.encodings))


def _read(start: torch.Tensor, end: torch.Tensor, encoding: Encoding) -> Answered:
    places = passage(encoding)
    offsets = tuple(encoding.offsets[place] for place in places)
    of_start, of_end = (scores[places].cpu() for scores in (start, end))
    text, n = encoding.text_pair or "", len(places)
    spans: tuple[AnswerSpan, ...] = ()
    if n:
        sums = of_start[:, None] + of_end[None, :]
        allowed = torch.ones(n, n).triu().tril(LONGEST - 1).bool()
        best = sums.masked_fill(~allowed, -torch.inf).flatten().topk(min(N_SPANS, int(allowed.sum())))
        best_spans = [(offsets[place // n][0], offsets[place % n][1]) for place in best.indices.tolist()]
        spans = tuple(
            AnswerSpan(first, stop, text[first:stop], score)
            for (first, stop), score in zip(best_spans, best.values.tolist(), strict=True)
        )
    return Answered(
        spans=spans,
        no_answer=float(start[0] + end[0]),
        tokens=tuple(encoding.tokens[place] for place in places),
        offsets=offsets,
        start_scores=tuple(of_start.tolist()),
        end_scores=tuple(of_end.tolist()),
    )


TASK = Answering()
