"""How BERT's training hides tokens, and where masks stay when the text around them is edited."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from model_zoo.errors import InvalidInput
from model_zoo.types import Encoding, Vocabulary

Kind = Literal["masked", "random", "kept"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Shares from 0 to 1: ``rate`` of the tokens is chosen; of these ``masked`` become the mask, ``random`` another
    token, and the rest is kept. The defaults are those of Devlin et al. 2019, section 3.1.

    Raises InvalidInput for shares outside these ranges.
    """

    rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise InvalidInput(f"A share of {self.rate:g} of the tokens cannot be chosen. Take more than 0, at most 1.")
        if min(self.masked, self.random) < 0 or self.masked + self.random > 1 + 1e-9:
            raise InvalidInput(
                f"{self.masked:.0%} masked and {self.random:.0%} random are more than the chosen tokens. Lower one."
            )


@dataclass(frozen=True, slots=True)
class Corruption:
    """``ids`` as the model is given them; ``kinds`` says how each token was changed, None for those not chosen."""

    ids: tuple[int, ...] = field(repr=False)
    kinds: tuple[Kind | None, ...] = field(repr=False)

    @property
    def positions(self) -> tuple[int, ...]:
        """The chosen tokens, whose originals the model has to predict."""
        return tuple(place for place, kind in enumerate(self.kinds) if kind is not None)


def corrupt(encoding: Encoding, vocabulary: Vocabulary, recipe: Recipe) -> Corruption:
    """Choose tokens as BERT's training data was made: a fixed number of tokens, at least one, each then masked,
    replaced or kept.

    Special tokens and typed masks are never chosen; a random token is any but a special one, the original included. The
    same seed gives the same draw. Raises InvalidInput for a text or a model with nothing to mask.
    """
    if vocabulary.mask_id is None:
        raise InvalidInput("This model has no mask, so nothing can be hidden from it. Choose another model.")
    content = [
        place
        for place, (token, special) in enumerate(zip(encoding.ids, encoding.special, strict=True))
        if not special and token != vocabulary.mask_id
    ]
    if not content:
        raise InvalidInput("No word is left to hide. Type some that are not masks.")
    rng = np.random.default_rng(recipe.seed)
    ordinary = _ordinary(vocabulary)
    n_chosen = max(1, round(recipe.rate * len(content)))
    ids = list(encoding.ids)
    kinds: list[Kind | None] = [None] * len(ids)
    for place in sorted(rng.choice(content, size=n_chosen, replace=False).tolist()):
        fate, other = rng.random(), int(rng.choice(ordinary))
        if fate < recipe.masked:
            ids[place], kinds[place] = vocabulary.mask_id, "masked"
        elif fate < recipe.masked + recipe.random:
            ids[place], kinds[place] = other, "random"
        else:
            kinds[place] = "kept"
    return Corruption(tuple(ids), tuple(kinds))


def each_fate(encoding: Encoding, vocabulary: Vocabulary, place: int, seed: int = 0) -> dict[Kind, tuple[int, ...]]:
    """The ids of a text where the token at a place is masked, replaced by a random one, and kept; drawn as ``corrupt``
    draws. Raises InvalidInput for a model without a mask.
    """
    if vocabulary.mask_id is None:
        raise InvalidInput("This model has no mask, so nothing can be hidden from it. Choose another model.")
    other = int(np.random.default_rng(seed).choice(_ordinary(vocabulary)))
    replacement: dict[Kind, int] = {"masked": vocabulary.mask_id, "random": other, "kept": encoding.ids[place]}
    return {kind: (*encoding.ids[:place], id_, *encoding.ids[place + 1 :]) for kind, id_ in replacement.items()}


def _ordinary(vocabulary: Vocabulary) -> npt.NDArray[np.int_]:
    """The ids of all tokens but special ones."""
    return np.setdiff1d(np.arange(len(vocabulary.tokens)), list(vocabulary.special_ids))


def moved(before: Sequence[object], after: Sequence[object], positions: Collection[int]) -> tuple[int, ...]:
    """Where positions in a text ``before`` are in the text ``after`` an edit in one place (likewise for two lists).

    What the two share at their beginnings keeps its place, what they share at their ends its distance from
    the end; positions in between are gone.
    """
    head, tail = shared(before, after)
    shift = len(after) - len(before)
    return tuple(
        position if position < head else position + shift
        for position in sorted(positions)
        if position < head or position >= len(before) - tail
    )


def shared(before: Sequence[object], after: Sequence[object]) -> tuple[int, int]:
    """How much two texts, or lists, share at their beginnings, and at the ends of what is left."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    return head, tail


def characters(encoding: Encoding, positions: Collection[int]) -> tuple[int, ...]:
    """The places in ``encoding.text`` that the tokens at some positions cover."""
    return tuple(sorted({place for position in positions for place in range(*encoding.offsets[position])}))


def tokens_over(encoding: Encoding, places: Collection[int]) -> tuple[int, ...]:
    """Positions of the tokens, special ones left out, that cover one of these places in ``encoding.text``."""
    wanted = set(places)
    return tuple(
        position
        for position, (span, special) in enumerate(zip(encoding.offsets, encoding.special, strict=True))
        if not special and not wanted.isdisjoint(range(*span))
    )
