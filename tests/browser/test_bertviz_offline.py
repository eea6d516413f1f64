"""BertViz's own scripts in a real Chromium without network: they draw the numbers and answer to the mouse."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from on_screen import PATIENCE_MS
from playwright.sync_api import Browser, Page

from viz.bertviz_offline import Kind, bertviz_html
from viz.component import paper_look
from viz.palette import LIGHT, MOST_COLOURS, categorical

TOKENS = ["[CLS]", "</script><b>", "sat", "[SEP]", "down", "[SEP]"]
N = len(TOKENS)
LAYERS, HEADS = 2, 12
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(N), size=(LAYERS, HEADS, N)).astype(np.float32)
SVG = "{http://www.w3.org/2000/svg}"
SQUARES = "#vis svg > g:last-child rect"  # the head view's switches, drawn last


@pytest.fixture
def page(file_pages: Any) -> Iterator[Page]:
    """A page that fails its test on any request, console error or uncaught exception."""
    trouble: list[str] = []
    local = "blob:"  # what the page itself made, to save it as a PNG
    listeners = {
        "request": lambda request: request.url.startswith(local) or trouble.append(f"request {request.url}"),
        "pageerror": lambda error: trouble.append(f"exception {error}"),
        "console": lambda line: trouble.append(f"{line.type} {line.text}") if line.type != "log" else None,
    }
    with file_pages.lend(listeners, 1280, 800) as page:
        yield page
    assert not trouble


def show(page: Page, view: Kind, *, dark: bool = False, heads: list[int] | None = None) -> None:
    html = bertviz_html(view, list(WEIGHTS), TOKENS, sentence_b_start=4, dark=dark, heads=heads)
    page.set_content(html)


def opacities(page: Page, lines: str) -> np.ndarray:
    values = page.eval_on_selector_all(lines, "lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
    return np.array(values)


def send(page: Page, selector: str, event: str) -> None:
    """The event, at the first element that matches, wherever on the screen that is."""
    page.locator(selector).first.dispatch_event(event)


def test_head_view_draws_the_weights(page: Page) -> None:
    show(page, "head")
    drawn = opacities(page, "#attention line").reshape(HEADS, N, N)
    assert drawn == pytest.approx(WEIGHTS[0] / HEADS, abs=1e-5)
    for side in ("left", "right"):
        assert page.locator(f"#{side} text").all_text_contents() == TOKENS


def test_head_view_switches_heads(page: Page) -> None:
    show(page, "head", heads=[0, 3])
    before = page.locator(SQUARES).nth(3).get_attribute("fill")
    assert before == categorical(MOST_COLOURS, dark=False)[3]
    page.locator(SQUARES).nth(3).click()
    assert page.locator(SQUARES).nth(3).get_attribute("fill") != before
    drawn = opacities(page, "#attention line").reshape(HEADS, N, N)
    assert drawn[0] == pytest.approx(WEIGHTS[0, 0], abs=1e-5)
    assert not drawn[1:].any()
    page.locator(SQUARES).nth(0).click()  # the last head cannot be switched off
    assert opacities(page, "#attention line").any()
    page.locator(SQUARES).nth(0).dblclick()  # a double click on it brings all back
    drawn = opacities(page, "#attention line").reshape(HEADS, N, N)
    assert drawn == pytest.approx(WEIGHTS[0] / HEADS, abs=1e-5)


def test_head_view_answers_to_the_mouse(page: Page) -> None:
    show(page, "head", heads=[2])
    page.locator("#left text").nth(2).hover()
    visible = "#attention line[visibility='visible']"
    assert page.locator(visible).count() == HEADS * N
    assert set(page.eval_on_selector_all(visible, "all => all.map(e => e.getAttribute('left-token-index'))")) == {"2"}
    boxes = page.eval_on_selector_all(
        "#right .attentionBoxes g[head-index='2'] rect", "all => all.map(rect => +rect.style.opacity)"
    )
    assert boxes == pytest.approx(WEIGHTS[0, 2, 2], abs=1e-5)
    page.mouse.move(1000, 700)
    assert page.locator(visible).count() == 0
    assert page.locator("#attention").get_attribute("visibility") == "visible"


def test_head_view_changes_layer_and_sentences(page: Page) -> None:
    show(page, "head")
    assert page.locator("#layer option").all_text_contents() == ["1", "2"]
    page.locator("#layer").select_option("2")
    drawn = opacities(page, "#attention line").reshape(HEADS, N, N)
    assert drawn == pytest.approx(WEIGHTS[1] / HEADS, abs=1e-5)
    page.locator("#filter").select_option(label="Sentence A -> Sentence B")
    drawn = opacities(page, "#attention line").reshape(HEADS, 4, 2)
    assert drawn == pytest.approx(WEIGHTS[1, :, :4, 4:] / HEADS, abs=1e-5)
    assert page.locator("#right text").all_text_contents() == TOKENS[4:]


def test_model_view_draws_all_heads_and_opens_one(page: Page) -> None:
    show(page, "model")
    drawn = opacities(page, "#vis line").reshape(LAYERS, HEADS, N, N)
    assert drawn == pytest.approx(WEIGHTS, abs=1e-5)
    cell = "#attn_background_1_4"
    page.locator(f"{cell} ~ rect").click()
    assert "Layer 2, Head 5" in page.locator("text.detail").all_text_contents()
    assert page.locator(cell).get_attribute("stroke-opacity") == "0.8"
    assert opacities(page, "g.detail line").reshape(N, N) == pytest.approx(WEIGHTS[1, 4], abs=1e-5)
    page.locator("g.detail text", has_text="sat").first.hover()
    dimmed = page.eval_on_selector_all(".attn-line-group", "all => all.map(group => +group.style.opacity)")
    assert dimmed == [0, 0, 1, 0, 0, 0]
    send(page, f"{cell} ~ rect", "click")
    assert page.locator(".detail").count() == 0
    page.locator("#filter").select_option(label="Sentence B -> Sentence A")
    drawn = opacities(page, "#vis line").reshape(LAYERS, HEADS, 2, 4)
    assert drawn == pytest.approx(WEIGHTS[:, :, 4:, :4], abs=1e-5)


@pytest.mark.parametrize("view", ["head", "model"])
@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_the_ground(page: Page, view: Kind, dark: bool) -> None:
    show(page, view, dark=dark)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    fills = page.eval_on_selector_all("#vis text", "all => all.map(text => getComputedStyle(text).fill)")
    assert fills

    def brightness(colour: str) -> float:
        return sum(int(part) for part in colour.strip("rgb()").split(",")) / 765

    for fill in fills:
        assert abs(brightness(fill) - brightness(ground)) > 0.6


@pytest.mark.parametrize(("width", "drawn"), [(1280, 970), (760, 760 - 24), (360, 640)])
def test_the_model_view_fits_its_frame_as_long_as_it_can_be_read(page: Page, width: int, drawn: int) -> None:
    """Heads 11 and 12 are seen without scrolling; on a phone the drawing scrolls, not the page."""
    page.set_viewport_size({"width": width, "height": 640})
    show(page, "model")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#filter").select_option(label="Sentence A -> Sentence A")  # is drawn anew
    drawing = page.locator("#vis svg").bounding_box()
    assert drawing
    assert drawing["width"] == pytest.approx(drawn, abs=1)
    height, size = page.evaluate(
        "() => { const svg = document.querySelector('#vis svg'); return [svg.getAttribute('height'), 970] }"
    )
    assert drawing["height"] == pytest.approx(float(height) * drawn / size, abs=1)
    last = page.locator("#attn_background_0_11").bounding_box()
    assert last
    assert last["x"] + last["width"] <= drawing["x"] + drawn + 1


def test_nothing_may_be_fetched(browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    requests: list[str] = []
    page.route("**/*", lambda route: (requests.append(route.request.url), route.abort()))
    page.set_content(bertviz_html("head", list(WEIGHTS), TOKENS))
    outcome = page.evaluate("fetch('https://example.org/').then(() => 'fetched', () => 'refused')")
    page.close()
    assert outcome == "refused"
    assert requests == []


ASKED = """(look) => new Promise((given) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => given(data);
    window.postMessage({ look }, "*", [port2]);
})"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", ["head", "model"])
def test_what_is_drawn_is_given_as_svg_light_on_any_page(page: Page, view: Kind, dark: bool) -> None:
    show(page, view, dark=dark)
    before = page.locator("#vis svg").first.screenshot()
    root = ElementTree.fromstring(page.evaluate(ASKED, paper_look(LIGHT)))
    assert page.locator("#vis svg").first.screenshot() == before
    opacity = [float(line.attrib["stroke-opacity"]) for line in root.iter(f"{SVG}line")]
    weights = WEIGHTS[0] / HEADS if view == "head" else WEIGHTS
    assert sorted(opacity) == pytest.approx(
        sorted(weight for weight in weights.ravel().tolist() if weight > 0), abs=1e-5
    )
    assert {element.get("fill") for element in root.iter(f"{SVG}rect")}.isdisjoint({"rgb(0, 0, 0)", "black"})
    texts = [text.text for text in root.iter(f"{SVG}text")]
    if view == "head":
        assert texts == TOKENS * 2
    else:
        assert {"Layers", "Heads", "1", "2"} <= {text.strip() for text in texts if text}
