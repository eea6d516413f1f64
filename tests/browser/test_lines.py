"""Lines in a real browser: hover, lock, keyboard, legend, themes, narrow screens, hostile tokens, pictures."""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawn_lines import SVG, Drawing
from on_screen import saved
from PIL import Image
from playwright.sync_api import Page, expect

from viz import lines

N = 6
FAINTEST = 3 / 255  # lines below this part of the strongest weight are left out of the overview
TOKENS = [
    "[CLS]",
    "</script><img src=x onerror=alert(1)>",
    "שלום",
    "👩‍👩‍👧",
    "Donaudampfschifffahrtsgesellschaft",
    "[SEP]",
]
COLOURS = ["#ff0000", "#00aa00", "#0000ff"]
DARK_COLOURS = ["#ff8080", "#80ff80", "#8080ff"]

Open = Callable[..., Page]


def maps() -> np.ndarray:
    """Three heads: everybody to [CLS]; everybody to itself; evenly with a faint token 5."""
    first = np.zeros((N, N), dtype=np.float32)
    first[:, 0] = 1
    even = np.full((N, N), 0.199, dtype=np.float32)
    even[:, 5] = 0.005
    return np.stack([first, np.eye(N, dtype=np.float32), even])


def payload(weights: np.ndarray, **changes: Any) -> lines.Payload:
    n_heads, n, _ = weights.shape
    tokens = TOKENS if n == N else [f"token{i}" for i in range(n)]
    arguments: dict[str, Any] = {
        "queries": tokens,
        "keys": tokens,
        "head_names": [f"Head {h + 1}" for h in range(n_heads)],
        "colours": COLOURS[:n_heads],
        "dark_colours": DARK_COLOURS[:n_heads],
        "file": "attention-lines",
    }
    return lines.payload(weights, **(arguments | changes))


@pytest.fixture
def open_page(open_file: Callable[..., Page]) -> Open:
    def open_(view: lines.Payload, *, width: int = 1000, dark: bool = False) -> Page:
        page = open_file(lines.SOURCE, view, width=width, dark=dark)
        page.locator(".lines[data-lines]").wait_for()
        return page

    return open_


def token(page: Page, side: str, index: int) -> Any:
    return page.locator(f".{side} .token").nth(index)


def expect_lines(page: Page, number: int) -> None:
    expect(page.locator(".lines")).to_have_attribute("data-lines", str(number))


def query_lines(index: int, heads: tuple[int, ...] = (0, 1, 2)) -> int:
    return int(np.count_nonzero(maps()[list(heads), index]))


OVERVIEW = int((maps() >= FAINTEST).sum())


def test_hover_shows_one_tokens_lines_only_a_click_locks_them_and_tokens_stay_text(open_page: Open) -> None:
    page = open_page(payload(maps()))
    assert page.locator(".query .token").all_text_contents() == TOKENS
    assert page.locator("img").count() == 0
    assert OVERVIEW == 6 + 6 + 30  # the faint column is not drawn
    expect_lines(page, OVERVIEW)
    token(page, "query", 2).hover()
    expect_lines(page, query_lines(2))
    expect(page.locator(".status")).to_contain_text("שלום → ")
    token(page, "key", 0).hover()
    expect_lines(page, 6 + 1 + 6)
    page.mouse.move(1, 1)
    expect_lines(page, OVERVIEW)

    token(page, "query", 3).click()
    expect(token(page, "query", 3)).to_have_attribute("aria-pressed", "true")
    token(page, "key", 0).hover()  # looking around does not move the lock
    expect_lines(page, query_lines(3))
    token(page, "query", 3).click()
    expect(page.locator(".token[aria-pressed=true]")).to_have_count(0)
    page.mouse.move(1, 1)
    expect_lines(page, OVERVIEW)


def test_a_single_head_needs_no_legend_and_says_what_is_strongest(open_page: Open) -> None:
    page = open_page(payload(maps()[2:]))
    expect(page.locator(".heads")).to_be_hidden()
    expect(page.locator(".status")).to_have_text(re.compile(r"^Strongest: \[CLS\] → \[CLS\] 0\.20, "))
    expect(page.locator(".boxes")).to_be_hidden()
    page.keyboard.press("Tab")
    expect(token(page, "query", 0)).to_be_focused()
    expect(page.locator(".boxes")).to_have_text("Boxes beside the tokens: the darker, the larger the weight.")
    expect(page.locator(".boxes")).to_be_visible()


def test_what_another_picture_points_at_is_shown_and_the_other_way_round(open_page: Open) -> None:
    page = open_page(payload(maps(), group="page"))
    page.evaluate("""() => {
        globalThis.places = [];
        addEventListener("inside-bert:pointed", ({ detail }) => places.push(detail.place));
        globalThis.tell = (place) =>
            dispatchEvent(new CustomEvent("inside-bert:pointed", { detail: { source: null, group: "page", place } }));
    }""")
    page.evaluate("tell({ query: 2, key: 4 })")
    expect_lines(page, query_lines(2))
    page.evaluate("tell({ query: null, key: 0 })")
    expect_lines(page, 6 + 1 + 6)
    page.evaluate("tell({ query: 99, key: null })")  # of other tokens
    expect_lines(page, OVERVIEW)
    page.evaluate("places.length = 0")
    token(page, "key", 1).hover()
    page.mouse.move(1, 1)
    expect_lines(page, OVERVIEW)
    assert page.evaluate("places") == [{"query": None, "key": 1}, None]


