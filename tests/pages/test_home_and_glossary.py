"""The home page: the model's own numbers in the picture, a way on from each part, cards; and the page "Glossary"."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pytest
from on_screen import Open, button, unpacked
from streamlit.testing.v1 import AppTest

from analysis.words import to_follow
from classroom.session import ROOM
from classroom.stores import rooms
from model_zoo import DEFAULT_MODEL, Engine
from pages import PAGES
from pages.glossary import words
from pages.home import walk
from pages.learn.lessons import LESSONS
from ui import TEXT, address
from ui.glossary import TERMS
from viz.anatomy import RUN_PLACES, SOURCE

HOME = "pages/home/page.py"
LARGEST = 200_000  # bytes of the picture: its scripts, its styles, its numbers
MASKED = "The dogs near the house [MASK] hungry."


def sent(app: AppTest) -> tuple[dict[str, Any], bytes]:
    (packed,) = [e.proto.bytes for e in app.get("bidi_component") if e.proto.component_name == "anatomy"]
    header, numbers = unpacked(packed)
    return header, numbers


def test_it_opens_on_an_example_with_the_model_s_numbers(open_page: Open, engine: Engine) -> None:
    header, numbers = sent(open_page(HOME))
    run, n = engine.attend(DEFAULT_MODEL, TEXT.default), len(header["tokens"])
    assert (header["tokens"][header["position"]], header["hidden"]) == ("it", True)
    means = np.stack([run.layer(layer).mean(axis=0) for layer in range(run.n_layers)])
    flows = np.frombuffer(numbers[-means.size :], np.uint8).reshape(means.shape)
    np.testing.assert_allclose(np.sqrt(means), flows / 255, atol=0.5 / 255 + 1e-6)
    row = np.frombuffer(numbers[: 4 * n], "<f4")
    np.testing.assert_allclose(row, run.head(walk.LAYER - 1, walk.HEAD - 1)[header["position"]], atol=1e-6)
    (answer,) = engine.fill_mask(DEFAULT_MODEL, TEXT.default, masked=(header["position"],))
    assert header["words"][0] == [answer.best[0].token, pytest.approx(answer.best[0].probability)]
    for example in walk.EXAMPLES.all:
        encoding = engine.encode(DEFAULT_MODEL, example.values[TEXT])
        place = to_follow(encoding)
        assert place is not None
        assert len(encoding) <= 16, example.title


def test_any_text_runs_and_its_picture_is_light(open_page: Open) -> None:
    for text in (TEXT.default, "word " * 60):
        header, numbers = sent(open_page(HOME, text=text))
        assert len(numbers) + sum(map(len, SOURCE.values())) < LARGEST
        assert header["opens"]
    for text in ("😀", "...", MASKED):
        header, _ = sent(open_page(HOME, text=text))
        assert bool(header["words"]) == (text == MASKED)
    assert (header["tokens"][header["position"]], header["hidden"]) == ("[MASK]", False)
    app = open_page(HOME, text="")
    assert not [e for e in app.get("bidi_component") if e.proto.component_name == "anatomy"]
    assert [message for message in (*app.info, *app.warning, *app.error) if "text" in message.value]


def test_every_part_and_way_in_leads_where_it_says(open_page: Open) -> None:
    header, _ = sent(open_page(HOME))
    parts = {stage["name"] for stage in header["stages"]} - {"output"} | set(RUN_PLACES)
    assert header["opens"].keys() == parts
    titles = {page.name: page.title for page in PAGES}
    for place in parts:
        page, values = walk.way_from(place, TEXT.default, 3, 4)
        written = address.link(page, **values)
        assert written["text"] == TEXT.default
        if page == "learn":
            step = LESSONS[values["lesson"]].steps[values["step"] - 1]
            assert header["opens"][place].endswith(f": {step.title}”")
            assert written["token"] == "4"
        else:
            assert titles[page] in header["opens"][place]
    assert walk.way_from("layer", TEXT.default, 3, 4)[1]["layer"] == 5
    assert walk.way_from("output", TEXT.default, 3, 4)[1]["masks"] == (3,)
    assert walk.way_from("output", MASKED, 3, 4)[1]["masks"] == ()
    app = open_page(HOME)
    texts = [element.value for element in app.markdown]
    assert [page.name for page in PAGES[1:] if not any(page.question in text for text in texts)] == []
    links = {link.proto.label: dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")}
    assert links["**I am new**"] == {"lesson": "pieces"}
    assert links["**I teach**"] == {"teach": "1"}
    assert links["**I do research**"]["view"] == "heads"
    app = open_page("pages/learn/page.py", teach="1")
    assert app.expander[0].proto.expanded
    assert app.expander[0].label.startswith("For teachers")


def test_a_code_leads_to_the_room_and_a_wrong_one_is_told(open_page: Open) -> None:
    app = open_page(HOME)
    code = rooms().open()[0]
    for typed in ("b8?", f" {code.lower()} "):
        (box,) = [box for box in app.text_input if box.label == "Room code"]
        box.input(typed)
        button(app, "Join").click().run()
        if typed == "b8?":
            assert "There is no room “B8?”" in app.toast[0].value
    assert app.session_state[ROOM.key] == code


@pytest.mark.slow
def test_a_text_that_was_cut_says_so(open_page: Open) -> None:
    app = open_page("pages/home/page.py", text="word " * 700)
    assert ["the model reads at most 512 tokens" in warning.value for warning in app.warning] == [True]
    assert not app.text_area(key="text").set_value("A short one.").run().warning


GLOSSARY = "pages/glossary/page.py"


def body(app: AppTest) -> str:
    return next(element.proto.body for element in app.get("html") if "<dl" in element.proto.body)


def test_terms_are_listed_in_order_and_no_match_is_told(open_page: Open) -> None:
    app = open_page(GLOSSARY)
    names = re.findall("<dt>(.*?)</dt>", body(app))
    assert [unescape(name).lower() for name in names] == list(TERMS)
    app = open_page(GLOSSARY, term="<b>nothing</b>")
    assert "No term matches" in app.info[0].value
    assert "<b>" not in app.info[0].value
    assert app.text_input(key="glossary_term").value == "<b>nothing</b>"

    names = [term.name for term in words.matching("  Softmax ")]
    assert names[0] == "softmax"
    assert all("softmax" in TERMS[name.lower()].meaning for name in names[1:])
    assert len(words.matching("")) == len(TERMS)


def test_every_view_is_found_under_its_terms() -> None:
    where = words.places(PAGES)
    for page in PAGES:
        for view in page.views:
            for term in view.terms:
                assert f"{page.title}: {view.title}" in [label for label, _ in where[term.lower()]]


def test_links_open_pages_that_are_there() -> None:
    names = {page.name: page for page in PAGES}
    for label, way in (place for places in words.places(PAGES).values() for place in places):
        parts = urlsplit(way)
        page = names[parts.path]
        assert label.startswith(f"{page.title}: ")
        fields = {field.name: field for field in page.all_fields}
        for name, (value,) in parse_qs(parts.query).items():
            fields[name].codec.read(value)  # raises for what the field cannot hold
