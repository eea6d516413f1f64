"""Sign-in: off without ``[auth]``, and a wall with one button where it is configured."""

import pytest
import streamlit as st
from patience import PATIENCE
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes

from web import sign_in

OF_A_PROVIDER = {
    "client_id": "app",
    "client_secret": "secret",
    "server_metadata_url": "http://127.0.0.1:9/.well-known/openid-configuration",
}
OF_THE_APP = {"redirect_uri": "http://127.0.0.1:8501/oauth2callback", "cookie_secret": "fourteen bytes at least"}


def app(user: dict[str, object], auth: dict[str, object] | None) -> AppTest:
    def script() -> None:
        import streamlit as st

        from web import sign_in

        sign_in.require()
        st.write("the page")
        sign_in.sign_out()

    made = AppTest.from_function(script, default_timeout=PATIENCE)
    if auth is not None:
        made.secrets["auth"] = auth
    made.user = user
    return made.run()


def texts(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown]


def test_who_sees_the_page_and_which_buttons() -> None:
    configured = {**OF_THE_APP, **OF_A_PROVIDER}
    providers = {**OF_THE_APP, "school": OF_A_PROVIDER, "library": OF_A_PROVIDER}
    for user, auth, page_is_seen, buttons in (
        ({}, None, True, []),
        ({"is_logged_in": False}, configured, False, ["Sign in"]),
        ({"is_logged_in": True, "email": "ada@example.org"}, configured, True, ["Sign out"]),
        ({"is_logged_in": False}, providers, False, ["Sign in with school", "Sign in with library"]),
    ):
        page = app(user, auth)
        assert not page.exception
        assert ("the page" in texts(page), [button.label for button in page.button]) == (page_is_seen, buttons)


def test_a_missing_package_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.user_info.is_authlib_installed", lambda: False)
    page = app({"is_logged_in": False}, {**OF_THE_APP, **OF_A_PROVIDER})
    page.button[0].click().run()
    assert not page.exception
    assert [error.value.split(":")[0] for error in page.error] == ["Nobody can sign in yet"]
    assert "the page" not in texts(page)


def test_streamlits_addresses_lead_nowhere_until_a_provider_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a new start: secrets may be changed while the app runs."""
    monkeypatch.setattr(st, "secrets", {})
    assert sign_in.leads_nowhere("auth/login")
    assert not sign_in.leads_nowhere("attention")
    monkeypatch.setattr(st, "secrets", {"auth": {**OF_THE_APP, **OF_A_PROVIDER}})
    assert not any(map(sign_in.leads_nowhere, sign_in.ADDRESSES))
    served = {route.path.lstrip("/") for route in create_auth_routes("")}
    monkeypatch.setattr(st, "secrets", {})
    assert served == set(filter(sign_in.leads_nowhere, sign_in.ADDRESSES))
