"""Models, texts and attention by hand, made once: each test states what it is about and leaves the rest to these."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model_zoo.types import AttentionRun, Encoding, FloatArray, LayerAttention, MapsLayer, ModelInfo, QueryKeyLayer


def info(**overrides: Any) -> ModelInfo:
    """A BERT of one layer and one head without any prediction head, in float32 on the CPU."""
    plain: dict[str, Any] = {
        "id": "test/model", "revision": "r", "family": "bert", "n_layers": 1, "n_heads": 1, "width": 4,
        "parameters": 1, "max_tokens": None, "mlm": False, "nsp": None, "device": "cpu", "dtype": "float32",
    }  # fmt: skip
    return ModelInfo(**(plain | overrides))


def encoding(
    first: Sequence[str],
    second: Sequence[str] | None = None,
    *,
    front: str | None = "[CLS]",
    end: str | None = "[SEP]",
    continues: str | None = "##",
    **overrides: Any,
) -> Encoding:
    """``front`` first ``end`` second ``end``: pieces of one or two texts, and all else as BERT has it.

    A piece that begins with ``continues`` goes on with the word before (none does where it is None); words stand one
    space apart. Ids count from 0. ``front`` and ``end`` are special tokens, left out where None.
    """
    tokens, word_ids, offsets, segment_ids, special = [], [], [], [], []

    def add(token: str, segment: int, word: int | None = None, span: tuple[int, int] = (0, 0)) -> None:
        tokens.append(token)
        word_ids.append(word)
        offsets.append(span)
        segment_ids.append(segment)
        special.append(word is None)

    if front is not None:
        add(front, 0)
    word, texts = -1, []
    for segment, pieces in enumerate([first] if second is None else [first, second]):
        text = ""
        for number, piece in enumerate(pieces):
            goes_on = continues is not None and number > 0 and piece.startswith(continues)
            written = piece.removeprefix(continues or "") if goes_on else piece
            word += not goes_on
            text += " " * (number > 0 and not goes_on)
            add(piece, segment, word, (len(text), len(text) + len(written)))
            text += written
        if end is not None:
            add(end, segment)
        texts.append(text)
    plain: dict[str, Any] = {
        "text": texts[0],
        "text_pair": None if second is None else texts[1],
        "tokens": tuple(tokens),
        "ids": tuple(range(len(tokens))),
        "word_ids": tuple(word_ids),
        "offsets": tuple(offsets),
        "segment_ids": tuple(segment_ids),
        "special": tuple(special),
    }
    return Encoding(**(plain | overrides))


def anonymous(n: int) -> Encoding:
    """``n`` tokens of which only their number matters, none special."""
    return encoding(["t"] * n, front=None, end=None)


def run(encoding: Encoding, *layers: FloatArray | LayerAttention, **overrides: Any) -> AttentionRun:
    """Attention of these layers, given as maps (heads, queries, keys) or as what they are computed from."""
    held = tuple(
        MapsLayer(np.asarray(layer, dtype=np.float32)) if isinstance(layer, np.ndarray) else layer for layer in layers
    )
    plain: dict[str, Any] = {"model": info(n_layers=len(held), n_heads=held[0].n_heads)}
    return AttentionRun(encoding=encoding, layers=held, **(plain | overrides))


def random_maps(seed: int, *shape: int, spread: float = 1.0) -> FloatArray:
    """Random attention float32 (..., queries, keys); the smaller ``spread``, the farther from uniform."""
    return np.random.default_rng(seed).dirichlet(np.full(shape[-1], spread), shape[:-1]).astype(np.float32)


def even_layer(value: Any, n_queries: int | None = None) -> QueryKeyLayer:
    """All tokens look at all alike; ``value`` is (heads, keys, d'). There are as many queries as keys unless given."""
    values = np.asarray(value, dtype=np.float32)
    heads, n_keys, _ = values.shape
    return QueryKeyLayer(
        query=np.zeros((heads, n_queries or n_keys, 1), dtype=np.float32),
        key=np.zeros((heads, n_keys, 1), dtype=np.float32),
        value=values,
        scaling=1.0,
    )
