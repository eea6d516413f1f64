"""How important each head is by the gradient of its gate (Michel et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from evidence.items import GradientPart, HiddenWord, Item, LeftOut, check_items
from model_zoo.question import Streamed, normalize
from model_zoo.types import FloatArray, counted
from model_zoo.types.arrays import ReadOnly, lock
from model_zoo.types.shows import DataFrame, Shows, table

if TYPE_CHECKING:
    from model_zoo.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class Gradients(ReadOnly, Shows):
    """For each item the derivative of its score by each head's gate, (items, layers, heads) in nats, nan for items
    that were ``left_out``.

    A gate ξ multiplies what a head gives to the output projection; it is 1 in the model as it is, and 0 with the head
    off. So the importance of Michel et al. 2019 (eq. 3, not scaled by layer) is the mean over items of the absolute
    values, and minus the mean estimates, to first order, how much the score changes when the head is switched off.
    """

    gradients: FloatArray
    left_out: tuple[tuple[int, LeftOut], ...] = ()

    def __post_init__(self) -> None:
        lock(self, "gradients")

    def __repr__(self) -> str:
        items, layers, heads = self.gradients.shape
        return f"<Gradients of {counted(items, 'item')}: {counted(layers, 'layer')} × {counted(heads, 'head')}>"

    def to_frame(self) -> DataFrame:
        """One row an item and head: item, layer, head, gradient (nats; nan for items that were left out)."""
        item, layer, head = np.indices(self.gradients.shape).reshape(3, -1)
        return table({"item": item, "layer": layer, "head": head, "gradient": self.gradients.reshape(-1)})


@dataclass(frozen=True, slots=True)
class HeadGradients(Streamed[GradientPart, Gradients]):
    """The gradients of the items' scores by every head's gate, at the model as it is.

    Items and scores are those of ``SwitchOff``, and it raises as that does.
    """

    remembered = False  # a job asks each once
    full_precision = True

    model: str
    items: tuple[Item, ...]

    def check(self) -> None:
        normalize(self, items=check_items(self.items))

    def parts(self, loaded: LoadedModel) -> Iterator[GradientPart]:
        from evidence.switching import head_gradients

        return head_gradients(loaded, self)

    def combine(self, parts: Sequence[GradientPart]) -> Gradients:
        found = np.zeros((len(self.items), *parts[0].gradients.shape[1:]), dtype=np.float64)
        for part in parts:
            np.add.at(found, list(part.items), part.gradients)
        left_out = tuple(each for part in parts for each in part.left_out)
        found[[place for place, _ in left_out]] = np.nan
        return Gradients(found.astype(np.float32), left_out)

    @classmethod
    def example(cls, model: str) -> Self:
        return cls(model, (HiddenWord("The cat sat.", (4, 7)),))
