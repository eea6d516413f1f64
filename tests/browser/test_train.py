"""Train in a real browser: a head is trained, tried, saved and loaded back; files as the world publishes them."""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from on_screen import StartVisit, wait_for
from playwright.sync_api import Page, expect
from published_files import FILES
from transformers import AutoModelForSequenceClassification

TEXT = "The soup was cold and the waiter was rude."


def try_it(here: Any, page: Page) -> str:
    """What the tuned model says of a sentence."""
    page.get_by_role("radio", name="Try it", exact=True).click()
    here.wait_until_idle()
    box = page.get_by_label("Text", exact=True)
    box.fill(TEXT)
    box.press("Tab")
    answer = page.locator(".st-key-answer").get_by_text("with a probability of")
    expect(page.get_by_text("An example: ")).to_be_hidden()  # whose answer stands there until the text is read
    expect(answer).to_be_visible()
    here.wait_until_idle()
    return answer.inner_text()


def test_a_head_is_trained_tried_opened_saved_and_loaded_back(visit: StartVisit, app_url: str, tmp_path: Path) -> None:
    here = visit(height=1000)
    page = here.open(f"{app_url}/train?model=embedded/tinybert&epochs=3&set=inference")
    data = page.get_by_role("combobox", name="Data")
    here.until(
        lambda: (data.click(), page.get_by_role("option", name="Sentiment").first.click()),
        lambda _patience: wait_for(page, "location.search.includes('set=sentiment')"),
    )
    page.get_by_role("button", name="How", exact=True).click()
    page.get_by_role("radio", name="Task head only").click()
    wait_for(page, "location.search.includes('learns=head')")
    page.keyboard.press("Escape")
    here.wait_until_idle()
    page.get_by_role("button", name="Train", exact=True).click()
    save = page.get_by_role("button", name="Save as a folder")
    expect(save).to_be_visible()
    here.wait_until_idle()

    with page.expect_download() as download:
        page.get_by_role("link", name="Save the model (zip)").click()
    assert download.value.suggested_filename == "sentiment-tinybert.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path)
    unpacked = AutoModelForSequenceClassification.from_pretrained(tmp_path / "sentiment-tinybert")
    assert set(unpacked.config.id2label.values()) == {"negative", "positive"}

    answer = try_it(here, page)
    assert answer.startswith(("negative", "positive"))

    page.get_by_role("radio", name="Training", exact=True).click()
    here.wait_until_idle()
    save.click()
    target = tmp_path / "tuned"
    folder = page.get_by_label("Folder on the machine that runs the app")
    folder.fill(str(target))
    folder.press("Enter")
    here.wait_until_idle()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("as the model on any page")).to_be_visible()
    assert (target / "model.safetensors").is_file()
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Open on Attention").click()
    wait_for(page, "location.pathname.endsWith('/attention')")
    here.wait_until_idle()
    expect(page.get_by_text("Tiny BERT, fine-tuned: Sentiment").first).to_be_visible()
    assert "model=tuned" in page.url

    back = visit(height=1000)  # somebody else, who has the folder
    page = back.open(f"{app_url}/train?model={target}")
    assert try_it(back, page) == answer


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
    name: str, visit: StartVisit, app_url: str, tmp_path: Path
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


def test_a_treebank_with_contractions_is_uploaded_and_measured(visit: StartVisit, app_url: str, tmp_path: Path) -> None:
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
