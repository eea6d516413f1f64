"""The page, prepared for a lesson: each link with a question."""

from pages.cause.examples import EXAMPLES
from pages.cause.fields import ANSWER, BY, FOIL, OTHER, SHOWN_VIEW
from ui import TEXT, LessonLink, LessonLinks

_HUNGRY = {TEXT: "The dogs near the house [MASK] hungry.", ANSWER: "are", FOIL: "is"}

LINKS = LessonLinks(
    "Cause",
    EXAMPLES.decides,
    (
        LessonLink(
            "A head that matters, and heads that do not",
            _HUNGRY,
            "Click the head with the highest number. Which word comes first without it, and is it a word for one "
            "dog or for several? Click it again, and then three heads whose number is 0: what has become of “are”?",
        ),
        LessonLink(
            "From the noun to the mask",
            {**_HUNGRY, SHOWN_VIEW: "patching", OTHER: "The dog near the house [MASK] hungry.", BY: "difference"},
            "In each cell one vector comes from a sentence about one dog. In which rows does that turn the answer "
            "at “dogs”, and from which row on at the mask? What must have happened in between?",
        ),
        LessonLink(
            "Do explanations agree?",
            {TEXT: "She sat at the table and drank a cup of [MASK].", SHOWN_VIEW: "words"},
            "Which two words do occlusion and integrated gradients put first? Does the mean of attention name the "
            "same ones, and which does rollout put first? Further down, whose curve falls at once, and whose does "
            "not?",
        ),
    ),
)
