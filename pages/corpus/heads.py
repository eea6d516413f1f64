"""Opening a head that a view found, in the view "A head"."""

from __future__ import annotations

from pages.corpus.fields import SHOWN_VIEW
from ui.widgets import select_head


def open_head(layer: int, head: int) -> None:
    """Open a head, layer and head from 0; a callback of a widget."""
    select_head(layer, head)
    SHOWN_VIEW.value = "head"
