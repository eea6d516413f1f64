"""The views that train models side by side where not all goes well: failures, equal names, measures of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from on_screen import button, prose
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, charts, job, look, train

from pages.train.presets import Distillation, FromScratch, Race

pytestmark = pytest.mark.slow

Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]

TINYBERT, LSTM = "embedded/tinybert", "embedded/bilstm"
NOT_IN_LINK = "These results are not in the link"


def race(*models: str, **query: str) -> dict[str, str]:
    return TINY | {"view": "race", "racers": ",".join(models), "learns": "head"} | query


def test_a_failure_names_its_model_and_the_others_are_raced(open_page: Open, checkpoint: Checkpoint) -> None:
    decoder = str(checkpoint("gpt2"))
    app = train(open_page(PAGE, **race(decoder, TINYBERT)), Race, "Race")
    (warning,) = app.warning
    assert warning.value.replace("\\", "").startswith(f"{Path(decoder).name}: ")
    assert "Choose a model such as BERT" in warning.value
    assert list(app.table[0].value.columns) == ["Tiny BERT"]


def test_one_reason_for_several_is_said_once(open_page: Open, checkpoint: Checkpoint) -> None:
    query = TINY | {"view": "scratch", "model": str(checkpoint("t5")), "learns": "head", "examples": "5"}
    app = train(open_page(PAGE, **query), FromScratch, "Train 6 times")
    assert [warning.value.replace("\\", "").split(": ")[0] for warning in app.warning] == [
        "pretrained, 50, pretrained, 200 and pretrained, 420",
        "from scratch, 50, from scratch, 200 and from scratch, 420",
    ]
    assert "pretrained and from scratch" not in charts(app)


def test_models_of_one_name_are_told_apart(open_page: Open, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """As one name their curves would be taken for two seeds of one model."""
    other = tmp_path / checkpoint("bert").name
    other.symlink_to(checkpoint("bert"))
    app = train(open_page(PAGE, **race(str(checkpoint("bert")), str(other), TINYBERT)), Race, "Race")
    names = [other.name, f"{other.name} (2)", "Tiny BERT"]
    assert [trace["name"] for trace in charts(app)["race scores"]["data"]] == [*names, "majority baseline"]
    assert [column.replace("\\", "") for column in app.table[0].value.columns] == names


def test_a_correlation_is_not_written_as_a_share(open_page: Open) -> None:
    app = train(open_page(PAGE, **TINY, view="distillation", set="acceptability"), Distillation, "Train teacher")
    _, alone, taught = job(app, Distillation).tuned
    assert alone.score().measure == "mcc"
    assert f"**{alone.score().value:.2f}** with labels alone and **{taught.score().value:.2f}** with" in prose(app)
    assert app.table[0].value.iloc[0, 1].startswith(f"{alone.score().value:.2f} (")


def test_fewer_examples_than_asked_for_are_said(open_page: Open) -> None:
    app = train(open_page(PAGE, **TINY | {"learns": "head"}, view="scratch"), FromScratch, "Train 6 times")
    assert "This data has only 420 training examples." in prose(app)
    assert NOT_IN_LINK in prose(app)
    for run in job(app, FromScratch).tuned:
        assert len(run.data.train) in (50, 200, 420)


def test_a_model_that_was_tuned_here_is_not_called_pretrained(open_page: Open) -> None:
    app = train(open_page(PAGE, **TINY | {"learns": "head"}, view="scratch"))
    app.selectbox(key="model").select("Tiny BERT, fine-tuned: Sentiment, task head only").run()
    assert "fine-tuned here" in prose(app)
    assert button(app, "Train 0 times").disabled


def test_two_trainings_of_one_model_are_two_models_to_choose(open_page: Open) -> None:
    app = train(open_page(PAGE, **TINY | {"learns": "head"}))
    app.number_input(key="train_seed").set_value(1).run()
    app = train(app)
    name = "Tiny BERT, fine-tuned: Sentiment, task head only"
    assert app.selectbox(key="model").options[-2:] == [f"{name} (2)", name]
    racers = look(app, "runs").multiselect(key="train_racers")
    assert racers.options[-2:] == [f"{name} (2)", name]
