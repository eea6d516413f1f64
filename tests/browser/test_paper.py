"""Saved pictures in other programs: what the box "Save" gives of every kind of picture is opened by resvg, MuPDF, and
by readers of PNG and PDF, and shows the same colours and words.
"""

import io
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from on_screen import StartVisit
from PIL import Image
from playwright.sync_api import Page, expect
from pypdf import PdfReader
from resvg_py import svg_to_bytes

SVG = "{http://www.w3.org/2000/svg}"
MASKED = "masks=3&text=The+cat+sat+on+the+mat."
PLACES = {
    "words, heatmap, all heads": (
        "attention?layer=2&head=4&text=The+cat+sat+on+the+mat.",
        ["words_L2H4", "attention_L2H4", "attention-all-heads"],
    ),
    "lines": ("attention?view=lines&scope=layer&layer=2&text=The+cat+sat+on+the+mat.", ["attention-lines"]),
    "a chart with a legend, words in a table": (
        f"masked_words?view=layers&{MASKED}",
        ["lens", "fitted-lens", "ranks", "lens-distances"],
    ),
    "cells": ("cause?text=The+cat+sat+on+the+[MASK].", ["heads", "heads-that-matter"]),
    "a colour scale": ("layers?view=movement&text=The+cat+sat+on+the+mat.", ["token-movement"]),
    "strips with indices": ("learn?lesson=embeddings&step=4&text=The+cat+sat+on+the+mat.", ["norm"]),
    "the walk": ("?text=The+cat+sat+on+the+mat.", ["anatomy_L2H4"]),
}


def opened(visit: StartVisit, url: str) -> Any:
    """A visit to the page at an address, in the dark, with its box "Save" open."""
    here = visit(height=900, color_scheme="dark")
    page: Page = here.open(url)
    here.wait_until_idle()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".saver button").first).to_be_visible()
    here.wait_until_idle()
    return here


def saved(page: Page, place: int, name: str, kind: str) -> bytes:
    """What a button of the box gives of its picture at a place."""
    row = page.locator(".saver .row").nth(place)
    with page.expect_download() as download:
        row.get_by_role("button", name=kind.upper()).click()
    assert re.fullmatch(rf"{name}_the-cat-sat-on-the-(mat|mask)\.{kind}", download.value.suggested_filename)
    return Path(download.value.path()).read_bytes()


def rendered(svg: bytes, pdf: bytes) -> list[np.ndarray]:
    """The picture as resvg and MuPDF draw it, and the PDF as MuPDF does, 3 pixels a CSS pixel, (height, width, 3)."""
    pngs = [svg_to_bytes(svg_string=svg.decode(), dpi=96, zoom=3)]
    for kind, data in (("svg", svg), ("pdf", pdf)):
        with pymupdf.open(kind, data) as document:
            pngs.append(document[0].get_pixmap(dpi=3 * 96).tobytes("png"))
    pictures = (Image.open(io.BytesIO(png)).convert("RGB") for png in pngs)
    return [np.asarray(picture, dtype=int) for picture in pictures]


def as_pdf(svg: bytes) -> bytes:
    """The picture as a PDF by MuPDF."""
    with pymupdf.open("svg", svg) as document:
        pdf: bytes = document.convert_to_pdf()
    return pdf


def words(pdf: bytes) -> str:
    """The letters of a PDF without spaces."""
    (page,) = PdfReader(io.BytesIO(pdf)).pages
    return re.sub(r"\s", "", page.extract_text())


def flat(picture: np.ndarray) -> np.ndarray:
    """Where a picture has one colour in all pixels around: no edge, no letter (height, width)."""
    alike = np.ones(picture.shape[:2], dtype=bool)
    for axis in (0, 1):
        for by in (-3, 3):
            alike &= (np.abs(picture - np.roll(picture, by, axis)) <= 2).all(axis=2)
    return alike


def unlike(picture: np.ndarray, other: np.ndarray) -> float:
    """The share of pixels that have none of nearly their colour in the other picture, 4 pixels around."""
    nearest = np.full(picture.shape[:2], np.inf)
    for down, right in itertools.product(range(-4, 5, 2), repeat=2):
        moved = np.roll(other, (down, right), axis=(0, 1))
        nearest = np.minimum(nearest, np.abs(picture - moved).max(axis=2))
    return float((nearest > 60).mean())


