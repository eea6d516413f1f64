"""What the sidebar says of the engine."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from model_zoo import Engine


@pytest.mark.usefixtures("app")
def test_a_model_that_had_to_leave_the_gpu_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def sidebar() -> None:
        from ui import sidebar

        sidebar.draw()

    said = "embedded/bert runs on the CPU: the GPU has too little memory left."
    captions = [caption.value.replace("\\", "") for caption in AppTest.from_function(sidebar).run().sidebar.caption]
    assert said not in captions
    monkeypatch.setattr(engine, "_moved", {"embedded/bert"})
    shown = AppTest.from_function(sidebar).run()
    assert not shown.exception
    assert said in [caption.value.replace("\\", "") for caption in shown.sidebar.caption]
