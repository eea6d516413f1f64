"""``python -m benchmarks.lines_of_code [REVISION]``: lines by package, beside an older self.

Counts lines of Python, JavaScript, CSS and HTML in files that git tracks; names of a private language that are bound in
Python (``PRIVATE``); and circles of files that import each other, for types or by a name in a string, too. Prints a
Markdown table. ``--path`` adds how many files and functions one text crosses from the field to its heatmap.
"""

from __future__ import annotations

import ast
import io
import tarfile
import tempfile
import threading
from collections import Counter
from pathlib import Path
from subprocess import check_output
from types import FrameType
from typing import Final, NamedTuple

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from benchmarks.imports import ROOT, circles, read_sources
from benchmarks.measure import arguments

ENDINGS: Final = (".py", ".js", ".css", ".html")
PRIVATE: Final = frozenset(
    ("found", "one", "said", "told", "asked", "what", "each", "given", "shown", "own", "whole", "it")
)
"""Words that say nothing of a value: a name says what the value is, in the field's terms."""


def bound_names(tree: ast.AST) -> list[tuple[int, str]]:
    """Every name that is bound (variables, parameters, functions, attributes, imports), with its line."""
    names: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.append((node.lineno, name))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.append((node.lineno, name))
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.append((node.lineno, name))
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.append((node.lineno, name))
    return names


def private_names(tree: ast.AST) -> list[tuple[int, str]]:
    """Bindings of names of the private language, with or without leading underscores, and their lines."""
    return [(line, name) for line, name in bound_names(tree) if name.strip("_") in PRIVATE]


def count(root: Path, files: list[str]) -> tuple[Counter[str], Counter[str]]:
    """Lines and private names of each package; those of tests under "tests", files of no package under "app.py"."""
    lines: Counter[str] = Counter()
    private: Counter[str] = Counter()
    for file in files:
        if file.endswith(ENDINGS):
            package = file.split("/")[0]
            text = (root / file).read_text(encoding="utf-8")
            lines[package] += text.count("\n")
            if file.endswith(".py"):
                private[package] += len(private_names(ast.parse(text)))
    return lines, private


class Size(NamedTuple):
    """What a revision counts: lines and private names by package, and circles of files."""

    lines: Counter[str]
    private: Counter[str]
    circles: list[list[str]]


def measure(root: Path, files: list[str]) -> Size:
    """The size of the project that lies in a folder."""
    packages = {file.split("/")[0] for file in files if file.count("/") == 1 and file.endswith("/__init__.py")}
    return Size(*count(root, files), circles(read_sources(root, packages)))


def measure_revision(revision: str) -> Size:
    """The size of an older revision of this repository."""
    with tempfile.TemporaryDirectory() as folder:
        packed = check_output(["git", "archive", revision, "*.py", "*.js", "*.css", "*.html"], cwd=ROOT)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        root = Path(folder)
        return measure(root, [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()])


def trace_text(root: Path = ROOT) -> tuple[list[str], int, int]:
    """The project's files that a new text crosses on Attention, in order; how many of their functions, and calls."""
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(root):
            calls.append((path.relative_to(root).as_posix(), frame.f_code.co_qualname))

    app = AppTest.from_file(str(root / "app.py"), default_timeout=600)
    app._page_hash = calc_hash("attention")  # AppTest finds pages by their names only after a run
    for text, follow in (("The cat sat on the mat.", None), ("A dog ran to the house.", note)):  # the first one loads
        app.query_params["text"] = text
        threading.setprofile(follow)  # a script runs in a thread of its own
        app.run()
        threading.setprofile(None)
        if app.exception:
            raise RuntimeError(app.exception[0].value)
    return list(dict.fromkeys(file for file, _ in calls)), len(set(calls)), len(calls)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("revision", nargs="?", help="an older revision, whose figures stand before this one's")
    parser.add_argument("--path", action="store_true", help="follow one text to its heatmap, too")
    options = parser.parse_args()
    tracked = check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
    now = measure(ROOT, [file for file in tracked if (ROOT / file).exists()])
    before = measure_revision(options.revision) if options.revision else now
    print("| package | lines before | lines | private names before | private names |\n|---|---|---|---|---|")
    columns = before.lines, now.lines, before.private, now.private
    for package in sorted(before.lines | now.lines, key=lambda name: (name == "tests", -now.lines[name])):
        print("|", " | ".join([package, *(f"{column[package]:,}" for column in columns)]), "|")
    print("| all but tests |", " | ".join(f"{column.total() - column['tests']:,}" for column in columns), "|")
    print(f"Circles of files: {len(before.circles)} before, {len(now.circles)} now")
    print(*map(", ".join, now.circles), sep="\n")
    if options.path:
        files, n_functions, n_calls = trace_text()
        print(
            f"One text to its heatmap: {len(files)} files, {n_functions} functions, {n_calls:,} calls",
            *files,
            sep="\n- ",
        )


if __name__ == "__main__":
    main()
