"""Run the lines of Python that a view gives, and compare their numbers with those that it shows."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import model_zoo
from model_zoo import Engine
from ui import as_python


def compute_what_is_shown(app: AppTest, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the lines part by part, with the engine of the session in the place of a new one."""
    monkeypatch.setattr(model_zoo, "Engine", lambda: engine)
    namespace: dict[str, Any] = {}
    exec("\n".join(["from look_inside_bert import Engine", "engine = Engine()"]), namespace)
    for part in compiled(app).values():
        exec(compile("\n".join([*part.imports, part.lines]), "the lines", "exec"), namespace)
        equal(namespace.pop("numbers"), part.shows())


def compiled(app: AppTest) -> dict[str, as_python.Part]:
    """The parts of a view's lines, which could be run."""
    assert not app.exception
    assert not app.error
    parts: dict[str, as_python.Part] = app.session_state[as_python.PARTS]
    assert parts
    code = as_python.script(parts)
    assert not any(
        f"{package}." in line or f"{package} " in line
        for package in ("streamlit", "pages")
        for line in code.splitlines()
        if "import" in line
    )
    compile(code, "the whole", "exec")
    return parts


def equal(computed: npt.NDArray[Any] | pd.DataFrame, expected: npt.NDArray[Any] | pd.DataFrame) -> None:
    assert type(computed) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(
            computed.reset_index(drop=True), expected.reset_index(drop=True), rtol=1e-5, atol=1e-5
        )
    else:
        assert computed.size
        np.testing.assert_allclose(computed, expected, rtol=1e-5, atol=1e-5)
