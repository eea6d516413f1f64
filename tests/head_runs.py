"""Texts and attention to test the measures and the rules of heads with."""

from dataclasses import replace

import builders

from model_zoo.types import AttentionRun, Encoding, FloatArray


def make_encoding(first: str, second: str | None = None, special: bool = True) -> Encoding:
    """One token a word, "+" before what continues a word; ids are taken from the order of the alphabet."""
    frame = {} if special else {"front": None, "end": None}
    encoding = builders.encoding(first.split(), None if second is None else second.split(), continues="+", **frame)
    alphabet = sorted(set(encoding.tokens))
    return replace(encoding, ids=tuple(alphabet.index(token) for token in encoding.tokens))


def random_maps(seed: int, heads: int, n: int) -> FloatArray:
    return builders.random_maps(seed, heads, n, n, spread=0.3)


BY_ALPHABET = range(100)  # as rarity: the last token of the alphabet is the rarest


def cross_run(first: str, second: str, *maps: FloatArray) -> AttentionRun:
    """What the words of ``second``, with a start token, attend to in ``first``."""
    written = make_encoding(second)
    start = replace(
        written,
        **{name: getattr(written, name)[:-1] for name in ("tokens", "ids", "word_ids", "offsets", "segment_ids")},
        special=written.special[:-1],
    )
    run = builders.run(start, *maps)
    return replace(run, stack="cross", source=make_encoding(first))
