"""The page "Layers" with the results that came with the app, and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from layers_page import PAGE, VIEWS, last_run, nothing_yet, results_of, run, written
from on_screen import button, prose
from streamlit.testing.v1 import AppTest

from analysis.probing import TASKS
from model_zoo import registry, sources
from pages.layers.tables import depth_sentence
from ui import join_names, precomputed

Open = Callable[..., AppTest]

pytestmark = pytest.mark.slow


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
    assert shift.random_weights is not None
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
