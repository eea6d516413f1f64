"""Controls change what is drawn or are not there: all of them on "Attention", those above all views on other pages."""

from typing import Any

import pytest
from on_screen import Open, controls, drawn

from pages.attention import page as attention
from pages.compare import page as compare
from pages.masked_words import page as masked_words

pytestmark = pytest.mark.slow

PAGE = "pages/attention/page.py"

# With special tokens hidden there is something to scale; pieces, a pair and two heads give the others something to do.
BASE = {
    "text": "The unbelievable electroencephalogram barked.", "pair": "The dog was not tired.", "hide": "1",
    "layer": "2", "head": "4", "heads": "2.4,1.1",
}  # fmt: skip

# What stands on screen in every case of every view: which of the two steppers, and the controls that are its own.
CASES: dict[str, tuple[dict[str, str], set[str], set[str]]] = {
    "grid": ({"view": "grid"}, {"layer", "head"}, {"stretch"}),
    "who looks from a word to a word": ({"view": "who"}, set(), {"ask", "From this word", "To this word"}),
    "who looks at a place": ({"view": "who", "ask": "previous"}, set(), {"ask"}),
    "lines of a head": ({"view": "lines"}, {"layer", "head"}, {"scope"}),
    "lines of a layer": ({"view": "lines", "scope": "layer"}, {"layer", "head"}, {"scope"}),
    "lines of chosen heads": ({"view": "lines", "scope": "chosen"}, set(), {"scope", "heads"}),
    "lines of all heads": ({"view": "lines", "scope": "all"}, {"layer", "head"}, {"scope"}),
    "a layer combined": ({"view": "combined"}, {"layer"}, {"several", "how"}),
    "chosen heads combined": ({"view": "combined", "several": "chosen"}, set(), {"several", "heads", "how"}),
    "all heads combined": ({"view": "combined", "scope": "all"}, set(), {"several", "how"}),  # an older link
    "neuron": ({"view": "neuron"}, {"layer", "head"}, {"token"}),
    "rollout": ({"view": "rollout"}, {"layer"}, {"from"}),
    "table of heads": ({"view": "heads"}, set(), set()),
    "BertViz's head view": ({"view": "bertviz"}, {"layer", "head"}, {"bertviz"}),
    "BertViz's model view": ({"view": "bertviz", "bertviz": "model"}, set(), {"bertviz"}),
}
VIEWS = {view.name: view for view in attention.PAGE.views}
COMPARE_VIEWS = {view.name: view for view in compare.PAGE.views}
UNFILTERED = {"neuron", "heads", "who"}
SETS_B_AGAINST_A = {"attention", "predictions", "representations"}
ALWAYS = {"text", "pair", "model", "view"}
FILTERS = {"direction", "words", "hide", "renorm", "threshold", "top", "show"}

# Another value for every control there is.
OTHERS: dict[str, Any] = {
    "layer": 5, "head": 7, "stretch": True, "heads": ["2.4"], "how": "max", "token": 4, "from": 2, "direction": "A->B",
    "words": True, "hide": False, "renorm": True, "threshold": 0.2, "top": 1,
    "show": "value-weighted", "text": "A cat sat.", "pair": "It slept.",
    "model": "embedded/tinybert", "From this word": 7, "To this word": 1,
}  # fmt: skip
SWITCHED = {
    "ask": {"words": "previous", "previous": "words"},
    "scope": {"head": "all", "layer": "all", "chosen": "layer", "all": "chosen"},
    "several": {"layer": "all", "chosen": "layer", "all": "chosen"},
    "bertviz": {"head": "model", "model": "head"},
    "view": dict.fromkeys(VIEWS, "combined") | {"combined": "grid"},
}


def test_every_view_is_among_the_cases() -> None:
    assert {query["view"] for query, _, _ in CASES.values()} == set(VIEWS)


@pytest.mark.parametrize("case", CASES)
def test_a_view_shows_its_own_controls_and_each_changes_what_is_drawn(case: str, open_page: Open) -> None:
    """One control after the other: each is set back in the run that changes the next."""
    query, steppers, its_controls = CASES[case]
    app = open_page(PAGE, **BASE, **query)
    before, visible = drawn(app), set(controls(app))
    assert before
    assert visible & {"layer", "head"} == steppers
    assert visible == ALWAYS | steppers | its_controls | (set() if query["view"] in UNFILTERED else FILTERS)
    changed: tuple[str, Any] | None = None
    for key in sorted(visible, key=lambda key: (key == "view", key)):  # the view hides the others
        if changed is not None:
            controls(app)[changed[0]].set_value(changed[1])
            if key not in controls(app) or getattr(controls(app)[key].proto, "disabled", False):
                app.run()
        old = controls(app)[key].value
        other = SWITCHED[key][old] if key in SWITCHED else OTHERS[key]
        assert other != old
        controls(app)[key].set_value(other).run()
        assert not app.error
        assert drawn(app) != before, key
        changed = key, old
    controls(app)["view"].set_value(query["view"]).run()
    assert drawn(app) == before


def test_what_is_hidden_keeps_its_value(open_page: Open) -> None:
    """Steppers and filters come back as they were left, whatever view was looked at in between."""
    by_name = {field.name: field for field in attention.PAGE.all_fields}
    left = {"layer": 2, "head": 4, "hide": True, "top": 2, "words": True, "threshold": 0.05}
    app = open_page(PAGE, **BASE, top="2", words="1", threshold="0.05")
    for query, _, _ in CASES.values():
        for name, value in query.items():
            app.session_state[by_name[name].key] = value
        app.run()
        app.session_state[by_name["view"].key] = "grid"
        app.run()
        visible = controls(app)
        assert {key: visible[key].value for key in left} == left


# ---- Compare, Masked words: what stands above all views ---------------------------------------------------------

COMPARED = {"text": "The dog barked.", "models": "embedded/bert,embedded/tinybert,embedded/modernbert"}


@pytest.mark.parametrize("view", COMPARE_VIEWS)
def test_b_and_the_text_stand_where_they_change_what_is_drawn(view: str, open_page: Open) -> None:
    app = open_page("pages/compare/page.py", **COMPARED, view=view, masks="2")
    before = drawn(app)
    assert ("beside" in controls(app)) == (view in SETS_B_AGAINST_A)
    app.session_state["compare_beside"] = 3
    app.run()
    assert (drawn(app) != before) == (view in SETS_B_AGAINST_A)
    before = drawn(app)
    app.text_area(key="text").set_value("Another sentence about birds.").run()
    about, *_ = [text.value for text in app.main.get("markdown") if text.value.endswith(COMPARE_VIEWS[view].about)]
    assert (drawn(app) == before) == ("text above is not" in about)


@pytest.mark.parametrize("view", [view.name for view in masked_words.PAGE.views])
def test_words_can_be_clicked_where_masks_count(view: str, open_page: Open) -> None:
    query = {"text": "The cat sat on the mat.", "masks": "3", "view": view, "replacement": "floor"}
    app = open_page("pages/masked_words/page.py", **query)
    if view == "pairs":
        next(button for button in app.button if button.label.startswith("Test")).click().run()
    before = drawn(app)
    assert before
    app.session_state["masks"] = (4,)
    app.run()
    assert (drawn(app) != before) == ("mask_strip" in controls(app))
