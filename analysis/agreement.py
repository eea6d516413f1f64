"""Whether two models predict the same word for a mask, even if their tokenizers write it differently."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from model_zoo.types import MaskPrediction, Prediction

# What tokenizers write for the space before a word.
_SPACES = "Ġ▁"


@cache
def _bytes() -> dict[str, int]:
    """The letters of byte-level tokenizers for bytes: printable Latin-1 for itself, U+0100 onwards for the rest."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


def readable(token: str) -> str:
    """A token as it reads in a text, without the space before it; "##ing" stays as it is, and so does a mere space.

    Byte-level tokens are read as UTF-8 where they are valid UTF-8: "ĠcafÃ©" is "café".
    """
    return _plain(token) or token


def _plain(token: str) -> str:
    bare = token.lstrip(_SPACES)
    known = _bytes()
    if all(letter in known for letter in bare):
        # What is not UTF-8 is an accent of a tokenizer that writes letters, or a part of one.
        with suppress(UnicodeDecodeError):
            bare = bytes(known[letter] for letter in bare).decode("utf-8")
    return bare.strip()


def written(token: str) -> str:
    """A token as it reads in a text, in lower case."""
    return _plain(token).casefold()


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the top k predictions of two models for one mask have in common.

    ``first`` is whether their top predictions read alike; ``shared`` holds the predictions in both lists, in the order
    of the first model; ``overlap`` is their share of the k, in [0, 1].
    """

    first: bool
    shared: tuple[str, ...] = field(repr=False)
    overlap: float


def agreement(a: MaskPrediction, b: MaskPrediction, k: int) -> Agreement:
    """How far the top k predictions of two models agree.

    Tokens that read alike, such as "The" and "the", count once. Raises ValueError where a side has fewer than k
    predictions.
    """
    if not 1 <= k <= min(len(a.best), len(b.best)):
        raise ValueError(f"{k} guesses of {len(a.best)} and {len(b.best)} cannot be compared")
    of_a, of_b = (list(dict.fromkeys(written(entry.token) for entry in side.best[:k])) for side in (a, b))
    shared = tuple(word for word in of_a if word in of_b)
    return Agreement(of_a[0] == of_b[0], shared, len(shared) / max(len(of_a), len(of_b)))


def rank_of(word: str, best: Sequence[Prediction]) -> int | None:
    """The rank, from 1, of the first prediction that reads as ``word``; None where none does."""
    wanted = word.strip().casefold()
    return next((rank for rank, entry in enumerate(best, start=1) if written(entry.token) == wanted), None)
