"""The only place that knows the query string: it restores a page, is kept in step with it, and links to others.

Fields whose text is too long for an address are left out of it. The addresses a page had are remembered, because a
browser that is asked for much at once still shows an older one.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.field import Field
from ui.old_links import translate

# Longer values are cut or refused by browsers, proxies and servers on the way.
LONGEST_VALUE = 2000

CURRENT_PAGE = "current_page"
_OPENED = "opened_pages"
_ANCHORS = "mask_anchors"

_PAGES: dict[str, tuple[Field[Any], ...]] = {}


@dataclass(slots=True)
class CurrentPage:
    """The page on screen, its fields, the last addresses it has had since it was opened, and the fields that its next
    ones name even at their defaults.
    """

    page: str
    title: str
    fields: tuple[Field[Any], ...]
    known: deque[dict[str, str]] = dataclasses.field(default_factory=lambda: deque(maxlen=16))
    named: frozenset[str] = frozenset()


def declare(page: str, fields: Sequence[Field[Any]]) -> None:
    """Make it known which fields the address of a page holds. Raises ValueError where two share a name."""
    names = [field.name for field in fields]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Two fields of the page {page} have the same name: {', '.join(sorted(twice))}.")
    _PAGES[page] = tuple(fields)


def all_declared() -> tuple[Field[Any], ...]:
    """The fields of all pages, each once."""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(_PAGES.values())))


def fields_of(page: str) -> tuple[Field[Any], ...]:
    """The fields of a page by its name; none where there is no such page."""
    return _PAGES.get(page, ())


def path(page: str) -> str:
    """Where the file of a page lies, from the project's root."""
    return f"pages/{page}/page.py"


def link(page: str, **values: Any) -> dict[str, str]:
    """The parameters of a link to another page that sets some of its fields, by their names.

    A value that is too long for an address is left out where its field holds it already, and keeps it between pages.
    """
    by_name = {field.name: field for field in _PAGES[page]}
    written = {name: by_name[name].codec.write(value) for name, value in values.items()}
    return {name: text for name, text in written.items() if len(text) <= LONGEST_VALUE or text != by_name[name].written}


def enter(page: str, title: str, fields: Sequence[Field[Any]]) -> list[str]:
    """Begin a page and ``restore`` its fields; returns what in the address could not be used."""
    before = current_page()
    if before is None or before.page != page:
        st.session_state[CURRENT_PAGE] = CurrentPage(page, title, tuple(fields))
    else:
        before.fields = tuple(fields)
    return restore()


def current_page() -> CurrentPage | None:
    """The page on screen; None before the first."""
    page: CurrentPage | None = st.session_state.get(CURRENT_PAGE)
    return page


def title() -> str:
    """The title of the page on screen; "" before the first."""
    page = current_page()
    return page.title if page else ""


def _entered() -> CurrentPage:
    page = current_page()
    assert page is not None, "no page was entered"
    return page


def restore() -> list[str]:
    """Set fields from the address where it was opened or changed from outside; returns what could not be used.

    Back and forward bring the whole state of an address but for fields that stay, so what it does not name gets its
    default; other addresses change what they name.
    """
    page = _entered()
    address = st.query_params.to_dict()
    going_back = _is_history_navigation()
    if address in page.known and not going_back:
        return []
    page.known.append(address)
    values: dict[Field[Any], Any] = {}
    complaints: list[str] = []
    named = translate(page.page, address)
    for field in page.fields:
        if going_back and field.stays:
            continue
        text = named.get(field.name)
        if text is None:
            if going_back and len(field.written) <= LONGEST_VALUE:
                values[field] = field.default
            continue
        try:
            values[field] = field.codec.read(text)
        except ValueError as error:
            reason = "".join(character if character.isprintable() else "\ufffd" for character in str(error))
            complaints.append(f"Part of the link could not be used, and was ignored: {reason}")
    put(values)
    return complaints


def opens_on_example(untouched: Sequence[Field[Any]]) -> bool:
    """Whether the page on screen is to open on an example: nobody has touched these fields, and it is there for the
    first time, or again by the browser's Back. A later address names them, since an empty one would open the example.
    """
    page = _entered()
    opened: set[str] = st.session_state.setdefault(_OPENED, set())
    first = page.page not in opened or _is_history_navigation()
    opened.add(page.page)
    if any(field.value != field.default or field.name in st.query_params for field in untouched):
        return False
    if not first:
        page.named = frozenset(field.name for field in untouched)
    return first


def put(values: Mapping[Field[Any], Any]) -> None:
    """Set fields that belong together, as those of an example or an address do.

    Masks among them are meant for the text among them: they stay where they are put.
    """
    for field, value in values.items():
        field.value = value
        anchors().pop(field.key, None)


def anchors() -> dict[str, Any]:
    """The text that masked places were last drawn on, by the key of their field: they move along when it is edited."""
    texts: dict[str, Any] = st.session_state.setdefault(_ANCHORS, {})
    return texts


def reset() -> None:
    """Everything on this page as it was at first, but the texts."""
    page = current_page()
    for field in page.fields if page else ():
        if field.clean is None:
            field.value = field.default


def steps() -> list[str]:
    """Which fields were changed on this page, oldest first and the last few; never what was typed into them."""
    page = current_page()
    if page is None:
        return []
    changes = []
    for addresses in itertools.pairwise([*page.known, query()]):
        for field in page.fields:
            before, after = (address.get(field.name, field.written_default) for address in addresses)
            if before != after:
                changes.append(f"{field.name}={after}" if field.step and _can_be_read(field, after) else field.name)
    return changes


def _can_be_read(field: Field[Any], text: str) -> bool:
    try:
        field.codec.read(text)
    except ValueError:
        return False
    return True


def publish() -> bool:
    """See to it that the address restores the page; False if a text is too long for one.

    An address that does so already stays as it is, an empty one too: each new one would be a step of history.
    """
    page = _entered()
    address = query()
    now = st.query_params.to_dict()
    if not (_restores(now, address, page.fields) and page.named <= set(now)):
        st.query_params.from_dict(address)
        now = address
    page.known.append(now)
    return all(len(field.written) <= LONGEST_VALUE for field in page.fields)


def query() -> dict[str, str]:
    """The parameters of the address that restores the page on screen, without texts that are too long for one."""
    page = _entered()
    return {
        field.name: field.written
        for field in page.fields
        if len(field.written) <= LONGEST_VALUE
        and (field.always or field.name in page.named or field.written != field.written_default)
    }


def shared_query() -> dict[str, str]:
    """Those that a link for others has, without fields that are not shared."""
    private = {field.name for field in _entered().fields if not field.shared}
    return {name: text for name, text in query().items() if name not in private}


def page_url() -> str:
    """The link that restores the page on screen, from the server's name on; "" if the server does not know it."""
    here, parameters = str(st.context.url or "").partition("?")[0], urlencode(shared_query())
    return f"{here}?{parameters}" if here and parameters else here


def _restores(address: Mapping[str, str], wanted: Mapping[str, str], fields: Sequence[Field[Any]]) -> bool:
    """Whether an address says what is wanted, whatever defaults it leaves out, and nothing else."""
    defaults = {field.name: field.written_default for field in fields}
    too_long = {field.name for field in fields if len(field.written) > LONGEST_VALUE}  # none of these may stand there
    return set(address) <= set(defaults) - too_long and all(
        address.get(name, default) == wanted.get(name, default) for name, default in defaults.items()
    )


def _is_history_navigation() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation
