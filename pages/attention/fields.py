"""Fields that several views of the page "Attention" share; those of a single view are in its file."""

from __future__ import annotations

from analysis.filters import Direction
from model_zoo.types import Stack
from ui import HEADS, SHARE, SWITCH, Field, count, names, one_of, optional, pattern, view_field

_PAGE = "attention"

SHOWN_VIEW = view_field(_PAGE, "grid")
_STACKS: dict[Stack, str] = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross-attention"}
MODEL_PART: Field[Stack] = Field("model_part", "encoder", one_of("the part of a model", _STACKS), of=_PAGE)

# What is left out of the picture.
_DIRECTIONS: dict[Direction, str] = {
    "all": "All",
    "A->B": "First → second text",
    "B->A": "Second → first text",
    "A->A": "Within first",
    "B->B": "Within second",
}
DIRECTION: Field[Direction] = Field("direction", "all", one_of("the direction", _DIRECTIONS), of=_PAGE)
HIDE_SPECIAL: Field[bool] = Field("hide", False, SWITCH, of=_PAGE)
RENORMALIZE: Field[bool] = Field("renorm", False, SWITCH, of=_PAGE)
THRESHOLD: Field[float] = Field("threshold", 0.0, SHARE, of=_PAGE)
TOP_K: Field[int | None] = Field("top", None, optional(count("top")), of=_PAGE)
WORDS: Field[bool] = Field("words", False, SWITCH, of=_PAGE)
FILTERS = (DIRECTION, HIDE_SPECIAL, RENORMALIZE, THRESHOLD, TOP_K, WORDS)

# Which heads are drawn together: in "Lines"; and in "Several heads", where None is what SCOPE says, or else a layer.
_SCOPES = {"head": "One", "layer": "Its layer", "chosen": "Chosen", "all": "All"}
_SEVERAL = {"layer": "A layer", "chosen": "Chosen", "all": "All"}
SCOPE: Field[str] = Field("scope", "head", one_of("scope", _SCOPES), of=_PAGE)
SEVERAL: Field[str | None] = Field("several", None, optional(one_of("heads", _SEVERAL)), of=_PAGE)
CHOSEN: Field[tuple[str, ...]] = Field("heads", (), HEADS, of=_PAGE)

# The token whose attention is looked at, from 1.
TOKEN: Field[int] = Field("token", 2, count("token"), of=_PAGE)

# The token whose lines alone are drawn, "query.3" or "key.5" from 1 among those shown, "" if none; and the heads
# switched off in the legend, by their places in it from 1.
LOCKED: Field[str] = Field(
    "locked",
    "",
    pattern(r"(query|key)\.[1-9][0-9]{0,3}", "is not a token in the picture. Write query.3 or key.5.", empty=True),
    of=_PAGE,
)
OFF: Field[tuple[str, ...]] = Field(
    "off", (), names("[1-9][0-9]{0,3}", "is not a place in the legend. Write places as in 1,4."), of=_PAGE
)
