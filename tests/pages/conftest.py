"""``open_page("pages/attention.py", layer="3")`` runs the whole app and goes to one page, without a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model_zoo import Engine

ROOT = Path(__file__).parents[2]


@pytest.fixture
def open_page(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """All pages share the session's engine, as all visitors of the app do."""
    import ui.engine

    st.cache_resource.clear()
    monkeypatch.setattr(ui.engine, "Engine", _Shared(engine))

    def start(path: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        app.switch_page(path)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return start


class _Shared:
    """Stands where the class is called, and hands out the one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, **_settings: object) -> Engine:
        return self._engine
