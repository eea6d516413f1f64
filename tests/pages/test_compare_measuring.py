"""The view "Cost" while it measures: it can be stopped, survives failures, and waits for its turn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cost_view import NOTHING, Called, lines, measured, measurement, table
from on_screen import button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest

from jobs import Desk
from jobs.measurement import Measurement
from model_zoo import Engine, timing
from model_zoo.types import Quality
from training import quality as quality_module

Open = Callable[..., AppTest]

pytestmark = [pytest.mark.usefixtures("quick_timing"), pytest.mark.slow]


def test_stopped_before_anything_was_timed(open_cost: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held_up(_: Any) -> tuple[float, None]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return 0.001, None

    monkeypatch.setattr(timing, "_timed", held_up)
    app = open_cost("bert", "t5")
    button(app, "Measure").click().run()
    assert begun.wait(PATIENCE)
    app.run()
    assert len(table(app)) == 2  # what is known stays while the times are measured
    button(app, "Stop").click().run()
    go_on.set()
    assert measurement(app).wait(PATIENCE)
    app.run()
    assert "Stopped before anything was measured." in prose(app)
    assert {row["time, ms"] for row in table(app).values()} == {NOTHING}


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


def test_one_model_fails_and_the_other_is_shown(
    open_cost: Open, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    def timed(one_pass: Any) -> tuple[float, None]:
        if one_pass.model.endswith(called("t5")):
            raise RuntimeError("you tried to allocate 99 GB")
        return 0.001 * one_pass.n_tokens, None

    monkeypatch.setattr(timing, "_timed", timed)
    app = open_cost("bert", "t5")
    app = measured(app)
    assert any("99 GB" in warning.value for warning in app.warning)
    assert set(lines(app)) == {called("bert"), "twice the tokens, twice the time"}


def test_an_unexpected_failure_is_a_message(
    open_cost: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_loaded: object) -> Iterator[Quality]:
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(quality_module, "measure_quality", broken)
    app = measured(open_cost("bert", "t5"))
    assert any("went wrong inside the app" in warning.value for warning in app.warning)
    assert app.get("plotly_chart")
    assert "unexpected failure while measuring" in caplog.text


def test_measurements_wait_for_each_other_and_end_with_the_visit(
    engine: Engine, checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held_up(_: Any) -> tuple[float, None]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return 0.001, None

    monkeypatch.setattr(timing, "_timed", held_up)
    first, second = Desk(), Desk()
    earlier, two = (Measurement(engine, [str(checkpoint("bert"))]) for _ in range(2))
    first.start(earlier)
    second.start(two)
    assert begun.wait(PATIENCE)
    assert (earlier.stage, two.stage) == ("timing", "waiting")
    assert two.costs == []
    first.leave()
    second.leave()
    assert earlier.stopping
    assert two.stopping
    go_on.set()
    assert earlier.wait(PATIENCE)
    assert two.wait(PATIENCE)
    assert two.stage == "waiting"  # stopped before its turn, it did nothing
    assert not earlier.complete


def test_a_measurement_that_waits_says_how_many_are_ahead(
    open_cost: Open, engine: Engine, checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
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
    assert first is not None
    assert first.exclusive
    others.leave()
    go_on.set()
    assert measurement(app).wait(PATIENCE)
    app.run()
    assert first.stopping
    assert not app.get("progress")
    assert app.get("plotly_chart")
