"""The page, prepared for a lesson: each link with a question."""

from pages.masked_words.examples import EXAMPLES
from pages.masked_words.fields import REPLACE, REPLACEMENT, SHOWN_VIEW
from ui import MASKS, TEXT, LessonLink, LessonLinks

LINKS = LessonLinks(
    "Hidden words",
    EXAMPLES.decides,
    (
        LessonLink(
            "The words on both sides count",
            {TEXT: "The children are asleep.", MASKS: (2,)},
            "Only “The” is to the left of the mask. Are the predictions singular or plural, and which word decides "
            "that? Change “are” to “is” and look again.",
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
            "A prediction, layer by layer",
            {TEXT: "He drank a cup of coffee.", MASKS: (6,), SHOWN_VIEW: "layers"},
            "After which layer is “coffee” the top prediction for the first time? What kind of words come first "
            "before that?",
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
            "With the pronoun masked, nothing says whether it is a man or a woman. How do the probabilities of “he” "
            "and “she” change from “engineer” to “nurse”? What does that tell you about the training texts, and what "
            "does it not tell you about people?",
        ),
    ),
)
