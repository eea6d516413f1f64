"""Links: whatever they say, every field is read or refused in one sentence, and what was read is written again."""

from typing import Any
from urllib.parse import parse_qsl, quote

import pytest
import streamlit
from fuzzing import A_LINK, TEXTS, one_sentence, tries
from hypothesis import strategies as st

from pages import PAGES
from ui import address, old_links

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
