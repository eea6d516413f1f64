"""Pictures for a paper, of the SVG that a browser has drawn: as PDF with its font embedded, and as SVG whose letters
are outlines. The font is Arimo, whose letters are as wide as those of Arial and Helvetica.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any, Final

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from lxml import etree
from reportlab.graphics import renderPDF, shapes
from reportlab.pdfgen.canvas import Canvas
from svglib import fonts
from svglib.svglib import SvgRenderer

from model_zoo.errors import InvalidInput

_FONT: Final = "Arimo"
_SVG: Final = "{http://www.w3.org/2000/svg}"
_TEXTS: Final = (f"{_SVG}text", f"{_SVG}tspan")
_WEIGHTS: Final = {"normal": 400, "bold": 700}
# Signs of tokenizers and of this app that the font lacks, and those nearest to them.
_INSTEAD: Final = str.maketrans("▁␣✓✔✗⟨⟩⋯◆●", "__√√×‹›…••")
_RIGHT_TO_LEFT: Final = ("R", "AL", "AN")
_NUMBER: Final = re.compile(r"\s*(-?[\d.]+(?:e-?\d+)?)\s*(em|px|%)?")


def pdf(svg: str) -> bytes:
    """An SVG as PDF: shapes stay shapes, texts texts. Its title, and all that it says of itself as JSON, come along.

    Raises InvalidInput for what is no SVG, and for letters that the font does not have or cannot set.
    """
    root = _read(svg)
    _registered("normal")
    for element in (root, *root.iter(*_TEXTS)):
        weight = "bold" if _is_bold(element) else "normal"
        _registered(weight)
        _restyle(element, {"font-family": _FONT, "font-weight": weight, "font-style": "normal"})
    drawing = SvgRenderer("").render(root)
    if drawing is None:
        raise InvalidInput("This picture cannot be made into a PDF. Save it as SVG or PNG.")
    file = BytesIO()
    canvas = Canvas(file, (drawing.width, drawing.height), initialFontName=_FONT)
    said = {name: root.findtext(f"{_SVG}{name}") or "" for name in ("title", "desc", "metadata")}
    canvas.setTitle(said["title"])
    canvas.setSubject(said["desc"])
    canvas.setKeywords(said["metadata"])
    canvas.setCreator("Inside BERT")
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    return file.getvalue()


def outlined(svg: str) -> bytes:
    """An SVG whose texts are shapes, each with the text as its label. Raises InvalidInput as ``pdf`` does."""
    root = _read(svg)
    for text in list(root.iter(_TEXTS[0])):
        path = etree.Element(f"{_SVG}path", {"d": " ".join(_shapes(text)), "aria-label": "".join(text.itertext())})
        for name in ("transform", "fill", "fill-opacity", "opacity", "class"):
            if name in text.attrib:
                path.set(name, text.get(name))
        style = {name: value for name, value in _style(text).items() if name.startswith(("fill", "opacity"))}
        if style:
            path.set("style", "; ".join(f"{name}: {value}" for name, value in style.items()))
        path.tail = text.tail
        text.getparent().replace(text, path)
    whole: bytes = etree.tostring(root, encoding="utf-8")
    return whole


def _read(svg: str) -> Any:
    """The root of a document that fetches nothing, in letters that the font has."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(svg.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise InvalidInput("This is not a picture in SVG. Save the picture again.") from error
    if root.tag != f"{_SVG}svg":
        raise InvalidInput("This is not a picture in SVG. Save the picture again.")
    for element in root.iter(etree.Element):
        for name in list(element.attrib):
            if etree.QName(name).localname == "href" and not element.get(name).startswith("#"):
                del element.attrib[name]
        if element.tag in _TEXTS:
            element.text = _written(element.text)
            if element.tag == _TEXTS[1]:
                element.tail = _written(element.tail)
    return root


def _written(text: str | None) -> str:
    known = _font("normal").getBestCmap()
    text = (text or "").translate(_INSTEAD)
    for letter in text:
        turned = unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT
        if turned or (ord(letter) not in known and not letter.isspace()):
            raise InvalidInput(
                f"The font of PDF files and outlines cannot write “{letter}”. Save this picture as SVG or PNG: there "
                "the browser’s own fonts write it."
            )
    return text


@cache
def _font(weight: str) -> TTFont:
    """The font at a weight; cutting it out of the variable one takes 2 s."""
    found = TTFont(BytesIO((files("fontpkg_arimo") / "files" / "Arimo[wght].ttf").read_bytes()))
    return instantiateVariableFont(found, {"wght": _WEIGHTS[weight]}, updateFontNames=True)


