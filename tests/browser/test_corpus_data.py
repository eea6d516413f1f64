"""One's own sentences on Corpus in a real browser: uploaded, told, measured; a pronoun opened on Attention."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from analysis.probing.template_trees import template_conllu

pytestmark = pytest.mark.browser

ROWS = (("She", "PRON", 2, "nsubj"), ("sees", "VERB", 1, "root"), ("it", "PRON", 0, "obj"))
CYCLE = "".join(
    f"{place}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"
    for place, (form, upos, head, deprel) in enumerate(ROWS, start=1)
)


def test_a_treebank_is_uploaded_and_a_pronoun_opened_on_attention(
    visit: Callable[..., Any], app_url: str, tmp_path: Path
) -> None:
    treebank, broken = tmp_path / "own.conllu", tmp_path / "broken.conllu"
    text = template_conllu(40)
    treebank.write_text(f"{text}{text}{CYCLE}", encoding="utf-8")
    broken.write_text(f"{text}1\tx\n", encoding="utf-8")
    page: Page = visit().open(f"{app_url}/corpus?model=embedded/tinybert&view=coreference")
    page.get_by_role("button", name="Sentences: built-in").click()
    upload = page.get_by_test_id("stFileUploader").first
    upload.locator("input").set_input_files(broken)
    expect(page.get_by_text("2 columns instead of ten").first).to_be_visible()
    upload.get_by_role("button", name="Remove broken.conllu").click()
    expect(page.get_by_text("1,000 sentences").first).to_be_visible()
    upload.locator("input").set_input_files(treebank)
    expect(page.get_by_text("41 sentences, ")).to_be_visible()
    page.keyboard.press("Escape")

    page.get_by_text("How the sentences were read: 2 notes").click()
    expect(page.get_by_text("Left out 40: sentences that had come before").last).to_be_visible()
    expect(page.get_by_text("Without a tree, but with all words, because of a cycle").last).to_be_visible()
    page.get_by_role("button", name="Measure 41 sentences").click()
    expect(page.get_by_text("gives the rarest word of a sentence more of its attention")).to_be_visible()

    pronoun = page.locator(".examples .row").first
    sentence = pronoun.locator(".sentence").inner_text()
    pronoun.get_by_role("link", name="Attention").click()
    expect(page).to_have_url(re.compile("/attention.*locked=query"))
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(sentence)
