"""How long a step takes, by the words one reads and what one has to do, is what it claims."""

from __future__ import annotations

import pytest

from pages.learn.lesson import Choice, Lesson, RecallStep, Step
from pages.learn.lessons import LESSONS
from tests.pages.learn.sentences import cases
from ui.glossary import strip_terms

pytestmark = [pytest.mark.usefixtures("app"), pytest.mark.slow]

WORDS_A_MINUTE = 150  # of a text one learns from
LOOKING = {Choice: 1.25, RecallStep: 0.1}  # minutes beside reading: the figure, the answer, the figure again
DRAWING = 1.5


def measured(step: Step) -> float:
    """Minutes for a step: its texts, the options or the drawing, the reply to the right answer, and why."""
    question = step.ask()
    read = [question.question]
    if isinstance(step, RecallStep):
        looking = LOOKING[RecallStep]
    else:
        read += [step.text(), step.why()]
        looking = LOOKING[Choice] if isinstance(question, Choice) else DRAWING
    if isinstance(question, Choice):
        read += [option.text for option in question.options] + [question.options[question.right].reply]
    else:
        read.append(question.reply(question.truth))
    return sum(len(strip_terms(text).split()) for text in read) / WORDS_A_MINUTE + looking


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_lesson_takes_as_long_as_it_says(lesson: Lesson) -> None:
    case = cases(lesson)[0]
    minutes_of_steps = [measured(step(case)) for step in lesson.steps]
    for step, minutes in zip(lesson.steps, minutes_of_steps, strict=True):
        assert step.minutes == pytest.approx(minutes, abs=0.75), step.title
    assert lesson.minutes == pytest.approx(sum(minutes_of_steps), rel=0.2)
