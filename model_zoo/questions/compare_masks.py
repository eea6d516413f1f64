"""How the predictions at masks move when the text around them is changed."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from model_zoo import text as texts
from model_zoo.errors import InvalidInput
from model_zoo.question import LoadedModel, Question, normalize
from model_zoo.types import Shift

# Predictions of before and after among which the largest shift is looked for.
_SHIFTED_AMONG = 50


@dataclass(frozen=True, slots=True)
class CompareMasks(Question[tuple[tuple[Shift, ...], ...]]):
    """The predictions that changed most between two texts, for each mask; each text comes with its masked positions.

    Looked at are the 50 best tokens of either side: far down the list, differences of ln P are large and mean nothing.
    Raises InvalidInput where the texts have different numbers of masks.
    """

    needs = "mlm"
    full_precision = True
    example_fields: ClassVar = {"before": ("The [MASK] sat.", ()), "after": ("A [MASK] sat.", ()), "top_k": 3}

    model: str
    before: tuple[str, Collection[int]]
    after: tuple[str, Collection[int]]
    top_k: int = 10

    def check(self) -> None:
        for name, noun in (("before", "The first text"), ("after", "The second text")):
            text, masked = getattr(self, name)
            normalize(self, **{name: (texts.check(text, noun), frozenset(masked))})

    def answer(self, loaded: LoadedModel) -> tuple[tuple[Shift, ...], ...]:
        import torch

        from model_zoo.masked import mask_positions, refuse_without_head
        from model_zoo.prediction_heads import logits_of, states_of

        refuse_without_head(loaded)
        sides = [mask_positions(loaded, loaded.encode(text), masked) for text, masked in (self.before, self.after)]
        if len(sides[0][1]) != len(sides[1][1]):
            raise InvalidInput(
                f"There are {len(sides[0][1])} masks before the change and {len(sides[1][1])} after it. "
                "Replace a word that is not masked with one that contains no mask."
            )
        by_position = []
        with torch.inference_mode():
            first, second = (states_of(loaded, [hidden])[0, positions] for hidden, positions in sides)
            for pair in zip(first, second, strict=True):
                logs = torch.cat(list(logits_of(loaded, torch.stack(pair)))).log_softmax(dim=-1)  # (2, vocabulary)
                candidates = logs.topk(min(_SHIFTED_AMONG, logs.shape[-1]), dim=-1).indices.unique()
                moved = logs[:, candidates]
                order = (moved[1] - moved[0]).abs().argsort(descending=True)[: self.top_k]
                ids = candidates[order].tolist()
                shifts = zip(loaded.token_names(ids), ids, *moved[:, order].tolist(), strict=True)
                by_position.append(tuple(Shift(*shift) for shift in shifts))
        return tuple(by_position)
