"""What explanations are put to the test beside: the order of words by nearness, by hand; and which words are hidden."""

import math

import pytest
from checkpoints import Checkpoint

from jobs.explaining import METHODS, NEARNESS, RANDOM, Explained, explain
from model_zoo import Engine
from model_zoo.errors import InvalidInput
from model_zoo.questions.intervene import Intervene
from model_zoo.types import Change, TargetAnswer

TINY = "embedded/tinybert"


def explained(engine: Engine, question: Intervene) -> Explained:
    *_, last = explain(engine, question, "log P")
    return last


def shares(engine: Engine, question: Intervene, hidden: list[tuple[int, ...]]) -> list[float]:
    """P of the answer with tokens hidden, as a share of P in the whole text."""
    changes = [Change(hidden=places) for places in hidden]
    effects = engine.intervene(question.model, question.text, changes, aim=question.aim)
    return [math.exp(reading.log_probability - effects.untouched.log_probability) for reading in effects.readings]


def test_nearness_hides_the_words_next_to_the_mask_first(engine: Engine) -> None:
    """The comma and the full stop are never hidden, and every method ranks the five words alone."""
    question = Intervene(TINY, "A cat, it [MASK] on mats.")  # [CLS] a cat , it [MASK] on mat ##s . [SEP]
    assert engine.encode(TINY, question.text).tokens[7:9] == ("mats", ".")
    result = explained(engine, question)
    assert [result.units[place].label for place in result.words] == ["A", "cat", "it", "on", "mats"]
    assert [unit.label for unit in result.units] == ["A", "cat", ",", "it", "on", "mats", "."]
    assert {name for name, _ in result.curves} == {*METHODS, NEARNESS, RANDOM}
    assert {len(curve) for curve in result.curves.values()} == {6}
    steps = [(), (4,), (4, 6), (2, 4, 6), (2, 4, 6, 7), (1, 2, 4, 6, 7)]
    expected = shares(engine, question, steps)
    assert result.curves[NEARNESS, "deletion"] == pytest.approx(expected, abs=1e-4)
    rest = [tuple({*steps[-1]} - {*step}) for step in steps]
    assert result.curves[NEARNESS, "insertion"] == pytest.approx(shares(engine, question, rest), abs=1e-4)
    table = result.to_frame().set_index(["method", "word"])
    assert table.loc[("occlusion", "mats"), ["first_token", "last_token"]].tolist() == [7, 7]
    assert table.loc[("occlusion", "cat"), "score"] == pytest.approx(result.scores["occlusion"][1] / math.log(2))
    assert table.loc[("DecompX", "cat"), "score"] == result.scores["DecompX"][1]


def test_of_what_comes_next_the_last_words_are_nearest(engine: Engine, checkpoint: Checkpoint) -> None:
    model = str(checkpoint("gpt2"))
    question = Intervene(model, "The cat saw the", aim=TargetAnswer("next token"))
    result = explained(engine, question)
    assert [unit.label for unit in result.units] == ["The", "cat", "saw", "the"]
    last = result.units[3]
    near = shares(engine, question, [(), tuple(range(last.start, last.stop))])
    assert result.curves[NEARNESS, "deletion"][:2] == pytest.approx(near, abs=1e-4)


def test_a_text_too_long_for_one_method_has_the_others(engine: Engine) -> None:
    long = " ".join(["qzx" * 30] * 4)
    question = Intervene(TINY, f"A [MASK] {long}.")
    assert len(engine.encode(TINY, question.text)) > 256
    result = explained(engine, question)
    assert set(result.failures) == {"value zeroing"}
    assert "Shorten the text" in result.failures["value zeroing"]
    assert set(result.scores) == {*METHODS} - {"value zeroing"}


def test_an_answer_to_a_whole_text_is_near_no_word_and_a_difference_needs_two(engine: Engine) -> None:
    question = Intervene(TINY, "The cat sat.", text_pair="It slept.", aim=TargetAnswer("next sentence"))
    result = explained(engine, question)
    assert (RANDOM, "deletion") in result.curves
    assert (NEARNESS, "deletion") not in result.curves
    with pytest.raises(InvalidInput, match="Give the second one"):
        list(explain(engine, Intervene(TINY, "A [MASK] sat."), "logit difference"))
