"""The lesson on the family: published tables add up, and what was measured is of the present weights and items."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from model_zoo import Engine, registry
from pages.learn.case import Case
from pages.learn.lessons import LESSONS, family
from tests.pages.learn import sentences
from tests.pages.learn.sentences import SENTENCES, for_every_text, of_models
from tools.transfer import frozen
from training.finetuning import transfer
from training.finetuning.scores import evaluate
from training.finetuning.seeds import fingerprint
from training.finetuning.sets import SETS

LESSON = LESSONS["family"]
right = partial(sentences.right, LESSON)
pytestmark = pytest.mark.usefixtures("app")
CASE = Case("embedded/bert", SENTENCES[0])


def test_published_tables_and_sizes_add_up() -> None:
    for column, average in enumerate(family.AVERAGES):
        assert round(sum(scores[column] for scores in family.GLUE.values()) / 9, 1) == average
    assert right(5, CASE).text == "79.6"

    gains = {task: round(large - base, 1) for task, (base, large) in family.GLUE.items()}
    assert gains["CoLA"] == 8.4 == max(gains.values())
    assert gains["MRPC"] == 0.4 == min(gains.values())
    assert "gains 8.4 on CoLA and 0.4 on MRPC" in family.Benchmarks(CASE).why()

    spec = registry.MODELS["FacebookAI/xlm-roberta-base"]
    assert f"{spec.vocabulary * spec.width / 1e6:.0f} of its" in family.Sized(CASE).why()
    assert np.isclose(family.Sized(CASE).millions["BERT base"], 110.1, atol=0.1)

    limits = {spec.name: spec.max_tokens or 0 for spec in registry.MODELS.values()}
    jobs = re.findall(r"\*\*\d\*\* ([^;]+?)[;.]", family.Which(CASE).text())
    fit = dict(zip(jobs, right(2, CASE).text.split(", "), strict=True))
    assert fit["texts of 6,000 tokens"] == "ModernBERT"
    assert limits["ModernBERT base"] > 6000 > limits["BERT base"]
    assert set(family.Which(CASE).table["model"]) >= set(fit.values())


@for_every_text
@of_models
def test_padding_is_counted(model: str, text: str, engine: Engine) -> None:
    lengths = [len(engine.encode(model, text)), 32, 64, 128, 512]
    share = 1 - sum(lengths) / (5 * 512)
    step = family.Newer(Case(model, text))
    assert step.padding == pytest.approx(share)
    assert right(4, Case(model, text)).text == "60% or more"


@for_every_text
def test_objectives_are_shown_on_the_visitors_words(text: str) -> None:
    objectives = family.Objectives(Case("embedded/bert", text)).objectives
    words = text.split()[:10]
    (_, masked, hidden), (_, read, predicted), (_, infilled, restored), (_, replaced, labels) = objectives
    assert [hidden if word == "[MASK]" else word for word in masked.split()] == words
    assert masked.split().count("[MASK]") == 1
    order = [*read.removeprefix("in this order: ").split(", "), *predicted.split(", then ")]
    assert sorted(" ".join(order).split()) == sorted(words)
    before, after = infilled.split("[MASK]")
    assert " ".join(words).startswith(before)
    assert " ".join(words).endswith(after)
    assert len(infilled.split()) == len(words) - 1
    assert restored == " ".join(words)
    marks = [token != other for token, other in zip(replaced.split(), words, strict=True)]
    assert [label == "replaced" for label in labels.split()] == marks
    assert marks.count(True) == 1


@pytest.mark.parametrize("text", ["one", "green", "[MASK] [SEP]"])
def test_objectives_can_be_shown_on_the_shortest_text(text: str) -> None:
    objectives = family.Objectives(Case("embedded/bert", text)).objectives
    assert objectives[3][2].split().count("replaced") == 1
    assert all(model_input and wanted for _, model_input, wanted in objectives)


@pytest.mark.slow
def test_figures_are_of_the_weights_and_items_that_are_here(engine: Engine) -> None:
    for result in transfer.recorded():
        assert engine.info(result.model).revision == result.revision, "run python -m tools.transfer --write"
        assert fingerprint(SETS[result.set].build()) == result.items
        assert result.low <= result.score <= result.high
    # The features of Tiny BERT, computed anew.
    data = SETS["entities"].build()
    result = frozen(engine, "embedded/tinybert", data)
    for way, predictions in result.items():
        stored = transfer.scores_by_way("entities", "embedded/tinybert")[way]
        assert evaluate(data, predictions)[0].value == pytest.approx(stored.score, abs=0.02), way


def test_what_was_measured_is_judged_by_the_intervals() -> None:
    results = transfer.scores_by_way("similarity")
    direct, after = results["directly"], results["inference"]
    apart = after.low > direct.high or after.high < direct.low
    assert (right(7, CASE).text == "No clear difference") == (not apart)
    assert f"{direct.score:.2f} directly" in right(7, CASE).reply

    results = transfer.scores_by_way("entities")
    options = [results[way] for way in ("embeddings", "second-to-last layer", "last layer", "fine-tuned")]
    worst, *others = sorted(options, key=lambda result: result.score)
    assert all(worst.high < other.low for other in others)
    assert right(6, CASE).text == "Embeddings"

    tiny = transfer.scores_by_way("entities", "embedded/tinybert")
    assert tiny["fine-tuned"].score < tiny["second-to-last layer"].score
    assert f"{tiny['fine-tuned'].score:.0%}" in family.Frozen(CASE).why()
