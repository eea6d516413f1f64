"""The examples of the page "Compare"."""

from __future__ import annotations

from pages.compare.fields import BESIDE, COMPARED, HEADS_BESIDE, LAYERS_BESIDE, MASK, MASKS, SHOWN_VIEW
from ui import HEAD, LAYER, PAIR, TEXT, Example, Examples
from ui.show import SHOW

EXAMPLES = Examples(
    (TEXT, PAIR, LAYER, HEAD, SHOW, SHOWN_VIEW, COMPARED, BESIDE, *LAYERS_BESIDE, *HEADS_BESIDE, MASKS, MASK),
    (
        Example(
            "Words in pieces",
            {TEXT: "Unbelievably, the electroencephalogram looked unremarkable.", SHOWN_VIEW: "tokens"},
        ),
        Example(
            "The previous word",
            {
                TEXT: "The cat sat on the mat because it was tired.",
                SHOWN_VIEW: "attention",
                COMPARED: ("embedded/bert", "embedded/modernbert"),
                LAYER: 1,
                HEAD: 3,
                LAYERS_BESIDE[0]: 2,
                HEADS_BESIDE[0]: 2,
            },
        ),
        Example("A cup of what?", {TEXT: "He drank a cup of coffee.", SHOWN_VIEW: "predictions", MASKS: (5,)}),
        Example(
            "He, she or it?",
            {TEXT: "Anna opened the letter because she was curious.", SHOWN_VIEW: "predictions", MASKS: (5,)},
        ),
    ),
)
