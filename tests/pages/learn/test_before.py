"""Lesson 3: what an LSTM keeps and loses on three sentences, and alignment by hand."""

from __future__ import annotations

from math import exp, tanh

import numpy as np
import pytest

from model_zoo import Engine
from model_zoo.questions.read_recurrence import ReadRecurrence
from pages.learn.case import Case
from pages.learn.lesson import Choice, Sketch
from pages.learn.lessons import LESSONS, before

STEPS = LESSONS["before"].steps
SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "She opened the window, and cold air came into the room.",
    "The birds in the garden sing before the sun comes up.",
)
MODELS = ("embedded/bert", "embedded/tinybert", "embedded/bilstm")
for_every_text = pytest.mark.parametrize("text", SENTENCES)
of_models = pytest.mark.parametrize("model", MODELS)
pytestmark = pytest.mark.usefixtures("app")


def right(step: int, case: Case) -> str:
    choice = STEPS[step - 1](case).ask()
    assert isinstance(choice, Choice)
    return choice.options[choice.right].text


@for_every_text
@of_models
def test_what_an_lstm_keeps_of_the_first_word(model: str, text: str, engine: Engine) -> None:
    step = before.Bottleneck(Case(model, text))
    word, _ = step.changed
    original, other = (
        engine.ask(ReadRecurrence("embedded/bilstm", text_read))
        for text_read in (text, f"{word} {text.split(' ', 1)[1]}")
    )
    apart = [float(np.sqrt(((a - b) ** 2).sum())) for a, b in zip(original.states, other.states, strict=True)]
    first = next(at for at, distance in enumerate(apart) if distance > 0)
    sketch = step.ask()
    assert isinstance(sketch, Sketch)
    places = [int(label.split(" · ")[0]) - 1 for label in sketch.labels]
    assert places[0] == first
    assert sketch.truth == pytest.approx([min(1, apart[at] / apart[first]) for at in places], rel=1e-4)
    assert sketch.truth[0] == 1
    assert sketch.truth[-1] < 0.25  # what the lesson is about is there to be seen
    # Whatever model is chosen, the LSTM is asked.
    assert right(1, Case(model, text)) == str(len(engine.encode("embedded/bilstm", text)))

    read = engine.ask(ReadRecurrence("embedded/bilstm", text))
    typed = [at for at, special in enumerate(read.encoding.special) if not special]
    share = float(read.gradients[typed[0]] / read.gradients[typed[-1]])
    assert share < 0.4
    assert right(3, Case(model, text)) == "Less than half"
    assert f"{share:.1%} of the gradient is left" in STEPS[2](Case(model, text)).why()


def test_alignment_by_hand() -> None:
    q, k = (2.0, 0.1), ((0.2, 0.1), (2.0, 0.3), (0.1, 2.0))
    scores = [q[0] * animal + q[1] * other for animal, other in k]
    assert right(4, Case("embedded/bert", SENTENCES[0])) == f"{scores[1]:.2f}" == "4.03"
    weights = [exp(score) / sum(map(exp, scores)) for score in scores]
    np.testing.assert_allclose(before.softmax(before.multiplicative())[1], weights)
    added = [2 * tanh(q[0] + animal - 3) + 2 * tanh(q[1] + other - 3) for animal, other in k]
    np.testing.assert_allclose(before.additive()[1], added)
    read = [sum(weight * vector[at] for weight, vector in zip(weights, k, strict=True)) for at in (0, 1)]
    assert f"({read[0]:.2f}, {read[1]:.2f})" in STEPS[4](Case("embedded/bert", SENTENCES[0])).why()
