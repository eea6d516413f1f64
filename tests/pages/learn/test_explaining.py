"""The last lesson: what it measures is what Cause's own questions say, on three sentences and three models."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from model_zoo import Engine
from model_zoo.questions.write_masks import WriteMasks
from model_zoo.types import Change, TargetAnswer
from pages.learn.case import Case
from pages.learn.lesson import Choice
from pages.learn.lessons import LESSONS, explaining
from tests.pages.learn import sentences
from tests.pages.learn.sentences import of_models

LESSON = LESSONS["explaining"]
right = partial(sentences.right, LESSON)
SENTENCES = (
    "The dogs near the house are hungry.",
    "She drank a cup of coffee and read the newspaper.",
    "The cat sat on the mat because it was tired.",
)
of_sentences = pytest.mark.parametrize("text", SENTENCES)
pytestmark = [pytest.mark.usefixtures("app"), pytest.mark.slow]


def answer(option: str) -> str:
    return option.split(" · ", 1)[1].replace("\\", "")


@of_sentences
@of_models
def test_words_are_ranked_by_attention_and_by_hiding_them(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text)
    step = explaining.Hidden(case)
    place, answer_id = case.followed, step.explained.untouched.answer.id
    masked = engine.ask(WriteMasks(model, text, (place,)))
    run = engine.attend(model, masked)
    at = run.encoding.ids.index(engine.vocabulary(model).mask_id)
    mean = np.mean([run.layer(layer)[:, at].mean(axis=0) for layer in range(run.n_layers)], axis=0)
    assert len(run.encoding) == len(engine.encode(model, text))
    by_word = [float(mean[unit.start : unit.stop].sum()) for unit in step.units]
    np.testing.assert_allclose(step.scores("attention"), by_word, atol=1e-4)
    best = step.units[int(np.argmax(by_word))].label
    assert answer(right(1, case).text) == best
    hidden = [Change(hidden=tuple(range(unit.start, unit.stop))) for unit in step.units]
    effects = engine.intervene(model, text, hidden, masked=(place,), aim=TargetAnswer("mask", place, answer_id))
    lost = [effects.untouched.log_probability - reading.log_probability for reading in effects.readings]
    np.testing.assert_allclose(step.scores("occlusion"), lost, atol=1e-4)
    assert answer(right(2, case).text) == step.units[int(np.argmax(lost))].label
    left = float(np.exp(-lost[int(np.argmax(by_word))]))
    bounds = {0.25: "Less than a quarter", 0.75: "A quarter to three quarters", 1.0: "Three quarters to all of it"}
    wanted = next((name for bound, name in bounds.items() if left < bound), "As much as before or more")
    assert right(3, case).text == wanted


@of_sentences
@of_models
def test_the_head_that_attends_most_has_its_place_by_its_effect(model: str, text: str, engine: Engine) -> None:
    case = Case(model, text)
    step = explaining.HeadOff(case)
    layer, head, weight = step.strongest
    unit = step.units[step.top("attention")]
    run = engine.attend(model, engine.ask(WriteMasks(model, text, (case.followed,))))
    weights = [run.layer(at)[:, step.mask, unit.start : unit.stop].sum(axis=-1) for at in range(run.n_layers)]
    assert weight == pytest.approx(float(np.max(weights)))
    aim = TargetAnswer("mask", case.followed, step.explained.untouched.answer.id)
    alone = engine.intervene(model, text, [Change(heads=((layer, head),))], masked=(case.followed,), aim=aim)
    lost = alone.untouched.log_probability - alone.readings[0].log_probability
    assert step.effects[layer, head] == pytest.approx(lost, abs=1e-4)
    rank, n = int((step.effects > step.effects[layer, head]).sum()) + 1, step.effects.size
    wanted = (
        "It is the head that matters most"
        if rank == 1
        else "In the first quarter, but not the first"
        if rank < 1 + n / 4
        else "Not in the first quarter"
    )
    assert right(4, case).text == wanted


@of_models
def test_after_the_last_layer_the_mask_alone_is_read(model: str) -> None:
    names, shares = explaining.Patched(Case(model, SENTENCES[0])).shares
    assert names[0] == "0" or names[0]
    assert shares["at the mask"][-1] == pytest.approx(1, abs=1e-3)
    assert shares["at “dogs”"][-1] == pytest.approx(0, abs=1e-3)
    assert shares["at “dogs”"][0] == pytest.approx(1, abs=0.05)
    assert shares["at the mask"][0] == pytest.approx(0, abs=1e-3)


def test_a_model_without_attention_makes_room_for_bert() -> None:
    step = LESSON.steps[0](Case("embedded/bilstm", SENTENCES[0]))
    assert "Small BERT is asked here" in step.text()
    choice = step.ask()
    assert isinstance(choice, Choice)
