"""Answers in a passage and tags: the best span by trying all, alignment by word numbers, scores by hand."""

from __future__ import annotations

from functools import partial

import pytest
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2

from model_zoo import Engine
from model_zoo.text import word_spans
from pages.learn.case import Case
from pages.learn.lesson import Choice
from pages.learn.lessons import LESSONS, answering, tagging
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, of_models

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


TAGGING = LESSONS["tagging"]
right_tag = partial(sentences.right, TAGGING)
for_every_text = pytest.mark.parametrize("text", [*SENTENCES, "The electroencephalogram was invented by Hans Berger."])


@for_every_text
@of_models
def test_first_pieces_carry_tags_and_tags_beside_tokens_are_shifted(model: str, text: str, engine: Engine) -> None:
    """By characters: of the tokens that begin within a word the first one."""
    encoding = engine.encode(model, text)
    wanted = []
    for start, end in word_spans(text):
        within = [
            at
            for at, (first, last) in enumerate(encoding.offsets)
            if not encoding.special[at] and last > first and start <= last - 1 and first < end
        ]
        wanted.append(within[0])
    case = Case(model, text)
    assert right_tag(2, case).text == f"{len(set(wanted)):,}"
    targets = TAGGING.steps[1](case).numbers()["target"]
    assert [at for at, target in enumerate(targets) if target == "tag"] == sorted(set(wanted))

    case = Case(model, text)
    step = tagging.WrongLabels(case)
    firsts = [at for at, (_, word, _) in enumerate(step.shifted) if word != "–"]
    landed = sum(place == number for number, place in enumerate(firsts))
    assert right_tag(6, case).text == str(landed)
    assert landed == (0 if engine.encode(model, text).special[0] else landed)


def test_entities_count_whole_as_seqeval_counts_them() -> None:
    wanted = f1_score([list(tagging._TRUE)], [list(tagging._PREDICTED)], mode="strict", scheme=IOB2)
    choice = tagging.Scored(Case("embedded/bert", "x")).ask()
    assert isinstance(choice, Choice)
    assert choice.options[choice.right].text == f"{wanted:.2f}" == "0.57"

    why = tagging.Scored(Case("embedded/bert", "x")).why()
    words = [tag for item in tagging.Scored(Case("embedded/bert", "x")).data.test for tag in item.tags]  # type: ignore[union-attr]
    assert f"{words.count('O') / len(words):.0%} of the words right" in why
    assert "an F1 of 0.00" in why


@of_models
def test_logits_are_tags_times_tokens(model: str, engine: Engine) -> None:
    n = len(engine.encode(model, SENTENCES[0]))
    assert right_tag(3, Case(model, SENTENCES[0])).text == f"{7 * n:,}"
