"""``open_page("pages/attention.py", layer="3")`` runs the whole app and goes to one page, without a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import ui.engine
from model_zoo import Engine

ROOT = Path(__file__).parents[2]


@pytest.fixture
def open_page(
    engine: Engine,
    quick_runs: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., AppTest]:
    """All pages share the session's engine, as all visitors of the app do."""
    st.cache_resource.clear()
    monkeypatch.setattr(ui.engine, "Engine", lambda **_settings: engine)

    def start(path: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        app.switch_page(path)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return start
