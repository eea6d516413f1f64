"""The pages as a class uses them, from the home page on: two dozen interactions in one visit, each followed by what the
visitor should see then, its numbers held against the engine's, and back through the history.
"""

import re

import numpy as np
from browser.test_attention_page import expect_head, expect_weight, open_in_grid, picture
from journeys import cell, enter, expect_number, expect_view, go_to, open_view, step
from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect

from model_zoo import Engine

BERT = "embedded/bert"


def test_who_looks_from_it_to_cat(visit: StartVisit, app_url: str, engine: Engine) -> None:
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
        before = picture(page)
        open_in_grid(here, 2, 4, at=(0.05, 0.95))  # near a corner of the cell
        expect_weight(page, pronoun + 1, cat + 1, from_it_to_cat[1, 3])
        assert picture(page) != before
        wait_for(page, "location.search.includes('layer=2') && location.search.includes('head=4')")
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
