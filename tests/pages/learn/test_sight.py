"""Masks and places: what a model guesses under a mask it was not trained with, and what is left without positions."""

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
from pages.learn.lessons import LESSONS, sight
from pages.learn.lessons.positions import Turned
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, of_models

LESSON = LESSONS["sight"]
right = partial(sentences.right, LESSON)
for_every_text = pytest.mark.parametrize("text", [*SENTENCES, *(text for text, _ in LESSON.examples)])
pytestmark = pytest.mark.usefixtures("app")
Open = Callable[..., AppTest]
Checkpoint = Callable[[str], Path]


@for_every_text
def test_a_causal_mask_leaves_those_before_and_itself(text: str) -> None:
    case = Case("embedded/bert", text)
    n = len(case.encoding)
    assert right(1, case).text == str(case.followed + 1)
    numbers = LESSON.steps[0](case).numbers()
    assert numbers["both ways"].sum() == n * n
    assert numbers["causal"].sum() == np.tril(np.ones((n, n))).sum()


@for_every_text
@of_models
def test_attention_to_later_tokens_and_the_guess_under_a_causal_mask(model: str, text: str, engine: Engine) -> None:
    case, run = Case(model, text), engine.attend(model, text)
    later = np.mean([np.triu(run.layer(layer).mean(axis=0), 1).sum() / run.n_tokens for layer in range(run.n_layers)])
    assert right(2, case).text.startswith("None" if later == 0 else "Some" if later <= 2 / 3 else "More")
    numbers = LESSON.steps[1](case).numbers()
    assert numbers["to later"].mean() == pytest.approx(later, abs=1e-5)
    assert numbers[["to earlier", "to itself", "to later"]].sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-4)

    case = Case(model, text)
    (usual,) = engine.fill_mask(model, text, masked=(case.followed,))
    (blind,) = engine.fill_without(model, text, (case.followed,), without="future")
    assert usual.log_probability is not None
    assert blind.log_probability is not None
    ratio = np.exp(blind.log_probability - usual.log_probability)
    names = {0.1: "Less than a tenth", 0.5: "A tenth to half", 1.0: "Half of that", np.inf: "The same or more"}
    assert right(3, case).text.startswith(next(name for bound, name in names.items() if ratio < bound))


def test_a_causal_model_looks_back_only_and_examples_differ(checkpoint: Checkpoint) -> None:
    case = Case(str(checkpoint("gpt2")), SENTENCES[0])
    assert right(2, case).text.startswith("None")
    assert "Above the diagonal everything is 0" in LESSON.steps[1](case).why()
    with pytest.raises(NotSupported):  # it fills no masks
        LESSON.steps[2](case).ask()

    first, _, last = (Case("embedded/bert", text) for text, _ in LESSON.examples)
    assert right(3, first).text.startswith("Less than a tenth")
    assert right(3, last).text.startswith("The same or more")

    case = Case("embedded/bert", "The cat sat on the [MASK].", token=6)
    with pytest.raises(InvalidInput, match="no original word to compare with"):
        LESSON.steps[2](case).ask()
    sketch = LESSON.steps[3](case).ask()  # hides the other words, beside the typed mask
    assert isinstance(sketch, Sketch)
    assert [label.split(" · ")[1] for label in sketch.labels] == ["the", "cat", "sat", "on", "the"]


@pytest.mark.slow
@for_every_text
@of_models
def test_every_word_under_a_causal_mask(model: str, text: str, engine: Engine) -> None:
    sketch = LESSON.steps[3](Case(model, text)).ask()
    assert isinstance(sketch, Sketch)
    places = [int(label.split(" · ")[0]) - 1 for label in sketch.labels]
    predictions = [engine.fill_without(model, text, (place,), without="future")[0] for place in places[:3]]
    wanted = [np.exp(prediction.log_probability or 0) for prediction in predictions]
    assert sketch.truth[: len(wanted)] == pytest.approx(wanted, rel=1e-4, abs=1e-7)
    numbers = LESSON.steps[3](Case(model, text)).numbers()
    assert (
        f"{(numbers['causal'] < numbers['both ways']).sum()} of {len(numbers)} words"
        in LESSON.steps[3](Case(model, text)).why()
    )
    assert "You found it" in sketch.reply(sketch.truth)


def test_masks_of_models_here(
    open_page: Open, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    model = str(checkpoint("gpt2"))
    monkeypatch.setattr(sight, "_here", lambda _: [model])
    app = open_page("pages/learn/page.py", lesson="sight", step="2", text=SENTENCES[0], answers="sight.2.x")
    assert not app.error
    forward, back = matrices(app)
    assert np.triu(forward, 1).sum() > 0
    assert back.shape == (engine.attend(model, SENTENCES[0]).n_tokens,) * 2
    assert np.triu(back, 1).sum() == 0

    model = str(checkpoint("bart"))
    monkeypatch.setattr(sight, "_here", lambda kind: [model] if kind == "cross" else [])
    app = open_page("pages/learn/page.py", lesson="sight", step="5", text=SENTENCES[0], answers="sight.5.x")
    assert not app.error
    (matrix,) = matrices(app)
    run = engine.attend(model, SENTENCES[0], SENTENCES[0], stack="cross")
    wanted = np.mean([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)], axis=0)
    assert matrix == pytest.approx(wanted, abs=1e-6)

    monkeypatch.setattr(sight, "_here", lambda _: [])
    app = open_page("pages/learn/page.py", lesson="sight", step="5", text=SENTENCES[2], answers="sight.5.x")
    both, causal, across = matrices(app)
    assert both.all()
    assert across.all()
    assert causal.tolist() == np.tril(np.ones(causal.shape)).tolist()
    assert any("BART base" in caption.value for caption in app.caption)


