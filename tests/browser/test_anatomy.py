"""The walk in a real browser: the numbers of every part in a table, by keys and pointer, a text that runs through the
picture, and nothing drawn while nothing moves.
"""

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import anatomies
import numpy as np
import pytest
from on_screen import saved, wait_for
from PIL import Image
from playwright.sync_api import Page, expect

from model_zoo.types import Anatomy, MaskPrediction, Prediction
from viz.anatomy import RUN_PLACES, SOURCE, Payload, payload

PREDICTIONS = MaskPrediction(4, (Prediction("she", 7, 0.75), Prediction("he", 8, 0.125)), 0.0)
AT_REST = ".anatomy[data-still='true']"
Open = Callable[..., Page]
Mount = tuple[Page, Callable[[Any], None]]
Mounted = Callable[..., Mount]


def sent(anatomy: Anatomy, position: int = 4, **more: Any) -> Payload:
    return payload(anatomy, predictions=PREDICTIONS, position=position, **more)


@pytest.fixture
def mount(mounted: Mounted) -> Mount:
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


# Where the pen writes each text, CSS px.
NOTE_TEXTS = """() => {
    window.written = {};
    const { translate, fillText } = CanvasRenderingContext2D.prototype;
    let at = null;
    Object.assign(CanvasRenderingContext2D.prototype, {
        translate(...place) {
            at = place;
            translate.apply(this, place);
        },
        fillText(text, ...place) {
            written[text] = at;
            fillText.call(this, text, ...place);
        },
    });
}"""


def first_row(page: Page, title: str) -> Any:
    """A place in the first row of a part: below its title."""
    x, y = page.evaluate("title => written[title]", title)
    return {"x": x, "y": y + 20}


def typed(value: float) -> str:
    """A number as the walk writes it."""
    places = next((places for places, least in ((1, 100), (2, 10), (3, 0.001)) if abs(value) >= least), 6)
    places = 3 if abs(value) < 5e-7 else places
    return f"{value + 0:.{places}f}".replace("-", "−")


def read_number(page: Page) -> str:
    """The line of the table that is read, cell by cell."""
    return " | ".join(page.locator(".numbers .read > *").all_text_contents())


def test_keys_lead_from_part_to_part_into_its_numbers_and_back(mount: Mount) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy))
    keys(page, "Tab")
    assert page.get_by_role("application").evaluate("canvas => canvas === document.activeElement")
    go_to(page, "Query")
    keys(page, "Enter")
    expect(page.locator(".anatomy")).to_have_attribute("data-opened", "query")
    assert page.get_by_role("region").evaluate("region => region === document.activeElement")
    keys(page, "ArrowDown", "ArrowDown")
    value = typed(anatomy.stage("query").values[4, 6])  # the second head's numbers begin at the fifth
    assert status(page) == f"Query, token “it”, dimension 7: {value} = input · W_Q[:, 7] + b."
    assert read_number(page) == f"7 | {value}"
    keys(page, "ArrowLeft")
    assert re.fullmatch(r"Query, token “##able”, dimension 7: ≈ \S+, rounded; exact are those of “it”\.", status(page))
    keys(page, "Escape")
    expect(page.get_by_role("region")).to_be_hidden()
    assert page.get_by_role("application").evaluate("canvas => canvas === document.activeElement")
    assert status(page).startswith("Query: ")
    assert page.evaluate("reports") == [["stage", "query"]]


def test_the_numbers_of_every_part_are_the_models(mount: Mount) -> None:
    page, run = mount
    for anatomy in (anatomies.bert(), anatomies.pre_norm()):
        run(sent(anatomy))
        page.locator("canvas").focus()
        keys(page, "Home", "Enter")
        forward = page.get_by_role("button", name="Next part")
        for stage in (*anatomy.embeddings, *anatomy.stages):
            for _ in range(30):
                if page.locator(".anatomy").get_attribute("data-opened") == stage.name:
                    break
                forward.click()
            written = page.locator(".numbers tbody tr > :last-child").all_text_contents()
            assert written == [typed(value) for value in stage.values[4]], stage.name


def test_a_sum_stands_beside_what_it_is_made_of(mount: Mount) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy, at="sum"))
    page.get_by_role("button", name="Next part").click()  # first of all the part where one is
    parts = [typed(anatomy.stage(name).values[4, 0]) for name in ("token", "position", "segment")]
    total = typed(anatomy.stage("sum").values[4, 0])
    terms = f"{parts[0]} (token) + {parts[1]} (position) + {parts[2]} (segment)".replace("+ −", "− ")
    assert status(page) == f"Sum, token “it”, dimension 1: {total} = {terms}."
    assert read_number(page) == " | ".join(["1", *parts, total])


