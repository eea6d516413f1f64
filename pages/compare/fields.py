"""Fields that several parts of the page "Compare" share; those of one view alone stand in its file.

The first model has the layer and head that all pages share. The others have fields of their own, by their place among
the models, in which no layer means the one at the depth of the first model's.
"""

from __future__ import annotations

from analysis.alignment import MOST
from ui import MODELS, SWITCH, Field, count, optional, place, places, view_field, within
from ui.precomputed import EMBEDDED

_PAGE = "compare"

SHOWN_VIEW = view_field(_PAGE, "attention")

# The first is A, the reference; B is a place among them, from 1, and A itself at 1.
COMPARED: Field[tuple[str, ...]] = Field("models", EMBEDDED[:MOST], MODELS, of=_PAGE, always=True)
BESIDE: Field[int] = Field("beside", 2, within("the place of a model", 1, MOST), of=_PAGE)

LAYERS_BESIDE: tuple[Field[int | None], ...] = tuple(
    Field(f"layer_{n}", None, optional(count("layer")), of=_PAGE) for n in range(2, MOST + 1)
)
HEADS_BESIDE: tuple[Field[int], ...] = tuple(Field(f"head_{n}", 1, count("head"), of=_PAGE) for n in range(2, MOST + 1))

# The masked words of the text, and which of all masks, the typed ones among them, has its guesses drawn.
MASKS: Field[tuple[int, ...]] = Field("masks", (), places("words"), of=_PAGE, always=True)
MASK: Field[int] = Field("mask", 0, place("the mask"), of=_PAGE)

# Whether to do on a long text what takes a while.
LONG: Field[bool] = Field("long", False, SWITCH, of=_PAGE)