@pytest.mark.parametrize("place", PLACES)
def test_a_saved_picture_is_the_same_in_other_programs(place: str, visit: StartVisit, app_url: str) -> None:
    where, pictures = PLACES[place]
    page = opened(visit, f"{app_url}/{where}").page
    for row, name in enumerate(pictures):
        svg, png, pdf = (saved(page, row, name, kind) for kind in ("svg", "png", "pdf"))
        root = ElementTree.fromstring(svg)
        assert root.attrib["width"] == "175mm"
        assert not list(root.iter(f"{SVG}image")), "cells are shapes"
        about = json.loads(root.findtext(f"{SVG}metadata") or "")
        assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == (about["title"], about["description"])
        assert about["text"].startswith("The cat sat on the")
        assert about["link"].startswith(app_url)
        assert about["app"].startswith("Inside BERT ")
        shapes = page.locator(".js-plotly-plot").first.locator(".shapelayer path")
        if name in ("token-movement", "norm"):
            assert len(re.findall(rb"<path[^>]*data-index", svg)) == shapes.count() > 20, "a scale has its colours"
        texts = [re.sub(r"\s", "", "".join(text.itertext())) for text in root.iter(f"{SVG}text")]

        picture = Image.open(io.BytesIO(png))
        assert isinstance(picture.info["dpi"], tuple)
        assert {key: picture.info[key] for key in about} == about
        assert picture.info["dpi"][0] == pytest.approx(288, abs=1)
        pixels = np.asarray(picture.convert("RGB"), dtype=int)
        assert pixels[0, -1].tolist() == [255, 255, 255], "light on a dark page"
        assert pixels.shape[1] == pytest.approx(3 * 175 / 25.4 * 96, abs=3)
        for other in rendered(svg, pdf):
            assert np.abs(np.subtract(other.shape, pixels.shape)).max() <= 3
            height, width = (min(sides) for sides in zip(pixels.shape[:2], other.shape[:2], strict=True))
            a, b = pixels[:height, :width], other[:height, :width]
            both = flat(a) & flat(b)
            assert both.mean() > 0.3
            assert (np.abs(a - b)[both].max(axis=1) <= 6).mean() > 0.99, "cells have their colours"
        # ``a`` and ``b`` are of the PDF: its letters are those of this browser, and where it has them.
        assert max(unlike(a, b), unlike(b, a)) < 0.006
        for document in (pdf, as_pdf(svg)):
            (sheet,) = PdfReader(io.BytesIO(document)).pages
            assert float(sheet.mediabox.width) == pytest.approx(175 / 25.4 * 72, abs=0.6)
            letters = words(document)
            assert [text for text in texts if text and text not in letters] == []
        reader = PdfReader(io.BytesIO(pdf))
        assert reader.metadata is not None
        assert (reader.metadata.title, reader.metadata.subject) == (about["title"], about["description"])
        assert json.loads(reader.metadata["/Keywords"]) == about
        fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].get_object().values()]
        assert {font["/BaseFont"] for font in fonts} <= {"/INSIDE+Arimo-Regular", "/INSIDE+Arimo-Bold"}
        for font in fonts:
            (descendant,) = (reference.get_object() for reference in font["/DescendantFonts"])
            assert "/FontFile2" in descendant["/FontDescriptor"].get_object()


def test_width_type_and_outlines_are_chosen_in_the_box(visit: StartVisit, app_url: str) -> None:
    here = opened(visit, f"{app_url}/attention?layer=2&head=4&text=The+cat+sat+on+the+mat.")
    page: Page = here.page
    page.get_by_role("radio", name="One column (85 mm)").click()
    page.get_by_label("Font size (pt)").fill("10")
    page.get_by_label("Font size (pt)").press("Enter")
    page.get_by_text("Letters as outlines").click()
    expect(page.get_by_role("switch", name="Letters as outlines")).to_be_checked()
    here.wait_until_idle()
    expect(page.locator(".saver")).to_be_visible()
    root = ElementTree.fromstring(saved(page, 1, "attention_L2H4", "svg"))
    assert root.attrib["width"] == "85mm"
    assert not list(root.iter(f"{SVG}text"))
    labels = [path.get("aria-label") for path in root.iter(f"{SVG}path") if path.get("aria-label")]
    assert {"[CLS]", "cat", "key: the token attended to"} <= set(labels)
