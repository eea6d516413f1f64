"""What holds for every view of every page, found by themselves: it opens, and its link restores it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from on_screen import controls, drawn
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Slider

from pages import PAGES
from ui.page import Page, View

TEXTS = {"text": "She opened the window.", "pair": "Cold air came into the room."}
VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_opens_and_its_link_restores_it(
    page: Page[Any], view: View[Any], open_page: Callable[..., AppTest]
) -> None:
    names = {field.name for field in page.all_fields}
    app = open_page(page.path, view=view.name, **{name: text for name, text in TEXTS.items() if name in names})
    assert not app.exception
    assert not app.error
    assert page.view is not None
    assert app.session_state[page.view.key] == view.name
    if view.about:
        assert any(element.value.endswith(view.about) for element in app.main.get("markdown"))  # after its terms
    again = open_page(page.path, **app.query_params)
    assert again.session_state[page.view.key] == view.name
    assert drawn(again) == drawn(app)
    assert again.query_params == app.query_params
    has_the_limits_of_its_fields(app, page)


OWN = {"no text": {}, "a text": {"text": "My sister found the key. She opened the old door."}}


# Masked words is about a word that one masks oneself: there a text without a mask is the words to click.
OPENINGS = [
    pytest.param(page, view, entry, id=f"{page.name}-{view.name}-{entry}")
    for page in PAGES
    for view in page.views
    for entry in OWN
    if (page.name, entry) != ("masked_words", "a text")
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view", "query"), OPENINGS)
def test_a_view_opens_on_a_result(
    page: Page[Any], view: View[Any], query: str, open_page: Callable[..., AppTest]
) -> None:
    """A picture or a table, and no call to act first; with a text of one's own, which lacks a mask or a second text,
    the call may stand above the result.
    """
    app = open_page(page.path, view=view.name, **OWN[query])
    assert not app.exception
    assert not app.error
    assert drawn(app) or app.table
    assert query == "a text" or not app.info


def has_the_limits_of_its_fields(app: AppTest, page: Page[Any]) -> set[str]:
    """Every control of a number reaches as far as its field, unless its view knows a nearer end. Returns the names of
    those fields.
    """
    fields, numbers = {field.name: field for field in page.all_fields}, set()
    for name, control in controls(app).items():
        if name not in fields:
            continue
        codec = fields[name].codec
        if isinstance(control, NumberInput | Slider):
            numbers.add(name)
            assert control.min == codec.limits["min_value"]
            assert control.step == codec.limits.get("step", 1)
            highest = codec.limits.get("max_value")
            nearer = name in ("head_first", "vector_layer") or highest is None
            assert nearer or control.max == highest
            assert highest is None or control.max <= highest
    return numbers


@pytest.mark.parametrize(
    ("name", "query", "drawn_too"),
    [
        ("train", {"learns": "top"}, {"layers", "head_first", "rate", "patience", "warmup", "decay", "examples"}),
        ("train", {"learns": "lora", "rank": "64"}, {"rank"}),
        ("train", {"view": "race", "budget": "seconds", "warmup": "0", "decay": "0"}, {"seconds", "warmup", "decay"}),
        ("train", {"view": "distillation", "alpha": "0", "temperature": "0.1"}, {"alpha", "temperature"}),
        ("layers", {"format": "conllu", "target": "trees"}, {"rank", "sentences", "seeds"}),
    ],
)
def test_a_control_has_the_limits_of_its_field(
    name: str, query: dict[str, str], drawn_too: set[str], open_page: Callable[..., AppTest]
) -> None:
    """Those that are drawn for some settings only, and some at the ends of what an address can say."""
    (page,) = [page for page in PAGES if page.name == name]
    app = open_page(page.path, **query)
    assert not app.exception
    assert not app.warning
    assert drawn_too <= has_the_limits_of_its_fields(app, page)


@pytest.mark.slow
def test_tabs_stand_in_the_order_that_their_views_say(open_page: Callable[..., AppTest]) -> None:
    """No two at one place, and the page opens with the first."""
    for page in (page for page in PAGES if page.view is not None):
        assert page.view is not None
        tabs = {view.tab: view.title for view in page.views}
        assert len(tabs) == len(page.views)
        assert page.view.default == page.views[0].name
        (control,) = [control for control in open_page(page.path).segmented_control if control.key == page.view.key]
        assert control.options == [tabs[tab] for tab in sorted(tabs)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_views_have_names_and_titles_of_their_own(page: Page[Any]) -> None:
    assert len({view.name for view in page.views}) == len({view.title for view in page.views}) == len(page.views)
