"""The page "Train" without a browser: what every view shows before and after a training, where its models open."""

import io
import itertools
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

import numpy as np
import pytest
from checkpoints import Checkpoint
from on_screen import Open, button, controls, heatmaps, prose
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, charts, job, look, numbers, sound, train, tuned

from analysis.before_after import change_of_heads
from jobs import Desk
from jobs.tuning import MOST_KEPT, Training
from model_zoo import Engine
from model_zoo import tuned as places
from model_zoo.errors import UnknownModel
from pages.train import __main__ as command
from pages.train import choice
from pages.train.page import PAGE as TRAIN
from pages.train.presets import Distillation, FromScratch, Race
from pages.train.weight_changes import LONGEST, _up_to_most, heads_of_layer
from training.finetuning import loop, seeds
from training.finetuning.data import Labelled
from training.finetuning.predict import Predict
from training.finetuning.results import Answered, Classified, Rated, TaggedWords
from training.finetuning.scores import evaluate
from training.finetuning.seeds import SeedScores
from training.finetuning.sets import SETS
from ui.precomputed import trainings
from web import process
from web.saved import Saved

pytestmark = pytest.mark.slow


TINYBERT = "embedded/tinybert"
LSTM = "embedded/bilstm"
NOT_IN_LINK = "These results are not in the link"


PICTURES = {
    "train": ["training losses", "training scores"],
    "scores": ["confusion"],
    "try": ["labels"],
    "inside": ["change of heads", "cka before and after"],
    "plane": ["learning plane"],
    "runs": ["race losses", "race scores", "score against memory"],
}


