"""Sentences that follow nothing: what a next-sentence probability is compared with. Written for this project."""

from __future__ import annotations

from pathlib import Path

import numpy as np

CONTROLS = tuple(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())


def draw(seed: int, n: int = 5, exclude: str = "") -> tuple[str, ...]:
    """n different sentences in random order; the same seed gives the same ones. ``exclude`` is not among them."""
    pool = [sentence for sentence in CONTROLS if sentence != exclude.strip()]
    chosen = np.random.default_rng(seed).choice(len(pool), size=min(n, len(pool)), replace=False)
    return tuple(pool[place] for place in chosen)
