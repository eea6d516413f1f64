"""The page "Train" where the disk is full: one sentence, and it is true."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from on_screen import button, prose
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from train_page import PAGE, TINY, begin, job, sound

from jobs.tuning import Training


@pytest.mark.slow
def test_stopping_says_that_nothing_is_kept_and_offers_nothing_to_go_on_with(
    open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = begin(open_page(PAGE, **TINY | {"epochs": "50"}))
    while not job(app, Training).runs[0].steps:
        assert not job(app, Training).wait(0.01)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=500_000_000))
    button(app.run(), "Stop").click().run()
    assert job(app, Training).wait(PATIENCE)
    (warning,) = sound(app.run()).warning
    assert "nothing of it could be kept" in warning.value
    assert "Stopped after" not in prose(app)
    assert "Continue" not in [element.label for element in app.button]
