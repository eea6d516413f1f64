"""The pages on a checkpoint as its authors published it, by its id and without a hub."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from on_screen import prose
from real_checkpoint import FOLDER, ID
from streamlit.testing.v1 import AppTest
from train_page import charts, numbers, sound

from analysis.sentence_vectors import cosines
from model_zoo import Engine
from training.finetuning import sentence_pairs

pytestmark = pytest.mark.slow

Open = Callable[..., AppTest]

LINES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@pytest.fixture(autouse=True)
def without_a_hub(no_hub: None) -> None:
    """What is asked of the hub fails."""


@pytest.mark.parametrize("model", [ID, str(FOLDER)], ids=["id", "folder"])
@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("attention", ""), ("attention", "grid"), ("layers", ""), ("cause", ""), ("train", ""),
        ("sentence_vectors", "matrix"),
    ],
)  # fmt: skip
def test_a_page_opens_on_it(page: str, view: str, model: str, open_page: Open) -> None:
    query = {"view": view} if view else {}
    app = sound(open_page(f"pages/{page}/page.py", model=model, text=LINES[0], **query))
    assert app.query_params.get("model") in (model, [model])
    assert "to download from the hub" not in prose(app)


@pytest.mark.parametrize("view", ["", "attention"])
def test_it_is_compared(view: str, open_page: Open) -> None:
    app = sound(
        open_page(
            "pages/compare/page.py", models=f"embedded/bert,{ID}", text=LINES[0], **({"view": view} if view else {})
        )
    )
    assert "to download from the hub" not in prose(app)


def test_similarity_is_that_of_its_vectors(open_page: Open, engine: Engine) -> None:
    app = sound(open_page("pages/sentence_vectors/page.py", model=ID, lines="\n".join(LINES)))
    ours = sentence_pairs.vectors(engine, ID, LINES).of["own"][-1]
    drawn = charts(app)["cosines"]["data"][0]["z"]
    np.testing.assert_allclose(numbers(drawn), cosines(ours), atol=1e-5)
