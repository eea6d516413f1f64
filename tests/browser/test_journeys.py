"""A page as a class uses it, from the home page on: a dozen interactions and more in one visit, each followed by what
the visitor should see then, its numbers held against the engine's. Attention, Masked words, Next sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser.test_attention_page import expect_head, expect_weight, open_in_grid, type_text
from journeys import cell, choose, enter, expect_metric, expect_number, expect_view, go_to, open_view, step
from on_screen import wait_for
from playwright.sync_api import Locator, Page, expect

from analysis import control_sentences
from model_zoo import Engine
from model_zoo.types import MaskPrediction, signed
from pages.masked_words.examples import EXAMPLES as MASKED_WORDS
from ui import MASKS
from ui.widgets import TEXT

pytestmark = pytest.mark.browser

BERT = "embedded/bert"


def test_who_looks_from_it_to_cat(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    text, other = "The cat sat on the mat because it was tired.", "The cat sat on the mat because it was soft."
    run = engine.attend(BERT, text)
    tokens = run.encoding.tokens
    pronoun, cat = tokens.index("it"), tokens.index("cat")
    from_it_to_cat = np.array([run.layer(layer)[:, pronoun, cat] for layer in range(run.n_layers)])
    assert np.unravel_index(from_it_to_cat.argmax(), from_it_to_cat.shape) == (1, 3)
    assert f"{from_it_to_cat.max():.2f}" == "0.57"

    here = visit(height=1400)
    page: Page = here.open(app_url)
    with step(here):
        go_to(page, "Attention")
        expect_head(page, 2, 4)  # the first example's
    with step(here):
        enter(page, "Text", text)
        expect(page.get_by_text(f"{len(tokens)} tokens of at most 512")).to_be_visible()
        expect_weight(page, pronoun + 1, cat + 1, from_it_to_cat[1, 3])
    with step(here):
        open_view(page, "Kinds of heads")
        expect(cell(page, 3, 2)).to_have_text("previous token")
        weights = run.head(0, 2)[1:-1]
        expect_number(page, 5, 2, -(weights * np.log2(weights)).sum(axis=1).mean())
    with step(here):  # the row of layer 1, head 3
        here.until(
            lambda: page.get_by_test_id("stDataFrame").locator(".dvn-scroller").click(position={"x": 16, "y": 122}),
            lambda patience: expect_head(page, 1, 3, patience),
        )
        expect_view(page, "All heads")
        expect_weight(page, pronoun + 1, pronoun, run.head(0, 2)[pronoun, pronoun - 1])
    with step(here):
        open_in_grid(here, 2, 4)
        expect_weight(page, pronoun + 1, cat + 1, from_it_to_cat[1, 3])
    with step(here):
        page.get_by_text("Filters", exact=True).click()
        page.get_by_text("Hide special tokens").click()
        expect(page.get_by_text("Hidden: 2 special tokens.")).to_be_visible()
        expect_weight(page, pronoun, cat, from_it_to_cat[1, 3])
    with step(here):
        page.get_by_text("Scale rows to 100%").click()
        expect(page.get_by_text("Each row is scaled to sum to 1.")).to_be_visible()
        expect_weight(page, pronoun, cat, from_it_to_cat[1, 3] / run.head(1, 3)[pronoun, 1:-1].sum())
    with step(here):
        open_view(page, "Lines")
        token = page.locator(".st-key-lines .query .token").nth(pronoun - 1)
        here.until(
            token.click, lambda patience: expect(token).to_have_attribute("aria-pressed", "true", timeout=patience)
        )
        _expect_lines(page, engine, text)
        wait_for(page, "location.search.includes('locked=query.')")
    with step(here):
        open_view(page, "Query and key")
        expect(page.get_by_text(f"into {from_it_to_cat[1, 3]:.3f}.")).to_contain_text(
            "The query of “it” times the key of “cat”"
        )
    with step(here):
        enter(page, "Head", "5")
        row = run.head(1, 4)[pronoun]
        expect(page.get_by_text(f"into {row.max():.3f}.")).to_contain_text(
            f"The query of “it” times the key of “{tokens[row.argmax()]}”"
        )
    with step(here):
        page.go_back()
        expect_view(page, "Lines")
        _expect_lines(page, engine, text)
    with step(here):
        enter(page, "Text", other)
        _expect_lines(page, engine, other)
    with step(here):
        go_to(page, "Masked words")
        expect(page.get_by_label("Text", exact=True)).to_have_value(other)
        best = engine.fill_mask(BERT, other, 1, masked=[6])[0].best[0]
        here.toggle("mat", True, page.locator(".js-plotly-plot .ytick").first.get_by_text(best.token, exact=True))
    with step(here):  # the mask is the same on both pages
        go_to(page, "Cause")
        expect(page.get_by_text(f"Target “{best.token}”").first).to_be_visible()
        best = engine.fill_mask(BERT, other, 1, masked=[3, 6])[0].best[0]
        here.toggle("sat", True, page.get_by_text(f"Target “{best.token}”").first)
    with step(here):
        go_to(page, "Masked words")
        for word in ("sat", "mat"):
            expect(page.get_by_role("button", name=word, exact=True)).to_have_attribute("aria-pressed", "true")
    for where in ("Cause", "Masked words", "Attention"):
        with step(here):
            page.go_back()
            expect(page.get_by_role("heading", name=where, exact=True, level=1)).to_be_visible()
    with step(here):
        expect_view(page, "Lines")
        _expect_lines(page, engine, other)


def _expect_lines(page: Page, engine: Engine, text: str) -> None:
    """The lines kept for “it” are said to be those of layer 2, head 4, without special tokens, rows scaled to 100%."""
    run = engine.attend(BERT, text)
    pronoun = run.encoding.tokens.index("it")
    row = run.head(1, 3)[pronoun, 1:-1]
    status = page.locator(".st-key-lines .status")
    strongest = run.encoding.tokens[1 + row.argmax()]
    expect(status).to_have_text(re.compile(rf"^it → {strongest} 0\.\d\d.*kept"))
    wait_for(
        page,
        "([status, weight]) => Math.abs(Number(status.textContent.match(/0\\.\\d\\d/)[0]) - weight) < 0.01",
        arg=[status.element_handle(), float(row.max() / row.sum())],
    )


def test_mask_guess_fill_undo(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    text = "The dog chased the cat over the fence."
    tokens = engine.encode(BERT, text).tokens
    cat, fence = tokens.index("cat"), tokens.index("fence")

    here = visit(height=1400)
    page: Page = here.open(app_url)
    box = page.get_by_label("Text", exact=True)
    with step(here):
        page.get_by_role("main").get_by_role("link", name="Masked words", exact=True).click()
        first = engine.encode(BERT, TEXT.default).tokens[MASKED_WORDS.all[0].values[MASKS][0]]
        expect(page.get_by_role("paragraph").filter(has_text=f"original “{first}”")).to_be_visible()
    with step(here):
        here.toggle(first, False, page.get_by_text("Nothing is masked yet"))
    with step(here):
        enter(page, "Text", text)
        expect(page.get_by_role("button", name="chased", exact=True)).to_be_visible()
        expect(page.get_by_text(f"{len(tokens)} tokens of at most")).to_be_visible()
    with step(here):
        here.toggle("fence", True, page.get_by_role("paragraph").filter(has_text="original “fence”"))
        alone = engine.fill_mask(BERT, text, 10, masked=[fence])[0]
        _expect_bars(page, 0, "fence", alone)
    with step(here):
        here.toggle("cat", True, page.get_by_role("paragraph").filter(has_text="original “cat”"))
        both = engine.fill_mask(BERT, text, 10, masked=[cat, fence])
        for place, (was, answer) in enumerate(zip(("cat", "fence"), both, strict=True)):
            _expect_bars(page, place, was, answer)
    with step(here):
        page.get_by_role("button", name="Fill the most confident mask").click()
        surest = max(both, key=lambda answer: answer.best[0].probability)
        was = tokens[surest.position]
        once = text.replace(was, surest.best[0].token)
        expect(box).to_have_value(once)
        expect(_filled(page, f"{was} → {surest.best[0].token} ({surest.best[0].probability:.1%})")).to_be_visible()
        (left,) = {cat, fence} - {surest.position}
        rest = engine.fill_mask(BERT, once, 10, masked=[left])[0]
        _expect_bars(page, 0, tokens[left], rest)
    with step(here):
        page.get_by_role("button", name="Fill all").click()
        expect(box).to_have_value(once.replace(tokens[left], rest.best[0].token))
        expect(_filled(page, f"({rest.best[0].probability:.1%})")).to_be_visible()
        expect(page.get_by_text("Nothing is masked yet")).to_be_visible()
    with step(here):
        page.get_by_role("button", name="Undo").click()
        expect(box).to_have_value(once)
        _expect_bars(page, 0, tokens[left], rest)
    with step(here):
        page.get_by_role("button", name="Undo").click()
        expect(box).to_have_value(text)
        _expect_bars(page, 1, "fence", both[1])
        expect(page.get_by_text("Filled, step by step")).to_have_count(0)
    with step(here):
        here.toggle("cat", False, page.get_by_role("paragraph").filter(has_text="original “fence”"))
        expect(page.get_by_text("Mask 2")).to_have_count(0)
        _expect_bars(page, 0, "fence", alone)
    with step(here):
        third = alone.best[2]
        choose(here, "Insert into the sentence", third.token)
        expect(box).to_have_value(text.replace("fence", third.token))
        expect(page.get_by_text(f"fence → {third.token} ({third.probability:.1%})")).to_be_visible()
    with step(here):
        page.get_by_role("button", name="Undo").click()
        expect(box).to_have_value(text)
        _expect_bars(page, 0, "fence", alone)
    with step(here):
        open_view(page, "Layer by layer")
        last = page.locator(".st-key-lens .line").last.locator(".item").first
        expect(last).to_have_text(f"{alone.best[0].token} {alone.best[0].probability:.0%}")
    with step(here):
        open_view(page, "How surprising")
        scores = engine.token_scores(BERT, text)
        expect_metric(page, 0, f"{signed(float(np.nansum(scores.log_probabilities)))} nats")
    with step(here):
        go_to(page, "Attention")
        expect(box).to_have_value(text)
        expect_weight(page, cat + 1, 3, engine.attend(BERT, text).head(1, 3)[cat, 2])
    with step(here):
        page.go_back()
        expect_view(page, "How surprising")
        expect_metric(page, 0, f"{signed(float(np.nansum(scores.log_probabilities)))} nats")
    with step(here):
        page.go_back()
        expect_view(page, "Layer by layer")
        expect(last).to_have_text(f"{alone.best[0].token} {alone.best[0].probability:.0%}")
    with step(here):
        page.go_back()
        expect_view(page, "Predictions")
        _expect_bars(page, 0, "fence", alone)


def _filled(page: Page, step: str) -> Locator:
    """The line that tells of a filled mask. While a page is redrawn, the line of before may stand beside it."""
    return page.get_by_text("Filled, step by step").filter(has_text=step)


def _expect_bars(page: Page, place: int, was: str, answer: MaskPrediction) -> None:
    """The bars of a mask, counted from 0: what stood there with its rank, the best guess with its probability."""
    expect(page.get_by_text(f"Mask {place + 1}: was “{was}”")).to_be_visible()
    assert answer.original is not None
    expect(page.get_by_text(re.compile(r": rank \d")).nth(place)).to_contain_text(
        f"rank {answer.rank:,}, probability {answer.original.probability:.2%}"
    )
    bars = page.locator(".js-plotly-plot").nth(place)
    expect(bars.locator(".ytick").first).to_have_text(answer.best[0].token)
    expect(bars.locator(".bartext").first).to_have_text(f"{100 * answer.best[0].probability:.2g}%")


def test_swap_a_and_b_and_compare_with_controls(visit: Callable[..., Any], app_url: str, engine: Engine) -> None:
    a, b = "My phone is broken.", "The screen went black this morning."

    def p(first: str, second: str) -> float:
        return engine.next_sentence(BERT, first, second).p_next

    here = visit(height=1400)
    page: Page = here.open(app_url)
    with step(here):
        go_to(page, "Next sentence")
        for label in ("Sentence A", "Sentence B"):
            expect(page.get_by_label(label)).not_to_have_value("")
        before = page.get_by_label("Sentence B").input_value()
        expect_metric(page, 0, f"{p(page.get_by_label('Sentence A').input_value(), before):.4f}")
    with step(here):
        enter(page, "Sentence A", a)
        expect_metric(page, 0, f"{p(a, before):.4f}")
    with step(here):
        enter(page, "Sentence B", b)
        expect_metric(page, 0, f"{p(a, b):.4f}")
        expect_metric(page, 1, f"{p(b, a):.4f}")
        _expect_controls(page, engine, 0, a, b)
    with step(here):
        page.get_by_role("button", name="Swap A and B").click()
        expect(page.get_by_label("Sentence A")).to_have_value(b)
        expect_metric(page, 0, f"{p(b, a):.4f}")
        expect_metric(page, 1, f"{p(a, b):.4f}")
        _expect_controls(page, engine, 0, b, a)
    with step(here):
        page.get_by_role("button", name="New controls").click()
        _expect_controls(page, engine, 1, b, a)
    with step(here):
        page.get_by_role("button", name="Swap A and B").click()
        expect(page.get_by_label("Sentence A")).to_have_value(a)
        expect_metric(page, 0, f"{p(a, b):.4f}")
        _expect_controls(page, engine, 1, a, b)
    run = engine.attend(BERT, a, b)
    segments, special = np.array(run.encoding.segment_ids), np.array(run.encoding.special)
    words_a, words_b = (np.flatnonzero((segments == side) & ~special) for side in (0, 1))
    shares = np.array([run.layer(n)[:, words_a][:, :, words_b].sum(-1).mean(-1) for n in range(run.n_layers)])
    layer, head = (int(place) for place in np.unravel_index(shares.argmax(), shares.shape))
    with step(here):
        open_view(page, "Attention between them")
        expect(page.get_by_text(f"A → B, mean {shares.mean():.1%}")).to_be_visible()
        expect(page.get_by_test_id("stPageLink").first).to_contain_text(
            f"layer {layer + 1}, head {head + 1}: {shares.max():.1%}"
        )
    with step(here):
        page.get_by_test_id("stPageLink").first.locator("a").click()
        expect_head(page, layer + 1, head + 1)
        expect(page.get_by_text("This shows how sentence A attends to sentence B.")).to_be_visible()
        expect_weight(page, 2, 1, run.head(layer, head)[1, words_b[0]])
    with step(here):
        page.go_back()
        expect(page.get_by_role("heading", name="Next sentence", level=1)).to_be_visible()
        expect_view(page, "Attention between them")
        expect(page.get_by_text(f"A → B, mean {shares.mean():.1%}")).to_be_visible()
    with step(here):
        open_view(page, "What BERT sees")
        labels = [f"{token}{'AB'[segment]}{n}" for n, (token, segment) in enumerate(zip(
            run.encoding.tokens, segments, strict=True))]  # fmt: skip
        expect(page.locator(".token-line .item")).to_have_text(labels)
    with step(here):
        open_view(page, "A whole text")
        type_text(page, "A text of at least two sentences", f"{a} {b} Whales breathe air.")
        weakest = p(b, "Whales breathe air.")
        assert weakest < p(a, b)
        expect(page.get_by_text(f"from sentence 2 to 3, P = {weakest:.3f}.")).to_be_visible()
    with step(here):
        page.go_back()
        expect_view(page, "What BERT sees")
        expect(page.locator(".token-line .item")).to_have_text(labels)
    with step(here):
        open_view(page, "Probability")
        expect(page.get_by_label("Sentence A")).to_have_value(a)
        expect_metric(page, 0, f"{p(a, b):.4f}")
        _expect_controls(page, engine, 1, a, b)


def _expect_controls(page: Page, engine: Engine, seed: int, a: str, b: str) -> None:
    """The table sets B, and in its place and that of A five random sentences, against each other."""
    drawn = control_sentences.draw(seed, exclude=b)
    itself = engine.next_sentence(BERT, a, b).p_next
    in_place_of_b = [engine.next_sentence(BERT, a, control).p_next for control in drawn]
    expect_number(page, 1, 0, itself)
    for row, control in enumerate(drawn, start=1):
        expect(cell(page, 0, row)).to_have_text(control)
        expect_number(page, 1, row, in_place_of_b[row - 1])
        expect_number(page, 2, row, engine.next_sentence(BERT, control, b).p_next)
    below = sum(other < itself for other in in_place_of_b)
    expect(page.get_by_text(f"B scores higher than {below} of 5 random sentences")).to_be_visible()
