"""Lesson 8: how a model is told places, and what is left without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from compare_page import matrices
from streamlit.testing.v1 import AppTest

from model_zoo import Engine
from model_zoo.errors import InvalidInput, NotSupported
from pages.learn.case import Case
from pages.learn.lesson import Sketch
from pages.learn.lessons import LESSONS
from pages.learn.lessons.positions import Turned
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, of_models

LESSON = LESSONS["positions"]
right = partial(sentences.right, LESSON)
EXAMPLE = LESSON.examples[0][0]
pytestmark = pytest.mark.usefixtures("app")
Open = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("embedded/bert", "A learned vector"),
        ("embedded/modernbert", "Queries and keys are rotated"),
        ("embedded/bilstm", "Not by any table"),
    ],
)
def test_how_a_model_is_told(model: str, wanted: str) -> None:
    assert right(1, Case(model, EXAMPLE)).text.startswith(wanted)


def test_t5_adds_a_number_by_distance(checkpoint: Callable[[str], Path]) -> None:
    assert right(1, Case(str(checkpoint("t5")), EXAMPLE)).text.startswith("A number for the distance")


def test_the_learned_table_and_the_waves_are_cosines(open_page: Open, engine: Engine) -> None:
    app = open_page("pages/learn/page.py", lesson="positions", step="1", text=EXAMPLE, answers="positions.1.x")
    (matrix,) = matrices(app)
    with engine._memory.lease("embedded/bert") as loaded:
        table = loaded.encoder.embeddings.position_embeddings.weight[:32].double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert matrix == pytest.approx(unit @ unit.T, abs=1e-5)
    near = np.diagonal(unit @ unit.T, 1).mean()
    assert f"[[cosine]] of {near:.2f}" in LESSON.steps[0](Case("embedded/bert", EXAMPLE)).why()

    sketch = LESSON.steps[1](Case("embedded/bert", EXAMPLE)).ask()
    assert isinstance(sketch, Sketch)
    angles = 10_000.0 ** (-np.arange(32) / 32)
    wanted = [np.cos(apart * angles).mean() for apart in (0, 1, 2, 3, 4, 6, 8, 12, 16)]
    assert sketch.truth == pytest.approx(wanted)


@of_models
@pytest.mark.parametrize("text", [EXAMPLE, *SENTENCES])
def test_turned_vectors_tell_distances_alone(model: str, text: str) -> None:
    numbers = LESSON.steps[2](Case(model, text)).numbers()
    for _, rows in numbers.groupby("places apart"):
        assert rows["product"].to_numpy() == pytest.approx(rows["product"].iloc[0], rel=1e-9, abs=1e-9)
    assert numbers["product"].iloc[0] != pytest.approx(numbers["product"].iloc[3], abs=1e-3)
    assert right(3, Case(model, text)).text == "It stays exactly the same"


def test_it_is_modernberts_own_turning(engine: Engine) -> None:
    """Of the query and the key at their own places the product is the one that the model computes."""
    case = Case("embedded/modernbert", EXAMPLE)
    anatomy = engine.dissect(case.model, case.text)
    assert anatomy.query is not None
    assert anatomy.key is not None
    score = float(anatomy.query[case.followed].astype(np.float64) @ anatomy.key[1].astype(np.float64))
    product = Turned(case).product
    assert product(case.followed, 1) == pytest.approx(score, rel=1e-4)
    assert product(20, 20 + 1 - case.followed) == pytest.approx(score, rel=1e-4)


@of_models
def test_every_diagonal_has_one_colour(model: str, open_page: Open) -> None:
    app = open_page(
        "pages/learn/page.py", lesson="positions", step="3", model=model, text=EXAMPLE, answers="positions.3.x"
    )
    rotary, relative = matrices(app)
    for values in (rotary, relative):
        for distance in (-7, -1, 0, 5):
            diagonal = np.diagonal(values, distance)
            assert diagonal == pytest.approx(np.full_like(diagonal, diagonal[0]), abs=1e-5)
    assert np.abs(rotary).max() <= 1 + 1e-5


def test_surprisal_of_the_shuffled_text(engine: Engine) -> None:
    case = Case("embedded/bert", EXAMPLE)
    numbers = LESSON.steps[3](case).numbers().set_index("model")
    mixed = LESSON.steps[3](case).text().split("“")[1].split("”")[0].replace("\\", "")
    assert mixed != EXAMPLE
    assert Counter(mixed.split()) == Counter(EXAMPLE.split())
    for name, text in (("bits in order", EXAMPLE), ("bits shuffled", mixed)):
        scores = engine.token_scores("embedded/bert", text)
        assert numbers[name]["Small BERT"] == pytest.approx(
            -scores.log_likelihood / scores.n_scored / np.log(2), rel=1e-4
        )
    worse = (numbers["bits shuffled"] - numbers["bits in order"] > 0.25).sum()
    wanted = "All" if worse == len(numbers) else "Some" if worse else "None"
    assert right(4, case).text.startswith(wanted)


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too few words to shuffle"):
        LESSON.steps[3](Case("embedded/bert", "no no no")).ask()

    with pytest.raises(InvalidInput, match="a mask in this text already"):
        LESSON.steps[4](Case("embedded/bert", "The dog ran into the [MASK] at night.", token=2)).ask()

    with pytest.raises(NotSupported, match="cannot be kept from seeing"):
        LESSON.steps[4](Case("embedded/bilstm", EXAMPLE)).ask()


@of_models
@pytest.mark.parametrize("text", [text for text, _ in LESSON.examples])
def test_without_positions_order_is_lost(model: str, text: str) -> None:
    case = Case(model, text)
    assert right(5, case).text.startswith("No")
    numbers = LESSON.steps[4](case).numbers()
    ordered, shuffled = (
        numbers[numbers["model"] == name]["probability"].to_numpy()
        for name in ("no positions", "no positions, shuffled")
    )
    assert ordered == pytest.approx(shuffled, abs=1e-5)
    usual = numbers[numbers["model"] == "with positions"]["probability"].to_numpy()
    assert usual != pytest.approx(ordered, abs=1e-3)
