"""The page "Train" where something is wrong: one sentence each, and nothing that was typed is lost."""

import threading

import pytest
from checkpoints import Checkpoint
from on_screen import Open, button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, begin, charts, job, look, sound, train, tuned

import model_zoo
from jobs.tuning import Run, Training
from model_zoo import Engine
from training.finetuning.results import Event, Stepped

pytestmark = pytest.mark.slow

ROWS = [(f"sentence number {n} was {'fine' if n % 2 else 'awful'}", "good" if n % 2 else "bad") for n in range(60)]


def table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(["text,label", *map(",".join, rows)])


def open_own_data(open_page: Open, data: str, kind: str = "classification", **query: str) -> AppTest:
    return sound(open_page(PAGE, **TINY, set="own", own_kind=kind, own_text=data, **query))


def test_own_data_are_described_and_trained_on(open_page: Open) -> None:
    app = open_own_data(open_page, table(ROWS))
    assert "60 items: 42 for training, 6 for development and 12 for testing" in prose(app)
    assert "2 labels: " in prose(app)
    assert tuned(train(app)).data.labels == ("bad", "good")


WRONG = [
    ("", "classification", ""),
    (table([(text, "good") for text, _ in ROWS]), "classification", "one label only"),
    (table([*ROWS, ("", "good")]), "classification", "Left out 1: rows without a text or a label (line 62)."),
    ("question,context,answer\nWhere?,A mill stands by a river.,in Oslo", "answering", "(line 2)."),
]


@pytest.mark.parametrize(("data", "kind", "expected"), WRONG, ids=["nothing", "one label", "no text", "no such answer"])
def test_what_is_wrong_with_own_data_is_told(data: str, kind: str, expected: str, open_page: Open) -> None:
    """What else can be, is tested where files are read."""
    app = open_own_data(open_page, data, kind)
    assert expected in prose(app)
    assert app.text_area(key="train_own_text").value == data
    read = any("for training" in message.value for message in app.success)
    assert button(app, "Train").disabled is not read
    for preset in ("race", "scratch", "distillation"):
        sound(look(app, "runs").selectbox(key="train_preset").set_value(preset).run())
    assert app.text_area(key="train_own_text").value == data


def test_a_rate_that_is_too_high_ends_in_a_sentence(open_page: Open) -> None:
    app = train(open_page(PAGE, model="embedded/tinybert", rate="1", epochs="20", batch="4", examples="100"))
    (run,) = job(app, Training).runs
    assert run.tuned is None
    assert "The training diverged at step" in prose(app)
    assert "Choose a smaller learning rate than 1" in prose(app)
    assert app.number_input(key="train_rate").value == 1
    assert all(value == value for trace in charts(app)["training losses"]["data"] for value in trace["y"])
    app.number_input(key="train_rate").set_value(None).run()
    app.number_input(key="train_epochs").set_value(1).run()
    assert tuned(train(app)).rate < 0.01


def test_a_model_that_cannot_be_tuned_is_refused(open_page: Open, checkpoint: Checkpoint) -> None:
    app = open_page(PAGE, **TINY)
    for model, message in (
        (str(checkpoint("gpt2")), "reads from left to right"),
        (str(checkpoint("t5")), "has a decoder beside"),
    ):
        app.query_params["model"] = model
        app = train(app.run())
        assert message in prose(app)
        assert app.selectbox(key="model").value == model
    app.query_params["model"] = "no such model!"
    button(app.run(), "Train").click().run()
    assert "no such model!" in prose(app)
    assert app.selectbox(key="model").value == "no such model!"


def test_a_model_that_does_not_fit_is_refused(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room to load it, and none to tune it."""
    small = Engine("cpu", model_bytes=30_000_000)
    monkeypatch.setattr(model_zoo, "Engine", lambda **_settings: small)
    app = train(open_page(PAGE, **TINY))
    assert tuple(job(app, Training).tuned) == ()
    assert "memory" in prose(app)
    assert app.number_input(key="train_examples").value == 40
    small.close()


class Gate:
    """Holds a training at one of its steps until it may go on."""

    def __init__(self, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        plain = Run.note

        def note(run: Run, event: Event) -> None:
            plain(run, event)
            if isinstance(event, Stepped) and event.step == step:
                self.reached.set()
                assert self.open.wait(PATIENCE)

        monkeypatch.setattr(Run, "note", note)


def test_a_training_that_was_stopped_goes_on_to_the_same_end(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    query = TINY | {"epochs": "2"}
    straight = tuned(train(open_page(PAGE, **query)))
    gate = Gate(4, monkeypatch)
    app = begin(open_page(PAGE, **query))
    assert gate.reached.wait(PATIENCE)
    app.run()
    assert "step 4 of 6, loss" in app.get("progress")[0].proto.text
    button(app, "Stop").click().run()
    gate.open.set()
    stopped = job(app, Training)
    assert stopped.wait(PATIENCE)
    app.run()
    assert "Stopped after 4 steps" in prose(sound(app))
    assert "training losses" in charts(app)
    assert button(app, "Train").label == "Train"
    button(app, "Continue").click().run()
    assert job(app, Training) is not stopped
    assert job(app, Training).wait(PATIENCE)
    outcome = tuned(sound(app.run()))
    assert [step.loss for step in outcome.steps] == [step.loss for step in straight.steps]
    assert outcome.scores == straight.scores


def test_other_views_stay_in_use_while_it_trains(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(1, monkeypatch)
    app = begin(open_page(PAGE, **TINY))
    assert gate.reached.wait(PATIENCE)
    assert "race losses" in charts(look(app, "runs"))
    assert "This opens once a model has been trained" in prose(look(app, "scores"))
    gate.open.set()
    assert job(app, Training).wait(PATIENCE)
