"""The last lesson trains a model, tries it, and looks inside; other steps see what was trained."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from cost_view import measurement
from on_screen import Open, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from transformers import AutoModelForSequenceClassification, DistilBertConfig, ElectraConfig, RobertaConfig

from jobs import Desk
from jobs.tuning import LessonTraining
from model_zoo import Engine
from pages.learn import fields, tuning
from pages.learn.lessons import smaller, using
from training.finetuning.predict import Predict
from training.finetuning.results import Classified

TEXT = "The food was cold and the waiter was rude."


def job_of(app: AppTest) -> LessonTraining:
    desk: Desk = app.session_state["desk"]
    training = desk.current(LessonTraining)
    assert training is not None
    return training


def go(app: AppTest, step: int) -> AppTest:
    app.query_params["step"] = str(step)
    app.query_params["answers"] = f"using.{step}.x"
    return app.run()


@pytest.mark.slow
def test_what_was_trained_is_looked_into(open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lesson at its second step, with half a second of training. Other questions stood there before: their answers
    would be taken for answers to these.
    """
    monkeypatch.setattr(using.UsingStep, "settings", replace(using.UsingStep.settings, examples=32, epochs=1))
    trained = open_page(
        "pages/learn/page.py", lesson="using", step="2", model="embedded/tinybert", text=TEXT,
        answers="using.1.1,using.2.x,using.3.1,using.4.2",
    )  # fmt: skip
    trained.button(key="learn-train").click().run()
    assert trained.session_state[fields.ANSWERS.key] == ("using.1.1", "using.2.x")
    assert job_of(trained).wait(PATIENCE)
    trained.run()
    assert not trained.error
    tuned, alone, fast = job_of(trained).tuned
    assert (tuned.settings.learns, alone.settings.learns) == ("all", "head")
    assert fast.settings == replace(tuned.settings, rate=using.UsingStep.too_fast)
    for who, trained_model in (("all weights", tuned), ("task head only", alone), ("learning rate 0.002", fast)):
        assert f"{who}: **{trained_model.score().value:.0%}** (" in prose(trained)
    assert len(tuned.steps) == 2  # 32 reviews, 16 a step
    tried = go(trained, 3)
    (trained_model,) = engine.ask(Predict(tuned.id, ((TEXT, None),)))
    assert isinstance(trained_model, Classified)
    assert f"It predicts {trained_model.label}" not in prose(tried)  # the reply comes to who chose an answer
    tried.button(key="option 1").click().run()
    assert f"It predicts {trained_model.label}" in prose(tried)
    inside = go(trained, 4)
    assert "using.4.x" in inside.session_state[fields.ANSWERS.key]
    before = engine.encoded_states("embedded/tinybert", TEXT).states
    after = engine.encoded_states(tuned.id, TEXT).states
    norms = np.linalg.norm(before, axis=2) * np.linalg.norm(after, axis=2)
    turned = 1 - ((before * after).sum(axis=2) / norms).mean(axis=1)
    most = int(turned.argmax())
    assert f"here it is {'the embeddings' if most == 0 else f'layer {most} of {len(turned) - 1}'}" in prose(inside)

    at = go(trained, 5)
    scores = tuned.score(), fast.score()
    apart = scores[1].high < scores[0].low or scores[1].low > scores[0].high
    options = {button.label.partition(" · ")[0]: button for button in at.button if str(button.key).startswith("option")}
    right = "No clear difference" if not apart else "Clearly worse" if scores[1].value < scores[0].value else ""
    if right:
        options[right].click().run()
        assert any(markdown.value.startswith("Right. At 0.002") for markdown in trained.markdown)

    def first(seed: int | None) -> float:
        (prediction,) = engine.ask(Predict(tuned.id, ((TEXT, None),), dropout=seed))
        assert isinstance(prediction, Classified)
        return prediction.probabilities[0]

    drawn = [first(seed) for seed in range(5)]
    assert len(set(drawn)) == 5
    assert first(None) == first(None)
    at = go(trained, 6)
    spread = 100 * (max(drawn) - min(drawn))
    place = 0 if spread < 1 else 1 if spread < 10 else 2
    at.button(key=f"option {place + 1}").click().run()
    assert f"Right. They are {spread:.1f} percentage points apart." in prose(at)


def test_lessons_that_need_a_model_or_time(open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="using", step="3", text=TEXT)
    for step in (3, 4, 5, 6):
        assert "no tuned model yet" in prose(go(app, step))
    app = open_page("pages/learn/page.py", lesson="using", step="2", model="embedded/bilstm", text=TEXT)
    assert "weights of Small BERT" in prose(app)


@pytest.mark.usefixtures("quick_timing")
def test_time_is_measured_in_the_lesson_on_length(open_page: Open) -> None:
    app = open_page("pages/learn/page.py", lesson="smaller", step="4", model="embedded/tinybert", answers="smaller.4.x")
    app.button(key="learn-measure").click().run()
    job = measurement(app)
    assert job.models == ("embedded/tinybert", smaller._LSTM)
    assert job.wait(PATIENCE)
    app.run()
    assert "times the tokens" in prose(app)
    assert not [cost for cost in job.costs if cost.quality is not None]


@pytest.mark.parametrize("model", ["embedded/bert", "embedded/tinybert", "embedded/modernbert"])
def test_the_new_head_is_counted_as_the_network_has_it(model: str, engine: Engine) -> None:
    """What is new are the numbers of the classifier alone: the rest is in the checkpoint."""
    info = engine.info(model)
    with engine._memory.lease(model) as loaded:
        config = copy.deepcopy(loaded.model.config)
    config.num_labels = 2
    network = AutoModelForSequenceClassification.from_config(config)
    new = sum(weights.numel() for name, weights in network.named_parameters() if name.startswith("classifier"))
    assert tuning.new_numbers(info.family, info.width, 2) == new


def test_other_families_have_a_layer_before_the_labels() -> None:
    for family, config in (
        (("roberta"), RobertaConfig()),
        ("distilbert", DistilBertConfig()),
        ("electra", ElectraConfig()),
    ):
        config.num_labels = 2
        config.vocab_size, config.num_hidden_layers, config.n_layers = 10, 1, 1
        network = AutoModelForSequenceClassification.from_config(config)
        base = network.base_model_prefix
        new = sum(
            weights.numel() for parameter, weights in network.named_parameters() if not parameter.startswith(base)
        )
        assert tuning.new_numbers(family, config.hidden_size, 2) == new
