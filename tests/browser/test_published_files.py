"""Files as the world publishes them, in a real browser: uploaded, columns chosen where none are named, a result."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from published_files import FILES

pytestmark = pytest.mark.browser

KINDS = {"labelled": "classification", "scored": "similarity", "tagged": "tagging", "questions": "answering"}
READ = re.compile(r"items: .* for training, ")
PUBLISHED = ("CoLA/train.tsv", "STS-B/train.tsv", "eng.testa", "dev-v2.0.json")  # one a kind; tests/reading reads all


def upload(here: Any, opener: str, path: Path) -> None:
    """Into the first control for files behind a button."""
    control = here.page.get_by_test_id("stFileUploader").first
    button = here.page.get_by_role("button", name=opener)
    here.until(
        lambda: control.is_visible() or button.click(),
        lambda patience: expect(control).to_be_visible(timeout=patience),
    )
    control.locator("input").set_input_files(path)


def choose(here: Any, columns: Mapping[str, str]) -> None:
    """A column for each role, again where the page was drawn anew meanwhile; after the last one the file is read."""
    for role, column in columns.items():
        box = here.page.get_by_role("combobox", name=role.capitalize(), exact=True)
        begins = re.compile(rf"{column} \(")
        last = role == [*columns][-1]

        def type_it(box: Any = box, column: str = column) -> None:
            if box.is_visible():
                box.fill(column)
                box.press("ArrowDown")
                box.press("Enter")

        def chosen(patience: float, box: Any = box, begins: Any = begins, last: bool = last) -> None:
            if last:
                expect(here.page.get_by_text(READ).first).to_be_visible(timeout=patience)
            else:
                expect(box).to_have_value(begins, timeout=patience)

        here.until(type_it, chosen)


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
    choose(here, file.chosen.get("columns", {}))
    expect(page.get_by_text(READ).first).to_be_visible()
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
