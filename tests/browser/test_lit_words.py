"""Words that light up in a real browser: pointer, lock, keyboard, other pictures, both themes, two texts, a phone."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page, expect

from viz import lit_words
from viz.palette import sequential

HOSTILE = "</script><img src=x onerror=alert(1)>"
TEXTS = ["[CLS]", "cat", "sat", ".", "[SEP]"]
HEAD = np.array(
    [
        [1, 0, 0, 0, 0],
        [0.3, 0.054, 0.196, 0.45, 0],
        [0.58, 0.41, 0.006, 0, 0.004],
        [0.1, 0.6, 0.3, 0, 0],
        [0, 0, 0, 0, 1],
    ],
    dtype=np.float32,
)


def word(text: str, **changes: Any) -> lit_words.Word:
    special = text.startswith("[")
    plain: dict[str, Any] = {
        "text": text,
        "token": text,
        "space": text != ".",
        "piece": False,
        "special": special,
        "segment": 0,
        "dir": "ltr",
    }
    return lit_words.Word(**(plain | changes))  # type: ignore[typeddict-item]


def payload(weights: np.ndarray = HEAD, **changes: Any) -> lit_words.Payload:
    n, m = weights.shape
    even = np.full((n, m), 1 / m, dtype=np.float32)
    settings: dict[str, Any] = {"queries": [word(text) for text in TEXTS], "names": ["The head", "The layer", "All"]}
    return lit_words.payload(np.stack([weights, even, np.eye(n, m, dtype=np.float32)]), **(settings | changes))


def words(page: Page) -> Locator:
    return page.locator(".words .word")


def numbers(page: Page) -> list[str]:
    texts: list[str] = words(page).evaluate_all("(all) => all.map((word) => word.dataset.number)")
    return texts


def tells(page: Page, sentence: str) -> None:
    expect(page.locator(".words .status")).to_have_text(re.compile(rf"^{re.escape(sentence)}"))


def ground(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


def test_words_light_up_lock_and_are_pointed_at_together(mounted: Callable[..., Any]) -> None:
    page, run = mounted(lit_words.SOURCE)
    run(payload(group="g", head=71, n_heads=72))
    page.evaluate(
        """() => {
            window.places = [];
            addEventListener("inside-bert:pointed", ({ detail }) => places.push([detail.group, detail.place]));
            window.pointElsewhere = (place) => dispatchEvent(
                new CustomEvent("inside-bert:pointed", { detail: { source: window, group: "g", place } }),
            );
        }"""
    )
    cat, sat = words(page).nth(1), words(page).nth(2)
    rest = "The head: sat attends most to [CLS] (58%), cat (41%), itself (1%). Point at another word."
    tells(page, rest)  # of two different words these have the largest weight
    expect(page.locator(".words .word[tabindex='0']")).to_have_text("sat")
    assert page.locator(".words .strip").inner_text().split() == ["[CLS]", "cat", "sat.", "[SEP]"]

    cat.hover()
    tells(page, "The head: cat attends most to . (45%), [CLS] (30%), sat (20%).")
    assert numbers(page) == ["30%", "5%", "20%", "45", ""]  # a full stop has no room for the sign
    expect(cat).to_have_css("outline-style", "solid")
    page.get_by_label("Is attended to by").check(force=True)
    cat.hover()
    tells(page, "The head: cat gets most attention from . (60%), sat (41%), itself (5%).")
    assert page.evaluate("places.at(-1)") == ["g", {"query": None, "key": 1}]
    page.get_by_label("Attends to").check(force=True)
    page.get_by_label("Mean of all heads").check(force=True)
    first = words(page).first
    first.hover()
    expect(first).to_have_css("background-color", ground(sequential(False)[-1][1]))
    expect(first).to_have_css("color", "rgb(255, 255, 255)")
    tells(page, "All: [CLS] attends most to itself (100%).")
    page.get_by_label("This head").check(force=True)

    cat.click()
    sat.hover()
    tells(page, "The head: cat attends most to")
    expect(cat).to_have_attribute("aria-pressed", "true")
    run(payload(HEAD[:, ::-1].copy(), group="g", head=71, n_heads=72))  # another head: the lock stays
    tells(page, "The head: cat attends most to itself (45%), [SEP] (30%), sat (20%).")
    run(payload(group="g", head=71, n_heads=72))
    page.keyboard.press("Escape")
    expect(page.locator(".words [aria-pressed=true]")).to_have_count(0)
    page.mouse.move(0, 0)
    tells(page, rest)
    assert page.evaluate("places.at(-1)") == ["g", None]

    page.evaluate("pointElsewhere({ query: null, key: 1 })")
    tells(page, "The head: cat gets most attention from . (60%)")
    page.evaluate("pointElsewhere({ query: 2, key: 1 })")
    tells(page, "The head: sat attends most to [CLS] (58%)")
    expect(page.locator(".words .framed")).to_have_text(["cat", "sat"])
    page.evaluate("pointElsewhere({ query: 9, key: null })")  # of another text
    tells(page, rest)

    page.locator(".words label", has_text="This head").locator("input").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(cat).to_be_focused()  # what was clicked last
    tells(page, "The head: cat attends most to")
    page.keyboard.press("ArrowRight")
    expect(sat).to_be_focused()
    tells(page, "The head: sat attends most to")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(cat).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    expect(cat).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("]")
    page.keyboard.press("PageDown")
    page.keyboard.press("[")
    page.get_by_role("button", name="Previous head").click()
    assert page.evaluate("reports") == [["head", 0], ["head", 1], ["head", 0], ["head", 71]]


def test_a_text_from_right_to_left_runs_so_with_its_frame_and_its_full_stop(open_file: Callable[..., Page]) -> None:
    """The parts of a number, and of a word in other letters, stay in their order."""
    texts = ["[CLS]", "החתול", "3", ".", "5", "BE", "RT", "."]
    pieces = {3, 4, 6}
    queries = [
        word(text, space=at not in pieces and at != 7, piece=at in pieces, dir="rtl") for at, text in enumerate(texts)
    ]
    page = open_file(lit_words.SOURCE, payload(np.eye(8, dtype=np.float32), queries=queries))
    lefts = [box["left"] for box in words(page).evaluate_all("(all) => all.map((one) => one.getBoundingClientRect())")]
    assert sorted(range(8), key=lefts.__getitem__) == [7, 5, 6, 2, 3, 4, 1, 0]
    words(page).nth(1).focus()
    page.keyboard.press("ArrowLeft")
    expect(words(page).nth(2)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(words(page).nth(1)).to_be_focused()


def test_two_texts_on_a_phone_in_the_dark(open_file: Callable[..., Page]) -> None:
    keys = [word("שלום"), word(HOSTILE), *(word(f"long{place}", segment=1) for place in range(300))]
    head = np.zeros((2, len(keys)), dtype=np.float32)
    head[0, :2], head[1, 301] = (0.25, 0.75), 1
    page = open_file(
        lit_words.SOURCE, payload(head, queries=[word("a"), word("b")], keys=keys, chosen=1), width=360, dark=True
    )
    tells(page, "The head: b attends most to long299 (100%).")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".words .strips").bounding_box()["height"] < 300
    for hidden in ("Previous head", "Attends to"):  # a file has no other head; either text is pointed at
        expect(page.get_by_label(hidden, exact=True)).to_be_hidden()
    last = words(page).last
    expect(last).to_have_css("background-color", ground(sequential(True)[-1][1]))
    expect(last).to_have_css("color", "rgb(0, 0, 0)")
    assert page.locator("img").count() == 0
    words(page).nth(3).click()
    tells(page, f"The head: {HOSTILE} gets most attention from a (75%).")
    assert numbers(page)[:4] == ["75%", "", "", ""]
