"""examples/: every notebook runs as it stands there, and says what it was kept with."""

import base64
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from examples.__main__ import NOTEBOOKS, executed

MOST_BYTES = 300_000
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_PICTURE = re.compile(r"data:image/svg\+xml;base64,([\w+/=]*)")


def cell_outputs(notebook: NotebookNode) -> Iterator[tuple[str, str, NotebookNode]]:
    """What each cell shows in its order: "text", in however many pieces it came, which is a matter of time, or "html"
    where it is a picture or a table; that itself; and the cell.
    """
    for cell in notebook.cells:
        for is_text, outputs in groupby(cell.get("outputs", ()), lambda output: "text" in output):
            if is_text:
                yield "text", "".join(output.text for output in outputs), cell
                continue
            for output in outputs:
                assert set(output.data) == {"text/plain", "text/html"}
                yield "html", output.data["text/html"], cell


def alike(first: str, second: str, share: float = 0.0) -> bool:
    """Whether two texts are the same, but for numbers that differ by one in their last place, or by a ``share`` of
    theirs.
    """
    if _NUMBER.split(first) != _NUMBER.split(second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    values = ((float(a.replace(",", "")), float(b.replace(",", "")), len(a.partition(".")[2])) for a, b in pairs)
    return all(abs(a - b) < max(1.01 * 10**-places, share * abs(a)) for a, b, places in values)


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ("head (2, 8): 54%", "head (2, 8): 55%", True),
        ("head (2, 8): 54%", "head (2, 8): 56%", False),
        ("-0.12 (-0.20 to +0.04)", "-0.13 (-0.20 to +0.03)", True),
        ("-0.12", "-0.14", False),
        ("1,203 kB", "1,204 kB", True),
        ("the → dog", "the → man", False),
    ],
)
def test_numbers_may_differ_in_their_last_place_alone(first: str, other: str, same: bool) -> None:
    assert alike(first, other) is same


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_has_no_scripts_of_others(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES
    outputs = list(cell_outputs(nbformat.read(path, as_version=4)))
    assert outputs
    for _, text, _ in outputs:
        assert "<script" not in text
        for picture in _PICTURE.findall(text):
            assert base64.b64decode(picture).startswith(b"<svg")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_it_was_kept_with(path: Path) -> None:
    kept, now = list(cell_outputs(nbformat.read(path, as_version=4))), list(cell_outputs(executed(path)))
    assert [(kind, cell.id) for kind, _, cell in now] == [(kind, cell.id) for kind, _, cell in kept]
    for (kind, before, cell), (_, after, _) in zip(kept, now, strict=True):
        sizes = "sizes" in cell.metadata.get("tags", ())  # in kB, of pictures whose scripts change
        same = kind == "html" or alike(before, after, share=0.2 if sizes else 0.0)
        assert same, f"{cell.source}\nsays\n{after}\nand not\n{before}\nRun python -m examples, and read what it says."
