"""A model that was trained on the page "Train" is one like any other: on other pages, as a folder, until its visitor
leaves.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from on_screen import button, controls, prose
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, charts, job, look, sound, train, tuned

from jobs import Desk
from jobs.tuning import MOST_KEPT, Training
from model_zoo import Engine
from model_zoo import tuned as places
from model_zoo.errors import UnknownModel
from training.finetuning.predict import Predict
from training.finetuning.sets import SETS
from web.saved import Saved

Open = Callable[..., AppTest]

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


def test_it_opens_on_other_pages_until_its_visitor_has_left(trained: AppTest, engine: Engine) -> None:
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
    links = {element.proto.label: element.proto for element in trained.get("page_link")}
    for label, page, key in LINKS:
        assert links[label].page == page
        trained.switch_page(f"pages/{page}/page.py")
        for name, value in parse_qsl(links[label].query_string):
            trained.query_params[name] = value
        app = sound(trained.run())
        assert not app.warning
        (widget,) = [element for element in (*app.selectbox, *app.multiselect) if element.key == key]
        assert NAME in widget.options
        assert outcome.id in widget.value
    desk: Desk = trained.session_state["desk"]
    desk.leave()
    assert not place.exists()
    trained.switch_page("pages/attention/page.py")
    trained.query_params["model"] = outcome.id
    app = trained.run()
    assert "This model was trained in a visit that is over" in prose(app)


@pytest.mark.slow
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


@pytest.mark.slow
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
