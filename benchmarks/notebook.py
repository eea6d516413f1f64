"""``python -m benchmarks.notebook [--max-tokens N]``: a notebook of ten sentences' pictures, ours and BertViz's.

One JSON line per length and kind of picture: one head (our heatmap; BertViz's head view, given that head alone, which
is the least it takes, and given all heads, as its documentation does) and all heads (our grid; BertViz's model view).
``ms`` is how long a cell that attends and shows runs in the kernel, the median of ten, after one that is not counted.
``bytes`` is the file as JupyterLab saves it: ours is run there, in Chromium, and holds each picture as the browser drew
it; BertViz's is what the kernel gives. ``executed_bytes`` is the file that nbclient writes, with the state of all
widgets, which Lab leaves out.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Page

from benchmarks.attention import text_of
from benchmarks.browser import AT_REST, chromium
from benchmarks.measure import arguments, emit
from benchmarks.notebook_servers import OPEN, command, connected, jupyter
from benchmarks.server import ROOT

SENTENCES = 10
TOKENS = (16, 32, 128)

_OURS = """
from model_zoo import DEFAULT_MODEL, Engine
from viz.notebook import grid, heatmap
engine = Engine()
"""
_BERTVIZ = """
import torch
from bertviz import head_view, model_view
from transformers import AutoModel, AutoTokenizer
from model_zoo import DEFAULT_MODEL, sources
folder = sources.embedded_folder(DEFAULT_MODEL)
model = AutoModel.from_pretrained(folder, attn_implementation="eager", output_attentions=True).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
"""
_THEIR_RUN = """
inputs = tokenizer(text, return_tensors="pt")
with torch.inference_mode():
    attention = model(**inputs).attentions
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
"""
_OUR_RUN = "run = engine.attend(DEFAULT_MODEL, text)\n"
PICTURES = {
    "heatmap": (_OURS, _OUR_RUN + "heatmap(run, layer=2, head=3)"),
    "grid": (_OURS, _OUR_RUN + "grid(run)"),
    "bertviz one head": (_BERTVIZ, _THEIR_RUN + "head_view([attention[2][:, 3:4]], tokens)"),
    "bertviz head_view": (_BERTVIZ, _THEIR_RUN + "head_view(attention, tokens)"),
    "bertviz model_view": (_BERTVIZ, _THEIR_RUN + "model_view(attention, tokens)"),
}


def sentences(n_tokens: int) -> list[str]:
    """Different texts, each of so many tokens."""
    return [text_of(n_tokens, first) for first in range(SENTENCES)]


def notebook(setup: str, cell: str, texts: Sequence[str]) -> NotebookNode:
    """A notebook that shows the same picture of each text, with a cell before them that loads the model and runs it
    once.
    """
    warm_up = f"text = {texts[0]!r}\n{cell.rsplit(chr(10), 1)[0]}"
    cells = [new_code_cell(setup + warm_up), *(new_code_cell(f"text = {text!r}\n{cell}") for text in texts)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def run(notebook: NotebookNode) -> float:
    """Run it by itself in a new kernel: median milliseconds of the cells after the first."""
    client = NotebookClient(notebook, kernel_name="python3", timeout=600)
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    return statistics.median(_milliseconds(cell) for cell in notebook.cells[1:])


def _milliseconds(cell: NotebookNode) -> float:
    at = cell.metadata.execution
    start, end = (datetime.fromisoformat(at[name]) for name in ("iopub.execute_input", "iopub.status.idle"))
    return (end - start).total_seconds() * 1000


def size(notebook: NotebookNode) -> int:
    """Bytes of the file, without the times of the cells, which only nbclient writes."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return len(nbformat.writes(notebook).encode())


def saved_by_lab(page: Page, url: str, file: Path) -> int:
    """Bytes of a notebook that JupyterLab has run, drawn and saved. A picture is kept a second after it was drawn."""
    page.goto(f"{url}/lab/tree/{file.name}?reset")
    connected(page)
    command(page, "notebook:run-all-cells")
    page.wait_for_function(f"{OPEN}.content.model.cells.get({SENTENCES}).executionCount")
    page.evaluate(
        f"""() => {{
            {AT_REST}
            const size = () => JSON.stringify({OPEN}.content.model.toJSON()).length;
            return atRest(size, 80, 120_000);
        }}"""
    )
    command(page, "docmanager:save")
    page.evaluate(f"{OPEN}.sessionContext.shutdown()")
    return file.stat().st_size


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--max-tokens", type=int, default=TOKENS[-1], help="leave out longer texts")
    longest = parser.parse_args().max_tokens
    with tempfile.TemporaryDirectory() as folder, jupyter(Path(folder)) as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for n_tokens in (n for n in TOKENS if n <= longest):
            for name, (setup, cell) in PICTURES.items():
                made = notebook(setup, cell, sentences(n_tokens))
                file = Path(folder) / f"{name} {n_tokens}.ipynb"
                nbformat.write(made, file)
                ms = run(made)
                executed = size(made)
                saved = saved_by_lab(page, url, file) if setup is _OURS else executed
                emit(tokens=n_tokens, picture=name, sentences=SENTENCES, ms=ms, bytes=saved, executed_bytes=executed)


if __name__ == "__main__":
    main()
