"""The examples of the page "Masked words"."""

from __future__ import annotations

from pages.masked_words.fields import AGAINST, HEAD, REPLACE, REPLACEMENT, SHOWN_VIEW, WORDS
from ui import MASK, MASKS, MODEL, TEXT, Example, Examples

EXAMPLES = Examples(
    (TEXT, MODEL, MASKS, WORDS, SHOWN_VIEW, AGAINST, MASK, HEAD, REPLACE, REPLACEMENT),
    (
        Example("On, in or under?", {TEXT: TEXT.default, MASKS: (4,)}),
        Example("Her or his?", {TEXT: "She looked at him and shook her head.", MASKS: (7,)}),
        Example("One word fits", {TEXT: "The doctor said that she was tired.", MASKS: (6,)}),
        Example("Several words fit", {TEXT: "He drank a cup of coffee.", MASKS: (6,)}),
        Example("Singular or plural?", {TEXT: "The dogs near the house are hungry.", MASKS: (6,)}),
        Example("He or she?", {TEXT: "Anna opened the letter because she was curious.", MASKS: (6,)}),
        Example("Help from the sentence before", {TEXT: "The train was late. We waited for the train.", MASKS: (10,)}),
        Example("Two words at once", {TEXT: "She looked at him and shook her head.", MASKS: (3, 8)}),
    ),
)