def test_before_training_views_are_examples(open_page: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says that it is one, and about how long the button takes. One of other weights or data is not shown."""
    assert list(PICTURES) == [view.name for view in TRAIN.views]
    app = open_page(PAGE, **TINY)
    for view, pictures in PICTURES.items():
        look(app, view)
        assert not app.warning
        assert not app.info
        assert not button(app, "Train").disabled
        assert "What is chosen takes " in prose(app)
        assert "An example, computed before" in prose(app)
        assert list(charts(app)) == pictures
    monkeypatch.setattr(engine, "revision", lambda _model: "sha256:000000000000")
    process.clear_all()
    app = open_page(PAGE, **TINY)
    for view in PICTURES:
        look(app, view)
        assert "An example, computed before" not in prose(app)
        assert not charts(app)
        assert "What is chosen takes " in prose(app)
    process.clear_all()


def test_a_link_to_a_view_that_is_a_preset_or_a_page_today_opens_it(open_page: Open) -> None:
    pictures = {
        "race": ["race losses", "race scores", "score against memory"],
        "scratch": ["pretrained and from scratch"],
        "distillation": ["distillation losses", "distillation scores"],
    }
    for preset, expected in pictures.items():
        app = sound(open_page(PAGE, view=preset, **TINY))
        assert sorted(charts(app)) == expected, preset
        assert app.query_params["view"] == "runs", preset
        assert app.selectbox(key="train_preset").value == preset
    app = sound(open_page(PAGE, view="similarity", shown="nearest", sentence="2", model=TINYBERT))
    assert app.title[0].value == "Sentence vectors"
    assert app.selectbox(key="sentence_vectors_sentence").value == 2
    assert app.selectbox(key="model").value == TINYBERT


def test_the_examples_are_what_the_page_trains_as_it_opens(engine: Engine) -> None:
    """With the settings, the models and the data of now; else: run python -m pages.train."""
    for name, wanted in command.candidates().items():
        runs = trainings.runs(name)
        assert [run.candidate for run in runs] == list(wanted), name
        assert all(run.tuned is not None and len(run.tuned.data.train) <= 420 for run in runs)
    (run,) = trainings.runs("train")
    (score, *_) = evaluate(run.tuned.data, run.tuned.predictions)
    assert score.value == pytest.approx(run.tuned.score().value)
    known = trainings.inside()
    before = engine.attend("embedded/bert", run.tuned.data.test[0].text, max_tokens=LONGEST)
    after = known.run(before, before.model)
    np.testing.assert_allclose(after.head(0, 0).sum(axis=1), 1, atol=5e-3)
    assert change_of_heads(before, after).max() > 0.1
    assert len(known.answers) == len(SETS["sentiment"].tries)
    assert len(known.epochs) == len(known.path.points) == len(run.evaluated)
    assert trainings.FILE.stat().st_size < 100_000


def test_curves_and_heads_are_those_of_the_training(open_page: Open, engine: Engine) -> None:
    trained = train(open_page(PAGE, **TINY))
    (run,) = job(trained, Training).runs
    figures = charts(trained)
    assert list(figures) == ["training losses", "training scores"]
    thin, marked = figures["training losses"]["data"]
    assert [thin["name"], marked["name"]] == ["training", "development"]
    assert len(thin["x"]) == len(run.steps) == 3  # forty sentences in batches of sixteen
    np.testing.assert_allclose(numbers(thin["x"]), [step.epoch for step in run.steps])
    np.testing.assert_allclose(numbers(marked["y"]), [evaluation.loss for evaluation in run.evaluated])
    scores, alike = figures["training scores"]["data"]
    assert alike["name"] == "majority baseline"
    np.testing.assert_allclose(numbers(scores["y"]), [evaluation.score for evaluation in run.evaluated])
    text = prose(trained)
    assert f"Accuracy {tuned(trained).score().value:.1%} on the test split" in text
    assert "the trained model: whoever opens the link has to train again" in text
    assert button(trained, "Train").proto.type == "secondary"
    labels = {link.proto.label for link in trained.get("page_link")}
    assert labels >= {"Open on Attention", "Open on Layers", "Compare with the original"}

    app, outcome = look(trained, "inside"), tuned(trained)
    text = "The hotel was lovely."
    app.text_area(key="train_inside_text").set_value(text).run()
    before, after = (engine.attend(model, text) for model in (TINYBERT, outcome.id))
    layer, head = app.number_input(key="train_inside_layer").value, app.number_input(key="train_inside_head").value
    change = change_of_heads(before, after)
    first, second, difference = heatmaps(sound(app))
    np.testing.assert_allclose(first, before.head(layer - 1, head - 1))
    np.testing.assert_allclose(second, after.head(layer - 1, head - 1))
    np.testing.assert_allclose(difference, second - first, atol=1e-7)
    np.testing.assert_allclose(numbers(charts(app)["change of heads"]["data"][0]["z"]), change, atol=1e-6)
    assert len(charts(app)["cka before and after"]["data"][0]["x"]) == 1 + before.n_layers
    most = np.unravel_index(change.argmax(), change.shape)
    app.button(key="changed 0").click().run()
    assert app.number_input(key="train_inside_layer").value == most[0] + 1
    assert app.number_input(key="train_inside_head").value == most[1] + 1

    app.button(key="changed 1").click().run()
    layer, head = (app.number_input(key=f"train_inside_{part}").value for part in ("layer", "head"))
    links = {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")}
    state = {"text": text, "layer": str(layer), "head": str(head)}
    assert links["After, on Attention"] == {"model": outcome.id, **state}
    both = {"models": f"{TINYBERT},{outcome.id}", "view": "attention", "head_2": str(head), **state}
    assert links["Both, on Compare"] == both
    n = int((change >= 0.01).sum())
    assert f"On this text {n} of {change.size} heads changed by 0.01 bits or more" in prose(app)
    assert f"the mean of all is {change.mean():.4f} bits" in prose(app)
    app.text_area(key="train_inside_text").set_value("lovely " * 300).run()
    assert "Both, on Compare" not in {link.proto.label for link in sound(app).get("page_link")}


@pytest.mark.parametrize("name", SETS)
def test_every_set_is_trained_on_judged_tried_and_looked_into(name: str, open_page: Open, engine: Engine) -> None:
    app = look(train(open_page(PAGE, **TINY, set=name)), "try")
    assert "An example: " in prose(app)
    app.menu_button(key="try").click(0).run()
    texts = prose(sound(app))
    text, pair = SETS[name].tries[0]
    assert app.text_area(key="train_try_text").value == text
    match engine.ask(Predict(tuned(app).id, ((text, pair),)))[0]:
        case Classified(label):
            assert f"**{label}**" in texts
        case TaggedWords():
            assert "tags" in [element.key for element in app.get("bidi_component")]
        case Answered() as answer:
            np.testing.assert_allclose(numbers(charts(app)["span scores"]["data"][0]["y"]), answer.start_scores)
        case Rated(score):
            assert f"**{score:.2f}** of 5" in texts
    assert len(look(app, "scores").table[0].value) == len(tuned(app).scores)
    assert len(heatmaps(look(app, "inside"))) == 3
    plane = charts(look(app, "plane"))["learning plane"]
    assert [frame["name"] for frame in plane["frames"]] == ["0", "1"]
    assert sum(len(trace["x"]) for trace in plane["data"]) == len(tuned(app).first_vectors[0].vectors)


def test_where_no_attention_has_learnt_none_has_changed(open_page: Open) -> None:
    app = look(train(open_page(PAGE, **{**TINY, "model": LSTM}, learns="head")), "inside")
    assert "This model has no attention" in prose(app)
    assert not app.text_area
    (bars,) = charts(app)["cka before and after"]["data"]
    np.testing.assert_allclose(numbers(bars["y"]), 1, atol=1e-6)  # its head alone has learnt
    assert "learning plane" in charts(look(app, "plane"))
    app = look(train(open_page(PAGE, **TINY, learns="head")), "inside")
    assert "On this text no head’s attention changed." in prose(app)
    assert not numbers(charts(app)["change of heads"]["data"][0]["z"]).any()
    np.testing.assert_allclose(numbers(charts(app)["cka before and after"]["data"][0]["y"]), 1, atol=1e-6)


def test_heads_are_saved_for_numpy_and_layers_compared_on_enough_words(engine: Engine) -> None:
    before, after = (engine.attend(model, "A cat.", "It slept.") for model in ("embedded/bert", "embedded/tinybert"))
    with np.load(BytesIO(heads_of_layer(before, after, 1)), allow_pickle=False) as arrays:
        assert tuple(arrays["tokens"]) == before.encoding.tokens
        assert (arrays["text"], arrays["text_pair"]) == ("A cat.", "It slept.")
        assert list(arrays["models"]) == ["embedded/bert", "embedded/tinybert"]
        np.testing.assert_array_equal(arrays["before"], before.layer(1))
        np.testing.assert_array_equal(arrays["after"], after.layer(1))

    items = [Labelled("word " * 700, "and " * 200, "a")] * 4
    assert len(_up_to_most(items)) == 2  # two thousand words
    assert len(_up_to_most([Labelled("word " * 5000, None, "a")] * 2)) == 1
    assert len(_up_to_most([Labelled("one word", None, "a")] * 100)) == 100


def test_the_race_has_the_same_budget_in_epochs_or_seconds(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curves can be drawn by seconds; rates that differ are told of."""
    query = TINY | {"view": "race", "racers": f"{TINYBERT},{LSTM}"}
    app = open_page(PAGE, **query)
    assert NOT_IN_LINK not in prose(app)
    app = train(app, Race, "Race")
    assert NOT_IN_LINK in prose(app)
    outcomes = job(app, Race).tuned
    assert [outcome.base for outcome in outcomes] == [TINYBERT, LSTM]
    assert [outcome.steps[-1].epoch for outcome in outcomes] == [1, 1]
    table = app.table[0].value
    assert list(table.columns) == ["Tiny BERT", "Small LSTM"]
    assert list(table.loc["examples"]) == ["40", "40"]
    assert table.loc["Accuracy (95% interval)", "Small LSTM"].startswith(f"{outcomes[1].score().value:.1%} (")
    assert {"race losses", "race scores", "score against time", "score against memory"} <= set(charts(app))
    rates = [outcome.rate for outcome in outcomes]
    assert rates[0] != rates[1]
    assert list(table.loc["learning rate"]) == [f"{rate:.2g}" for rate in rates]
    assert "The learning rates differ" in prose(app)
    assert charts(app)["race scores"]["layout"]["xaxis"]["title"]["text"] == "epochs"
    app.toggle(key="train_by_seconds").set_value(True).run()
    by_seconds = charts(sound(app))["race scores"]
    assert by_seconds["layout"]["xaxis"]["title"]["text"] == "seconds of training"
    assert max(by_seconds["data"][0]["x"]) == pytest.approx(job(app, Race).runs[0].seconds)
    app = train(open_page(PAGE, **query, rate="0.0005", learns="head"), Race, "Race")
    assert "The learning rates differ" not in prose(app)
    # By a clock that goes on whenever it is read.
    ticks = itertools.count()
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: 0.04 * next(ticks)))
    query = TINY | {"view": "race", "racers": f"{TINYBERT},{LSTM}", "budget": "seconds", "seconds": "1"}
    app = train(open_page(PAGE, **query), Race, "Race")
    outcomes = job(app, Race).tuned
    assert all(outcome.steps[-2].seconds < 1 <= outcome.steps[-1].seconds + 0.1 for outcome in outcomes)
    assert charts(app)["race losses"]["layout"]["xaxis"]["title"]["text"] == "seconds of training"


