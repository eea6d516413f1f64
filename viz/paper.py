"""The font of pictures for a paper: what a browser needs of it to write a PDF, or letters as outlines, by itself. It is
Arimo, whose letters are as wide as those of Arial and Helvetica.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any, Final

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

from model_zoo.errors import InvalidInput

MAX_LETTERS: Final = 200  # different ones of a weight, of the 3,010 that the font has
_WEIGHTS: Final = {"normal": ("Arimo-Regular", 400), "bold": ("Arimo-Bold", 700)}
# Signs of tokenizers and of this app that the font lacks, and those nearest to them.
_NEAREST: Final = dict(zip("▁␣✓✔✗⟨⟩⋯◆●", "__√√×‹›…••", strict=True))
_RIGHT_TO_LEFT: Final = ("R", "AL", "AN")


def fonts(**texts: str) -> tuple[dict[str, Any], bytes]:
    """The letters of the texts in each weight (``normal``, ``bold``), and the space: by weight a font's ``name``, its
    ``letters`` (each with its glyph, its width, and its outline as of an SVG path's ``d``, y downwards) and its
    ``metrics``, in thousandths of the size, and the ``length`` of its file; and the files (TrueType), one behind the
    other.

    Raises InvalidInput for letters that the font does not have or cannot set, and for more than ``MAX_LETTERS``.
    """
    made = {weight: _font(weight, _written({*text, " "})) for weight, text in texts.items()}
    return {weight: font for weight, (font, _) in made.items()}, b"".join(data for _, data in made.values())


def _written(letters: set[str]) -> dict[str, str]:
    """What the font writes each letter by."""
    if len(letters) > MAX_LETTERS:
        raise InvalidInput(
            f"This picture has more than {MAX_LETTERS} different letters, too many for a PDF or outlines. Save it as "
            "SVG or PNG."
        )
    written = {}
    for letter in sorted(letters):
        nearest = _NEAREST.get(letter, " " if letter.isspace() else letter)
        if ord(nearest) not in _covered() or unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT:
            quoted = f"“{letter}”" if letter.isprintable() else f"U+{ord(letter):04X}"
            raise InvalidInput(
                f"The font of PDF files and outlines cannot write {quoted}. Save this picture as SVG or PNG: there the "
                "browser’s own fonts write it."
            )
        written[letter] = nearest
    return written


def _variable() -> TTFont:
    """The font of all weights."""
    return TTFont(files("fontpkg_arimo") / "files" / "Arimo[wght].ttf")


@cache
def _covered() -> frozenset[int]:
    return frozenset(_variable().getBestCmap())


def _font(weight: str, written: dict[str, str]) -> tuple[dict[str, Any], bytes]:
    """The font of a weight with what is ``written`` alone, without what it is not drawn by."""
    name, axis = _WEIGHTS[weight]
    font = _variable()
    for table in {"GSUB", "GPOS", "GDEF", "STAT", "HVAR", "MVAR", "cvar", "cvt ", "fpgm", "prep"} & {*font.keys()}:
        del font[table]
    cutting = Subsetter(Options(layout_features=[], hinting=False, notdef_outline=True))
    cutting.populate(unicodes=[ord(letter) for letter in written.values()])
    cutting.subset(font)  # before it is set to its weight: of 3,010 letters that takes seconds
    font = instantiateVariableFont(font, {"wght": axis})
    file = BytesIO()
    font.save(file)
    scale = 1000 / font["head"].unitsPerEm
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    letters = {}
    # A letter that stands for itself comes first: what is copied from a PDF is the first of those with a glyph.
    for letter, nearest in sorted(written.items(), key=lambda pair: pair[0] != pair[1]):
        glyph = names[ord(nearest)]
        pen = SVGPathPen(glyphs, lambda number: str(round(number)))
        glyphs[glyph].draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
        letters[letter] = font.getGlyphID(glyph), round(font["hmtx"][glyph][0] * scale, 3), pen.getCommands()
    head, across = font["head"], font["hhea"]
    metrics = {
        "box": [round(side * scale) for side in (head.xMin, head.yMin, head.xMax, head.yMax)],
        "ascent": round(across.ascent * scale),
        "descent": round(across.descent * scale),
        "capitals": round(font["OS/2"].sCapHeight * scale),
    }
    data = file.getvalue()
    return {"name": name, "letters": letters, "metrics": metrics, "length": len(data)}, data
