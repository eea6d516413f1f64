"""The page "Train" with several seeds: a model of each to open and to save, and their scores together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import train_page as page
from streamlit.testing.v1 import AppTest

from jobs.tuning import Training


def test_every_seed_has_a_model_of_its_own_to_save(open_page: Callable[..., AppTest], tmp_path: Path) -> None:
    app = page.train(open_page(page.PAGE, seeds="2", learns="head", **page.TINY))
    first, second = page.job(app, Training).runs
    app.text_input(key=f"folder {second.id}").set_value(str(tmp_path / "mine")).run()
    page.sound(app.button(key=f"save {second.id}").click().run())
    assert (tmp_path / "mine" / "model.safetensors").is_file()
    (success,) = app.success
    assert f"Type {tmp_path / 'mine'} as the model" in success.value.replace("\\", "")
    assert app.text_input(key=f"folder {first.id}").value == ""
    page.look(page.look(app, "scores"), "train")
    assert app.text_input(key=f"folder {second.id}").value == str(tmp_path / "mine")


def test_scores_and_answers_are_those_of_the_seeds(open_page: Callable[..., AppTest]) -> None:
    app = page.train(open_page(page.PAGE, seeds="2", seed="3", learns="head", **page.TINY))
    page.look(app, "scores")
    table = app.table[0].value
    values = [tuned.score().value for tuned in page.job(app, Training).tuned]
    assert table["value"].iloc[0] == f"{values[0]:.1%}"
    assert table["mean of 2 seeds"].iloc[0].startswith(f"{sum(values) / 2:.1%} ± ")
    assert "The rest of this page is about seed 3." in page.said(app)
    page.look(app, "try")
    app.button(key="try 0").click().run()
    assert "seed 3." in page.said(page.sound(app))
    assert "labels" in page.charts(app)