def test_what_pretraining_buys_is_told_for_each_number_of_examples(open_page: Open) -> None:
    """Of 86 items 60 are there to train on."""
    rows = "".join(f"number {n} was {'fine' if n % 2 else 'awful'},{n % 2}\n" for n in range(86))
    query = {"model": TINYBERT, "epochs": "1", "view": "scratch", "set": "own", "own_text": f"text,label\n{rows}"}
    app = train(open_page(PAGE, **query), FromScratch, "Train 4 times")
    text = prose(app)
    for count in (50, 60):
        assert f"**{count} examples**:" in text
    pretrained, scratch, _alike = charts(app)["pretrained and from scratch"]["data"]
    assert [pretrained["name"], scratch["name"]] == ["pretrained", "from scratch"]
    assert list(numbers(pretrained["x"])) == list(numbers(scratch["x"])) == [50, 60]
    app = train(open_page(PAGE, **TINY | {"learns": "head"}, view="scratch"), FromScratch, "Train 6 times")
    assert "This data has only 420 training examples." in prose(app)
    assert NOT_IN_LINK in prose(app)
    for run in job(app, FromScratch).tuned:
        assert len(run.data.train) in (50, 200, 420)


def test_a_student_learns_alone_and_with_its_teacher(open_page: Open) -> None:
    """The teacher is kept and can be opened; its students are not."""
    query = {"examples": "20", "epochs": "1", "view": "distillation", "model": LSTM}
    app = train(open_page(PAGE, **query), Distillation, "Train teacher")
    teacher, alone, taught = job(app, Distillation).tuned
    assert [outcome.base for outcome in (teacher, alone, taught)] == [LSTM, TINYBERT, TINYBERT]
    assert taught.settings.alpha == pytest.approx(0.3)
    assert alone.steps[0].loss != taught.steps[0].loss
    assert f"**{alone.score().value:.1%}** with labels alone" in prose(app)
    assert len(charts(app)["distillation scores"]["data"]) == 3 + 1  # and majority baseline
    assert [run.id for run in job(app, Distillation).kept] == [teacher.id]
    for name in ("entities", "questions", "similarity"):
        app = open_page(PAGE, **TINY, view="distillation", set=name)
        assert "Choose a classification task" in prose(sound(app))
        assert button(app, "Train teacher").disabled
    app = train(open_page(PAGE, **TINY, view="distillation", set="acceptability"), Distillation, "Train teacher")
    _, alone, taught = job(app, Distillation).tuned
    assert alone.score().measure == "mcc"
    assert f"**{alone.score().value:.2f}** with labels alone and **{taught.score().value:.2f}** with" in prose(app)
    assert app.table[0].value.iloc[0, 1].startswith(f"{alone.score().value:.2f} (")


