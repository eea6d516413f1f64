"""The examples of the page "Masked words"."""

from __future__ import annotations

from pages.masked_words.fields import AGAINST, HEAD, REPLACE, REPLACEMENT, SHOWN_VIEW, WORDS
from ui import MASK, MASKS, MODEL, TEXT, read_examples

EXAMPLES = read_examples(
    "masked_words",
    (TEXT, MODEL, MASKS, WORDS, SHOWN_VIEW, AGAINST, MASK, HEAD, REPLACE, REPLACEMENT),
)
