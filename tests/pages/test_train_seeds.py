"""The page "Train" with several seeds: a model of each to open and to save, and their scores together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import train_page as page
from on_screen import prose
from streamlit.testing.v1 import AppTest

from jobs.tuning import Training
from pages.train import choice
from training.finetuning import seeds
from training.finetuning.seeds import SeedScores

Open = Callable[..., AppTest]


@pytest.mark.slow
def test_every_seed_has_a_model_of_its_own_and_scores_are_those_of_all(open_page: Open, tmp_path: Path) -> None:
    app = page.train(open_page(page.PAGE, seeds="2", seed="3", learns="head", **page.TINY))
    first, second = runs = page.job(app, Training).runs
    assert [run.candidate.settings.seed for run in runs] == [3, 4]
    band, line, _alike = page.charts(app)["training scores"]["data"]
    assert line["name"].endswith("(2 seeds)")
    scores = [[evaluation.score for evaluation in run.evaluated] for run in runs]
    np.testing.assert_allclose(page.numbers(line["y"]), np.mean(scores, axis=0))
    assert band["fill"] == "toself"
    assert "This is the first of 2 seeds, 3." in prose(page.look(app, "inside"))
    page.look(app, "train")
    app.text_input(key=f"folder {second.id}").set_value(str(tmp_path / "mine")).run()
    page.sound(app.button(key=f"save {second.id}").click().run())
    assert (tmp_path / "mine" / "model.safetensors").is_file()
    (success,) = app.success
    assert f"Type {tmp_path / 'mine'} as the model" in success.value.replace("\\", "")
    assert app.text_input(key=f"folder {first.id}").value == ""

    page.look(app, "scores")
    table = app.table[0].value
    values = [tuned.score().value for tuned in page.job(app, Training).tuned]
    assert table["value"].iloc[0] == f"{values[0]:.1%}"
    assert table["mean of 2 seeds"].iloc[0].startswith(f"{sum(values) / 2:.1%} ± ")
    low, high = (float(end.rstrip("%")) for end in table["95% interval of the mean"].iloc[0].split(" to "))
    assert low <= 50 * sum(values) <= high
    assert "The interval of the mean covers both." in prose(app)
    assert "Another seed may differ" not in prose(app)
    assert "The rest of this page is about seed 3." in prose(app)
    page.look(app, "train")
    assert app.text_input(key=f"folder {second.id}").value == str(tmp_path / "mine")
    page.look(app, "try")
    app.menu_button(key="try").click(0).run()
    assert "seed 3." in prose(page.sound(app))
    assert "labels" in page.charts(app)


@pytest.mark.slow
def test_one_seed_offers_two_more_and_is_not_trained_again(open_page: Open) -> None:
    app = page.train(open_page(page.PAGE, seed="3", learns="head", **page.TINY))
    (first,) = page.job(app, Training).runs
    outcome = first.tuned
    assert "One seed does not show how much of the score is chance." in prose(app)
    app = page.train(app, label="Train two more seeds")
    runs = page.job(app, Training).runs
    assert [run.candidate.settings.seed for run in runs] == [3, 4, 5]
    assert (runs[0].id, runs[0].tuned) == (first.id, outcome)
    assert [run.candidate.name for run in runs] == [
        f"Tiny BERT, fine-tuned: Sentiment, task head only, seed {seed}" for seed in (3, 4, 5)
    ]
    assert app.number_input(key="train_seeds").value == 3
    assert "Train two more seeds" not in [button.label for button in app.button]


def test_baselines_and_other_seeds_stand_beside_the_score(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = page.train(open_page(page.PAGE, learns="head", **page.TINY))
    outcome = page.tuned(app)
    score = outcome.score()
    assert outcome.strongest_baseline
    assert f"({score.strongest_baseline:.1%} by {outcome.strongest_baseline})" in prose(app)
    page.look(app, "scores")
    assert app.table[0].value["strongest baseline"].iloc[0] == f"{score.strongest_baseline:.1%}"
    assert f"The strongest baseline is {outcome.strongest_baseline}" in prose(app)
    assert "with 95% intervals over the 20 groups they fall into" in prose(app)

    known = SeedScores((0.84, 0.91, 0.875), 0.875, 0.8, 0.93, 0.52, "n-grams")
    monkeypatch.setattr(seeds, "seed_scores", lambda *_of: known)
    monkeypatch.setattr(choice, "scores_by_model", lambda _of: {"embedded/tinybert": known})
    app = page.train(open_page(page.PAGE, learns="head", **page.TINY))
    for text in ("84.0% to 91.0% (Accuracy)", "mean is 87.5% (95% interval over seeds and items: 80.0% to 93.0%)"):
        assert text in prose(app)
    assert "- Tiny BERT: 87.5% (80.0% to 93.0%)\n- Without fine-tuning: 52.0% by n-grams" in prose(app)
    assert "84.0% to 91.0% (Accuracy)" in prose(page.look(app, "scores"))