def race(*models: str, **query: str) -> dict[str, str]:
    return TINY | {"view": "race", "racers": ",".join(models), "learns": "head"} | query


def test_failures_name_their_models_and_one_reason_is_said_once(open_page: Open, checkpoint: Checkpoint) -> None:
    decoder = str(checkpoint("gpt2"))
    app = train(open_page(PAGE, **race(decoder, TINYBERT)), Race, "Race")
    (warning,) = app.warning
    assert warning.value.replace("\\", "").startswith(f"{Path(decoder).name}: ")
    assert "Choose a model such as BERT" in warning.value
    assert list(app.table[0].value.columns) == ["Tiny BERT"]

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


def test_two_trainings_of_one_model_are_two_models_to_choose(open_page: Open) -> None:
    app = train(open_page(PAGE, **TINY | {"learns": "head"}))
    app.number_input(key="train_seed").set_value(1).run()
    app = train(app)
    name = "Tiny BERT, fine-tuned: Sentiment, task head only"
    assert app.selectbox(key="model").options[-2:] == [f"{name} (2)", name]
    racers = look(app, "runs").multiselect(key="train_racers")
    assert racers.options[-2:] == [f"{name} (2)", name]
    app = train(open_page(PAGE, **TINY | {"learns": "head"}, view="scratch"))
    app.selectbox(key="model").select("Tiny BERT, fine-tuned: Sentiment, task head only").run()
    assert "fine-tuned here" in prose(app)
    assert button(app, "Train 0 times").disabled


