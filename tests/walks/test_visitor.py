"""What went wrong for visitors at first, and that the visitor here does what a browser does."""

from pathlib import Path

import pytest
from walks.visitor import OpenVisitor, Visitor
from walks.walk import state_of, trouble

import web.uploads
from pages.attention.page import PAGE as ATTENTION
from ui.address import LONGEST_VALUE

pytestmark = pytest.mark.slow

VIEWS = {view.name: view for view in ATTENTION.views}
ROOT = Path(__file__).parents[2]


def query(visitor: Visitor) -> dict[str, str]:
    return dict(visitor.address.query)


@pytest.fixture
def runs_of_the_app(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one whenever app.py runs: it looks after uploads."""
    states: list[str] = []
    bound = web.uploads.bound

    def counted() -> None:
        states.append("run")
        bound()

    monkeypatch.setattr(web.uploads, "bound", counted)
    return states


def test_a_visitor_reruns_a_fragment_alone(visitor: OpenVisitor, runs_of_the_app: list[str]) -> None:
    here = visitor("pages/attention/page.py", view="lines")
    before = len(runs_of_the_app)
    here.use(here.widget("layer"), 3)
    assert len(runs_of_the_app) == before
    assert query(here)["layer"] == "3"
    here.use(here.widget("text"), "A dog barked.")
    assert len(runs_of_the_app) == before + 1


@pytest.mark.parametrize(
    ("first", "second"), [(view, ("lines", "rollout", "grid")[place % 3]) for place, view in enumerate(VIEWS)]
)
def test_another_view_and_two_clicks(first: str, second: str, visitor: OpenVisitor) -> None:
    """At 9656c9f an error after 19 of 19 changes of view, at the second click in the fragment."""
    here = visitor("pages/attention/page.py", view=first)
    here.use(here.widget("view"), VIEWS[second].title)
    for layer in (3, 4, 5):
        here.use(here.widget("layer"), layer)
        assert trouble(here) is None
        assert query(here)["layer"] == str(layer)
        assert query(here).get("view", "grid") == second


def test_compare_between_attention_and_predictions(visitor: OpenVisitor) -> None:
    here = visitor("pages/compare/page.py", view="attention", models="embedded/bert,embedded/tinybert")
    here.use(here.widget("view"), "Predictions")
    for top in (3, 4, 6):
        here.use(here.widget("guesses"), top)
        assert trouble(here) is None
        assert query(here)["guesses"] == str(top)
    here.use(here.widget("view"), "Attention")
    for layer in (2, 3):
        here.use(here.widget("layer"), layer)
        assert trouble(here) is None
    assert query(here)["layer"] == "3"


def test_attention_remembers_its_steppers_and_its_view(visitor: OpenVisitor) -> None:
    here = visitor("pages/attention/page.py", view="rollout")
    here.use(here.widget("layer"), 3)
    before = state_of(here)
    here.detour("pages/masked_words/page.py")
    assert state_of(here) == before
    here.detour("pages/layers/page.py")
    here.use(here.widget("words"), True)
    assert (query(here)["view"], query(here)["layer"]) == ("rollout", "3")


def test_enter_at_the_end_is_no_part_of_the_text(visitor: OpenVisitor) -> None:
    here = visitor("pages/attention/page.py")
    for text, typed in (("The sun is out.", "The sun is out.\n"), ("It rains.", "\r\nIt rains.\n\n")):
        here.use(here.widget("text"), typed)
        assert query(here)["text"] == here.widget("text").value == text


def test_each_view_and_each_page_is_one_step_back(visitor: OpenVisitor) -> None:
    here = visitor("pages/home/page.py")
    here.go("pages/attention/page.py")
    for title, view in (("Lines", "lines"), ("Rollout", "rollout")):
        here.use(here.widget("view"), title)
        for layer in (3, 4, 5):
            here.use(here.widget("layer"), layer)
        assert query(here)["view"] == view
    here.go("pages/layers/page.py")
    here.back()
    assert query(here)["view"] == "rollout"
    here.back()
    assert query(here)["view"] == "lines"
    here.back()
    assert here.value("view", None) == "grid"
    here.back()
    assert here.address.page == "pages/home/page.py"
    assert here.history == ()
    for _ in range(3):
        here.forward()
    assert (here.value("view", None), here.value("layer", None)) == ("rollout", 5)


def test_back_keeps_a_text_too_long_for_an_address(visitor: OpenVisitor) -> None:
    long = "word " * 500
    assert len(long) > LONGEST_VALUE
    here = visitor("pages/attention/page.py")
    here.use(here.widget("text"), long)
    here.use(here.widget("view"), "Rollout")
    here.back()
    assert (here.value("text", None), here.value("view", None)) == (long, "grid")


@pytest.mark.parametrize(("page", "view", "first"), [("masked_words", None, 2), ("compare", "predictions", 1)])
def test_either_of_two_equal_words_can_be_masked(page, view, first, visitor) -> None:
    """A list of options is told by what is read on them, so equal words were one and the same."""
    options = {"view": view} if view else {}
    here = visitor(f"pages/{page}/page.py", text="time after time now", masks="", **options)
    for chosen in ((0,), (2,), (0, 2)):
        words = here.widget("mask_strip")
        assert len(set(words.options)) == 4
        here.use(words, tuple(words.options[place] for place in chosen))
        assert trouble(here) is None
        assert query(here)["masks"] == ",".join(str(place + first) for place in chosen)
