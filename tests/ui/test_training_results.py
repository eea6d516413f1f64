"""View "Results": scores of one and several seeds, mistakes of every kind, tables to save, the learning curve."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tuning
from on_screen import button, prose, run_script, to_save
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import charts, lines

from jobs import Desk
from model_zoo import Engine
from pages.train.results import LearningCurve, all_predictions, curve_table, prediction_table, score_table
from pages.train.scene import Scene
from training.finetuning.data import KINDS, Data, Item, Kind, Labelled
from training.finetuning.results import (
    Answered,
    AnswerSpan,
    Classified,
    Evaluated,
    Prediction,
    Rated,
    Stepped,
    TaggedWords,
    Tuned,
)
from training.finetuning.scores import MEASURES, evaluate
from training.finetuning.settings import Settings
from ui.messages import as_text


def prediction(item: Item, data: Data, right: bool, sure: float) -> Prediction:
    """A right or a wrong one."""
    match data.kind:
        case "classification":
            assert isinstance(item, Labelled)
            label = item.label if right else next(other for other in data.labels if other != item.label)
            return Classified(label, tuple(sure if other == label else 1 - sure for other in data.labels))
        case "tagging":
            tags = item.tags if right else ("B-THING", *item.tags[1:])
            return TaggedWords(item.words, tags, (sure,) * len(tags))
        case "answering":
            answer = item.answers[0][1] if right and item.answers else ("") if right else "nonsense"
            return Answered((AnswerSpan(0, 8, answer or "the", sure),), 0.0 if answer else 2 * sure)
        case "similarity":
            return Rated(item.score + (0.1 if right else -2 * sure))


def made(data: Data, wrong: Sequence[int] = (1, 4), seed: int = 0, **settings: Any) -> Tuned:
    """The outcome of a training that gets the test items at the places ``wrong`` wrong, the last of them surest."""
    predictions = tuple(
        prediction(item, data, place not in wrong, 0.6 + 0.05 * place) for place, item in enumerate(data.test)
    )
    return Tuned(
        id=f"tuned/{seed}", base="embedded/tinybert", data=data, settings=Settings(seed=seed, **settings),
        scores=evaluate(data, predictions), predictions=predictions, rate=1e-3, n_parameters=10, n_learning=5,
        n_bytes=40, latency=0.01, seconds=2.0, steps=(Stepped(9, 3.0, 0.4, 0.0, 2.0),),
        evaluated=(Evaluated(0, 0.0, 0.7, 0.5), Evaluated(6, 2.0, 0.3, 0.75), Evaluated(9, 3.0, 0.2, 0.5)),
        first_vectors=(),
    )  # fmt: skip


COLUMNS = {
    "classification": ["true", "predicted", "probability"],
    "answering": ["true", "predicted", "margin of “no answer”"],
    "similarity": ["true", "predicted"],
}


def _script(scene: object) -> None:
    from pages.train import results
    from ui import address

    address.enter("train", "Train", results.VIEW.fields)
    results.VIEW.draw(scene)


def opened(*tuned: Tuned) -> AppTest:
    first = tuned[0]
    scene = Scene(first.data, None, first.base, first.settings, tuned)
    return run_script(_script, scene)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(("kind", "dark"), [*((kind, False) for kind in KINDS), ("tagging", True)])
def test_every_kind_shows_its_scores_and_its_mistakes(kind: Kind, dark: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.figures.is_dark", lambda: dark)
    monkeypatch.setattr("ui.token_line.is_dark", lambda: dark)
    outcome = made(tuning.data(kind))
    app = opened(outcome)
    scores = app.table[0].value
    assert list(scores.columns) == ["value", "95% interval", "majority baseline"]
    percent = kind != "similarity"
    first = outcome.scores[0]
    assert scores["value"].iloc[0] == (f"{first.value:.1%}" if percent else f"{first.value:.2f}")
    assert "95% intervals over them" in prose(app)
    assert ("baseline" in prose(app)) == percent
    assert "With so few items" in prose(app)  # six of them
    best = f"({MEASURES[outcome.data.measure].title} {'75.0%' if percent else '0.75'})"
    assert f"epoch 2 of 3, the best on the development split {best}." in prose(app)
    assert "With only 6 items to choose by" in prose(app)
    assert {"Scores (CSV)", "All test predictions (CSV)"} <= set(to_save(app))
    if kind == "tagging":
        assert [line["items"][0]["marked"] for line in lines(app)] == [True, True]
        assert "2 of 6 sentences have a wrong tag" in prose(app)
        assert list(app.table[1].value.columns) == ["precision", "recall", "F1", "entities"]
        assert app.table[1].value.loc["THING"].tolist() == ["75.0%", "100.0%", "85.7%", 6]
    else:
        table = app.table[1].value
        assert [first.split(" / ")[0] for first in table.index] == [outcome.data.test[place].text for place in (4, 1)]
        assert list(table.columns) == COLUMNS[kind]  # in short, and the surer one first
    if kind == "classification":
        numbers = charts(app)["confusion"]["data"][1]["text"]
        assert [int(number) for number in numbers] == [2, 1, 1, 2]
        assert "2 of 6 items are wrong." in prose(app)
    if kind == "answering":
        assert "The margin is the score of “no answer” minus" in prose(app)
    if kind == "similarity":
        assert "2 of 6 scores are more than 0.5 from the true one." in prose(app)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_wrong_is_said(kind: Kind) -> None:
    app = opened(made(tuning.data(kind), wrong=()))
    (success,) = app.success
    assert ("within 0.5" in success.value) == (kind == "similarity")
    if kind == "tagging":
        data = tuning.data(kind)
        test = tuple(replace(item, tags=("O",) * len(item.words)) for item in data.test)
        assert "is in an entity" in prose(opened(made(replace(data, test=test), wrong=())))


@pytest.mark.usefixtures("app")
def test_several_seeds_have_their_mean_and_standard_deviation() -> None:
    data = tuning.data(test=10)
    every = [made(data, wrong, seed) for seed, wrong in enumerate([(1,), (1, 2), (1, 2, 3)])]
    row = opened(*every).table[0].value.loc["Accuracy"]
    assert row["value"] == "90.0%"
    assert row["mean of 3 seeds"] == "80.0% ± 10.0%"  # of 0.9, 0.8, 0.7, as a sample of all seeds
    assert "The rest of this page is about seed 0." in prose(opened(*every))
    table = all_predictions(every)
    assert len(table) == 30
    assert [(table.query(f"seed == {seed}")["true"] != table.query(f"seed == {seed}")["predicted"]).sum()
            for seed in range(3)] == [1, 2, 3]  # fmt: skip


@pytest.mark.usefixtures("app")
def test_own_labels_are_shown_as_they_are() -> None:
    data = tuning.data()
    renamed = {"early": "<b>*x*</b>", "late": ":red[y]"}
    splits = {
        split: tuple(replace(item, label=renamed[item.label]) for item in data.split(split))
        for split in ("train", "dev", "test")
    }
    app = opened(made(replace(data, labels=tuple(renamed.values()), **splits)))
    ticks = charts(app)["confusion"]["layout"]["xaxis"]["ticktext"]
    assert ticks[0] == "&#60;b&#62;*x*&#60;/b&#62;"
    assert set(app.table[1].value["true"]) <= {as_text(label) for label in renamed.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_table_holds_what_the_model_said(kind: Kind) -> None:
    outcome = made(tuning.data(kind))
    table = prediction_table(outcome, with_probabilities=True)
    assert list(table["text"]) == [item.text for item in outcome.data.test]
    if kind == "classification":
        np.testing.assert_allclose(table["probability of early"] + table["probability of late"], 1)
        shares = table[["probability of early", "probability of late"]].max(axis=1)
        np.testing.assert_allclose(shares, table["probability"])
    if kind == "tagging":
        assert all(len(a.split()) == len(b.split()) for a, b in zip(table["probabilities"], table["true"], strict=True))
    if kind == "answering":
        assert table["true"].iloc[2] == table["predicted"].iloc[2] == "(no answer)"
        assert table["margin of “no answer”"].iloc[2] == pytest.approx(0.7)
    if kind == "similarity":
        assert table["predicted"].iloc[0] == pytest.approx(table["true"].iloc[0] + 0.1)


def test_scores_of_every_seed_can_be_saved() -> None:
    data = tuning.data()
    table = score_table([made(data, seed=seed) for seed in (3, 4)])
    assert list(table["seed"]) == [3, 3, 3, 4, 4, 4]
    assert list(table["score"]) == ["accuracy", "macro_f1", "mcc"] * 2
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()


@pytest.mark.slow
@pytest.mark.usefixtures("app")
def test_the_learning_curve_trains_on_splits_of_the_data(engine: Engine) -> None:
    data = tuning.data(train=20)
    trained = tuning.outcome(engine, tuning.question("embedded/tinybert", data, learns="head", epochs=1))
    app = opened(trained)
    assert "learning curve" not in charts(app)
    button(app, "Train on 10, 25, 50 and 100%").click().run()
    desk: Desk = app.session_state["desk"]
    job = desk.current(LearningCurve)
    assert job is not None
    assert job.wait(PATIENCE)
    app.run()
    line, _alike = charts(app)["learning curve"]["data"]
    assert line["x"] == [2, 5, 10, 20]
    assert line["y"][-1] == pytest.approx(trained.scores[0].value)  # all of the data, the same settings and seed
    assert not job.kept
    for fewer, more in zip(job.tuned, job.tuned[1:], strict=False):
        assert set(fewer.data.train) < set(more.data.train)
    assert list(curve_table(job.tuned)["examples"]) == [2] * 3 + [5] * 3 + [10] * 3 + [20] * 3
    # A curve of other settings is not shown as that of these.
    other = replace(trained, settings=replace(trained.settings, epochs=2))
    scene = Scene(data, None, other.base, other.settings, (other,))
    again = AppTest.from_function(_script, args=(scene,), default_timeout=PATIENCE)
    again.session_state["desk"] = desk
    again.run()
    assert "learning curve" not in charts(again)
    assert button(again, "Train on 10, 25, 50 and 100%")
