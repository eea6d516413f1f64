"""What pages and components show: matrices as they are sent to the browser, pictures as it saves them."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from patience import PATIENCE
from playwright.sync_api import Error, Page
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, DownloadButton, FileUploader, MenuButton, Widget

from model_zoo.types import FloatArray
from ui import address

Open = Callable[..., AppTest]
"""What the fixture ``open_page`` is: the app at one page, without a browser."""
StartVisit = Callable[..., Any]
"""What the fixture ``visit`` is: a browser that nobody has used."""

# After which a page is said never to show what it should; a page that is done is seen at once.
PATIENCE_MS = int(PATIENCE * 1000)

NO_PICTURES = (
    "browser",
    "copy_link",
    "keeper",
    "room",
    "slides",
    "theme",
)  # components that draw nothing of the page's numbers


# The page's own script (ui/browser) is fetched beside the first run and can come after it: until then Enter breaks a
# line.
PREPARED = "window[Symbol.for('look inside BERT: the browser is prepared')]"
# In a page of ``visit``: the server has answered what was asked and been silent for a moment, which the page needs to
# notice; the script has run, and nothing is being redrawn, still hidden, or a grey box in place of a widget whose own
# script is being fetched.
IDLE = """window.asked <= window.answered && performance.now() - window.answered > 100
    && document.querySelector('[data-test-script-state]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"], html[data-arriving]')"""


def wait_for(page: Page, condition: str, arg: object = None) -> None:
    """Until an expression, or a function of ``arg``, is true in the page. Playwright's own way asks the page to make a
    script of a text again and again, which the app's policy forbids.
    """
    end = time.monotonic() + PATIENCE
    script = """async ([arg, patience]) => {
        const found = () => (CONDITION);
        const end = performance.now() + patience;
        for (;;) {
            const seen = found();
            if (typeof seen === "function" ? seen(arg) : seen) return true;
            if (performance.now() > end) return false;
            await new Promise((again) => setTimeout(again, 20));
        }
    }""".replace("CONDITION", condition)
    while True:
        try:
            if page.evaluate(script, [arg, max(0, end - time.monotonic()) * 1000]):
                return
        except Error as error:
            if "context was destroyed" not in error.message:  # the page is being left
                raise
        if time.monotonic() > end:
            text = page.locator("body").inner_text()
            raise TimeoutError(f"never true in {page.url}: {condition}\nIt shows: {text}")


def unpacked(packed: bytes) -> tuple[dict[str, object], bytes]:
    """The header and the numbers of a component's data (``viz.component.pack``)."""
    end = 4 + int.from_bytes(packed[:4], "little")
    return json.loads(packed[4:end]), packed[end:]


def run_script(
    script: Callable[..., None], *arguments: object, query: Mapping[str, str] | None = None, **options: Any
) -> AppTest:
    """A page of its own that this function draws, opened at an address; nothing may have gone wrong."""
    app = AppTest.from_function(script, args=arguments, kwargs=options, default_timeout=PATIENCE)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert not app.error
    return app


def button(app: AppTest, label: str) -> Button:
    """The first button whose label begins so."""
    return next(b for b in app.button if b.label.startswith(label))


def heatmaps(app: AppTest) -> list[FloatArray]:
    """The matrix drawn by each heatmap, float32 (queries, keys), in the page's order."""
    matrices = []
    for element in app.get("bidi_component"):
        if element.proto.component_name == "heatmap":
            header, weights = unpacked(element.proto.bytes)
            numbers, queries, keys = (len(header[name]) for name in ("numbers", "queries", "keys"))
            matrices.append(np.frombuffer(weights, dtype="<f4").reshape(numbers, queries, keys)[0])
    return matrices


def cell_maps(app: AppTest) -> list[dict[str, Any]]:
    """What each map of cells is given, in the page's order, and its ``values`` (rows, columns)."""
    maps = []
    for element in app.get("bidi_component"):
        if element.proto.component_name == "cells":
            header, weights = unpacked(element.proto.bytes)
            shape = len(header["rows"]), len(header["columns"])
            maps.append({**header, "values": np.frombuffer(weights, dtype="<f4").reshape(shape)})
    return maps


def grids(app: AppTest) -> list[npt.NDArray[np.uint8]]:
    """The pictures drawn by each grid of all heads, uint8 (layers, heads, s_q, s_k), in the page's order."""
    pictures = []
    for element in app.get("bidi_component"):
        if element.proto.component_name == "grid":
            header, levels = unpacked(element.proto.bytes)
            pictures.append(np.frombuffer(levels, dtype=np.uint8).reshape(header["shape"]))
    return pictures


def controls(app: AppTest) -> dict[str, Widget]:
    """What a visitor can set on the page, by the names of its fields, else by key; not what every page has behind
    "More", and not buttons, which hold no value.
    """
    names = {field.key: field.name for field in address.all_declared()}
    widgets = [element for element in app.main if isinstance(element, Widget)]
    return {
        names.get(str(w.key), str(w.key)): w
        for w in widgets
        if not isinstance(w, Button | DownloadButton | FileUploader | MenuButton) and w.key != "present"
    }


def drawn(app: AppTest) -> list[bytes]:
    """Every picture and table of the page as it is sent to the browser: their data, not their numbering."""
    payloads = []
    for element in app.main:
        if element.type == "bidi_component" and element.proto.component_name not in NO_PICTURES:
            payloads.append(element.proto.bytes or element.proto.json.encode())
        elif element.type == "plotly_chart":
            payloads.append(element.proto.spec.encode())
        elif element.type == "iframe":
            payloads.append(element.proto.srcdoc.encode())
        elif element.type == "dataframe":
            payloads.append(element.value.to_csv().encode())
    return payloads


def saved(page: Page, kind: str, name: str) -> bytes:
    """What a component's button saves as a picture, "svg" or "png", under this name."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save {kind.upper()}", exact=True).click()
    assert download.value.suggested_filename == f"{name}.{kind}"
    return Path(download.value.path()).read_bytes()


def to_save(app: AppTest) -> list[str]:
    """What the files are called that can be saved of what a page shows."""
    return [file.label for file in app.session_state["saved_shelf"].files.values()]


def prose(app: AppTest) -> str:
    """All that a page says, and what its buttons say when one rests on them, without the backslashes that keep words
    from being Markdown.
    """
    kinds = ("subheader", "markdown", "caption", "info", "warning", "error", "success")
    words = [element.value for kind in kinds for element in app.main.get(kind)]
    return "\n".join([*words, *(button.help or "" for button in app.button)]).replace("\\", "")
