"""The examples of the page "Compare"."""

from __future__ import annotations

from pages.compare.fields import BESIDE, COMPARED, HEADS_BESIDE, LAYERS_BESIDE, MASK, MASKS, SHOWN_VIEW
from ui import HEAD, LAYER, PAIR, TEXT, read_examples
from ui.show import SHOW

EXAMPLES = read_examples(
    "compare",
    (TEXT, PAIR, LAYER, HEAD, SHOW, SHOWN_VIEW, COMPARED, BESIDE, *LAYERS_BESIDE, *HEADS_BESIDE, MASKS, MASK),
)
