"""The lesson on tags: alignment by the tokenizer's own word numbers, and scores by hand."""

from __future__ import annotations

from functools import partial

import pytest
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2

from model_zoo import Engine
from model_zoo.text import word_spans
from pages.learn.case import Case
from pages.learn.lesson import Choice
from pages.learn.lessons import LESSONS, tagging
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, of_models

LESSON = LESSONS["tagging"]
right = partial(sentences.right, LESSON)
for_every_text = pytest.mark.parametrize("text", [*SENTENCES, "The electroencephalogram was invented by Hans Berger."])
pytestmark = pytest.mark.usefixtures("app")


@for_every_text
@of_models
def test_the_first_piece_of_a_word_carries_its_tag_and_tags_beside_tokens_are_shifted(
    model: str, text: str, engine: Engine
) -> None:
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
    assert right(2, case).text == f"{len(set(wanted)):,}"
    targets = LESSON.steps[1](case).numbers()["target"]
    assert [at for at, target in enumerate(targets) if target == "tag"] == sorted(set(wanted))

    case = Case(model, text)
    step = tagging.WrongLabels(case)
    firsts = [at for at, (_, word, _) in enumerate(step.shifted) if word != "–"]
    landed = sum(place == number for number, place in enumerate(firsts))
    assert right(6, case).text == str(landed)
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
    assert right(3, Case(model, SENTENCES[0])).text == f"{7 * n:,}"
