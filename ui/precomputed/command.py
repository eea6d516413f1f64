"""The commands that make anew what comes with the app, ``python -m pages.layers`` and its like: a file a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from model_zoo import Engine

Result = TypeVar("Result")


def run(
    module: str,
    doc: str,
    arguments: Sequence[str] | None,
    models: Iterable[str],
    *,
    file_of: Callable[[str], Path],
    make: Callable[[Engine, str], Result],
    content: Callable[[Engine, str, Result], bytes],
    changed: Callable[[str, Result], Iterable[str]],
    table: Callable[[], str] | None = None,
) -> int:
    """Make the result of each model and write its file; with ``--check`` tell what has ``changed`` since the file was
    written, a line each that follows the model's name; with ``--table``, where there is one, print it alone.

    Returns the exit status: 1 where ``--check`` found a difference, else 0.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=doc.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; tell what a fresh run has otherwise")
    if table is not None:
        parser.add_argument("--table", action="store_true", help="print the README's table of what is stored")
    chosen = parser.parse_args(arguments)
    if table is not None and chosen.table:
        sys.stdout.write(table() + "\n")
        return 0
    engine, status = Engine("cpu"), 0
    for model in models:
        result, file = make(engine, model), file_of(model)
        if not chosen.check:
            file.write_bytes(content(engine, model, result))
            sys.stdout.write(f"{model}: {file.stat().st_size / 1000:,.0f} kB written to {file}\n")
            continue
        changes = list(changed(model, result))
        sys.stdout.write("".join(f"{model}{line}\n" for line in changes) or f"{model}: as stored\n")
        status = 1 if changes else status
    engine.close()
    return status
