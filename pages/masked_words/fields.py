"""Fields of the page "Masked words" that several of its views share, and its examples."""

from __future__ import annotations

from ui import MASK, MASKS, MODEL, SWITCH, TEXT, Codec, Field, optional, place, read_examples, view_field, within

_PAGE = "masked_words"
_number = within("the head", 1, 999)

SHOWN_VIEW = view_field(_PAGE, "predictions")

# Whether a click means a whole word.
WORDS: Field[bool] = Field("words", True, SWITCH, of=_PAGE)

# The head from 1 whose attention is shown, or 0 for the mean of all heads.
HEAD: Field[int] = Field(
    "head",
    0,
    Codec(lambda text: 0 if text == "mean" else _number.read(text), lambda head: str(head) if head else "mean"),
    of=_PAGE,
)

# The word that is replaced, from 0 among those that are not masked, and what takes its place.
REPLACE: Field[int | None] = Field("replace", None, optional(place("the replaced word")), of=_PAGE)
REPLACEMENT: Field[str] = Field("replacement", "", of=_PAGE)

# The sentence that the text is compared with.
AGAINST: Field[str] = Field("against", "", of=_PAGE)

# Whether the words of a long text are run one by one, which takes a while.
LONG: Field[bool] = Field("long", False, SWITCH, of=_PAGE)

EXAMPLES = read_examples(_PAGE, (TEXT, MODEL, MASKS, WORDS, SHOWN_VIEW, AGAINST, MASK, HEAD, REPLACE, REPLACEMENT))
