"""What all widgets share: their script, their data, and the picture that stands still where no script runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from html import escape
from typing import Any, Final, Literal
from uuid import uuid4

import anywidget
from traitlets import Bytes, Int, Unicode, observe

from model_zoo.errors import InvalidInput, ModelZooError
from viz import component, static
from viz.layout import PAPER_FONT
from viz.palette import DARK, LIGHT
from viz.standalone import standalone_html

LONGEST_TEXT: Final = 60  # characters, of what a picture is called
COUNTS: Final = 0
"""What the first layer and the first head are called: in a notebook as in Python, other than on the pages."""
COUNTING: Final = "Layers, heads and tokens count from 0."

_WIDTH: Final = 640  # px of a picture that is kept, at most
Changer = Literal["browser", "other widget"]
_ADAPTER: Final = component.FILES / "notebook" / "notebook.js"


@cache
def script(name: str, source: tuple[tuple[str, str], ...]) -> str:
    """A component as an ES module that anywidget mounts: its own script, linked with the adapter."""
    files = dict(source)
    theme = (
        f"{component.colours_css(LIGHT, '--own-')}:host(.dark) {component.colours_css(DARK, '--own-')}"
        f"{component.text('shared/theme.css')}{component.text('notebook/notebook.css')}"
    )
    options = {
        "html": files["html"],
        "css": theme + files["css"].removeprefix(component.theme_css()),
        "look": asdict(LIGHT) | {"dark": False, "font": PAPER_FONT, "scale": 1, "width": _WIDTH},
    }
    module = files["js"].replace("export default function render", "function render")
    adapter = f"{component.enclosed(_ADAPTER)}.widget({json.dumps(name)}, render, {json.dumps(options)})"
    return f"{module}\nexport default {adapter};\n"


class Widget(anywidget.AnyWidget):
    """A component in a notebook. A subclass says what it draws: its payload, its picture in Python, and what a file of
    it says.
    """

    _data = Bytes().tag(sync=True)  # the packed payload, empty until somebody sees it
    _views = Int(0).tag(sync=True)  # in browsers; too many where a page was left without a word
    _requests = Int(0).tag(sync=True)
    _answers = Int(0).tag(sync=True)
    _message = Unicode("").tag(sync=True)  # why what was clicked cannot be shown

    source: Mapping[str, str]  # the component's files
    title: str  # of a file
    unseen = "The picture is kept here once a browser has drawn it."
    _about: Mapping[str, str] = {}

    def __init_subclass__(cls, *, part: str = "", source: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        if source is not None:
            cls.source = source
            cls._esm = script(part, tuple(source.items()))
        super().__init_subclass__(**kwargs)

    def __init__(self, **traits: Any) -> None:
        self._id = f"inside-bert-{uuid4().hex[:12]}"
        self._drawn: object = None  # what the data in the browser are of
        self._stills: list[str] = []  # where the picture stands, by Jupyter's names for these places
        self._changer: Changer | None = None  # who changes what changes now; None for a line of Python
        super().__init__(**traits)
        self.on_msg(self._on_picture)

    # ---- what a subclass says -----------------------------------------------------------------------------

    def payload(self) -> Mapping[str, Any]:
        """What the component reads now."""
        raise NotImplementedError

    def about(self) -> dict[str, str]:
        """Where the numbers come from, by name."""
        return dict(self._about)

    def _state(self) -> object:
        """What the payload depends on."""
        return None

    def _svg(self) -> str | None:
        """The picture as Python draws it; None where only a browser can."""
        return None

    # ---- what is shown ------------------------------------------------------------------------------------

    def html(self) -> str:
        """The picture as one HTML file that works by itself and needs no network."""
        return standalone_html(
            self.source,
            dict(self.payload()),
            title=self.title,
            caption=str(self),
            meta={**self.about(), "Counting": COUNTING},
        )

    def _refresh(self, *, anyway: bool = False) -> None:
        """Send the browser what is to be seen now, if somebody looks at it. Where that cannot be shown and no line of
        Python is to blame, the picture stays, and says why.
        """
        state = self._state()
        if (self._data and state == self._drawn) or not (anyway or self._views):
            return
        try:
            payload = {"weights": b"", **self.payload(), "file": self._id, "still": self._id}
        except ModelZooError as error:
            if self._changer is None:
                raise
            self._message = str(error)
            return
        self._data = component.pack(payload)
        self._drawn = state
        self._message = ""

    @observe("_views")
    def _on_view(self, _change: object) -> None:
        self._refresh()

    @observe("_requests")
    def _answer(self, _change: object) -> None:
        self._answers = self._requests

    @contextmanager
    def _changed_by(self, changer: Changer) -> Iterator[None]:
        """What changes meanwhile goes to the browser together."""
        before, self._changer = self._changer, changer
        try:
            with self.hold_sync():
                yield
        finally:
            self._changer = before

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """What a browser says."""
        with self._changed_by("browser"):
            super().set_state(sync_data)

    # ---- the picture that stands still --------------------------------------------------------------------

    def _ipython_display_(self, **_options: Any) -> None:
        """Two outputs: a still picture, and the widget, which hides it while it lives."""
        from IPython.display import display

        self._refresh(anyway=True)
        place = uuid4().hex
        self._stills.append(place)
        display(self._still(), display_id=place, raw=True)
        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        display(data, metadata=metadata, raw=True)

    def _still(self, image: str | None = None) -> dict[str, str]:
        """The picture as an output: an HTML image, by default as Python draws it, or a sentence in its place."""
        if image is None:
            svg = self._svg()
            image = f"<em>{escape(str(self))}. {self.unseen}</em>" if svg is None else static.image(svg, str(self))
        # Jupyter keeps its own words in the widget's place, "Loading widget...", as long as there is none.
        widget = f".jp-OutputArea-child:has(.{self._id}) + .jp-OutputArea-child:not(:has(.inside-bert-widget))"
        style = f"<style>{widget} {{ display: none; }}</style>"
        return {"text/html": f'<div class="{self._id}">{image}{style}</div>', "text/plain": repr(self)}

    def _keep_still(self, image: str | None = None) -> None:
        """Put a picture in the place of the one before."""
        from IPython.display import update_display

        for place in self._stills:
            update_display(self._still(image), display_id=place, raw=True)

    def _on_picture(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        """The picture that a browser has drawn; with none it was too large to be kept, and Python's takes its place."""
        if isinstance(svg := content.get("svg"), str):
            self._keep_still(static.image(svg, str(self)))
        elif isinstance(png := content.get("png"), str):
            self._keep_still(static.png_image(png, str(self)))
        else:
            self._keep_still()

    def __repr__(self) -> str:
        return f"<{self}>"


def check_index(number: int, n: int, noun: str) -> int:
    """The number, if it is one of n. Raises InvalidInput for another."""
    if not 0 <= number < n:
        raise InvalidInput(f"There are {noun}s 0 to {n - 1}; {noun} {number} does not exist. Choose one of these.")
    return number
