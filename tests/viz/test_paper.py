"""The font of pictures for a paper: the letters that were wanted, as the whole font has them, and no more of them than
a picture can need.
"""

import io

import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.svgLib.path import parse_path
from fontTools.ttLib import TTFont

from model_zoo.errors import InvalidInput
from viz.paper import MAX_LETTERS, fonts


def test_a_font_has_the_letters_wanted_and_the_nearest_to_those_it_lacks() -> None:
    made, files = fonts(normal="▁the − α", bold="a")
    assert [made[weight]["name"] for weight in made] == ["Arimo-Regular", "Arimo-Bold"]
    assert len(files) == sum(font["length"] for font in made.values())
    normal = made["normal"]["letters"]
    assert list(normal) == [*" ehtα−", "▁"]
    assert set(made["bold"]["letters"]) == set(" a")
    font = TTFont(io.BytesIO(files[: made["normal"]["length"]]))
    names, glyphs = font.getBestCmap(), font.getGlyphSet()
    assert set(names) == set(map(ord, " ehtα−_"))
    thousandth = 1000 / font["head"].unitsPerEm
    for letter, (glyph, width, outline) in normal.items():
        name = names[ord(letter.replace("▁", "_"))]
        assert glyph == font.getGlyphID(name)
        assert width == pytest.approx(glyphs[name].width * thousandth, abs=1e-3)
        bounds, drawn = BoundsPen(glyphs), BoundsPen(None)
        glyphs[name].draw(bounds)
        parse_path(outline, drawn)
        if bounds.bounds is None:
            assert outline == ""
            continue
        left, bottom, right, top = (side * thousandth for side in bounds.bounds)
        assert drawn.bounds == pytest.approx((left, -top, right, -bottom), abs=1.1)  # y downwards, to a thousandth


@pytest.mark.parametrize(
    "text",
    ["猫", "של", "\ud800", "".join(map(chr, range(0x100, 0x101 + MAX_LETTERS)))],
    ids=["a letter it lacks", "letters from right to left", "half a letter", "too many letters"],
)
def test_what_it_cannot_write_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        fonts(normal=f"the {text}")
    str(refused.value).encode()  # it goes to a browser
