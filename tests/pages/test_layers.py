"""The page "Layers" without a browser: its numbers, what runs and what does not run again, stopping."""

import base64
import functools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gated import Gate, study
from layers_page import PAGE, VIEWS, figure, last_run, nothing_yet, results_of, run, written
from on_screen import Open, button, prose
from patience import PATIENCE

from analysis.probing import TASKS, probe
from analysis.probing.movement import movement
from jobs import Desk
from model_zoo import Engine, registry, running, sources
from pages.layers.picture import table_of
from pages.layers.tables import depth_sentence
from ui import join_names, precomputed

pytestmark = pytest.mark.slow

SMALL = "embedded/tinybert"
QUICK = {"model": SMALL, "sentences": "60"}


def test_the_picture_holds_the_numbers_of_the_probes(open_page: Open, engine: Engine) -> None:
    app = run(open_page(PAGE, **QUICK, tasks="word_content,sentence_length", seed="3"))
    assert not app.warning
    encode = functools.partial(engine.iter_hidden_states, SMALL)
    cells = written(app)
    for row, name in enumerate(["sentence_length", "word_content"]):
        expected = probe(encode, TASKS[name], sentences=60, seed=3)
        assert cells[(0, row)] == f"{100 * expected.majority:.0f}"
        assert cells[(1, row)] == f"{100 * max(judge.accuracy for judge in expected.baselines):.0f}"
        assert len(expected.layers) == 3
        for layer in expected.layers:
            assert cells[(2 + layer.layer, row)].startswith(f"{100 * layer.accuracy:.0f}<br>")
            assert f"{100 * layer.low:.0f}" in cells[(2 + layer.layer, row)]
            assert f"{100 * layer.high:.0f}" in cells[(2 + layer.layer, row)]
    text = prose(app)
    assert "What it means." in text
    assert "does not show that the model *uses*" in text
    assert "Seed 3" in text
    app = run(open_page(PAGE, model=SMALL, tasks="sentence_length,tense", sentences="100", mdl="1"))
    results = list(results_of(app).values())
    table = table_of(results)
    assert len(table) == 2 * 3
    assert set(table["model"]) == {SMALL}
    assert set(table["seed"]) == {0}
    assert set(table["sentences"]) == {100}
    assert table[["accuracy", "low", "high", "selectivity", "bits", "compression"]].notna().all().all()
    assert next(b.label for b in app.get("download_button")) == "All results (CSV)"


@pytest.mark.usefixtures("no_answers")
def test_looking_closer_runs_nothing_again(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = run(open_page(PAGE, **QUICK, tasks="part_of_speech,word_content"))
    encoded: list[int] = []
    plain = running.hidden_states
    monkeypatch.setattr(running, "hidden_states", lambda m, t, *more: encoded.append(len(t)) or plain(m, t, *more))
    for view in VIEWS:
        app.session_state["layers_view"] = view
        app.run()
        assert not app.error
        assert not app.warning
        if view not in ("layers", "movement", "summary"):
            for name in ("part_of_speech", "word_content"):
                app.selectbox(key="layers_task").set_value(name).run()
                assert not app.error
    assert encoded == [1]  # the one sentence whose tokens are followed
    assert button(app, "Run").disabled


def test_curve_misclassified_and_summary_show_the_result(open_page: Open) -> None:
    app = run(open_page(PAGE, tasks="word_content", sentences="60", layer="6", view="misclassified"))
    (finished,) = results_of(app).values()
    layer = finished.result.layers[6]
    table = app.dataframe[-1].value
    assert list(table["text"]) == [example.text for example in layer.wrong]
    assert list(table["label"]) == [example.label for example in layer.wrong]
    assert f"{round((1 - layer.accuracy) * 18)} of 18 held-out items" in prose(app)

    app.session_state["layers_view"] = "summary"
    row = app.run().dataframe[-1].value.iloc[0]
    assert row["accuracy there"] == pytest.approx(100 * finished.result.best.accuracy)
    assert row["selectivity"] == pytest.approx(100 * finished.result.best.selectivity)
    assert row["C"] == finished.result.c
    assert "bag of words" in row["not beaten"]
    assert row["expected layer"] == row["centre of gravity"] == ""

    app.session_state["layers_view"] = "curve"
    accuracy = app.run().dataframe[-1].value["accuracy"]
    assert list(accuracy) == pytest.approx([100 * layer.accuracy for layer in finished.result.layers])
    assert figure(app, -1)["layout"]["title"]["text"] == "Word content"  # type: ignore[index]


def test_another_task_and_other_settings_keep_what_was_run(open_page: Open) -> None:
    """Also on the way to another page and back."""
    app = run(open_page(PAGE, **QUICK, tasks="word_content"))
    before = written(app)
    app.number_input(key="layers_seed").set_value(9).run()
    assert written(app) == before
    assert f"These are the results of the last run ({SMALL}, 60 sentences, seed 0)" in prose(app)
    run(app)
    assert "Seed 9" in prose(app)
    app.number_input(key="layers_seed").set_value(0).run()
    assert written(app) == before
    assert button(app, "Run").disabled
    first = next(iter(results_of(app).values()))
    app.session_state["layers_tasks"] = ["word_content", "tense"]
    app.run()
    assert button(app, "Run").label == "Run 1 task"
    run(app)
    assert last_run(app).tasks == ["tense"]  # type: ignore[union-attr]
    assert first in results_of(app).values()
    assert {row for _, row in written(app)} == {0, 1}
    before = written(app)
    app.switch_page("pages/home/page.py").run()
    app.switch_page(PAGE).run()
    assert written(app) == before


def test_how_tokens_move(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, view="movement", text="The dog barked.", measure="relative")
    assert not app.error
    (states,) = engine.hidden_states("embedded/bert", ["The dog barked."])
    z = figure(app, -1)["data"][0]["z"]  # type: ignore[index]
    assert [int(size) for size in z["shape"].split(",")] == [6, 6]
    drawn = np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"]).reshape(6, 6)
    np.testing.assert_allclose(drawn, movement(states, "relative"), atol=1e-6)
    app.text_area(key="text").set_value(" ").run()
    assert "The text is empty" in prose(app).replace("Text 1 is", "The text is")

    text, model = "The dog barked.", "embedded/modernbert"
    app = open_page(PAGE, view="movement", text=text, model=model, measure="relative")
    ((_, hidden),) = engine.iter_hidden_states(model, [text])
    z = figure(app, -1)["data"][0]["z"]  # type: ignore[index]
    drawn = np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"]).reshape(hidden.states.shape[0] - 1, -1)
    expected = movement(hidden.states, "relative", last_unnormed=hidden.last_unnormed)
    np.testing.assert_allclose(drawn, expected, atol=1e-6)
    assert (np.abs(drawn[-1] - movement(hidden.states, "relative")[-1]) > 0.05).all()
    assert "before the model's final norm" in prose(app)
    assert "final norm" not in prose(open_page(PAGE, view="movement", text=text))


def test_a_model_that_cannot_be_had_and_tasks_that_are_none(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    app = run(open_page(PAGE, **QUICK, tasks="word_content"))
    before = written(app)
    for model in ("no such model!", "somebody/some-model"):
        app.query_params["model"] = model
        app.run()
        button(app, "Run").click().run()
        assert len(app.error) == 1
        assert written(app) == before
    app = open_page(PAGE, tasks="")
    assert button(app, "Run").disabled
    assert "Choose at least one task" in prose(app)
    app = open_page(PAGE, tasks="tense,fortune")
    assert "tasks that do not exist (“fortune”)" in prose(app)
    assert button(app, "Run").label == "Run 1 task"


def test_a_run_shows_how_far_it_is_and_can_be_stopped(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = run(open_page(PAGE, **QUICK, tasks="word_content"))
    before = written(app)
    gate = Gate()
    monkeypatch.setattr(Engine, "iter_hidden_states", lambda _, __, texts: gate(texts))
    app.session_state["layers_tasks"] = ["word_content", "tense"]
    app.run()
    button(app, "Run").click().run()
    assert gate.reached.wait(PATIENCE)
    app.run()
    assert "**Tense**: random weights: encoding, 0 of 60 sentences" in prose(app)
    assert written(app) == before
    shared = "Other visitors' jobs take turns with yours, so this takes longer."
    assert shared not in prose(app)
    others = Desk()
    others.start(study(gate, "negation"))
    app.run()
    assert shared in prose(app)
    others.leave()
    button(app, "Stop").click().run()
    assert button(app, "Stopping").disabled
    gate.open.set()
    assert last_run(app).wait(PATIENCE)  # type: ignore[union-attr]
    app.run()
    assert "Stopped before Tense was done" in prose(app)
    assert written(app) == before
    assert button(app, "Run").label == "Run 1 task"


@pytest.fixture
def other_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models whose weights are not those that were measured before the app was given out."""
    find = sources.find

    def find_other(*known: Any, **limits: Any) -> sources.Source:
        return replace(find(*known, **limits), revision="sha256:000000000000")

    monkeypatch.setattr(sources, "find", find_other)


@pytest.mark.parametrize("model", precomputed.EMBEDDED)
def test_it_opens_with_the_results_that_came_with_the_app(model: str, open_page: Open) -> None:
    app = open_page(PAGE, model=model)
    stored = json.loads(precomputed.file_of(model).read_text(encoding="utf-8"))
    cells = written(app)
    for row, entry in enumerate(stored["probing"]):
        result = entry["result"]
        judges = [100 * judge["accuracy"] for judge in result["baselines"]]
        assert (cells[(0, row)], cells[(1, row)]) == (f"{judges[0]:.0f}", f"{max(judges):.0f}")
        for layer in result["layers"]:
            low, high = (f"{100 * layer[end]:.0f}" for end in ("low", "high"))
            assert cells[(2 + layer["layer"], row)].startswith(f"{100 * layer['accuracy']:.0f}<br>")
            assert f"{low}–{high}" in cells[(2 + layer["layer"], row)]
    assert len(cells) == 3 * (2 + registry.MODELS[model].layers + 1)
    assert button(app, "Run").label == "Run 3 tasks"
    text = prose(app)
    assert "These results ship with the app. Press Run to measure them again." in text
    revision = stored["model"]["revision"][:14]
    assert f"{model}, revision {revision}, " in text
    assert "400 sentences per task" in text
    assert "Seed 0. These results ship with the app, measured in float32 on a CPU." in text
    assert "Not in it" not in text
    for view in set(VIEWS) - {"movement"}:  # which shows no results
        app.session_state["layers_view"] = view
        app.run()
        assert not app.error
        assert not app.warning
        assert "Opens with the first result" not in prose(app)
    assert last_run(app) is None  # nothing was run


def test_depth_is_told_or_what_forbids_it(open_page: Open) -> None:
    results = {key.task: finished.result for key, finished in precomputed.probing("embedded/bert").items()}
    words, shift = results["word_content"], results["bigram_shift"]
    assert words.expected_layer is None  # a bag of words tells the animal
    assert "bag of words" in words.not_beaten
    assert (expected := shift.expected_layer) is not None
    assert expected.low < expected.value < expected.high
    assert depth_sentence(words) == (
        f"No depth is given: the best layer is not significantly better than {join_names(words.not_beaten)} (paired "
        "tests, 5%)."
    )
    sentence = depth_sentence(shift)
    assert (
        f"expected layer {expected.value:.1f} ({expected.low:.1f} to {expected.high:.1f}), centre of gravity"
        in sentence
    )
    assert depth_sentence(replace(shift, random_weights=None)) == (
        f"{sentence} Random weights were not measured, so this depth may come from the network’s shape alone."
    )
    app = open_page(PAGE, view="curve", task="bigram_shift")
    assert f"{sentence} The probes of all layers have the same C, {shift.c:g}." in prose(app)
    app.session_state["layers_view"] = "summary"
    row = app.run().dataframe[-1].value.set_index("task").loc["Bigram shift"]
    assert row["expected layer"] == f"{expected.value:.1f} ({expected.low:.1f} to {expected.high:.1f})"
    assert row["random weights"] == 100 * shift.random_weights.accuracy


@pytest.mark.usefixtures("other_weights")
def test_results_of_other_weights_are_not_shown(open_page: Open) -> None:
    app = open_page(PAGE)
    assert nothing_yet(app)
    assert "There are no results yet for Sentence length, Word content and Bigram shift with this model" in prose(app)
    assert "ship with the app" not in prose(app)
    assert button(app, "Run").label == "Run 3 tasks"


OWN_ROWS = "text,label\n" + "".join(f"number {i} here,{'ab'[i % 2]}\n" for i in range(40))
NOT_THERE = [
    ({"tasks": "tense"}, "for Tense with this model and these settings; running this task takes a few"),
    ({"seed": "1", "tasks": "word_content,bigram_shift"}, "for Word content and Bigram shift"),
    ({"pooling": "cls"}, "for Sentence length, Word content and Bigram shift"),
    # 1.6 s by 250 for the sentences
    ({"sentences": "100000", "tasks": "tense"}, "takes about 12 minutes on two processor cores."),
    (
        {"tasks": ",".join(TASKS), "sentences": "20000", "model": "google-bert/bert-large-uncased"},
        "running them takes about 11 hours on two processor cores, once the model is downloaded.",
    ),
    ({"model": "somebody/some-model"}, "how long running them takes depends on the model."),
    ({"tasks": "", "data": OWN_ROWS}, "for The pasted data with this model"),
]


def test_a_link_to_what_has_no_results_says_what_must_be_run(open_page: Open) -> None:
    for query, sentence in NOT_THERE:
        app = open_page(PAGE, **query)
        assert sentence in prose(app)
        assert nothing_yet(app)
        assert not button(app, "Run").disabled
        assert last_run(app) is None  # it does not begin by itself


def test_what_came_with_the_app_is_not_run_beside_what_did_not(open_page: Open) -> None:
    app = open_page(PAGE, model="embedded/tinybert", tasks="word_content,tense")
    assert {row for _, row in written(app)} == {0}
    assert "There are no results yet for Tense with this model" in prose(app)
    assert button(app, "Run").label == "Run 1 task"
    run(app)
    assert [key.task for key in results_of(app)] == ["tense"]
    assert {row for _, row in written(app)} == {0, 1}
    assert "The results of Word content ship with the app. Press Run to measure them again." in prose(app)
    assert "Not in it: results of your own runs: whoever opens the link has to run the tasks again" in prose(app)
    app.number_input(key="layers_seed").set_value(9).run()
    assert {row for _, row in written(app)} == {0, 1}  # both are still the last that were looked at


def test_what_came_with_the_app_can_be_measured_anew(open_page: Open) -> None:
    app = open_page(PAGE, model="embedded/tinybert", tasks="word_content")
    before = written(app)
    run(app)
    (finished,) = results_of(app).values()
    assert not finished.precomputed
    right = [float(cell.partition("<br>")[0]) for cell in before.values()]
    again = [float(cell.partition("<br>")[0]) for cell in written(app).values()]
    assert again == pytest.approx(right, abs=3.5)  # per cent; rounding moves three of the 120 items at most
    assert "ship with the app" not in prose(app)
    assert "Everything chosen has been run" in prose(app)
    assert button(app, "Run").disabled
