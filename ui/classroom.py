"""Links for a lesson: pages as they are to be opened, each with a question to think about while one looks.

What the questions take for granted was found by asking the models that ship with the app;
``tests/pages/test_classroom.py`` asks them again, so that a retrained model cannot leave a question without its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ui.attention.fields as attention
import ui.cause.fields as cause
import ui.compare.fields as compare
import ui.layers.fields as layers
import ui.masked_words.fields as masked_words
import ui.next_sentence.scene as next_sentence
from ui import address
from ui.attention.examples import EXAMPLES as OF_ATTENTION
from ui.cause.examples import EXAMPLES as OF_CAUSE
from ui.compare.examples import EXAMPLES as OF_COMPARE
from ui.field import Field
from ui.masked_words.examples import EXAMPLES as OF_MASKED_WORDS
from ui.widgets import HEAD, LAYER, MODEL, PAIR, TEXT

# By the page, what a link decides: what it does not name gets its default, so that no link shows what was set for the
# one before.
_DECIDES: Mapping[str, tuple[Field[Any], ...]] = {
    "attention": OF_ATTENTION.decides,
    "masked_words": OF_MASKED_WORDS.decides,
    "next_sentence": next_sentence.EXAMPLES.decides,
    "layers": (MODEL, *layers.ASKED, *layers.LOOKED_AT, layers.VIEW),
    "cause": OF_CAUSE.decides,
    "compare": OF_COMPARE.decides,
}


@dataclass(frozen=True, slots=True, eq=False)
class ClassroomLink:
    """``page`` is a page's name, ``values`` the fields that are not as they are at first, and ``question`` what a
    student can answer by looking there, as Markdown.
    """

    title: str
    page: str
    values: Mapping[Field[Any], Any]
    question: str

    @property
    def state(self) -> dict[Field[Any], Any]:
        """All the fields that the link sets."""
        return {field: field.default for field in _DECIDES[self.page]} | dict(self.values)

    @property
    def query(self) -> dict[str, str]:
        """Its parameters. Raises KeyError for a field that the page does not have."""
        return address.link(self.page, **{field.name: value for field, value in self.state.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Links that belong together in a lesson, in their order."""

    title: str
    links: tuple[ClassroomLink, ...]


_DOG = "The dog ran into the garden."
_HUNGRY = {TEXT: "The dogs near the house [MASK] hungry.", cause.ANSWER: "are", cause.AGAINST: "is"}

