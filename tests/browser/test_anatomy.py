"""The walk in a real browser: from the whole to one number and back by keys, pointer and wheel, without flights where
the system asks for no motion, and nothing drawn while nothing moves.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import anatomies
import numpy as np
import pytest
from on_screen import saved
from PIL import Image
from playwright.sync_api import Page, expect

from model_zoo.types import Anatomy, MaskPrediction, Prediction
from viz.anatomy import RUN_PLACES, SOURCE, Payload, payload

pytestmark = pytest.mark.browser

PREDICTIONS = MaskPrediction(4, (Prediction("she", 7, 0.75), Prediction("he", 8, 0.125)), 0.0)
AT_REST = ".anatomy[data-still='true']"
Open = Callable[..., Page]
Mounted = Callable[..., tuple[Page, Callable[[Any], None]]]


def sent(anatomy: Anatomy, position: int = 4, **more: Any) -> Payload:
    sizes = {"n_layers": len(anatomy.states) - 1, "n_heads": anatomy.model.n_heads}
    return payload(anatomy, **sizes, predictions=PREDICTIONS, position=position, **more)


@pytest.fixture
def mount(mounted: Mounted) -> tuple[Page, Callable[[Any], None]]:
    """The walk on a page that asks for no motion."""
    page, run = mounted(SOURCE)
    page.emulate_media(reduced_motion="reduce")
    return page, run


def status(page: Page) -> str:
    return page.get_by_role("status").text_content() or ""


def keys(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def go_to(page: Page, title: str) -> None:
    """Along the walk by keys until the status names the part."""
    keys(page, "Home")
    for _ in range(30):
        if status(page).startswith(f"{title}:"):
            return
        keys(page, "ArrowRight")
    pytest.fail(f"no part is called {title}")


def typed(value: float) -> str:
    """A number as the walk writes it."""
    places = next((places for places, least in ((1, 100), (2, 10), (3, 0.001)) if abs(value) >= least), 6)
    return f"{value:.{places}f}".replace("-", "−")


def test_keys_lead_from_the_whole_to_one_number_and_back(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy))
    keys(page, "Tab")
    assert page.get_by_role("application").evaluate("canvas => canvas === document.activeElement")
    go_to(page, "Query")
    keys(page, "Enter")
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "query")
    keys(page, "Enter", "ArrowRight", "ArrowRight")
    value = anatomy.stage("query").values[4, 6]  # the second head's numbers begin at the fifth
    assert status(page) == f"Query, token “it”, dimension 7: {typed(value)} = input · W_Q[:, 7] + b."
    keys(page, "ArrowUp")
    assert re.fullmatch(r"Query, token “##able”, dimension 7: ≈ \S+, rounded; exact are those of “it”\.", status(page))
    keys(page, "Escape")
    assert status(page).startswith("Query: ")
    keys(page, "Escape")
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "")
    assert page.evaluate("told") == [["stage", "query"]]


def test_the_numbers_of_every_part_are_the_models(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    for anatomy in (anatomies.bert(), anatomies.pre_norm()):
        for stage in (*anatomy.embeddings, *anatomy.stages):
            run(sent(anatomy))
            run(sent(anatomy, at=stage.name if stage.name != "output" else "layer output"))
            page.locator("canvas").focus()
            keys(page, "Enter", "Home", "ArrowRight")
            if stage.values[4, 1]:
                assert f"token “it”, dimension 2: {typed(stage.values[4, 1])}" in status(page), stage.name
            keys(page, "0")


def test_a_sum_is_written_out_with_what_it_is_made_of(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy, at="sum"))
    page.locator("canvas").focus()
    keys(page, "Enter")
    parts = [typed(anatomy.stage(name).values[4, 0]) for name in ("token", "position", "segment")]
    total = typed(anatomy.stage("sum").values[4, 0])
    terms = f"{parts[0]} (token) + {parts[1]} (position) + {parts[2]} (segment)".replace("+ −", "− ")
    assert status(page) == f"Sum, token “it”, dimension 1: {total} = {terms}."


def test_attention_says_who_gives_whom_how_much(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    assert anatomy.scores is not None
    favourite = int(anatomy.attention[4].argmax())
    run(sent(anatomy, at="head"))
    page.locator("canvas").focus()
    keys(page, "Enter", *["ArrowRight"] * favourite)
    token, weight = anatomy.encoding.tokens[favourite], typed(anatomy.attention[4, favourite])
    assert status(page) == (
        f"“it” gives “{token}” {weight} of its attention in head 2 of 2. It is the softmax, along the row, of scores: "
        f"here {typed(anatomy.scores[4, favourite])} = q · k × 0.500."
    )


def test_without_motion_the_camera_is_there_at_once_and_else_it_flies(mounted: Mounted) -> None:
    page, run = mounted(SOURCE)
    run(sent(anatomies.bert()))
    run(sent(anatomies.bert(), at="value"))
    assert page.locator(".anatomy").get_attribute("data-still") == "false"
    page.locator(AT_REST).wait_for()
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "value")
    page.emulate_media(reduced_motion="reduce")
    run(sent(anatomies.bert(), at="key"))
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "key")
    assert page.locator(".anatomy").get_attribute("data-still") == "true"


def test_nothing_is_drawn_while_nothing_moves(mounted: Mounted) -> None:
    page, run = mounted(SOURCE)
    page.evaluate("""() => {
        const ask = requestAnimationFrame;
        window.frames_asked = 0;
        window.requestAnimationFrame = (act) => (frames_asked++, ask(act));
    }""")
    run(sent(anatomies.bert()))
    run(sent(anatomies.bert(), at="value"))
    page.locator(AT_REST).wait_for()
    n_frames = page.evaluate("frames_asked")
    assert n_frames > 5
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    assert page.evaluate("frames_asked") == n_frames


def test_clicks_open_a_part_a_number_a_layer_and_a_token(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    run(sent(anatomies.bert(), at="value"))
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": box["width"] / 2, "y": 90})  # a number of the first token
    assert status(page).startswith("Value, token “[CLS]”, dimension ")
    assert page.evaluate("told") == []  # what is followed, and asked about, stays
    page.get_by_role("button", name="Whole").click()
    canvas.click(position={"x": 130, "y": 60})
    assert page.evaluate("told.at(-1)") == ["token", 0]
    assert status(page) == "Token 1, “[CLS]”: piece number 0, added by the tokenizer."


def test_pointing_says_what_a_part_is(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    run(sent(anatomies.bert()))
    canvas = page.locator("canvas")
    canvas.hover(position={"x": 120, "y": 56})
    expect(page.get_by_role("status")).to_have_text("Token 1, “[CLS]”: piece number 0, added by the tokenizer.")
    page.mouse.move(1, 700)
    expect(page.get_by_role("status")).to_have_text(re.compile("^From characters to probabilities"))


def test_buttons_walk_from_part_to_part(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    run(sent(anatomies.bert()))
    forward, back = (page.get_by_role("button", name=f"{which} part") for which in ("Next", "Previous"))
    for _ in range(4):
        forward.click()
    back.click()
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "token")
    stages = ["pieces", "pieces", "token", "position", "token"]
    assert page.evaluate("told") == [["stage", name] for name in stages]


def test_a_followed_token_has_its_numbers_exactly_when_they_come(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy, at="value"))
    page.locator("canvas").focus()
    keys(page, "Enter", "ArrowDown")
    assert "≈" in status(page)
    run(sent(anatomy, position=5, at="value"))
    value = anatomy.stage("value").values[5, 4]
    assert status(page) == f"Value, token “[SEP]”, dimension 5: {typed(value)} = input · W_V[:, 5] + b."


def test_the_wheel_scrolls_the_page_until_the_picture_is_in_use(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    run(sent(anatomies.bert()))
    canvas = page.locator("canvas")
    canvas.hover(position={"x": 300, "y": 100})
    page.mouse.wheel(0, -300)
    expect(canvas).not_to_have_class("near")
    canvas.focus()
    page.mouse.wheel(0, -300)
    expect(canvas).to_have_class("near")
    page.mouse.wheel(0, 900)
    expect(canvas).not_to_have_class("near")


@pytest.mark.parametrize("make", [anatomies.bert, anatomies.pre_norm, anatomies.closed])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_every_model_is_drawn_at_any_width_and_saved(open_file: Open, make: Any, width: int, dark: bool) -> None:
    page = open_file(SOURCE, sent(make()), width=width, dark=dark)
    page.locator(AT_REST).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    root = ElementTree.fromstring(saved(page, "svg", sent(make())["file"]))
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"[CLS]", "##believ", "Characters", "Pieces", "she", "75%"} <= texts
    image = Image.open(io.BytesIO(saved(page, "png", sent(make())["file"]))).convert("RGB")
    assert image.width == pytest.approx(3 * 175 / 25.4 * 96, abs=2)
    assert len(np.unique(np.asarray(image).reshape(-1, 3), axis=0)) > 50
    if make is anatomies.closed:
        expect(page.locator(".note")).to_contain_text("The parts of this model are not known.")


def test_on_a_phone_what_is_looked_at_is_there_and_the_whole_on_request(open_file: Open) -> None:
    page = open_file(SOURCE, sent(anatomies.bert(), at="after attention"), width=400)
    page.locator(AT_REST).wait_for()
    canvas = page.locator("canvas")
    low = canvas.bounding_box()
    assert low
    assert low["height"] < 460
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "after attention")
    canvas.click(position={"x": 200, "y": low["height"] / 2})  # what is under the pointer is what is seen there
    assert status(page).startswith("Add, token “")
    page.get_by_role("button", name="Next part").click()
    expect(page.locator(".anatomy")).to_have_attribute("data-into", "normed after attention")
    page.get_by_role("button", name="Whole").click()
    page.locator(AT_REST).wait_for()
    high = canvas.bounding_box()
    assert high
    assert high["height"] > 800


def test_a_long_text_says_what_is_shown(open_file: Open) -> None:
    page = open_file(SOURCE, sent(anatomies.bert(40), position=20))
    expect(page.locator(".note")).to_contain_text("Shown: tokens 9 to 32 of 40.")


def running(anatomy: Anatomy) -> Payload:
    n, places = len(anatomy.encoding), {stage.name for stage in (*anatomy.embeddings, *anatomy.stages)}
    opens = dict.fromkeys({*places, *RUN_PLACES}, "the page")
    return sent(anatomy, flows=np.full((len(anatomy.states) - 1, n, n), 1 / n, np.float32), opens=opens)


def test_a_text_that_runs_stops_by_keys_and_opens_what_they_are_on(mounted: Mounted) -> None:
    page, run = mounted(SOURCE)
    run(running(anatomies.bert()))
    moves = page.locator(".anatomy[data-still='false']")
    moves.wait_for()
    expect(page.get_by_role("status")).to_have_text("The sentence, character by character.")
    assert page.get_by_role("status").get_attribute("aria-live") == "off"
    page.locator("canvas").focus()
    keys(page, "Space")
    page.locator(AT_REST).wait_for()
    keys(page, "End", "Enter", "Home", "Enter")
    assert page.evaluate("told") == [
        ["open", {"place": "layer output", "token": 4, "layer": 1}],
        ["open", {"place": "pieces", "token": 4, "layer": 1}],
    ]
    keys(page, "Space")
    moves.wait_for()
    assert page.get_by_role("button", name="Zoom in").count() == 0
    page.get_by_role("button", name="Previous part").click()
    page.locator(AT_REST).wait_for()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_text_stands_still_where_no_motion_is_asked_for(mount: tuple[Page, Callable[[Any], None]]) -> None:
    page, run = mount
    page.evaluate("""() => {
        const ask = requestAnimationFrame;
        window.frames_asked = 0;
        window.requestAnimationFrame = (act) => (frames_asked++, ask(act));
    }""")
    run(running(anatomies.bert()))
    page.locator(AT_REST).wait_for()
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    n_frames = page.evaluate("frames_asked")
    picture = page.locator("canvas").screenshot()
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    assert page.evaluate("frames_asked") == n_frames
    assert page.locator("canvas").screenshot() == picture
    page.get_by_role("button", name="Next part").click()  # to the first part alone
    assert page.locator("canvas").screenshot() != picture
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator(".anatomy[data-still='false']").wait_for()


@pytest.mark.parametrize("make", [anatomies.bert, anatomies.pre_norm, anatomies.closed])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_model_is_run_through_to_its_end(open_file: Open, make: Any, width: int) -> None:
    page = open_file(SOURCE, running(make()), width=width)
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Previous part").click()
    for _ in range(40):
        if "predicts" in status(page):
            break
        page.get_by_role("button", name="Next part").click()
    assert status(page) == "The model predicts “she” 75%, “he” 13%."
