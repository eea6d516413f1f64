"""The lesson on answers in a passage: the best span by trying all, scores by hand, and what a limit cuts off."""

from __future__ import annotations

from functools import partial

import pytest

from model_zoo import Engine
from pages.learn.case import Case
from pages.learn.lessons import LESSONS, answering
from tests.pages.learn import sentences
from tests.pages.learn.sentences import of_models

LESSON = LESSONS["answering"]
right = partial(sentences.right, LESSON)
PAIRS = tuple(LESSON.examples)
for_every_pair = pytest.mark.parametrize("pair", PAIRS, ids=[question for question, _ in PAIRS])
pytestmark = pytest.mark.usefixtures("app")
CASE = Case("embedded/bert", *PAIRS[0])


def test_the_best_span_is_the_best_of_all_and_no_answer_wins_only_above_it() -> None:
    start, end = answering._START, answering._END
    best = max((start[i] + end[j], i, j) for i in range(len(start)) for j in range(len(end)) if i <= j)
    assert answering.best_span(start, end) == (best[1], best[2], best[0])
    words = " ".join(answering._WORDS[best[1] : best[2] + 1])
    assert right(1, CASE).text == f"“{words}”"
    assert best[0] - max(
        start[i] + end[j] for i in range(len(start)) for j in range(i, len(end)) if (i, j) != best[1:]
    ) == pytest.approx(0.5)

    assert answering.best_span((0.0, 5.0), (5.0, 0.0)) == (0, 0, 5.0)

    *_, score = answering.best_span(answering._START, answering._END)
    assert (score < answering._NO_ANSWER) == (right(2, CASE).text == "No answer")
    assert f"{answering._NO_ANSWER - score:.1f}, below 0" in LESSON.steps[1](CASE).why().replace("−", "-")


def test_f1_over_words_by_hand() -> None:
    """by, old, river against by, river, bank: two in common of three each."""
    assert right(5, CASE).text == f"{2 * 2 / 3 * 2 / 3 / (2 / 3 + 2 / 3):.2f}" == "0.67"


@for_every_pair
@of_models
def test_the_end_of_a_long_passage_is_cut_off(model: str, pair: tuple[str, str], engine: Engine) -> None:
    step = answering.CutOff(Case(model, *pair))
    read = step.long
    assert len(read) == engine.info(model).max_tokens == 512
    assert read.n_dropped >= len(engine.encode(model, pair[1])) - 2  # all of the visitor's passage
    assert right(6, Case(model, *pair)).text == "The answer was cut off"
    assert f"the last {read.n_dropped} are never seen" in right(6, Case(model, *pair)).reply


@of_models
def test_the_head_has_two_columns(model: str, engine: Engine) -> None:
    assert right(3, Case(model, *PAIRS[0])).text == f"{2 * engine.info(model).width + 2:,}"