@cache
def _registered(weight: str) -> None:
    """The font is known to whoever writes PDF."""
    file = BytesIO()
    _font(weight).save(file)
    file.seek(0)
    name = _FONT if weight == "normal" else f"{_FONT}-Bold"
    # With the file: without one svglib asks fontconfig for such a font, and where there is none takes Helvetica.
    _, known = fonts.register_font(_FONT, file, weight, rlgFontName=name)  # type: ignore[arg-type]  # open is read, too
    assert known
    shapes.STATE_DEFAULTS["fontName"] = _FONT  # else Helvetica, which is not embedded, would be named in every file


def _style(element: Any) -> dict[str, str]:
    pairs = (part.partition(":") for part in (element.get("style") or "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs if value}


def _restyle(element: Any, values: dict[str, str]) -> None:
    """Sets what an element looks like, in its attributes: its style says nothing of that any more."""
    style = {name: value for name, value in _style(element).items() if name not in values}
    element.attrib.update(values)
    element.set("style", "; ".join(f"{name}: {value}" for name, value in style.items()))


def _own(element: Any, name: str) -> str | None:
    """What an element says of itself."""
    found: str | None = _style(element).get(name) or element.get(name)
    return found


def _inherited(element: Any, name: str) -> str | None:
    while element is not None:
        found = _own(element, name)
        if found is not None:
            return found
        element = element.getparent()
    return None


def _is_bold(element: Any) -> bool:
    weight = _inherited(element, "font-weight") or "normal"
    return weight == "bold" or (weight.isdigit() and int(weight) >= 600)


def _size(element: Any) -> float:
    """The size of an element's type in the document's units."""
    match = _NUMBER.match(_own(element, "font-size") or "")
    if match is None:
        return _size(element.getparent()) if element.getparent() is not None else 16.0
    number, unit = float(match[1]), match[2]
    if unit in ("em", "%"):
        return _size(element.getparent()) * number / (100 if unit == "%" else 1)
    return number


def _shapes(text: Any) -> Iterator[str]:
    """The outlines of a text, line by line: a line begins where a place is given."""
    anchor = _inherited(text, "text-anchor") or "start"
    line: list[tuple[str, float, str]] = []
    x, y = 0.0, 0.0
    for element, words in _pieces(text):
        if words is None:  # an element begins
            places = [_length(element, name) for name in ("x", "y", "dx", "dy")]
            if places[0] is not None or places[1] is not None:
                yield from _line(line, x, y, anchor)
                line = []
            x = places[0] if places[0] is not None else x
            y = places[1] if places[1] is not None else y
            y += places[3] or 0.0
            continue
        line.append((words, _size(element), "bold" if _is_bold(element) else "normal"))
    yield from _line(line, x, y, anchor)


def _pieces(element: Any) -> Iterator[tuple[Any, str | None]]:
    """An element and None where it begins, then its texts, each with the element that they are of."""
    yield element, None
    if element.text:
        yield element, element.text
    for child in element:
        yield from _pieces(child)
        if child.tail:
            yield element, child.tail


def _length(element: Any, name: str) -> float | None:
    match = _NUMBER.match(element.get(name) or "")
    return None if match is None else float(match[1]) * (_size(element) if match[2] == "em" else 1)


def _line(pieces: list[tuple[str, float, str]], x: float, y: float, anchor: str) -> Iterator[str]:
    widths = [sum(_advance(letter, weight) for letter in words) * size for words, size, weight in pieces]
    x -= sum(widths) * {"middle": 0.5, "end": 1.0}.get(anchor, 0.0)
    for (words, size, weight), width in zip(pieces, widths, strict=True):
        glyphs, at = _font(weight).getGlyphSet(), x
        scale = size / _font(weight)["head"].unitsPerEm
        for letter in words:
            pen = SVGPathPen(glyphs, lambda number: f"{number:.2f}".rstrip("0").rstrip("."))
            name = _font(weight).getBestCmap().get(ord(letter), "space")
            glyphs[name].draw(TransformPen(pen, (scale, 0, 0, -scale, at, y)))
            if pen.getCommands():
                yield pen.getCommands()
            at += _advance(letter, weight) * size
        x += width


def _advance(letter: str, weight: str) -> float:
    """The width of a letter, in sizes of the type."""
    font = _font(weight)
    width: float = font["hmtx"][font.getBestCmap().get(ord(letter), "space")][0] / font["head"].unitsPerEm
    return width
