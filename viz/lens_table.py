"""How a prediction forms: the best tokens after the embeddings and after every layer, one line per layer."""

from __future__ import annotations

from model_zoo.types import MaskLens
from viz.direction import isolated
from viz.palette import sequential, square_root
from viz.token_line import Item, Line, filled


def lens_table(lens: MaskLens, *, dark: bool = False) -> tuple[Line, ...]:
    """Colour follows the square root of the probability; the final answer is outlined wherever it appears."""
    scale = square_root(sequential(dark))
    return tuple(
        Line(
            tuple(
                Item(
                    (filled(f"{isolated(entry.token)} {entry.probability:.0%}", scale, entry.probability),),
                    f"{entry.token}: {entry.probability:.4f}",
                    marked=entry.id == lens.answer.id,
                )
                for entry in best
            ),
            "embeddings" if layer == 0 else f"layer {layer}",
            "ltr",  # a ranking, whatever token is the first of it
        )
        for layer, best in enumerate(lens.layers)
    )