POSITIONS = LESSONS["positions"]
right_position = partial(sentences.right, POSITIONS)
EXAMPLE = POSITIONS.examples[0][0]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("embedded/bert", "A learned vector"),
        ("embedded/modernbert", "Queries and keys are rotated"),
        ("embedded/bilstm", "Not by any table"),
    ],
)
def test_how_a_model_is_told(model: str, wanted: str) -> None:
    assert right_position(1, Case(model, EXAMPLE)).text.startswith(wanted)


def test_t5_adds_a_number_by_distance(checkpoint: Checkpoint) -> None:
    assert right_position(1, Case(str(checkpoint("t5")), EXAMPLE)).text.startswith("A number for the distance")


def test_the_learned_table_and_the_waves_are_cosines(open_page: Open, engine: Engine) -> None:
    app = open_page("pages/learn/page.py", lesson="positions", step="1", text=EXAMPLE, answers="positions.1.x")
    (matrix,) = matrices(app)
    with engine._memory.lease("embedded/bert") as loaded:
        table = loaded.encoder.embeddings.position_embeddings.weight[:32].double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert matrix == pytest.approx(unit @ unit.T, abs=1e-5)
    near = np.diagonal(unit @ unit.T, 1).mean()
    assert f"[[cosine]] of {near:.2f}" in POSITIONS.steps[0](Case("embedded/bert", EXAMPLE)).why()

    sketch = POSITIONS.steps[1](Case("embedded/bert", EXAMPLE)).ask()
    assert isinstance(sketch, Sketch)
    angles = 10_000.0 ** (-np.arange(32) / 32)
    wanted = [np.cos(apart * angles).mean() for apart in (0, 1, 2, 3, 4, 6, 8, 12, 16)]
    assert sketch.truth == pytest.approx(wanted)


@of_models
@pytest.mark.parametrize("text", [EXAMPLE, *SENTENCES])
def test_turned_vectors_tell_distances_alone(model: str, text: str) -> None:
    numbers = POSITIONS.steps[2](Case(model, text)).numbers()
    for _, rows in numbers.groupby("places apart"):
        assert rows["product"].to_numpy() == pytest.approx(rows["product"].iloc[0], rel=1e-9, abs=1e-9)
    assert numbers["product"].iloc[0] != pytest.approx(numbers["product"].iloc[3], abs=1e-3)
    assert right_position(3, Case(model, text)).text == "It stays exactly the same"


def test_it_is_modernberts_own_turning(engine: Engine) -> None:
    """Of the query and the key at their own places the product is the one that the model computes."""
    case = Case("embedded/modernbert", EXAMPLE)
    anatomy = engine.dissect(case.model, case.text)
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
    numbers = POSITIONS.steps[3](case).numbers().set_index("model")
    mixed = POSITIONS.steps[3](case).text().split("“")[1].split("”")[0].replace("\\", "")
    assert mixed != EXAMPLE
    assert Counter(mixed.split()) == Counter(EXAMPLE.split())
    for name, text in (("bits in order", EXAMPLE), ("bits shuffled", mixed)):
        scores = engine.token_scores("embedded/bert", text)
        assert numbers[name]["Small BERT"] == pytest.approx(
            -scores.log_likelihood / scores.n_scored / np.log(2), rel=1e-4
        )
    worse = (numbers["bits shuffled"] - numbers["bits in order"] > 0.25).sum()
    wanted = "All" if worse == len(numbers) else "Some" if worse else "None"
    assert right_position(4, case).text.startswith(wanted)


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too few words to shuffle"):
        POSITIONS.steps[3](Case("embedded/bert", "no no no")).ask()
    with pytest.raises(InvalidInput, match="a mask in this text already"):
        POSITIONS.steps[4](Case("embedded/bert", "The dog ran into the [MASK] at night.", token=2)).ask()
    with pytest.raises(NotSupported, match="cannot be kept from seeing"):
        POSITIONS.steps[4](Case("embedded/bilstm", EXAMPLE)).ask()


@of_models
@pytest.mark.parametrize("text", [text for text, _ in POSITIONS.examples])
def test_without_positions_order_is_lost(model: str, text: str) -> None:
    case = Case(model, text)
    assert right_position(5, case).text.startswith("No")
    numbers = POSITIONS.steps[4](case).numbers()
    ordered, shuffled = (
        numbers[numbers["model"] == name]["probability"].to_numpy()
        for name in ("no positions", "no positions, shuffled")
    )
    assert ordered == pytest.approx(shuffled, abs=1e-5)
    usual = numbers[numbers["model"] == "with positions"]["probability"].to_numpy()
    assert usual != pytest.approx(ordered, abs=1e-3)
