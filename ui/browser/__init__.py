"""What the app asks of the browser beyond drawing: steps of its history, texts that Enter applies, a copied link,
light or dark, slides on a full screen, and what it keeps from visit to visit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ui.component import component, on_component_event
from ui.field import Field
from viz.component import linked, theme_css
from web.paths import start

_FILES = Path(__file__).parent


def _source(name: str) -> Mapping[str, str]:
    """The files of a component; one that shows nothing has a script alone."""
    html, css = ((_FILES / f"{name}.{ending}") for ending in ("html", "css"))
    js = linked(_FILES / f"{name}.js")
    if not html.exists():
        return {"html": "<i hidden></i>", "css": "", "js": js}
    return {"html": html.read_text(encoding="utf-8"), "css": theme_css() + css.read_text(encoding="utf-8"), "js": js}


# Read once: every run of every page mounts the first two.
_BROWSER, _COPY_LINK, _THEME, _SLIDES, _KEEPER = map(_source, ("browser", "copy_link", "theme", "slides", "keeper"))


def prepare(fields: Sequence[Field[Any]]) -> None:
    """Tell the browser of the fields of all pages, once a page: it keeps what it was told until the tab is closed."""
    component("browser", _BROWSER)(
        key="browser",
        data={
            "steps": sorted({field.name for field in fields if field.step}),
            "oneLine": [field.key for field in fields if field.clean is not None],
        },
        on_scheme_change=lambda: None,  # a run, no more
    )


def copy_link(
    query: Mapping[str, str],
    key: str = "copy link",
    *,
    base: str = "",
    page: str = "",
    hash: str = "",
    label: str = "Copy link",
) -> None:
    """A button that copies this page's address with these parameters; ``key`` tells two on a page apart. With a
    ``page``, the address of that one, behind ``base`` if the app is reached elsewhere than here; ``hash`` stands last.
    """
    to = f"{base or start()}{page}" if page else ""
    component("copy_link", _COPY_LINK)(
        key=key, data={"query": dict(query), "to": to, "hash": hash, "label": label}, width="content"
    )


def theme() -> None:
    """The choice of light, dark, or as the system is set, which the browser keeps."""
    component("theme", _THEME)(key="theme")


def slides(on: bool, place: str, switch: Callable[[object], None]) -> None:
    """A button that begins or ends the slides, and the keys that go through them; ``switch`` is told which.

    ``place`` is what the slide is called: another one begins at its top.
    """
    key = "slides"
    component("slides", _SLIDES)(
        key=key,
        data={"on": on, "place": place},
        on_slides_change=on_component_event(key, "slides", switch),
        width="content",
    )


def keep(now: Mapping[str, str | int], taken: bool, give_back: Callable[[object], None]) -> None:
    """Keep this in the browser; with neither ``answers`` nor a ``lesson`` forget what is kept.

    Once after a page was loaded ``give_back`` is told what was kept before, which may be anything, and until then
    nothing is kept over it; ``taken`` says that it was told.
    """
    key = "keeper"
    component("keeper", _KEEPER)(
        key=key, data={**now, "taken": taken}, on_kept_change=on_component_event(key, "kept", give_back)
    )
