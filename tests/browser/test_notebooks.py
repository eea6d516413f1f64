"""Widgets in JupyterLab, Notebook 7 and marimo: what is clicked and pointed at is known in Python and in the other
pictures, they are light or dark as the notebook is, and a notebook without its kernel keeps the last picture.
"""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import builders
import nbformat
import pytest
from notebook_servers import OPEN, command, connected, jupyter, marimo
from on_screen import PATIENCE_MS
from playwright.sync_api import Locator, Page, expect

from viz.palette import theme

RUN = builders.run(
    builders.encoding(["the", "cat", "sat"]), builders.random_maps(0, 3, 5, 5), builders.random_maps(1, 3, 5, 5)
)
OF_JUPYTER = re.compile(r"127\.0\.0\.1:\d+/(static|lab/extensions)/")  # where its scripts are
IMPORTS = "import pickle, pathlib\nfrom viz.notebook import grid, heatmap\n"
CELLS = (
    IMPORTS + "run = pickle.loads(pathlib.Path('run').read_bytes())\nheads = grid(run)\nheads",
    "one = heatmap(run, follow=heads)\none",
    "line = display('', display_id=True)\n"
    "def say(_=None):\n    line.update(f'points at {one.token}, {one.key} in {heads.layer}, {heads.head}')\n"
    "one.observe(say, ['token', 'key', 'layer', 'head'])\nsay()",
)
IN_MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import pickle, pathlib
    from viz.notebook import grid, heatmap
    run = pickle.loads(pathlib.Path({run!r}).read_bytes())
    heads = mo.ui.anywidget(grid(run))
    heads
    return grid, heads, heatmap, mo, run


@app.cell
def _(heads, heatmap, mo, run):
    one = mo.ui.anywidget(heatmap(run, follow=heads.widget))
    one
    return one,


