"""The lesson on sentence vectors: pooling, anisotropy and search by arithmetic of its own; training against torch."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from analysis import siamese
from model_zoo import Engine
from pages.learn.case import Case
from pages.learn.lesson import Sketch
from pages.learn.lessons import LESSONS, sentences
from tests.pages.learn import sentences as shared
from tests.pages.learn.sentences import of_models
from training.finetuning.sets import SETS

LESSON = LESSONS["sentences"]
right = partial(shared.right, LESSON)
TEXTS = tuple(text for text, _ in LESSON.examples)
for_every_text = pytest.mark.parametrize("text", TEXTS)
pytestmark = pytest.mark.usefixtures("app")


def means(engine: Engine, model: str, texts: list[str], layer: int) -> list[np.ndarray]:
    """The mean of each text's vectors without special tokens."""
    vectors = []
    for states in engine.encoded_states(model, texts):
        kept = [at for at, special in enumerate(states.encoding.special) if not special]
        vectors.append(np.asarray(states.states[layer][kept], dtype=float).mean(axis=0))
    return vectors


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@for_every_text
@of_models
def test_mean_cosines_by_layer_and_search(model: str, text: str, engine: Engine) -> None:
    sketch = LESSON.steps[1](Case(model, text)).ask()
    assert isinstance(sketch, Sketch)
    for at in (0, -1):
        vectors = means(engine, model, [text, *sentences._LINES], at)
        wanted = np.mean([cosine(a, b) for a, b in combinations(vectors, 2)])
        assert sketch.truth[at] == pytest.approx(np.clip(wanted, 0, 1), abs=1e-4)

    query, *others = means(engine, model, [text, *sentences._LINES], -1)
    best = sentences._LINES[int(np.argmax([cosine(query, other) for other in others]))]
    assert right(4, Case(model, text)).text.replace("\\", "") == best


@pytest.mark.slow
@of_models
def test_the_common_component_is_the_mean_and_one_direction(model: str, engine: Engine) -> None:
    items = SETS["similarity"].build().train
    reference = np.stack(means(engine, model, [text for item in items for text in (item.text, item.pair)], -1))  # type: ignore[misc]
    _, _, directions = np.linalg.svd(reference - reference.mean(axis=0), full_matrices=False)
    centred = np.stack(means(engine, model, [TEXTS[0], *sentences._LINES], -1)) - reference.mean(axis=0)
    centred -= np.outer(centred @ directions[0], directions[0])
    step = sentences.Anisotropy(Case(model, TEXTS[0]))
    assert step.removed[-1] == pytest.approx(np.mean([cosine(a, b) for a, b in combinations(centred, 2)]), abs=1e-3)
    assert f"it is {step.removed[-1]:.2f} after the last layer" in step.why()


@pytest.mark.slow
def test_a_models_own_pooling_is_the_one_that_the_lesson_goes_on_with(engine: Engine) -> None:
    model = "sentence-transformers/all-MiniLM-L6-v2"
    case = Case(model, TEXTS[0])
    means_of_lines = np.stack(
        [states.states[-1].mean(axis=0) for states in engine.encoded_states(model, list(sentences._LINES))]
    )
    first = sentences.Pooling(case)
    assert list(first.alike) == ["own", "cls", "mean", "max"]
    assert (
        f"a pooling of its own, which the next steps use: {cosine(means_of_lines[0], means_of_lines[1]):.2f}."
        in first.why()
    )
    (query,) = engine.encoded_states(model, [TEXTS[0]])
    similarities = [cosine(query.states[-1].mean(axis=0), other) for other in means_of_lines]
    assert sentences.Search(case).ranked[0] == (
        sentences._LINES[int(np.argmax(similarities))],
        pytest.approx(max(similarities)),
    )
    assert "own pooling" not in sentences.Pooling(Case("embedded/tinybert", TEXTS[0])).why()


def test_the_gradient_of_siamese_training_is_autograds() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(7, 5)) for _ in range(2))
    wanted, matrix = rng.uniform(size=7), rng.normal(size=(5, 5))
    loss, gradient = siamese.loss_and_gradient(matrix, a, b, wanted)
    weights = torch.tensor(matrix, requires_grad=True)
    left, right_ = torch.tensor(a) @ weights.T, torch.tensor(b) @ weights.T
    error = torch.nn.functional.cosine_similarity(left, right_) - torch.tensor(wanted)
    (error**2).mean().backward()
    assert loss == pytest.approx(float((error**2).mean().detach()))
    np.testing.assert_allclose(gradient, weights.grad.numpy(), atol=1e-8)


@pytest.mark.slow
@of_models
def test_training_fits_its_pairs_and_its_claim_about_others_is_measured(model: str, engine: Engine) -> None:
    step = sentences.Trained(Case(model, TEXTS[0]))
    assert step.trained.losses[-1] < step.trained.losses[0]
    items = SETS["similarity"].build().test
    vectors = means(engine, model, [text for item in items for text in (item.text, item.pair)], -1)  # type: ignore[misc]
    similarities = [cosine(a, b) for a, b in zip(vectors[0::2], vectors[1::2], strict=True)]
    rho = spearmanr(similarities, [item.score for item in items]).statistic  # type: ignore[union-attr]
    assert step.ranks[0, 0] == pytest.approx(rho, abs=2e-3)
    (before, low, high), (after, *_) = step.ranks
    assert f"went from {before:.2f} ({low:.2f} to {high:.2f}) to {after:.2f} (" in step.why()
    assert ("did not change clearly" in step.why()) == (low <= after <= high)
