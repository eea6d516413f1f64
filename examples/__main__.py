"""``python -m examples``: executes the notebooks of this folder anew and keeps their outputs in them.

A notebook holds what a reader sees without a kernel: texts, tables and still pictures. Widgets, which need a kernel,
are left out, and so are times and names drawn at random: the same numbers make the same file.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parent
NOTEBOOKS = tuple(sorted(FOLDER.glob("*.ipynb")))

_WIDGET = "application/vnd.jupyter.widget-view+json"
_NAME = re.compile(r"(?<=inside-bert-)[0-9a-f]{12}")  # of a picture, by which its widget finds it


def executed(path: Path) -> NotebookNode:
    """The notebook with outputs of now, as it is kept. Raises nbclient's CellExecutionError where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, record_timing=False, resources={"metadata": {"path": str(FOLDER)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(FOLDER.parent)})
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _WIDGET not in output.get("data", {})]
            for data in (output.data for output in cell.outputs if "text/html" in output.get("data", {})):
                data["text/html"] = _NAME.sub(str(number), data["text/html"])
    return notebook


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m examples", description="Execute notebooks anew, and keep the outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS, help="some of them instead of all")
    for path in parser.parse_args(arguments).notebooks:
        nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