def test_every_seed_has_a_model_of_its_own_and_scores_are_those_of_all(open_page: Open, tmp_path: Path) -> None:
    app = train(open_page(PAGE, seeds="2", seed="3", learns="head", **TINY))
    first, second = runs = job(app, Training).runs
    assert [run.candidate.settings.seed for run in runs] == [3, 4]
    band, line, _alike = charts(app)["training scores"]["data"]
    assert line["name"].endswith("(2 seeds)")
    scores = [[evaluation.score for evaluation in run.evaluated] for run in runs]
    np.testing.assert_allclose(numbers(line["y"]), np.mean(scores, axis=0))
    assert band["fill"] == "toself"
    assert "This is the first of 2 seeds, 3." in prose(look(app, "inside"))
    look(app, "train")
    app.text_input(key=f"folder {second.id}").set_value(str(tmp_path / "mine")).run()
    sound(app.button(key=f"save {second.id}").click().run())
    assert (tmp_path / "mine" / "model.safetensors").is_file()
    (success,) = app.success
    assert f"Type {tmp_path / 'mine'} as the model" in success.value.replace("\\", "")
    assert app.text_input(key=f"folder {first.id}").value == ""

    look(app, "scores")
    table = app.table[0].value
    values = [tuned.score().value for tuned in job(app, Training).tuned]
    assert table["value"].iloc[0] == f"{values[0]:.1%}"
    assert table["mean of 2 seeds"].iloc[0].startswith(f"{sum(values) / 2:.1%} ± ")
    low, high = (float(end.rstrip("%")) for end in table["95% interval of the mean"].iloc[0].split(" to "))
    assert low <= 50 * sum(values) <= high
    assert "The interval of the mean covers both." in prose(app)
    assert "Another seed may differ" not in prose(app)
    assert "The rest of this page is about seed 3." in prose(app)
    look(app, "train")
    assert app.text_input(key=f"folder {second.id}").value == str(tmp_path / "mine")
    look(app, "try")
    app.menu_button(key="try").click(0).run()
    assert "seed 3." in prose(sound(app))
    assert "labels" in charts(app)