def test_attention_says_who_gives_whom_how_much(mount: Mount) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    assert anatomy.scores is not None
    favourite = int(anatomy.attention[4].argmax())
    run(sent(anatomy))
    page.locator("canvas").focus()
    go_to(page, "Attention weights, head 2 of 2")
    keys(page, "Enter", *["ArrowDown"] * favourite)
    token, weight = anatomy.encoding.tokens[favourite], typed(anatomy.attention[4, favourite])
    score = typed(anatomy.scores[4, favourite])
    assert status(page) == (
        f"“it” gives “{token}” {weight} of its attention in head 2 of 2. It is the softmax, along the row, of scores: "
        f"here {score} = q · k × 0.500."
    )
    assert read_number(page) == f"{token} | {score} | {weight}"


def test_clicks_open_a_cell_a_layer_and_a_token(mount: Mount) -> None:
    page, run = mount
    page.evaluate(NOTE_TEXTS)
    run(sent(anatomies.bert()))
    canvas = page.locator("canvas")
    canvas.click(position=first_row(page, "Value"))
    expect(page.locator(".anatomy")).to_have_attribute("data-opened", "value")
    assert status(page).startswith("Value, token “[CLS]”, dimension ")
    page.locator(".numbers tbody tr").nth(2).click()
    assert status(page).startswith("Value, token “[CLS]”, dimension 3: ")
    canvas.click(position=first_row(page, "Attention weights"))
    assert status(page).startswith("“[CLS]” gives “")
    page.get_by_role("button", name="Close the table").click()
    expect(page.get_by_role("region")).to_be_hidden()
    assert page.evaluate("reports") == [["stage", "value"], ["stage", "head"]]
    canvas.click(position={"x": 130, "y": 60})
    assert page.evaluate("reports.at(-1)") == ["token", 0]


def test_pointing_says_what_a_part_is_and_buttons_walk_from_part_to_part(mount: Mount) -> None:
    page, run = mount
    run(sent(anatomies.bert()))
    canvas = page.locator("canvas")
    canvas.hover(position={"x": 120, "y": 56})
    expect(page.get_by_role("status")).to_have_text("Token 1, “[CLS]”: piece number 0, added by the tokenizer.")
    page.mouse.move(1, 700)
    expect(page.get_by_role("status")).to_have_text(re.compile("^From characters to probabilities"))

    forward, back = (page.get_by_role("button", name=f"{which} part") for which in ("Next", "Previous"))
    for _ in range(4):
        forward.click()
    back.click()
    expect(page.locator(".anatomy")).to_have_attribute("data-opened", "token")
    stages = ["pieces", "pieces", "token", "position", "token"]
    assert page.evaluate("reports") == [["stage", name] for name in stages]


def test_a_followed_token_has_its_numbers_exactly_when_they_come(mount: Mount) -> None:
    page, run = mount
    anatomy = anatomies.bert()
    run(sent(anatomy, at="value"))
    page.locator("canvas").focus()
    go_to(page, "Value")
    keys(page, "Enter", "ArrowRight")
    assert "≈" in read_number(page)
    run(sent(anatomy, position=5, at="value"))
    assert read_number(page) == f"5 | {typed(anatomy.stage('value').values[5, 4])}"
    run(sent(anatomy, position=5, at="key"))  # to another place of the walk
    expect(page.get_by_role("region")).to_be_hidden()


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


def test_on_a_phone_the_place_is_in_sight_in_a_frame_that_is_scrolled(open_file: Open) -> None:
    page = open_file(SOURCE, sent(anatomies.bert(), at="after attention"), width=400)
    page.emulate_media(reduced_motion="reduce")
    page.locator(AT_REST).wait_for()
    stage = page.locator(".stage")
    wait_for(page, "document.querySelector('.stage').scrollTop > 100")
    high, seen = stage.evaluate("stage => [stage.scrollHeight, stage.clientHeight]")
    assert high > 800 > seen
    page.get_by_role("button", name="Next part").click()
    expect(page.locator(".anatomy")).to_have_attribute("data-opened", "after attention")
    expect(page.locator(".numbers .read")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


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
    assert page.evaluate("reports") == [
        ["open", {"place": "layer output", "token": 4, "layer": 1}],
        ["open", {"place": "pieces", "token": 4, "layer": 1}],
    ]
    keys(page, "Space")
    moves.wait_for()
    page.get_by_role("button", name="Previous part").click()
    page.locator(AT_REST).wait_for()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_text_stands_still_where_no_motion_is_asked_for(mount: Mount) -> None:
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
