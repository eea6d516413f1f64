"""Plans of a class: what happens minute by minute, in which steps of which lessons, with which other
pages.

How long a row takes comes from its steps (``Step.minutes``) and from the minutes of talk added to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from pages.learn.lessons import LESSONS
from ui import LessonLink, Page


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a meeting: what the teacher and the class do, as Markdown, and its ``steps``, each by its lesson's name
    and its number from 1, or a whole ``lesson``; ``pages`` are prepared links (``ui.lesson_links``), each by its page
    and its name. ``talk`` are the minutes it takes beyond its steps; None for what is left of the meeting.
    """

    talk: int | None
    teacher: str
    students: str
    steps: tuple[tuple[str, int], ...] = ()
    lesson: str = ""
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def all_steps(self) -> tuple[tuple[str, int], ...]:
        """Its steps, and every one of its lesson."""
        every_step = range(1, len(LESSONS[self.lesson].steps) + 1) if self.lesson else ()
        return (*self.steps, *((self.lesson, step) for step in every_step))

    @property
    def at_least(self) -> int:
        """The minutes of its steps and its talk."""
        of_steps = sum(LESSONS[lesson].steps[step - 1].minutes for lesson, step in self.all_steps)
        return ceil(of_steps) + (self.talk or 0)


@dataclass(frozen=True, slots=True)
class Meeting:
    """``minutes`` that a class spends together; one row takes what the others leave of them."""

    title: str
    minutes: int
    rows: tuple[Row, ...]

    @property
    def left(self) -> int:
        """The minutes that its rows leave to the one that takes the rest."""
        return self.minutes - sum(row.at_least for row in self.rows if row.talk is not None)

    def timed(self) -> Iterator[tuple[int, int, Row]]:
        """Each row with the minutes at which it begins and ends, the first from 0."""
        begin = 0
        for row in self.rows:
            end = begin + (self.left if row.talk is None else row.at_least)
            yield begin, end, row
            begin = end


@dataclass(frozen=True, slots=True)
class Plan:
    """``name`` tells it from others; ``meetings`` are in the order of the course."""

    name: str
    title: str
    about: str
    meetings: tuple[Meeting, ...]

    def steps(self) -> dict[str, tuple[int, ...]]:
        """The steps of each lesson, lessons in the order in which they come."""
        by_lesson: dict[str, list[int]] = {}
        for meeting in self.meetings:
            for row in meeting.rows:
                for lesson, step in row.all_steps:
                    by_lesson.setdefault(lesson, []).append(step)
        return {lesson: tuple(dict.fromkeys(steps)) for lesson, steps in by_lesson.items()}


def title(lesson: str, step: int) -> str:
    """What a step of a plan is called: the numbers of its lesson and of the step, and its own title."""
    return f"{_number(lesson)}.{step} {LESSONS[lesson].steps[step - 1].title}"


def links(row: Row) -> Iterator[tuple[str, str, int]]:
    """What a row opens: the label, the lesson and the step of each of its steps; its whole lesson under one label."""
    yield from ((title(lesson, step), lesson, step) for lesson, step in row.steps)
    if row.lesson:
        yield f"Lesson {_number(row.lesson)}: {LESSONS[row.lesson].title}", row.lesson, 1


def prepared(row: Row) -> Iterator[tuple[Page[Any], LessonLink]]:
    """The other pages that a row opens, as prepared for a lesson. Raises KeyError for a link that does not exist."""
    from pages import PAGES  # the page of these plans is one of them

    of = {
        (page.name, link.name): (page, link) for page in PAGES if page.lesson_links for link in page.lesson_links.links
    }
    yield from (of[name] for name in row.pages)


def _number(lesson: str) -> int:
    return list(LESSONS).index(lesson) + 1


_ROOM: Final = Row(
    3,
    "Start a room with “Teach” and show its code. Ask what a computer reads when it reads a sentence.",
    "Opens the link or types the code. Guesses the number of tokens.",
    (("pieces", 1),),
)
_END: Final = Row(
    2,
    "Hand out the worksheet as homework; its solutions are on separate pages. End the room.",
    "Writes down one question that is still open.",
)


def _lesson(name: str, talk: int, teacher: str, students: str) -> Row:
    return Row(talk, teacher, students, lesson=name)


def _recap(question: str) -> Row:
    return Row(5, f"Start a room. Recap: {question}", "Answers from memory, then compares with a neighbour.")


def _meeting(title: str, *rows: Row, exercise: tuple[str, str], pages: tuple[tuple[str, str], ...] = ()) -> Meeting:
    """A meeting of the course: after its lessons the class works on its own for the time that is left."""
    return Meeting(title, 90, (*rows, Row(None, *exercise, pages=pages), _END))


