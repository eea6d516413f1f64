"""Requests of Streamlit's protocol that reach beyond who sends them."""

import inspect

import pytest
from streamlit.runtime.app_session import AppSession

from web import fragments, requests, sources


def test_streamlit_still_handles_the_request_where_it_is_refused() -> None:
    """Streamlit may call it something else one day; then this names what has to be looked at."""
    assert f"self.{requests.CLEAR_CACHE}()" in inspect.getsource(AppSession.handle_backmsg)
    empties = [name for name, method in inspect.getmembers(AppSession) if "cache" in name and "clear" in name]
    assert sorted(empties) == sorted([requests.CLEAR_CACHE, "clear_session_caches"])  # the other is the session's own


@pytest.mark.parametrize(
    ("module", "name", "mend"),
    [
        (requests, "CLEAR_CACHE", requests.refuse),
        (fragments, "CLEAR_QUEUE", fragments.drop_what_is_inside),
        (sources, "REGISTER", sources.leave_alone),
    ],
)
def test_an_unknown_name_of_streamlits_ends_the_start(module, name: str, mend, monkeypatch) -> None:
    monkeypatch.setattr(module, name, "_something_else")
    with pytest.raises(AttributeError, match="_something_else"):
        mend()
