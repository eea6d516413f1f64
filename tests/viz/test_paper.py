"""Pictures for a paper, made of an SVG: what a PDF reads and shows as, and outlines that say what they were."""

import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
from pypdf import PdfReader

from model_zoo.errors import InvalidInput
from viz.paper import outlined, pdf

pytestmark = pytest.mark.slow  # whichever comes first loads the font

ABOUT = {"title": "A title", "layer": "2"}
SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" width="85mm" height="40mm" viewBox="0 0 320 150"
 font-family="Helvetica, Arial, sans-serif"><title>A title</title><desc>What it is</desc>
<metadata>{json.dumps(ABOUT)}</metadata><rect width="320" height="150" fill="#ffffff"/>
<image href="https://nowhere.invalid/a.png" width="9" height="9"/>
<text x="10" y="20" font-size="10">head 4 of layer 2 off</text>
<text style="font-size: 12px; font-weight: 700; fill: rgb(1, 2, 3)" text-anchor="end" x="300" y="50">▁the − α
<tspan x="300" dy="1.3em">second line</tspan></text></svg>"""


def test_a_pdf_has_the_size_the_words_the_font_and_what_the_svg_says_of_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")  # no program of the system names a font
    reader = PdfReader(io.BytesIO(pdf(SVG)))
    (page,) = reader.pages
    assert [float(side) for side in page.mediabox[2:]] == pytest.approx([85 / 25.4 * 72, 40 / 25.4 * 72], abs=0.1)
    words = page.extract_text()
    assert all(word in words for word in ("head 4 of layer 2 off", "_the − α", "second line"))
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].get_object().values()]
    assert {re.sub(r"^/[A-Z]+.", "", font["/BaseFont"]) for font in fonts} == {"Arimo-Regular", "Arimo-Bold"}
    assert all("/FontFile2" in font["/FontDescriptor"].get_object() for font in fonts)
    assert reader.metadata is not None
    assert (reader.metadata.title, reader.metadata.subject) == ("A title", "What it is")
    assert json.loads(reader.metadata["/Keywords"]) == ABOUT


def test_outlines_stand_where_the_words_did() -> None:
    root = ET.fromstring(outlined(SVG))
    paths = [element for element in root if element.get("aria-label")]
    assert not root.findall(".//{*}text")
    assert [path.get("aria-label", "").split("\n")[0] for path in paths] == ["head 4 of layer 2 off", "_the − α"]
    across = [[float(x) for x in re.findall(r"[ML](-?[\d.]+)", path.get("d", ""))] for path in paths]
    assert 10 <= min(across[0]) < max(across[0]) < 125  # 21 letters of size 10, about half as wide
    assert 200 < min(across[1]) < max(across[1]) <= 300  # they end at their anchor
    assert paths[1].get("style") == "fill: rgb(1, 2, 3)"


@pytest.mark.parametrize("make", [pdf, outlined])
@pytest.mark.parametrize(
    ("svg", "said"),
    [
        (SVG.replace("second", "猫"), "cannot write “猫”. Save this picture as SVG or PNG"),
        (SVG.replace("second", "שלום"), "cannot write “ש”"),
        ("<svg", "not a picture in SVG"),
        ("<html/>", "not a picture in SVG"),
    ],
)
def test_what_would_be_lost_is_refused(make: object, svg: str, said: str) -> None:
    assert callable(make)
    with pytest.raises(InvalidInput, match=said):
        make(svg)
