"""The view "Cost" of the page "Compare": it shows what was measured, and nothing that was not."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checkpoints import Checkpoint
from cost_view import NOTHING, PAGE, TIMES, Called, lines, measured, measurement, table
from on_screen import Open, button, prose
from patience import PATIENCE

from analysis.intervals import wilson
from analysis.latency import doubling
from jobs import Desk
from jobs.measurement import Measurement
from model_zoo import Engine, registry, timing
from model_zoo.errors import OutOfMemory
from model_zoo.types import Quality
from training import measure_quality as quality_module
from training.measure_quality import MeasureQuality
from ui import precomputed

pytestmark = pytest.mark.usefixtures("quick_timing")


@pytest.mark.slow
def test_it_opens_with_what_needs_no_timing(open_page: Open, engine: Engine) -> None:
    app = open_page(PAGE, view="cost")
    assert not app.error
    assert [chart.key for chart in app.get("plotly_chart")] == ["size and quality"]
    names = {model: registry.MODELS[model].short_name for model in precomputed.EMBEDDED}
    assert list(table(app)) == list(names.values())
    held = {model.info.id: model.n_bytes / 1e6 for model in engine.held()}
    for model in precomputed.EMBEDDED:
        row = table(app)[names[model]]
        assert [row[time] for time in TIMES] == [NOTHING] * len(TIMES)
        assert row["parameters, M"] == f"{engine.info(model).parameters / 1e6:,.1f}"
        assert row["weights, MB"] == f"{held[model]:,.1f}"
        stored = json.loads(precomputed.file_of(model).read_text(encoding="utf-8"))
        quality = stored["quality"]
        assert stored["model"]["revision"] == engine.info(model).revision
        assert row["masked correct"].startswith(f"{100 * quality['mlm_accuracy']:.1f}% (")
        assert 1 <= float(row["pieces/word"]) < 1.2
        if registry.MODELS[model].nsp:
            assert row["NSP correct"].startswith(f"{100 * quality['nsp_accuracy']:.1f}% (")
        else:
            assert row["NSP correct"] == NOTHING
    text = prose(app)
    assert "are measured here: this takes half a minute to a few minutes" in text
    assert "ship with the app: measured with these weights" in text
    assert "ModernBERT was trained on masked words only" in text
    assert "This page's link restores what you see." in text  # there are no times to be lost yet
    assert any(b.label == "This table (CSV)" for b in app.get("download_button"))
    assert "desk" in app.session_state
    assert app.session_state["desk"].current(Measurement) is None  # nothing was measured
    app = measured(app)
    assert not app.error
    assert all(row["time, ms"] != NOTHING for row in table(app).values())
    assert "restores what is chosen. Not in it: the measured times" in prose(app)
    assert "ship with the app" not in prose(app)
    assert "have to be measured" not in prose(app)
    assert app.get("plotly_chart")


def test_quality_of_other_weights_is_hidden(open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("embedded/bert", "embedded/bilstm"):
        text = precomputed.file_of(model).read_text(encoding="utf-8")
        if model == "embedded/bert":
            text = text.replace(json.loads(text)["model"]["revision"], "sha256:000000000000")
        (tmp_path / precomputed.file_of(model).name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    app = open_page(PAGE, view="cost", models="embedded/bert,embedded/bilstm")
    of_bert, of_lstm = table(app).values()
    assert NOTHING not in (of_bert["parameters, M"], of_lstm["parameters, M"], of_lstm["masked correct"])
    assert {of_bert["masked correct"], of_bert["NSP correct"], of_lstm["NSP correct"]} == {NOTHING}


def test_models_that_were_not_judged_or_timed(open_cost: Open, called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_cost("bert", "t5")
    assert list(table(app)) == [called("bert"), called("t5")]
    for row in table(app).values():
        assert NOTHING not in (row["weights, MB"], row["pieces/word"])
        assert {row[name] for name in (*TIMES, "masked correct", "NSP correct")} == {NOTHING}
    assert "ship with the app" not in prose(app)

    words = timing._pieces_per_word

    def stumble(loaded: Any) -> float:
        if loaded.info.id.endswith(called("roberta")):
            raise RuntimeError("no such token")
        return words(loaded)

    monkeypatch.setattr(timing, "_pieces_per_word", stumble)
    app = open_cost("bert", "roberta")
    assert list(table(app)) == [called("bert")]

    def refuse(_loaded: object) -> Iterator[Quality]:
        raise OutOfMemory("No room is left. Wait and try again.")
        yield

    monkeypatch.setattr(quality_module, "measure_quality", refuse)
    app = measured(open_cost("bert", "t5"))
    assert sum("No room is left" in warning.value for warning in app.warning) == 2
    assert app.get("plotly_chart")


@pytest.mark.slow
def test_curves_and_table_show_what_was_measured(open_cost: Open, called: Called, engine: Engine) -> None:
    app = open_cost("bert", "xlnet")
    assert not app.get("plotly_chart")
    app = measured(app)
    assert not app.error
    bert, xlnet = measurement(app).costs
    names = [called("bert"), called("xlnet")]
    drawn = lines(app)
    assert list(drawn) == [*names, "twice the tokens, twice the time"]
    assert drawn[names[0]]["x"] == [16, 32, 64]
    assert drawn[names[1]]["x"] == [16, 32, 64, 128, 256, 512]
    assert drawn[names[1]]["y"] == pytest.approx([1000 * latency.median for latency in xlnet.curve])

    of_bert, of_xlnet = (table(app)[name] for name in names)
    here = xlnet.at(128)
    between = f"{1000 * here.low:.2f}–{1000 * here.high:.2f}"
    assert of_xlnet["time, ms"] == f"{1000 * here.median:,.2f} ({between})"
    assert of_xlnet["tokens/s"] == f"{128 / here.median:,.0f}"
    assert of_xlnet["words/s"] == f"{here.n_words / here.median:,.0f}"
    assert of_bert["time, ms"] == NOTHING  # BERT here reads 64 tokens at most
    for row, cost in ((of_bert, bert), (of_xlnet, xlnet)):
        assert row["× per doubling"] == f"{doubling(cost.curve):.2f}"
        assert row["parameters, M"] == f"{cost.subject.info.parameters / 1e6:,.1f}"
        assert row["weights, MB"] == f"{cost.subject.n_bytes / 1e6:,.1f}"
        assert "extra memory per pass, MB" not in row

    judged = engine.ask(MeasureQuality(bert.subject.model))
    assert bert.quality == judged
    assert of_bert["replaced correct"] == f"{100 * judged.replaced_accuracy:.1f}%"
    assert of_bert["kept correct"] == f"{100 * judged.kept_accuracy:.1f}%"
    for name, share, n in (
        ("masked correct", judged.mlm_accuracy, judged.n_masked),
        ("NSP correct", judged.nsp_accuracy, judged.n_pairs),
    ):
        low, high = wilson(share, n)
        assert of_bert[name] == f"{100 * share:.1f}% ({100 * low:.1f}–{100 * high:.1f})"
        assert of_xlnet[name] == NOTHING
    assert "cannot fill masks" in prose(app)
    assert "float32 on cpu" in prose(app)
    assert any(b.label == "Everything measured (CSV)" for b in app.get("download_button"))


@pytest.mark.slow
def test_another_look_measures_nothing(open_cost: Open, called: Called, checkpoint: Checkpoint) -> None:
    """A length that was not measured becomes the nearest; other models above are told of."""
    app = measured(open_cost("bert", "roberta", measure="words", length="500"))
    assert not app.warning
    first = measurement(app)
    assert "twice the tokens, twice the time" not in lines(app)
    bert = first.costs[0]
    assert lines(app)[called("bert")]["y"] == pytest.approx([latency.words_per_second for latency in bert.curve])
    assert app.select_slider(key="compare_length").value == 64
    assert table(app)[called("bert")]["time, ms"].startswith(f"{1000 * bert.curve[2].median:,.2f} (")
    app.select_slider(key="compare_length").set_value(32).run()
    assert (app.query_params["length"], app.query_params["measure"]) == ("32", "words")
    assert table(app)[called("bert")]["time, ms"].startswith(f"{1000 * bert.curve[1].median:,.2f} (")
    for key, value in (("measure", "tokens"), ("measure", "latency"), ("view", "tokens"), ("view", "cost")):
        app.session_state[f"compare_{key}"] = value
        app.run()
    assert measurement(app) is first
    app.session_state["compare_models"] = [str(checkpoint("bert"))]
    app.run()
    assert f"This is the last measurement ({called('bert')}, {called('roberta')})" in prose(app)
    assert set(lines(app)) >= {called("bert"), called("roberta")}
    app = measured(app)
    assert "This is the last measurement" not in prose(app)
    assert set(lines(app)) == {called("bert"), "twice the tokens, twice the time"}


def test_a_restless_machine_and_memory_on_a_gpu_are_told(open_cost: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.cycle([1.0, 9.0, 1.0])
    monkeypatch.setattr(timing, "_timed", lambda one_pass: (next(ticks) / 1000, 10_000 * one_pass.n_tokens))
    app = measured(open_cost("bert", "t5", length="64"))
    assert [row["extra memory per pass, MB"] for row in table(app).values()] == ["0.6", "0.6"]
    assert any("keeps the machine busy" in warning.value for warning in app.warning)


def test_stop_keeps_what_is_done(open_cost: Open, called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slowly(_loaded: object) -> Iterator[Quality]:
        yield Quality(n_total=100)
        yield Quality(n_done=50, n_total=100, mlm_accuracy=0.5, mlm_loss=1.0, n_masked=40)
        reached.set()
        assert go_on.wait(PATIENCE)
        yield Quality(n_done=75, n_total=100, mlm_accuracy=0.6, mlm_loss=1.0, n_masked=60)
        raise AssertionError("it was not stopped")

    monkeypatch.setattr(quality_module, "measure_quality", slowly)
    app = open_cost("bert", "t5")
    button(app, "Measure").click().run()
    assert reached.wait(PATIENCE)
    app.run()
    assert "these are the shares so far" in prose(app)
    assert 0.5 < measurement(app).share < 1
    button(app, "Stop").click().run()
    assert button(app, "Stopping").disabled
    go_on.set()
    assert measurement(app).wait(PATIENCE)
    app.run()
    assert not app.error
    assert table(app)[called("bert")]["masked correct"].startswith("60.0% (")
    assert f"{called('bert')} read 75 of 100 held-out texts and pairs" in prose(app)
    assert f"{called('t5')} did not reach the held-out sentences" in prose(app)
    assert "Stopped." in prose(app)
    assert button(app, "Measure these 2 models")


def test_one_fails_and_the_other_is_shown(open_cost: Open, called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(one_pass: Any) -> tuple[float, None]:
        if one_pass.model.endswith(called("t5")):
            raise RuntimeError("you tried to allocate 99 GB")
        return 0.001 * one_pass.n_tokens, None

    monkeypatch.setattr(timing, "_timed", timed)
    app = open_cost("bert", "t5")
    app = measured(app)
    assert any("99 GB" in warning.value for warning in app.warning)
    assert set(lines(app)) == {called("bert"), "twice the tokens, twice the time"}


def test_a_measurement_that_waits_says_how_many_are_ahead(
    open_cost: Open, engine: Engine, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held_up(one_pass: Any) -> tuple[float, None]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return 0.001 * one_pass.n_tokens, None

    monkeypatch.setattr(timing, "_timed", held_up)
    app = open_cost("bert", "t5")
    others = Desk()
    others.start(Measurement(engine, [str(checkpoint("bert"))]))
    assert begun.wait(PATIENCE)
    button(app, "Measure").click().run()
    assert measurement(app).waiting
    assert [bar.proto.text for bar in app.get("progress")] == ["Queued: 1 job ahead"]
    first = others.current(Measurement)
    assert first.exclusive
    others.leave()
    go_on.set()
    assert measurement(app).wait(PATIENCE)
    app.run()
    assert first.stopping
    assert not app.get("progress")
    assert app.get("plotly_chart")
