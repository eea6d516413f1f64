"""What holds for every view of every page, found by themselves: it opens, and its link restores it."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from architectures import FUNNEL, HYBRID, LED, build
from on_screen import controls, drawn, prose
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Slider

from pages import PAGES
from ui.page import Page, View

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]

Open = Open

TEXTS = {"text": "She opened the window.", "pair": "Cold air came into the room."}
OTHERS = {"masked_words": {"masks": "3", "replacement": "door"}}  # without which most views show an example
VIEWS = [pytest.param(page, view, id=f"{page.name}-{view.name}") for page in PAGES for view in page.views]
WITH_VIEWS, NAME = [page for page in PAGES if page.views], attrgetter("name")
OF_A_MODEL = [page for page in WITH_VIEWS if any(field.name == "model" for field in page.all_fields)]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "view"), VIEWS)
def test_a_view_opens_and_its_link_restores_it(page: Page[Any], view: View[Any], open_page: Open) -> None:
    names = {field.name for field in page.all_fields}
    texts = {name: text for name, text in TEXTS.items() if name in names}
    app = open_page(page.path, view=view.name, **texts, **OTHERS.get(page.name, {}))
    assert not app.error
    assert not app.warning or page.name == "cause"  # where a pair is another question than a sum of logits
    assert page.view is not None
    assert app.session_state[page.view.key] == view.name
    if view.about:
        assert any(element.value.endswith(view.about) for element in app.main.get("markdown"))  # after its terms
    assert view.caution in prose(app)
    again = open_page(page.path, **app.query_params)
    assert again.session_state[page.view.key] == view.name
    assert drawn(again) == drawn(app)
    assert again.query_params == app.query_params
    has_the_limits_of_its_fields(app, page)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_VIEWS, ids=NAME)
def test_views_open_on_a_result(page: Page[Any], open_page: Open) -> None:
    """With a text of one's own, which lacks a mask or a second text: a picture or a table, under the call to act."""
    if page.name == "masked_words":  # is about a word that one masks oneself: there are the words to click
        return
    app = open_page(page.path, text="My sister found the key. She opened the old door.")
    for view in page.views:
        app.query_params["view"] = view.name
        app.run()
        assert not app.error, view.name
        assert drawn(app) or app.table, view.name


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
    name: str, query: dict[str, str], drawn_too: set[str], open_page: Open
) -> None:
    """Those that are drawn for some settings only, and some at the ends of what an address can say."""
    (page,) = [page for page in PAGES if page.name == name]
    app = open_page(page.path, **query)
    assert not app.warning
    assert drawn_too <= has_the_limits_of_its_fields(app, page)


@pytest.mark.slow
def test_tabs_and_menu_have_the_order_of_views_and_pages(open_page: Open) -> None:
    """No two at one place, and the page opens with the first."""
    for page in (page for page in PAGES if page.view is not None):
        assert page.view is not None
        tabs = {view.tab: view.title for view in page.views}
        assert len(tabs) == len({view.name for view in page.views}) == len({view.title for view in page.views})
        assert page.view.default == page.views[0].name
        (control,) = [control for control in open_page(page.path).segmented_control if control.key == page.view.key]
        assert control.options == [tabs[tab] for tab in sorted(tabs)]

    files = {path.parent.name for path in (ROOT / "pages").glob("*/page.py")}
    assert files == {page.name for page in PAGES}
    assert all((ROOT / page.path).is_file() for page in PAGES)


def test_two_quick_clicks_are_no_double_click(open_page: Open) -> None:
    """Plotly's double click clears the choice, and the page fell back to what was chosen before the last one."""
    app = open_page("pages/masked_words/page.py", text="She [MASK].", masks="")
    charts = [chart.proto for chart in app.get("plotly_chart") if chart.proto.selection_mode]
    assert charts
    assert all(json.loads(chart.config)["doubleClickDelay"] == 1 for chart in charts)


MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Lfm2": ("ForCausalLM", HYBRID),
    "Funnel": ("ForMaskedLM", FUNNEL),
    "LED": ("ForConditionalGeneration", LED),
    "ConvBert": ("ForMaskedLM", {"embedding_size": 32}),
    "SqueezeBert": ("ForMaskedLM", {"embedding_size": 32, "vocab_size": 400}),  # 200 more than tokens
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: build(name, head, tmp_path_factory.mktemp(name), **settings) for name, (head, settings) in MODELS.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("page", OF_A_MODEL, ids=NAME)
def test_views_show_what_there_is_or_say_why_not(
    name: str, page: Page[Any], folders: dict[str, Path], open_page: Open
) -> None:
    """Of models that no family here names: with attention in some layers only, with none that is a map, a causal one,
    one that predicts what is no token.
    """
    app = open_page(page.path, model=str(folders[name]), text="The old [MASK] sat on the mat.", layer="2")
    for view in page.views:
        app.query_params["view"] = view.name
        app.run()
        assert not any("went wrong" in error.value for error in app.error), view.name
