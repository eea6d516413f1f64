"""Pages, links and counts with whatever may come."""

import importlib
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest
import streamlit
from fuzzing import A_LINK, A_PAGE, A_QUESTION, A_READER, TEXTS, one_sentence, tries
from hypothesis import strategies as st
from strategies import TYPED
from walks.walk import trouble

from pages import PAGES
from ui import address, old_links

# The fields into which a visitor types; a browser sends no halves of surrogate pairs.
_TYPED = (TEXTS | TYPED).map(lambda text: text.encode("utf-8", "replace").decode())


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anything_can_be_typed_into_every_page(page, visitor, checkpoint) -> None:
    view = {"view": page.views[-1].name} if page.views else {}
    here = visitor(page.path, model=str(checkpoint("bert")), **view)

    def check(typed: tuple[int, str]) -> None:
        place, text = typed
        fields = [widget for widget in here.widgets() if widget.type in ("text_area", "text_input")]
        if fields:
            here.use(fields[place % len(fields)], text)
        else:  # a page where nothing is typed still has an address
            here.go(page.path, {"text": text, "model": text})
        assert trouble(here) is None

    tries(A_PAGE, st.tuples(st.integers(0, 5), _TYPED), check)


_VALUES = TEXTS | st.sampled_from(
    ["0", "1", "-1", "1.5", "1e400", "nan", "٣", "²", "9" * 5000, "1," * 3000, "A->B",
     "query.1", "1.1,1.1", "grid", "🙂", ""]
)  # fmt: skip


class _Query(dict[str, str]):
    """The address as Streamlit gives it to a page."""

    def to_dict(self) -> dict[str, str]:
        return dict(self)


def _through_a_browser(query: dict[str, str]) -> dict[str, str]:
    text = "&".join(f"{quote(k, errors='replace')}={quote(v, errors='replace')}" for k, v in query.items())
    return dict(parse_qsl(text, keep_blank_values=True))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_any_link_is_read_or_refused_in_one_sentence_a_field(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [field.name for field in page.all_fields] + list(old_links.OLD.get(page.name, ()))
    queries = st.dictionaries(st.sampled_from(names) | TEXTS if names else TEXTS, _VALUES, max_size=12)

    def check(query: dict[str, str]) -> None:
        state: dict[str, Any] = {}
        monkeypatch.setattr(streamlit, "session_state", state)
        monkeypatch.setattr(streamlit, "query_params", _Query(query))
        complaints = address.enter(page.name, page.title, page.all_fields)
        assert len(complaints) <= len(page.all_fields)
        for complaint in complaints:
            one_sentence(complaint)
        for field in page.all_fields:
            assert field.codec.write(field.codec.read(field.written)) == field.written

    tries(A_LINK, queries | queries.map(_through_a_browser), check)


ABOUT_QUESTIONS = importlib.import_module("tests.fuzz.test_questions")
READERS = importlib.import_module("tests.fuzz.test_readers").READERS


def test_at_least_two_thousand_inputs_are_generated() -> None:
    """Each test fails where it had fewer than its share."""
    questions = [kind for kind in ABOUT_QUESTIONS.QUESTIONS if kind not in ABOUT_QUESTIONS.FEW]
    total = A_READER * len(READERS) + A_QUESTION * len(questions) + (A_LINK + A_PAGE) * len(PAGES)
    assert total >= 2_000, f"{total:,} inputs"