PLANS: Final = (
    Plan(
        "45",
        "45 minutes",
        "A first meeting, from a sentence to attention: tokens, vectors, one attention head by hand, and what a model "
        "is trained on.",
        (
            Meeting(
                "From a sentence to attention",
                45,
                (
                    _ROOM,
                    Row(
                        2,
                        "Type a sentence from the class, with a long and a rare word. Before each answer, ask for "
                        "reasons.",
                        "Suggests sentences. Guesses where a word is split and which tokens nobody typed.",
                        (("pieces", 2), ("pieces", 3)),
                    ),
                    Row(
                        1,
                        "Follow one token: it becomes a vector, and vectors are added.",
                        "Reads numbers off the picture and answers.",
                        (("embeddings", 1), ("embeddings", 2)),
                    ),
                    Row(
                        3,
                        "Compute one row of attention on the board, with the numbers on the screen: query times key, "
                        "scaled, softmax.",
                        "Computes one score by hand, then draws the weights before the model shows them.",
                        (("head", 1), ("head", 2), ("head", 3)),
                    ),
                    Row(
                        None,
                        "Change layer and head. Explain once what an attention weight is, and that it does not by "
                        "itself explain an answer.",
                        "Compares two heads and names what differs.",
                        (("heads", 2), ("heads", 4)),
                    ),
                    Row(
                        1,
                        "Mask a word of the class’s sentence: what is the model trained to do, and what does a wrong "
                        "prediction cost?",
                        "Guesses the word before the model predicts it.",
                        (("guessing", 1), ("guessing", 3)),
                    ),
                    _END,
                ),
            ),
        ),
    ),
    Plan(
        "90",
        "90 minutes",
        "The whole way in one meeting, from a sentence to a trained model: tokens, vectors, attention by hand, layers, "
        "training, and what it takes to use one.",
        (
            Meeting(
                "From a sentence to a trained model",
                90,
                (
                    _ROOM,
                    Row(
                        3,
                        "Type a sentence from the class, with a long and a rare word. Before each answer, ask for "
                        "reasons.",
                        "Suggests sentences. Guesses where words are split, here and in other models.",
                        (("pieces", 2), ("pieces", 3), ("pieces", 4)),
                    ),
                    Row(
                        2,
                        "Follow one token: it becomes a vector, vectors are added, and similar tokens have similar "
                        "vectors.",
                        "Answers, and looks for a surprising neighbour.",
                        (("embeddings", 1), ("embeddings", 2), ("embeddings", 5)),
                    ),
                    Row(
                        5,
                        "Compute one row of attention on the board, with the numbers on the screen: query times key, "
                        "scaled, softmax, times the values.",
                        "Computes one score by hand, then draws the weights before the model shows them.",
                        (("head", 1), ("head", 2), ("head", 3), ("head", 5)),
                    ),
                    Row(
                        4,
                        "Change layer and head, then open Attention. Explain once what an attention weight is, and "
                        "that it does not by itself explain an answer.",
                        "Compares two heads and names what differs; answers the question on the page.",
                        (("heads", 2),),
                        pages=(("attention", "a-head-that-looks-one-token-back"),),
                    ),
                    Row(
                        None,
                        "Let the class work alone, and walk around.",
                        "Presses “Leave”, types a sentence of its own, and looks for a head with one clear habit. Then "
                        "types the code again.",
                        (("heads", 4),),
                    ),
                    Row(
                        2,
                        "Put the layer together: the residual connection, the feed-forward network, and how much "
                        "vectors change from layer to layer.",
                        "Draws before the model shows.",
                        (("layer", 1), ("layer", 3), ("layers", 3)),
                    ),
                    Row(
                        1,
                        "Which tokens can a token see? In BERT those on both sides, in GPT only earlier ones.",
                        "Decides which tasks need which.",
                        (("sight", 1), ("sight", 3)),
                    ),
                    Row(
                        5,
                        "Training: mask words, compute what a wrong prediction costs, and take one step. On Masked "
                        "words, look at what decides a prediction.",
                        "Guesses the word, then computes a loss: −ln of a probability on the screen.",
                        (("guessing", 1), ("guessing", 2), ("guessing", 3), ("guessing", 5)),
                        pages=(("masked_words", "the-words-on-both-sides-count"),),
                    ),
                    Row(
                        4,
                        "Open Cause: attention shows where a head looks; switching it off shows what a prediction "
                        "depends on.",
                        "Guesses what happens without the head, then clicks it.",
                        pages=(("cause", "a-head-that-matters-and-heads-that-do-not"),),
                    ),
                    Row(
                        2,
                        "Smaller models, and what each of them saves.",
                        "Chooses a model for a phone and gives a reason.",
                        (("smaller", 1),),
                    ),
                    Row(
                        5,
                        "Fine-tuning: a task head on top of a pretrained model. Open Train and press “Train”.",
                        "Counts the new weights, guesses the score, then reads it with its interval.",
                        (("using", 1),),
                        pages=(("train", "twenty-sentences-or-all-of-them"),),
                    ),
                    _END,
                ),
            ),
        ),
    ),
    Plan(
        "course",
        "Six meetings",
        "The whole course in six meetings of 90 minutes, three lessons each. After the lessons the class works on "
        "its own sentences.",
        (
            _meeting(
                "What a model reads",
                Row(
                    5,
                    "Start a room with “Teach” and show its code. Ask what a computer reads when it reads a sentence.",
                    "Opens the link or types the code.",
                ),
                _lesson("pieces", 6, "Type a sentence from the class, with a long and a rare word.", "Guesses splits."),
                _lesson("embeddings", 6, "Follow one token: it becomes a vector.", "Looks for a surprising neighbour."),
                _lesson("before", 8, "Read the sentence one token at a time.", "Draws how much of the start is left."),
                exercise=(
                    "Compare, view Tokens: the same sentence in several models.",
                    "Finds a word that each model splits differently, and says why.",
                ),
            ),
            _meeting(
                "Attention",
                _recap("what does a token become before the first layer?"),
                _lesson("head", 10, "Compute one row of attention on the board.", "Computes one score by hand."),
                _lesson("heads", 6, "Compare heads; an attention weight does not explain an answer.", "Names habits."),
                _lesson("layer", 6, "Put the layer together.", "Draws before the model shows."),
                exercise=(
                    "Attention, view Kinds of heads: every head measured on a text.",
                    "Looks for a head with one habit that holds on three sentences of its own.",
                ),
                pages=(("attention", "a-head-that-looks-one-token-back"),),
            ),
            _meeting(
                "The whole model",
                _recap("what does a layer add to a token’s vector?"),
                _lesson("layers", 8, "What can be read off which layer, and how sure is that?", "Reads intervals."),
                _lesson("sight", 6, "Which tokens can a token see?", "Decides which tasks need which mask."),
                _lesson("positions", 6, "Shuffle the words, and see what the model notices.", "Predicts the effect."),
                exercise=(
                    "Layers: choose a task and predict its best layer before you look.",
                    "Compares the probe with the control task, and says what the probe shows and what not.",
                ),
                pages=(("layers", "which-layer-knows-the-order-of-words"),),
            ),
            _meeting(
                "Training",
                _recap("how does a model know the order of words?"),
                _lesson("guessing", 8, "Mask a word; compute what a wrong prediction costs.", "Computes a loss."),
                _lesson("following", 6, "Does one sentence follow another?", "Writes a pair that fools the model."),
                _lesson("smaller", 6, "What do smaller models save?", "Chooses a model for a phone."),
                exercise=(
                    "Masked words, view How surprising.",
                    "Writes a correct sentence that surprises the model, and one that does not.",
                ),
            ),
            _meeting(
                "Putting a model to use",
                _recap("what does masked language modelling need no labels for?"),
                _lesson("family", 6, "Which model for which job?", "Matches models and jobs."),
                _lesson("using", 8, "Train a task head in class.", "Predicts the score, then reads its interval."),
                _lesson("tagging", 6, "Tags belong to words, tokens are pieces.", "Aligns labels by hand."),
                exercise=(
                    "Train: choose data and a model; change one setting and keep the rest.",
                    "Reports its score with the interval, and the most confident error.",
                ),
                pages=(("train", "twenty-sentences-or-all-of-them"),),
            ),
            _meeting(
                "Answers, meaning, explanations",
                _recap("which labels does a piece in the middle of a word get?"),
                _lesson("answering", 6, "Find an answer by its start and its end.", "Asks what has no answer."),
                _lesson("sentences", 6, "When are two sentences similar?", "Guesses cosines before they are shown."),
                _lesson("explaining", 10, "Test what attention seems to say.", "Argues for one definition."),
                exercise=(
                    "Cause: choose a prediction and test one explanation of it by switching parts off.",
                    "States the claim first, then what would refute it.",
                ),
                pages=(("cause", "do-explanations-agree"),),
            ),
        ),
    ),
)
