"""Colours measured with CIELAB and WCAG formulas, apart from the palette's own OKLab."""

import re
import tomllib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from contrast import contrast

from viz.palette import Colorscale, categorical, diverging, opposes, sequential, square_root, supports, theme

Array = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes 2009, severity 1.0.
SIGHTS: dict[str, Array] = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


def linear(colours: list[str], sight: str = "normal") -> Array:
    srgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    rgb = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return np.clip(rgb @ SIGHTS[sight].T, 0, 1)


def oklab(rgb: Array) -> Array:
    """By way of XYZ, with the matrices of the same source that the palette does not use."""
    xyz = rgb @ np.array([[0.41239080, 0.35758434, 0.18048079], [0.21263901, 0.71516868, 0.07219232],
                          [0.01933082, 0.11919478, 0.95053215]]).T  # fmt: skip
    lms = xyz @ np.array([[0.8189330101, 0.3618667424, -0.1288597137],
                          [0.0329845436, 0.9293118715, 0.0361456387],
                          [0.0482003018, 0.2643662691, 0.6338517070]]).T  # fmt: skip
    return np.cbrt(lms) @ np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                                    [1.9779984951, -2.4285922050, 0.4505937099],
                                    [0.0259040371, 0.7827717662, -0.8086757660]]).T  # fmt: skip


def cielab(rgb: Array) -> Array:
    xyz = rgb @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    ratio = xyz / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def colours(scale: Colorscale) -> list[str]:
    return [colour for _, colour in scale]


def test_contrast_and_scales_by_hand() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    for scale_of in (sequential, diverging):
        for dark in (False, True):
            assert scale_of(dark) is scale_of(dark)
            hash(scale_of(dark))  # of tuples throughout: whoever is given it cannot change it for all others
    with pytest.raises(ValueError, match="-1"):
        categorical(-1, dark=False)
    bent = square_root(((0.0, "#000000"), (0.5, "#777777"), (1.0, "#FFFFFF")))
    assert bent == ((0.0, "#000000"), (0.25, "#777777"), (1.0, "#FFFFFF"))


@pytest.mark.parametrize("dark", [False, True])
def test_weights_take_equal_steps_and_keep_their_order_for_any_sight(dark: bool) -> None:
    scale = sequential(dark)
    assert [p for p, _ in scale] == pytest.approx(np.linspace(0, 1, len(scale)))
    steps = np.linalg.norm(np.diff(oklab(linear(colours(scale))), axis=0), axis=1)
    assert np.abs(steps / steps.mean() - 1).max() < 0.15  # 8-bit colours round by up to a tenth of a step
    for sight in SIGHTS:
        lightness = cielab(linear(colours(scale), sight))[:, 0]
        assert (np.diff(lightness) > 0).all() if dark else (np.diff(lightness) < 0).all(), sight
        assert abs(lightness[-1] - lightness[0]) > 75, sight


@pytest.mark.parametrize("dark", [False, True])
def test_zero_looks_like_nothing_and_one_stands_out(dark: bool) -> None:
    background = theme(dark).background
    scale = colours(sequential(dark))
    assert contrast(scale[0], background) < 1.1
    assert contrast(scale[-1], background) > 12
    position = dict(zip(scale, np.linspace(0, 1, len(scale)), strict=True))
    visible = next(colour for colour in scale if position[colour] >= np.sqrt(0.02))
    difference = np.linalg.norm(np.diff(cielab(linear([visible, background])), axis=0))
    assert difference > 5  # a weight of 0.02; 2.3 is the least difference people notice


@pytest.mark.parametrize("dark", [False, True])
def test_differences_are_neutral_at_zero_and_even_on_both_sides(dark: bool) -> None:
    scale = colours(diverging(dark))
    middle = len(scale) // 2
    assert len(scale) % 2 == 1
    assert contrast(scale[middle], theme(dark).background) < 1.1
    assert np.abs(cielab(linear([scale[middle]]))[0, 1:]).max() < 6
    for sight in SIGHTS:
        lab = cielab(linear(scale, sight))
        away = lab[:, 0] if dark else -lab[:, 0]
        assert (np.diff(away[middle:]) > 0).all(), sight
        assert (np.diff(away[: middle + 1]) < 0).all(), sight
        # The two sides must not be taken for each other where they are as far from zero.
        apart = np.linalg.norm(lab - lab[::-1], axis=1)
        assert apart[: middle - 6].min() > 20, sight


@pytest.mark.parametrize("dark", [False, True])
def test_support_is_blue_opposition_orange_and_any_sight_tells_them_apart(dark: bool) -> None:
    pair = [supports(dark), opposes(dark)]
    scale = colours(diverging(dark))
    assert scale.index(pair[1]) < len(scale) // 2 < scale.index(pair[0])
    blue, orange = cielab(linear(pair))[:, 2]  # from blue (below 0) to yellow
    assert blue < -20
    assert orange > 20
    for colour in pair:
        assert contrast(colour, theme(dark).background) >= 3
        assert contrast(colour, theme(dark).surface) >= 3
    for sight in SIGHTS:
        assert np.linalg.norm(np.diff(cielab(linear(pair, sight)), axis=0)) > 40, sight
    # Two series do not look like support and opposition.
    second, orange = cielab(linear([categorical(2, dark)[1], opposes(dark)]))
    hues = np.degrees([np.arctan2(b, a) for _, a, b in (second, orange)])
    assert abs(hues[0] - hues[1]) > 30


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("n", [0, 1, 12, 24, 32])
def test_head_colours_differ_and_are_seen_on_the_background(n: int, dark: bool) -> None:
    chosen = categorical(n, dark)
    assert len(set(chosen)) == n
    assert chosen == categorical(40, dark)[:n]
    for colour in chosen:
        assert contrast(colour, theme(dark).background) >= 3
        assert contrast(colour, theme(dark).surface) >= 3
    least = {12: (20, 10), 24: (11, 5.5), 32: (10, 5)}.get(n)  # 2.3 is just noticeable
    if least:
        for sight in SIGHTS:
            lab = cielab(linear(chosen, sight))
            distance = np.linalg.norm(lab[:, None] - lab[None], axis=-1)[np.triu_indices(n, 1)]
            assert distance.min() > (least[0] if sight == "normal" else least[1]), sight


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_and_the_theme_is_streamlits(dark: bool) -> None:
    colours_ = theme(dark)
    assert contrast(colours_.text, colours_.background) > 12
    for background in (colours_.background, colours_.surface):
        assert contrast(colours_.muted, background) > 4.5
    assert contrast(colours_.primary, colours_.background) > 4.5
    config = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))
    section = config["theme"]["dark" if dark else "light"]
    roles = {
        "backgroundColor": "background", "secondaryBackgroundColor": "surface", "textColor": "text",
        "primaryColor": "primary", "linkColor": "primary", "grayTextColor": "muted", "borderColor": "line",
    }  # fmt: skip
    assert {key: section[key].upper() for key in roles} == {key: getattr(colours_, role) for key, role in roles.items()}
    assert re.fullmatch("#[0-9A-F]{6}", colours_.line)