def test_one_seed_offers_two_more_and_is_not_trained_again(open_page: Open) -> None:
    app = train(open_page(PAGE, seed="3", learns="head", **TINY))
    (first,) = job(app, Training).runs
    outcome = first.tuned
    assert "One seed does not show how much of the score is chance." in prose(app)
    app = train(app, label="Train two more seeds")
    runs = job(app, Training).runs
    assert [run.candidate.settings.seed for run in runs] == [3, 4, 5]
    assert (runs[0].id, runs[0].tuned) == (first.id, outcome)
    assert [run.candidate.name for run in runs] == [
        f"Tiny BERT, fine-tuned: Sentiment, task head only, seed {seed}" for seed in (3, 4, 5)
    ]
    assert app.number_input(key="train_seeds").value == 3
    assert "Train two more seeds" not in [button.label for button in app.button]


def test_baselines_and_other_seeds_stand_beside_the_score(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = train(open_page(PAGE, learns="head", **TINY))
    outcome = tuned(app)
    score = outcome.score()
    assert outcome.strongest_baseline
    assert f"({score.strongest_baseline:.1%} by {outcome.strongest_baseline})" in prose(app)
    look(app, "scores")
    assert app.table[0].value["strongest baseline"].iloc[0] == f"{score.strongest_baseline:.1%}"
    assert f"The strongest baseline is {outcome.strongest_baseline}" in prose(app)
    assert "with 95% intervals over the 20 groups they fall into" in prose(app)

    known = SeedScores((0.84, 0.91, 0.875), 0.875, 0.8, 0.93, 0.52, "n-grams")
    monkeypatch.setattr(seeds, "seed_scores", lambda *_of: known)
    monkeypatch.setattr(choice, "scores_by_model", lambda _of: {"embedded/tinybert": known})
    app = train(open_page(PAGE, learns="head", **TINY))
    for text in ("84.0% to 91.0% (Accuracy)", "mean is 87.5% (95% interval over seeds and items: 80.0% to 93.0%)"):
        assert text in prose(app)
    assert "- Tiny BERT: 87.5% (80.0% to 93.0%)\n- Without fine-tuning: 52.0% by n-grams" in prose(app)
    assert "84.0% to 91.0% (Accuracy)" in prose(look(app, "scores"))


TEXT = SETS["sentiment"].tries[0][0]
NAME = "Tiny BERT, fine-tuned: Sentiment"


@pytest.fixture
def trained(open_page: Open) -> AppTest:
    return train(open_page(PAGE, **TINY))


LINKS = [
    ("Open on Attention", "attention", "model"),
    ("Open on Layers", "layers", "model"),
    ("Compare with the original", "compare", "compare_models"),
]


@pytest.mark.parametrize(("label", "page", "key"), LINKS)
def test_it_opens_on_other_pages_by_its_name(label: str, page: str, key: str, trained: AppTest) -> None:
    (link,) = [element.proto for element in trained.get("page_link") if element.proto.label == label]
    assert link.page == page
    trained.switch_page(f"pages/{page}/page.py")
    trained.query_params.update(parse_qsl(link.query_string))
    app = sound(trained.run())
    assert not app.warning
    (widget,) = [element for element in (*app.selectbox, *app.multiselect) if element.key == key]
    assert NAME in widget.options
    assert tuned(app).id in widget.value


def test_it_is_saved_as_an_archive_until_its_visitor_has_left(trained: AppTest, engine: Engine) -> None:
    (link,) = [element.proto for element in trained.get("link_button")]
    assert link.label == "Save the model (zip)"
    with TestClient(Starlette(routes=[Route("/saved/{name}", Saved(lambda: engine))])) as client:
        response = client.get(f"/{link.url}")
    assert response.headers["content-disposition"] == 'attachment; filename="sentiment-tinybert.zip"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        names = set(archive.namelist())
        card = archive.read("sentiment-tinybert/README.md").decode()
    assert names >= {f"sentiment-tinybert/{name}" for name in ("model.safetensors", "config.json", "tokenizer.json")}
    assert "Sentiment" in card
    outcome = tuned(trained)
    place = places.folder(outcome.id)
    desk: Desk = trained.session_state["desk"]
    desk.leave()
    assert not place.exists()
    trained.switch_page("pages/attention/page.py")
    trained.query_params["model"] = outcome.id
    assert "This model was trained in a visit that is over" in prose(trained.run())


def test_several_trainings_are_kept_each_with_its_files(trained: AppTest, tmp_path: Path) -> None:
    app, first = trained, tuned(trained)
    for seed in range(1, MOST_KEPT + 2):
        app.number_input(key="train_seed").set_value(seed).run()
        train(app)
    kept = job(app, Training).kept
    assert [run.candidate.settings.seed for run in kept] == [1, 2, 3, 4, 5]
    with pytest.raises(UnknownModel):
        places.folder(first.id)
    for place, run in enumerate(kept):
        app.text_input(key=f"folder {run.id}").set_value(str(tmp_path / str(place))).run()
        app.button(key=f"save {run.id}").click().run()
        sound(app)
        assert (tmp_path / str(place) / "model.safetensors").is_file()


def test_saved_and_loaded_it_answers_alike(trained: AppTest, open_page: Open, tmp_path: Path, engine: Engine) -> None:
    outcome, folder = tuned(trained), tmp_path / "my model"
    ((expected,),) = (engine.ask(Predict(outcome.id, ((TEXT, None),))),)
    trained.text_input(key=f"folder {outcome.id}").set_value(str(folder)).run()
    trained.button(key=f"save {outcome.id}").click().run()
    assert f"Saved. Type {folder} as the model" in prose(sound(trained))
    trained.button(key=f"save {outcome.id}").click().run()
    assert "is there already and is not empty" in prose(sound(trained))
    assert trained.text_input(key=f"folder {outcome.id}").value == str(folder)
    here = look(trained, "try")
    here.selectbox(key="model").set_value("embedded/bilstm").run()
    here.text_area(key="train_try_text").set_value(TEXT).run()
    assert f"Model: {NAME}." in prose(sound(here))
    field = here.selectbox(key="model")
    field.options.append(str(folder))  # as if typed: the field takes what is not in its list
    field.set_value(str(folder)).run()
    assert f"Model: {folder}." in prose(sound(here))
    assert f"**{expected.label}**" in prose(here)

    again = sound(open_page(PAGE, model=str(folder), view="try", try_text=TEXT))
    assert f"**{expected.label}**" in prose(again)
    assert sorted(charts(again)["labels"]["data"][0]["x"]) == pytest.approx(sorted(expected.probabilities))


def test_a_link_restores_everything_but_what_was_trained(open_page: Open) -> None:
    query = {
        "model": "embedded/bilstm", "set": "entities", "learns": "top", "layers": "1", "rate": "0.0003", "batch": "8",
        "epochs": "2", "patience": "2", "warmup": "0.2", "decay": "0.1", "seed": "3", "seeds": "2",
        "tokens": "64", "examples": "30", "head_first": "1", "view": "runs", "racers": "embedded/tinybert",
        "budget": "seconds", "seconds": "5",
    }  # fmt: skip
    first = sound(open_page(PAGE, **query))
    link = dict(first.query_params)
    assert {name: link[name] for name in query} == query
    again = sound(open_page(PAGE, **link))
    assert dict(again.query_params) == link
    assert {key: str(widget.value) for key, widget in controls(again).items()} == {
        key: str(widget.value) for key, widget in controls(first).items()
    }
    assert not button(again, "Race").disabled
