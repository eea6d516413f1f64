"""Sign-in by Streamlit's own OpenID Connect: nobody reads a page before it, where ``[auth]`` is in the secrets.

Off by default: without ``[auth]`` there is nothing to sign in to. Who may sign in is for the provider to say.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.errors import StreamlitMissingAuthlibError, StreamlitSecretNotFoundError

ADDRESSES = ("auth/login", "auth/logout", "oauth2callback")
"""Streamlit's, for signing in."""


def leads_nowhere(path: str) -> bool:
    """Whether this is one of ``ADDRESSES`` and there is nothing to sign in to: there they log an error."""
    return path in ADDRESSES and not _providers()


def require() -> None:
    """Where sign-in is configured, let only who has signed in go on; others get a button, and the script ends here."""
    providers = _providers()
    if not providers:
        return
    if st.user.is_logged_in:
        return
    st.title("Look inside BERT")
    st.write("The host of this app asks visitors to sign in.")
    for provider in providers:
        label = f"Sign in with {provider}" if provider else "Sign in"
        if st.button(label, key=f"sign in {provider}", type="primary", icon=":material/login:"):
            try:
                st.login(provider)
            except StreamlitMissingAuthlibError:
                st.error(
                    "Nobody can sign in yet: a package is missing on the server. The host can install it with: pip "
                    "install 'streamlit[auth]'",
                    icon=":material/error:",
                )
    st.stop()


def sign_out() -> None:
    """A button, for those who have signed in."""
    if _providers() and st.user.is_logged_in:
        st.button("Sign out", on_click=st.logout, icon=":material/logout:")


def _providers() -> list[str | None]:
    """Names of the providers in ``[auth]``; None stands for the one without a name. Empty where nothing is set up."""
    try:
        section = st.secrets.get("auth", {})
    except StreamlitSecretNotFoundError:  # there are no secrets at all
        return []
    if not isinstance(section, Mapping):
        return []
    named = [name for name, value in section.items() if hasattr(value, "items") and "client_id" in value]
    return [None, *named] if "client_id" in section else named
