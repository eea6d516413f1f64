"""The app as visitors without a browser meet it: the session's one engine, and no hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import streamlit as st
import torch
from streamlit import config
from walks.visitor import Address, Visitor
from walks.walk import STEPS

import ui.engine
from model_zoo import Engine


@pytest.fixture
def app(engine: Engine, no_hub: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # noqa: ARG001
    """All visitors share the session's engine."""
    st.cache_resource.clear()
    monkeypatch.setattr(ui.engine, "Engine", lambda **_settings: engine)
    collect = config.get_option("runner.postScriptGC")
    config.set_option("runner.postScriptGC", False)  # a quarter of a second a run with all of the tests' objects
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several that wait for each other on busy cores take many times as long
    yield
    torch.set_num_threads(threads)
    config.set_option("runner.postScriptGC", collect)


@pytest.fixture
def visitor(app: None) -> Callable[..., Visitor]:  # noqa: ARG001
    """``visitor("pages/attention.py", view="lines")`` is a visitor who has opened that address."""

    def open_(page: str, **query: str) -> Visitor:
        found = Visitor(STEPS)
        found.open(Address(page, tuple(query.items())))
        return found

    return open_
