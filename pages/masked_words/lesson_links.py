"""The page, prepared for a lesson: each link with a question."""

from pages.masked_words.examples import EXAMPLES
from pages.masked_words.fields import MASKS, REPLACE, REPLACEMENT, SHOWN_VIEW
from ui import TEXT, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Hidden words",
    EXAMPLES.decides,
    (
        LessonLink(
            "The words on both sides count",
            {TEXT: "The children are asleep.", MASKS: (2,)},
            "Only “The” stands to the left of the mask. Are the guesses singular or plural, and which word says "
            "so? Change “are” to “is” and look again.",
        ),
        LessonLink(
            "Which noun does the verb go with?",
            {
                TEXT: "The dogs near the house are hungry.",
                MASKS: (6,),
                SHOWN_VIEW: "what if",
                REPLACE: 1,
                REPLACEMENT: "dog",
            },
            "What happens to “are” and “were” when “dogs” becomes “dog”? Now replace “house” by “houses” instead: "
            "does the noun next to the verb change as much?",
        ),
        LessonLink(
            "A guess, layer by layer",
            {TEXT: "He drank a cup of coffee.", MASKS: (6,), SHOWN_VIEW: "layers"},
            "After which layer is “coffee” the best guess for the first time? What kind of words are the best "
            "ones before?",
        ),
        LessonLink(
            "What a model was taught to expect",
            {
                TEXT: "The engineer said that she was tired.",
                MASKS: (5,),
                SHOWN_VIEW: "what if",
                REPLACE: 1,
                REPLACEMENT: "nurse",
            },
            "With the pronoun hidden, nothing says whether it is a man or a woman. How do the shares of “he” and "
            "“she” change from “engineer” to “nurse”? What does that tell of the texts that the model learned "
            "from, and what does it not tell of people?",
        ),
    ),
)
