"""The pages on a checkpoint as its authors published it, by its id and without a hub."""

import numpy as np
import pytest
from on_screen import Open, prose
from real_checkpoint import FOLDER, ID
from train_page import charts, numbers, sound

from analysis.sentence_vectors import cosines
from model_zoo import Engine
from training.finetuning import sentence_pairs

pytestmark = pytest.mark.slow


LINES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@pytest.fixture(autouse=True)
def without_a_hub(no_hub: None) -> None:
    """What is asked of the hub fails."""


@pytest.mark.parametrize("model", [ID, str(FOLDER)], ids=["id", "folder"])
def test_every_page_opens_on_it(model: str, open_page: Open) -> None:
    for page in ("attention", "layers", "cause", "train", "sentence_vectors"):
        app = sound(open_page(f"pages/{page}/page.py", model=model, text=LINES[0]))
        assert app.query_params.get("model") in (model, [model])
        assert "to download from the hub" not in prose(app)
    for view in ("tokens", "attention"):
        app = sound(open_page("pages/compare/page.py", models=f"embedded/bert,{model}", text=LINES[0], view=view))
        assert "to download from the hub" not in prose(app)


def test_similarity_is_that_of_its_vectors(open_page: Open, engine: Engine) -> None:
    app = sound(open_page("pages/sentence_vectors/page.py", model=ID, lines="\n".join(LINES)))
    ours = sentence_pairs.vectors(engine, ID, LINES).of["own"][-1]
    drawn = charts(app)["cosines"]["data"][0]["z"]
    np.testing.assert_allclose(numbers(drawn), cosines(ours), atol=1e-5)
