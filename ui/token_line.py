"""Words with colours and numbers on a page: the component of ``viz.token_line``, and a file of it to save."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model_zoo.types import ModelInfo
from ui import save
from ui.appearance import is_dark
from ui.component import component
from viz.standalone import standalone_html
from viz.token_line import SOURCE, Line, payload


def draw(lines: Sequence[Line], key: str) -> None:
    component("token_line", SOURCE)(data=payload(lines), key=key)


def show(lines: Callable[..., Sequence[Line]], key: str, name: str) -> None:
    """Draw what ``lines`` makes, being told whether it is ``dark``; it can be saved under a name."""
    dark = is_dark()
    data = payload(lines(dark=dark), name, dark=dark, others=lines(dark=not dark))
    component("token_line", SOURCE)(data=data, key=key)
    save.picture(name)


def file(
    lines: Callable[..., Sequence[Line]], title: str, caption: str, models: Sequence[ModelInfo], name: str
) -> None:
    """The lines can be saved as one HTML file that needs no network; ``name`` is without its ending."""

    def make() -> str:
        return standalone_html(
            SOURCE,
            payload(lines(dark=False), name),
            title=title,
            caption=caption,
            meta={"Model": models[0].id, "Revision": models[0].revision}
            if len(models) == 1
            else {model.id: model.revision for model in models},
        )

    save.html(title, make, name)
