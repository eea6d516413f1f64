"""Lesson 7: masks, and what a model guesses under one that it was not trained with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from compare_page import matrices
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from pages.learn.case import Case
from pages.learn.lesson import Sketch
from pages.learn.lessons import LESSONS, sight
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, of_models

LESSON = LESSONS["sight"]
right = partial(sentences.right, LESSON)
for_every_text = pytest.mark.parametrize("text", [*SENTENCES, *(text for text, _ in LESSON.examples)])
pytestmark = pytest.mark.usefixtures("app")
Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]


@for_every_text
def test_a_causal_mask_leaves_those_before_and_itself(text: str) -> None:
    case = Case("embedded/bert", text)
    n = len(case.encoding)
    assert right(1, case).text == str(case.followed + 1)
    numbers = LESSON.steps[0](case).numbers()
    assert numbers["both ways"].sum() == n * n
    assert numbers["causal"].sum() == np.tril(np.ones((n, n))).sum()


@for_every_text
@of_models
def test_attention_to_later_tokens_and_the_guess_under_a_causal_mask(model: str, text: str, engine: Engine) -> None:
    case, run = Case(model, text), engine.attend(model, text)
    later = np.mean([np.triu(run.layer(layer).mean(axis=0), 1).sum() / run.n_tokens for layer in range(run.n_layers)])
    assert right(2, case).text.startswith("None" if later == 0 else "Some" if later <= 2 / 3 else "More")
    numbers = LESSON.steps[1](case).numbers()
    assert numbers["to later"].mean() == pytest.approx(later, abs=1e-5)
    assert numbers[["to earlier", "to itself", "to later"]].sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-4)

    case = Case(model, text)
    (usual,) = engine.fill_mask(model, text, masked=(case.followed,))
    (blind,) = engine.fill_without(model, text, (case.followed,), without="future")
    assert usual.log_probability is not None
    assert blind.log_probability is not None
    ratio = np.exp(blind.log_probability - usual.log_probability)
    names = {0.1: "Less than a tenth", 0.5: "A tenth to half", 1.0: "Half of that", np.inf: "The same or more"}
    assert right(3, case).text.startswith(next(name for bound, name in names.items() if ratio < bound))


def test_a_causal_model_looks_back_only_and_examples_differ(checkpoint: Checkpoint) -> None:
    case = Case(str(checkpoint("gpt2")), SENTENCES[0])
    assert right(2, case).text.startswith("None")
    assert "Above the diagonal everything is 0" in LESSON.steps[1](case).why()
    with pytest.raises(NotSupported):  # it fills no masks
        LESSON.steps[2](case).ask()

    first, _, last = (Case("embedded/bert", text) for text, _ in LESSON.examples)
    assert right(3, first).text.startswith("Less than a tenth")
    assert right(3, last).text.startswith("The same or more")

    case = Case("embedded/bert", "The cat sat on the [MASK].", token=6)
    with pytest.raises(InvalidInput, match="no original word to compare with"):
        LESSON.steps[2](case).ask()
    sketch = LESSON.steps[3](case).ask()  # hides the other words, beside the typed mask
    assert isinstance(sketch, Sketch)
    assert [label.split(" · ")[1] for label in sketch.labels] == ["the", "cat", "sat", "on", "the"]


@pytest.mark.slow
@for_every_text
@of_models
def test_every_word_under_a_causal_mask(model: str, text: str, engine: Engine) -> None:
    sketch = LESSON.steps[3](Case(model, text)).ask()
    assert isinstance(sketch, Sketch)
    places = [int(label.split(" · ")[0]) - 1 for label in sketch.labels]
    predictions = [engine.fill_without(model, text, (place,), without="future")[0] for place in places[:3]]
    wanted = [np.exp(prediction.log_probability or 0) for prediction in predictions]
    assert sketch.truth[: len(wanted)] == pytest.approx(wanted, rel=1e-4, abs=1e-7)
    numbers = LESSON.steps[3](Case(model, text)).numbers()
    assert (
        f"{(numbers['causal'] < numbers['both ways']).sum()} of {len(numbers)} words"
        in LESSON.steps[3](Case(model, text)).why()
    )
    assert "You found it" in sketch.reply(sketch.truth)


def test_masks_of_models_on_this_machine_stand_beside(
    open_page: Open, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    model = str(checkpoint("gpt2"))
    monkeypatch.setattr(sight, "_here", lambda _: [model])
    app = open_page("pages/learn/page.py", lesson="sight", step="2", text=SENTENCES[0], answers="sight.2.x")
    assert not app.error
    forward, back = matrices(app)
    assert np.triu(forward, 1).sum() > 0
    assert back.shape == (engine.attend(model, SENTENCES[0]).n_tokens,) * 2
    assert np.triu(back, 1).sum() == 0

    model = str(checkpoint("bart"))
    monkeypatch.setattr(sight, "_here", lambda kind: [model] if kind == "cross" else [])
    app = open_page("pages/learn/page.py", lesson="sight", step="5", text=SENTENCES[0], answers="sight.5.x")
    assert not app.error
    (matrix,) = matrices(app)
    run = engine.attend(model, SENTENCES[0], SENTENCES[0], stack="cross")
    wanted = np.mean([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)], axis=0)
    assert matrix == pytest.approx(wanted, abs=1e-6)

    monkeypatch.setattr(sight, "_here", lambda _: [])
    app = open_page("pages/learn/page.py", lesson="sight", step="5", text=SENTENCES[2], answers="sight.5.x")
    both, causal, across = matrices(app)
    assert both.all()
    assert across.all()
    assert causal.tolist() == np.tril(np.ones(causal.shape)).tolist()
    assert any("BART base" in caption.value for caption in app.caption)
