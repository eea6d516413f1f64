"""Files as the world publishes them, in a real browser: uploaded, columns chosen where none are named, a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from published_files import FILES

pytestmark = pytest.mark.browser

KINDS = {"labelled": "classification", "scored": "similarity", "tagged": "tagging", "questions": "answering"}
PUBLISHED = [
    *(f"{task}/train.tsv" for task in ("CoLA", "SST-2", "MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE", "WNLI")),
    *("train-v1.1.json", "dev-v2.0.json", "eng.testa", "wnut17train.conll"),
]


def upload(here: Any, opener: str, path: Path) -> None:
    """Into the first control for files behind a button."""
    control = here.page.get_by_test_id("stFileUploader").first
    button = here.page.get_by_role("button", name=opener)
    here.until(
        lambda: control.is_visible() or button.click(),
        lambda patience: expect(control).to_be_visible(timeout=patience),
    )
    control.locator("input").set_input_files(path)


def choose(here: Any, role: str, column: str) -> None:
    """A column for a role, again where the page was drawn anew meanwhile."""
    box = here.page.get_by_role("combobox", name=role, exact=True)
    here.until(
        lambda: (box.click(), here.page.get_by_role("option", name=column).first.click()),
        lambda patience: expect(box).to_have_value(column, timeout=patience),
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_is_uploaded_and_trained_on(
    name: str, visit: Callable[..., Any], app_url: str, tmp_path: Path
) -> None:
    file = FILES[name]
    path = tmp_path / Path(name).name
    path.write_bytes(file.data)
    here = visit()
    query = f"model=embedded/tinybert&epochs=1&examples=40&set=own&own_kind={KINDS[file.kind]}"
    page: Page = here.open(f"{app_url}/train?{query}")
    upload(here, "Your own data", path)
    for role, column in file.chosen.get("columns", {}).items():
        choose(here, role.capitalize(), column)
    expect(page.get_by_text("for training and ").or_(page.get_by_text("for training, ")).first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Save as a folder")).to_be_visible()


def test_a_treebank_with_contractions_is_uploaded_and_measured(
    visit: Callable[..., Any], app_url: str, tmp_path: Path
) -> None:
    file = FILES["en_mill-ud-train.conllu"]
    path = tmp_path / file.name
    path.write_bytes(file.data)
    here = visit()
    page: Page = here.open(f"{app_url}/corpus?model=embedded/tinybert&view=relations")
    upload(here, "Sentences: built-in", path)
    expect(page.get_by_text("100 sentences, ")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Measure 100 sentences").click()
    expect(page.get_by_text("aux").first).to_be_visible()
