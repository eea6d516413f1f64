"""Journeys as in ``test_journeys`` through the pages where models and their layers are compared: Layers, Compare."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from browser.test_attention_page import expect_weight
from browser.test_compare_page import expect_steppers
from browser.test_layers_page import cells
from journeys import cell, choose, enter, expect_metric, expect_number, expect_view, go_to, open_view, step
from on_screen import wait_for
from playwright.sync_api import Page, expect

from analysis.alignment import align
from analysis.divergence import head_matrix
from analysis.probing import TASKS, Settings, TaskResult, run
from analysis.views import Weights
from model_zoo import Engine
from model_zoo.types import FloatArray
from pages.compare import fields as compare

pytestmark = pytest.mark.browser

BERT, TINY = "embedded/bert", "embedded/tinybert"


def test_run_three_tasks_and_open_the_worst_mistakes(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    settings = Settings(sentences=50)
    names = ("tense", "clause_depth", "negation")
    events = run(partial(engine.iter_hidden_states, BERT), [TASKS[name] for name in names], settings)
    of_task = {event.task: event for event in events if isinstance(event, TaskResult)}
    results = {name: of_task[name] for name in names}
    here = visit(height=1600)
    page: Page = here.open(app_url)
    with step(here):
        go_to(page, "Layers")
        expect(page.get_by_role("button", name="Run 3 tasks")).to_be_enabled()
    with step(here):
        page.get_by_role("button", name="How", exact=True).click()
        enter(page, "Sentences per task", "50")
        wait_for(page, "location.search.includes('sentences=50')")
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Tasks (3)", exact=True).click()
    expect(page.get_by_role("button", name="Tense", exact=True)).to_have_attribute("aria-pressed", "false")
    chosen = page.get_by_role("toolbar", name="Tasks", exact=True).get_by_role("button", pressed=True)
    for n_left in (2, 1, 0):
        with step(here):
            chosen.first.click()
            expect(chosen).to_have_count(n_left)
    for n_chosen, name in enumerate(names, start=1):
        with step(here):
            page.get_by_role("button", name=TASKS[name].title, exact=True).click()
            expect(page.get_by_role("button", name=f"Run {n_chosen} task", exact=n_chosen == 1)).to_be_visible()
    page.keyboard.press("Escape")
    with step(here):
        page.get_by_role("button", name="Run 3 tasks").click()
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        _expect_accuracies(page, results)
    with step(here):
        open_view(page, "Misclassified")
        _expect_mistakes(page, results["tense"], 0)
    with step(here):
        choose(here, "Task", "Clause depth")
        _expect_mistakes(page, results["clause_depth"], 0)
    slider = page.get_by_role("slider", name="Layer")
    with step(here):
        slider.focus()
        slider.press("ArrowRight")
        _expect_mistakes(page, results["clause_depth"], 1)
    with step(here):
        slider.press("End")
        _expect_mistakes(page, results["clause_depth"], 6)
    with step(here):
        open_view(page, "All numbers")
        for row, result in enumerate(results.values()):
            expect(cell(page, 0, row)).to_have_text(TASKS[result.task].title)
            best = result.best.layer
            expect(cell(page, 1, row)).to_have_text(str(best) if best else "embeddings")
            expect_number(page, 2, row, 100 * result.best.accuracy)
    with step(here):
        page.go_back()
        expect_view(page, "Misclassified")
        _expect_mistakes(page, results["clause_depth"], 6)
    with step(here):
        go_to(page, "Attention")
        text = "Owls can turn their heads."
        enter(page, "Text", text)
        expect(page.get_by_text(f"{len(engine.encode(BERT, text))} tokens of at most")).to_be_visible()
        expect_weight(page, 3, 2, engine.attend(BERT, text).head(1, 3)[2, 1])  # that of the first example
    with step(here):
        page.go_back()
        expect(page.get_by_role("heading", name="Layers", exact=True, level=1)).to_be_visible()
        _expect_mistakes(page, results["clause_depth"], 6)
    with step(here):
        open_view(page, "All layers")
        _expect_accuracies(page, results)


def _expect_accuracies(page: Page, results: dict[str, TaskResult]) -> None:
    """The picture has a row a task: the majority, the best judge without a model, the embeddings, six layers."""
    wanted = [
        f"{100 * share:.0f}"
        for result in results.values()
        for share in (
            result.majority,
            max(judge.accuracy for judge in result.baselines),
            *(layer.accuracy for layer in result.layers),
        )
    ]
    wait_for(
        page,
        """n => document.querySelector('.js-plotly-plot')?._fullLayout?.annotations?.length === n""",
        arg=len(wanted),
    )
    assert [re.findall(r"\d+", text)[0] for text in cells(page)] == wanted


def _expect_mistakes(page: Page, result: TaskResult, layer: int) -> None:
    """The items that the probe of a layer misclassifies, those it was most confident of first."""
    wrong = result.layers[layer].wrong
    assert wrong
    expect(page.get_by_text(f"of {result.n_test} held-out items are misclassified")).to_have_text(
        re.compile(rf"^{round((1 - result.layers[layer].accuracy) * result.n_test)} of .* the {len(wrong)} the probe")
    )
    for row, mistake in enumerate(wrong):
        for column, text in enumerate((mistake.text, mistake.label, mistake.predicted)):
            expect(cell(page, column, row)).to_have_text(text)
        expect_number(page, 3, row, 100 * mistake.probability)


def test_two_models_other_heads_predictions(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    text, second = "The dog chased the ball because it was red.", "Then the children went home."
    bert, tiny = (engine.attend(model, text) for model in (BERT, TINY))
    assert bert.encoding.tokens == tiny.encoding.tokens
    pronoun, ball = (bert.encoding.tokens.index(word) for word in ("it", "ball"))

    here = visit(height=1600)
    page: Page = here.open(app_url)
    with step(here):
        go_to(page, "Compare")
        expect(page.get_by_text("22.9 M parameters")).to_be_visible()
    with step(here):
        page.get_by_role("button", name="Remove Small LSTM").click()
        expect(page.get_by_text(" M parameters")).to_have_count(3)
    with step(here):  # with the keyboard: the list moves under a pointer when it loses the focus
        page.get_by_role("combobox", name="Models, two to four").press("Backspace")
        expect(page.get_by_text("4.9 M parameters")).to_have_count(0)
        expect(page.get_by_text(" M parameters")).to_have_count(2)
    with step(here):
        enter(page, "Text", text)
        open_view(page, "Tokens")
        expect(page.get_by_role("listitem").filter(has_text="chased")).to_be_visible()
        same = f"Small BERT and Tiny BERT each: {bert.n_tokens} tokens"
        expect(page.get_by_text(re.compile(f"^{same}"))).to_be_visible()
    boxes = page.get_by_role("spinbutton")
    with step(here):
        open_view(page, "Attention")
        expect_steppers(page, ["2", "4", "", "1"])
        _expect_word_weight(page, BERT, pronoun, ball, bert.head(1, 3))
    with step(here):
        boxes.nth(0).fill("6")
        boxes.nth(0).press("Enter")
        expect(page.get_by_text("Layer 2 of 2, beside layer 6 of 6: the same relative depth.")).to_be_visible()
        _expect_word_weight(page, BERT, pronoun, ball, bert.head(5, 3))
        _expect_word_weight(page, TINY, pronoun, ball, tiny.head(1, 0))
    with step(here):
        boxes.nth(1).fill("3")
        boxes.nth(1).press("Enter")
        expect(page.get_by_text("Most similar to layer 6 head 3 of A")).to_be_visible()
        _expect_word_weight(page, BERT, pronoun, ball, bert.head(5, 2))
    bits = head_matrix(Weights(bert), Weights(tiny), align([bert.encoding, tiny.encoding]))[5 * bert.n_heads + 2]
    layer, head = divmod(int(bits.argmin()), tiny.n_heads)
    with step(here):
        page.get_by_role("button", name=f"Layer {layer + 1} head {head + 1}: {bits.min():.3f} bits").click()
        expect_steppers(page, ["6", "3", str(layer + 1), str(head + 1)])
        expect(page.get_by_text(f"divergence is {bits.min():.3f} bits")).to_be_visible()
        _expect_word_weight(page, TINY, pronoun, ball, tiny.head(layer, head))
    with step(here):
        open_view(page, "Predictions")
        words, (masked,) = text.split(), compare.OPENING
        first = words[masked]
        _expect_guesses(page, engine, " ".join([*words[:masked], "[MASK]", *words[masked + 1 :]]))
    with step(here):
        here.toggle(first, False, page.get_by_text("Nothing is masked yet"))
    with step(here):
        here.toggle("ball", True, page.get_by_text("“ball” is").first)
        _expect_guesses(page, engine, text.replace("ball", "[MASK]"))
    with step(here):
        slider = page.get_by_role("slider", name="Predictions per model")
        slider.focus()
        slider.press("ArrowRight")
        answers = [engine.fill_mask(model, text.replace("ball", "[MASK]"), 6)[0].best for model in (BERT, TINY)]
        shared = set.intersection(*({entry.token for entry in best} for best in answers))
        expect(page.get_by_text(f"of their top 6 they share {len(shared) / 6:.0%}.")).to_be_visible()
    with step(here):
        enter(page, "Second text (optional)", second)
        for place, model in enumerate((BERT, TINY)):
            expect_metric(page, place, f"{engine.next_sentence(model, text, second).p_next:.4f}")
    with step(here):
        choose(here, "A", "Tiny BERT")
        for place, model in enumerate((TINY, BERT)):
            expect_metric(page, place, f"{engine.next_sentence(model, text, second).p_next:.4f}")
    with step(here):
        go_to(page, "Next sentence")
        expect(page.get_by_label("Sentence B")).to_have_value(second)
        expect_metric(page, 0, f"{engine.next_sentence(BERT, text, second).p_next:.4f}")
    with step(here):
        page.go_back()
        expect(page.get_by_role("heading", name="Compare", exact=True, level=1)).to_be_visible()
        expect_view(page, "Predictions")
        expect_metric(page, 0, f"{engine.next_sentence(TINY, text, second).p_next:.4f}")
    with step(here):
        page.go_back()
        expect_view(page, "Attention")


def _expect_word_weight(page: Page, model: str, query: int, key: int, weights: FloatArray) -> None:
    """A model's heatmap says the weight between two tokens, counted from 0; it shows no special ones."""
    expect_weight(page, query, key, weights[query, key], f"attention-{model.replace('/', '-')}")


def _expect_guesses(page: Page, engine: Engine, masked: str) -> None:
    for column, model in enumerate((BERT, TINY), start=1):
        best = engine.fill_mask(model, masked, 1)[0].best[0]
        expect(cell(page, column, 0)).to_have_text(f"{best.token} ({best.probability:.1%})")