def test_escape_unlocks(open_page: Open) -> None:
    page = open_page(payload(maps(), selected={"side": "key", "index": 0}))
    expect_lines(page, 13)
    token(page, "key", 1).click()
    expect(page.locator(".token[aria-pressed=true]")).to_have_count(1)
    page.mouse.move(1, 1)
    page.keyboard.press("Escape")
    expect_lines(page, OVERVIEW)
    expect(page.locator(".token[aria-pressed=true]")).to_have_count(0)


def test_keyboard_alone_is_enough(open_page: Open) -> None:
    page = open_page(payload(maps()))
    heads = page.locator(".heads button")
    page.keyboard.press("Tab")  # the legend is one stop, the tokens are the next
    expect(heads.nth(0)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(heads.nth(1)).to_be_focused()
    page.keyboard.press("Space")
    expect(heads.nth(1)).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(token(page, "query", 0)).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(token(page, "key", 2)).to_be_focused()
    expect_lines(page, 1 + 6)  # itself, and evenly from all
    expect(token(page, "key", 2)).to_have_attribute(
        "aria-label", re.compile(r"^שלום, key, gets most attention from: שלום 0\.40, ")
    )
    page.keyboard.press("Enter")
    expect(token(page, "key", 2)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("End")
    expect(token(page, "key", N - 1)).to_be_focused()
    expect_lines(page, 1 + 6)
    page.keyboard.press("Escape")
    expect_lines(page, OVERVIEW)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(token(page, "key", 0)).to_have_attribute("aria-pressed", "true")
    assert page.locator(".token[tabindex='0']").count() == 1


def test_legend_switches_heads(open_page: Open) -> None:
    page = open_page(payload(maps()))
    heads = page.locator(".heads button")
    heads.nth(2).click()
    expect_lines(page, 12)
    expect(heads.nth(2)).to_have_attribute("aria-pressed", "false")
    heads.nth(1).dblclick()
    expect_lines(page, 6)
    heads.nth(1).dblclick()  # the only one: all come back
    expect_lines(page, OVERVIEW)
    heads.nth(0).click(modifiers=["Shift"])
    expect_lines(page, 6)
    heads.nth(0).click()
    expect_lines(page, 0)
    expect(page.locator(".status")).to_have_text("All heads are off. Switch one on above.")
    drawing = Drawing(save(page, "svg"))
    assert drawing.lines() == drawing.legend == []
    assert "[SEP]" in drawing.texts


@pytest.mark.parametrize(("dark", "rgb"), [(False, [255, 0, 0]), (True, [255, 128, 128])])
def test_lines_are_really_drawn_in_the_theme_s_colour(open_page: Open, dark: bool, rgb: list[int]) -> None:
    weights = np.zeros((1, 2, 2), dtype=np.float32)
    weights[0, 0, 0] = 1
    page = open_page(payload(weights), dark=dark)
    expect(page.locator(".lines")).to_have_attribute("data-tiles", "1")
    width, height, pixels = page.evaluate("""() => {
        const canvas = document.querySelector(".overview canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return [canvas.width, canvas.height, [...data]];
    }""")
    picture = np.reshape(pixels, (height, width, 4))
    *colour, alpha = picture[height // 4, width // 2]  # the middle of the first of two rows
    assert colour == pytest.approx(rgb, abs=2)
    assert alpha > 150
    assert not picture[height // 2 :].any()


@pytest.mark.parametrize("n_tokens", [N, 256])
def test_fits_a_phone(open_page: Open, n_tokens: int) -> None:
    weights = maps() if n_tokens == N else np.eye(n_tokens, dtype=np.float32)[None]
    page = open_page(payload(weights), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for index in range(0, n_tokens, 5):
        assert token(page, "query", index).bounding_box()["height"] >= 13
    gap = page.locator(".gap").bounding_box()
    assert gap["width"] >= 72
    assert token(page, "query", 4).get_attribute("title") == payload(weights)["queries"][4]


def test_new_data_keeps_the_lock_and_python_s_echo_is_no_news(mounted: Callable[..., Any]) -> None:
    page, run = mounted(lines.SOURCE)
    other = maps()[:, ::-1].copy()
    first, second = {"side": "query", "index": 1}, {"side": "query", "index": 2}
    run(payload(maps()))
    token(page, "query", 0).hover()
    assert page.evaluate("reports") == []
    token(page, "query", 1).click()
    token(page, "query", 2).click()
    assert page.evaluate("reports") == [["selected", first], ["selected", second]]
    run(payload(maps(), selected=first))  # the first click comes back late
    expect(token(page, "query", 2)).to_have_attribute("aria-pressed", "true")
    run(payload(other, selected=second))
    expect(token(page, "query", 2)).to_have_attribute("aria-pressed", "true")
    expect_lines(page, int(np.count_nonzero(other[:, 2])))
    run(payload(other, selected={"side": "key", "index": 0}))  # Python asks for something else
    expect(token(page, "key", 0)).to_have_attribute("aria-pressed", "true")
    page.locator(".heads button").nth(0).click()
    expect(page.locator(".heads button").nth(0)).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("reports.at(-1)") == ["off", [0]]
    ones = np.ones((3, 5, 5), dtype=np.float32)
    run(payload(ones, off=[0], selected={"side": "key", "index": 0}))  # another text: the locked token is gone
    assert page.evaluate("reports.at(-1)") == ["selected", None]
    expect(page.locator(".token")).to_have_count(10)
    expect_lines(page, 2 * 25)
    run(payload(ones, off=[0], selected={"side": "key", "index": 4}))
    expect_lines(page, 2 * 5)
    run(payload(ones, off=[], selected={"side": "key", "index": 4}))  # Python switches the head on again
    expect_lines(page, 3 * 5)
    run(payload(ones, off=[]))
    expect_lines(page, 3 * 25)


def save(page: Page, kind: str) -> bytes:
    return saved(page, kind, "attention-lines")


@pytest.mark.parametrize("dark", [False, True])
def test_svg_holds_the_overview_and_the_texts_light_on_any_page(open_page: Open, dark: bool) -> None:
    colours = COLOURS
    drawing = Drawing(save(open_page(payload(maps()), dark=dark), "svg"))
    lines = drawing.lines()
    assert len(lines) == OVERVIEW
    assert drawing.background == "#FFFFFF"
    assert drawing.legend == colours
    assert [sum(colour == head for colour, _, _ in lines) for head in colours] == [6, 6, 30]
    row = 20  # 22 at 8 pt
    # Everybody to [CLS], with the whole weight: from each row to the first, in the head's lane.
    lane = (0.15 + 0.7 * 0.5 / 3) * row
    first = [(opacity, y1, y2) for colour, opacity, (_, y1, _, y2) in lines if colour == colours[0]]
    assert sorted(first) == [
        (pytest.approx(1, abs=0.1), pytest.approx(query * row + lane, abs=0.06), pytest.approx(lane, abs=0.06))
        for query in range(N)
    ]
    columns = {(x1, x2) for _, _, (x1, _, x2, _) in lines}
    assert len(columns) == 1
    assert next(x2 - x1 for x1, x2 in columns) >= 100
    assert [text for text in drawing.texts if text in TOKENS] == 2 * TOKENS  # each column from top to bottom
    assert {"Heads", "Head 1", "Head 2", "Head 3", "Query", "Key"} <= set(drawing.texts)
    assert f"{OVERVIEW} of 108 lines, 0.01 and more." in drawing.texts
    directions = {element.text: element.attrib["direction"] for element in drawing.root.iter(f"{SVG}text")}
    assert (directions["שלום"], directions["[CLS]"]) == ("rtl", "ltr")


def test_svg_holds_only_the_lines_of_the_locked_token_and_the_heads_that_are_on(open_page: Open) -> None:
    page = open_page(payload(maps()))
    token(page, "key", 0).click()
    page.locator(".heads button").nth(0).click()
    drawing = Drawing(save(page, "svg"))
    # By hand: [CLS] gets all of itself from head 2, and 0.199 from each token from head 3.
    assert drawing.legend == COLOURS[1:]
    lines = drawing.lines()
    assert sorted((colour, opacity) for colour, opacity, _ in lines) == [
        ("#0000ff", pytest.approx(0.199, abs=0.003))
    ] * 6 + [("#00aa00", 1)]
    assert len({line[0] for _, _, line in lines}) == 1
    assert {line[1] for colour, _, line in lines if colour == "#0000ff"} == {lines[-1][2][1]}
    assert "Head 1" not in drawing.texts
    assert not [text for text in drawing.texts if text and " lines, " in text]


def test_svg_of_characters_that_xml_cannot_hold(open_page: Open) -> None:
    labels = ["a\x01b", "c\nd", "\ud800", "\ufffe", " e", "x" * 400]
    drawing = Drawing(save(open_page(payload(maps(), queries=labels, keys=labels)), "svg"))
    assert {"a\ufffdb", "c d", "\ufffd", " e"} <= set(drawing.texts)
    (cut,) = {text for text in drawing.texts if text and text.startswith("xxx")}
    assert cut.endswith("x…")
    assert 20 < len(cut) < 80


def test_pictures_of_long_texts_are_bounded(open_page: Open) -> None:
    n, heads = 256, 3
    weights = np.full((heads, n, n), 0.002, dtype=np.float32)
    weights[:, np.arange(n), np.arange(n)] = 1  # all others are too faint to be drawn
    page = open_page(payload(weights))
    expect_lines(page, heads * n)
    svg = save(page, "svg")
    assert len(Drawing(svg).lines()) == heads * n
    assert svg.count(b"<path") == heads  # a path a head and opacity
    page.locator(".lines").evaluate("(root) => root.style.maxWidth = '200rem'")
    width, height = Image.open(io.BytesIO(save(page, "png"))).size
    assert width * height <= 16.1e6