@app.cell
def _(heads, mo, one):
    opened, pointed = heads.value, one.value
    mo.md(f"points at {{pointed['token']}}, {{pointed['key']}} in {{opened['layer']}}, {{opened['head']}}")
    return
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a notebook of its pictures."""
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "run").write_bytes(pickle.dumps(RUN))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    for name in ("lab", "seven"):
        nbformat.write(made, folder / f"{name}.ipynb")
    return folder


@pytest.fixture(scope="module")
def jupyter_url(folder: Path) -> Iterator[str]:
    with jupyter(folder) as url:
        yield url


@pytest.fixture
def page(file_pages: Any) -> Iterator[Page]:
    """A page in which nothing of ours may go wrong, and that asks nobody else for anything."""
    trouble: list[str] = []

    def note(message: str, where: str) -> None:
        """But not what Lab and Notebook say of themselves, in part without a place; a widget's script is a blob."""
        if re.search("blob:|anywidget", message + where) or (where and not OF_JUPYTER.search(where)):
            trouble.append(f"{message} {where}")

    def of_request(request: Any) -> None:
        address = urlparse(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname != "127.0.0.1":
            trouble.append(request.url)

    listeners = {
        "console": lambda message: message.type == "error" and note(message.text, message.location["url"]),
        "pageerror": lambda error: note(str(error), error.stack),
        "request": of_request,
    }
    with file_pages.lend(listeners, 1280, 1000) as page:
        yield page
    assert trouble == []


def run_all(page: Page, url: str) -> None:
    page.goto(url)
    connected(page)
    command(page, "notebook:run-all-cells")


def printed(page: Page) -> Locator:
    """What Python says of the widgets."""
    return page.get_by_text("points at").last


def head(page: Page, layer: int, head: int) -> Locator:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {head}", exact=True)


def point(page: Page, row: int, column: int) -> None:
    """Point at a cell of the heatmap; where it is, is read off the first one's frame."""
    canvas = page.locator(".heatmap[data-picture] canvas")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    canvas.press("Control+Home")
    first = page.locator(".heatmap .cell").bounding_box()
    assert first
    page.mouse.move(first["x"] + (column + 0.5) * first["width"], first["y"] + (row + 0.5) * first["height"])


def reads(page: Page, layer: int, head: int, row: int, column: int) -> None:
    """The heatmap says the number of that cell, of that head."""
    weight = RUN.head(layer, head)[row, column]
    expect(page.locator(".heatmap .reading")).to_contain_text(f"weight {weight:.4f}")


def is_drawn(page: Page, dark: bool) -> None:
    """Both pictures stand on the ground of the light theme, or of the dark one."""
    ground = theme(dark).background.lower()
    for canvas in (".heads .drawn", ".heatmap canvas"):
        painted = page.locator(canvas).evaluate(
            """async (canvas, [wanted, patience]) => {
                const end = performance.now() + patience;
                for (;;) {
                    const [x, y] = [canvas.width - 1, canvas.height - 1];
                    const [r, g, b] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
                    const found = `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
                    if (found === wanted || performance.now() > end) return found;
                    await new Promise((again) => setTimeout(again, 20));
                }
            }""",
            [ground, PATIENCE_MS],
        )
        assert painted == ground


def test_jupyterlab_shows_what_python_knows_and_keeps_the_last_picture(page: Page, jupyter_url: str) -> None:
    run_all(page, f"{jupyter_url}/lab/tree/lab.ipynb")
    expect(printed(page)).to_have_text("'points at None, None in 0, 0'")
    still = page.locator(".jp-RenderedHTML img")
    expect(still).to_have_count(2)
    expect(still.first).to_be_hidden()  # the widget is there
    # What is pointed at.
    point(page, 2, 1)
    reads(page, 0, 0, 2, 1)
    expect(printed(page)).to_have_text("'points at 2, 1 in 0, 0'")
    # Another head, in the cell below.
    head(page, 1, 2).click()
    expect(printed(page)).to_have_text("'points at None, None in 1, 2'")
    expect(head(page, 1, 2)).to_have_attribute("aria-selected", "true")
    point(page, 2, 1)
    reads(page, 1, 2, 2, 1)
    # Keys are the picture's, not the notebook's, which would go to the next cell, and delete it.
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("d")
    page.keyboard.press("d")
    reads(page, 1, 2, 1, 0)
    expect(printed(page)).to_have_text("'points at 1, 0 in 1, 2'")
    for dark in (False, True, False):
        command(page, "apputils:change-theme", theme=f"JupyterLab {'Dark' if dark else 'Light'}")
        is_drawn(page, dark)
    # The picture that is kept is the last one drawn, and stays when the kernel is gone.
    last = re.compile("^Heatmap of layer 1, head 2 ")
    expect(still.last).to_have_attribute("alt", last)
    command(page, "docmanager:save")
    page.evaluate(f"{OPEN}.sessionContext.session.kernel.restart()")
    expect(page.get_by_text("The kernel has stopped: run the cell again")).to_have_count(2)
    point(page, 2, 1)
    reads(page, 1, 2, 2, 1)
    page.evaluate(f"{OPEN}.sessionContext.shutdown()")
    page.reload()
    expect(page.locator(".heatmap")).to_have_count(0)
    expect(still.last).to_be_visible()
    expect(still.last).to_have_attribute("alt", last)
    assert still.last.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100


def test_notebook_7_does(page: Page, jupyter_url: str) -> None:
    run_all(page, f"{jupyter_url}/notebooks/seven.ipynb")
    head(page, 0, 1).click()
    point(page, 3, 0)
    reads(page, 0, 1, 3, 0)
    expect(printed(page)).to_have_text("'points at 3, 0 in 0, 1'")
    is_drawn(page, False)
    page.evaluate(f"{OPEN}.sessionContext.shutdown()")


def test_marimo_does(page: Page, folder: Path) -> None:
    (folder / "notebook.py").write_text(IN_MARIMO.format(run=str(folder / "run")), encoding="utf-8")
    with marimo(folder / "notebook.py") as url:
        page.goto(url)
        expect(printed(page)).to_have_text("points at None, None in 0, 0")
        head(page, 1, 2).click()
        expect(printed(page)).to_have_text("points at None, None in 1, 2")
        point(page, 2, 1)
        reads(page, 1, 2, 2, 1)
        expect(printed(page)).to_have_text("points at 2, 1 in 1, 2")
        is_drawn(page, False)
        page.emulate_media(color_scheme="dark")
        is_drawn(page, True)
