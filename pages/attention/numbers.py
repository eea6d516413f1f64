"""Numbers to save: what is on screen as CSV or NPZ, with where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.export import CSV_NOTE, How, Origin, to_csv, to_npz
from analysis.filters import Filtered
from analysis.views import Weights, maps_of_layer
from pages.attention.scene import Scene
from ui import save

# One row per cell: larger matrices make files that no spreadsheet opens, and NPZ holds them exactly.
_MOST_CSV_CELLS = 1_000_000


def numbers(
    scene: Scene, view: Filtered, heads: Sequence[tuple[int, int]], *, name: str, how: How | None = None
) -> None:
    """The numbers on screen can be saved; the files are made when they are asked for.

    ``heads`` are those whose maps were made one ``how``; without it the maps shown themselves, of heads or of layers.
    """
    run = scene.run
    if how is None:
        how = "each" if scene.of_heads else "layer"
        if how == "layer":
            heads = [head for layer, _ in heads for head in maps_of_layer(Weights(run), layer)]
    origin = Origin(model=run.model, heads=tuple(heads), how=how, measure=scene.measure, stack=run.stack)
    too_large = view.weights.size > _MOST_CSV_CELLS
    save.file(
        "Numbers (CSV)",
        lambda: to_csv(view, origin),
        name,
        "csv",
        "More than a million cells: use the NPZ." if too_large else CSV_NOTE,
        disabled=too_large,
    )
    save.file(
        "Numbers (NPZ)",
        lambda: to_npz(view, origin, run.encoding, run.source),
        name,
        "npz",
        "For NumPy: the weights in float32 with tokens, model, revision, heads and filter.",
    )