CLASSROOM = (
    Group(
        "Attention, row by row",
        (
            ClassroomLink(
                "One row of the picture",
                "attention",
                {TEXT: "The cat sat on the mat because it was tired.", LAYER: 2, HEAD: 4},
                "Find the row that begins with “it”. Which word does “it” look at most, and what do all the numbers of "
                "one row add up to?",
            ),
            ClassroomLink(
                "A head that looks one token back",
                "attention",
                {
                    TEXT: "The dog ran into the garden and barked at the cat.",
                    attention.VIEW: "lines",
                    attention.SCOPE: "chosen",
                    attention.CHOSEN: ("1.3",),
                    LAYER: 1,
                    HEAD: 3,
                },
                "Where does each token look, and where does [CLS], which has none before it? Type a sentence of your "
                "own: does the head still do the same?",
            ),
            ClassroomLink(
                "Nearly everything on one token",
                "attention",
                {TEXT: "The cat sat on the mat because it was tired.", LAYER: 5, HEAD: 7},
                "Which column takes nearly all of every row? Under Filters, switch on “Weight by values”, which counts "
                "how much is passed on, too: how far do the numbers in that column fall?",
            ),
        ),
    ),
    Group(
        "Hidden words",
        (
            ClassroomLink(
                "The words on both sides count",
                "masked_words",
                {TEXT: "The children are asleep.", masked_words.MASKS: (2,)},
                "Only “The” stands to the left of the mask. Are the guesses singular or plural, and which word says "
                "so? Change “are” to “is” and look again.",
            ),
            ClassroomLink(
                "Which noun does the verb go with?",
                "masked_words",
                {
                    TEXT: "The dogs near the house are hungry.",
                    masked_words.MASKS: (6,),
                    masked_words.VIEW: "what if",
                    masked_words.REPLACE: 1,
                    masked_words.REPLACEMENT: "dog",
                },
                "What happens to “are” and “were” when “dogs” becomes “dog”? Now replace “house” by “houses” instead: "
                "does the noun next to the verb change as much?",
            ),
            ClassroomLink(
                "A guess, layer by layer",
                "masked_words",
                {TEXT: "He drank a cup of coffee.", masked_words.MASKS: (6,), masked_words.VIEW: "layers"},
                "After which layer is “coffee” the best guess for the first time? What kind of words are the best "
                "ones before?",
            ),
            ClassroomLink(
                "What a model was taught to expect",
                "masked_words",
                {
                    TEXT: "The engineer said that she was tired.",
                    masked_words.MASKS: (5,),
                    masked_words.VIEW: "what if",
                    masked_words.REPLACE: 1,
                    masked_words.REPLACEMENT: "nurse",
                },
                "With the pronoun hidden, nothing says whether it is a man or a woman. How do the shares of “he” and "
                "“she” change from “engineer” to “nurse”? What does that tell of the texts that the model learned "
                "from, and what does it not tell of people?",
            ),
        ),
    ),
    Group(
        "Two sentences",
        (
            ClassroomLink(
                "A sentence that follows",
                "next_sentence",
                {TEXT: _DOG, PAIR: "It barked at the cat."},
                "How sure is the model? Press “Swap A and B”: if the answer hardly changes, can it be the order that "
                "the model judges?",
            ),
            ClassroomLink(
                "A random one",
                "next_sentence",
                {TEXT: _DOG, PAIR: "The parliament passed the law in May."},
                "How sure is the model now? Change sentence B to “The dog in the film was a wolf.”, which is from "
                "another story, too. What made the first one so easy to tell?",
            ),
        ),
    ),
    Group(
        "Cause",
        (
            ClassroomLink(
                "A head that matters, and heads that do not",
                "cause",
                _HUNGRY,
                "Click the head with the lowest number. Which word comes first without it, and is it a word for one "
                "dog or for several? Click it again, and then three heads whose number is 0: what has become of “are”?",
            ),
            ClassroomLink(
                "From the noun to the mask",
                "cause",
                {
                    **_HUNGRY,
                    cause.VIEW: "patching",
                    cause.OTHER: "The dog near the house [MASK] hungry.",
                    cause.BY: "difference",
                },
                "In each cell one vector comes from a sentence about one dog. In which rows does that turn the answer "
                "at “dogs”, and from which row on at the mask? What must have happened in between?",
            ),
            ClassroomLink(
                "Do explanations agree?",
                "cause",
                {TEXT: "She sat at the table and drank a cup of [MASK].", cause.VIEW: "words"},
                "Which two words do occlusion and integrated gradients put first? Does the mean of attention name the "
                "same ones, and which does rollout put first? Further down, whose curve falls at once, and whose does "
                "not?",
            ),
        ),
    ),
    Group(
        "Layers and models",
        (
            ClassroomLink(
                "Which layer knows the order of words?",
                "layers",
                {layers.TASK: "bigram_shift"},
                "The probe is asked whether two neighbouring words were swapped; half right is guessing. How well does "
                "it do on the embeddings, after which layer is it first right in four of five, and what do random "
                "weights give?",
            ),
            ClassroomLink(
                "A larger and a smaller BERT",
                "compare",
                {
                    TEXT: "She looked at him and shook her head.",
                    compare.VIEW: "predictions",
                    compare.COMPARED: ("embedded/bert", "embedded/tinybert"),
                    compare.MASKS: (6,),
                },
                "Whose head is it, to each of the two? Now type “He looked at her and shook his head.” and click "
                "“his”: is the one that was right still right, and what is one sentence worth as a test?",
            ),
            ClassroomLink(
                "With attention and without",
                "compare",
                {
                    TEXT: "The dog near the houses was hungry.",
                    compare.VIEW: "predictions",
                    compare.COMPARED: ("embedded/bert", "embedded/bilstm"),
                    compare.MASKS: (5,),
                },
                "Whose first guess goes with “dog”, and whose with “houses”? The LSTM is also far smaller: what would "
                "have to be equal before one could put the difference down to attention?",
            ),
        ),
    ),
)
"""The groups in the order of a lesson."""
