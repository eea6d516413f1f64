"""Which models of the registry work on which page, as a Markdown table.

``python -m pages`` prints it; ``--write README.md`` puts it between the two marks of that file. The tests of
every model hold the table to what models really do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from model_zoo import registry
from model_zoo.types import ModelSpec
from pages import PAGES
from ui import Page

START = "<!-- written by `python -m pages --write README.md` -->"
END = "<!-- end of the table of models -->"


def claims(spec: ModelSpec) -> tuple[str, ...]:
    """What each page of the table shows of a model, or in a few words why it does not."""
    return tuple(shows(spec) for _, shows in _columns())


def _columns() -> list[tuple[Page[Any], Callable[[ModelSpec], str]]]:
    """The pages on which it depends on the model what is shown, in their order."""
    return [(page, page.shows) for page in PAGES if page.shows is not None]


def markdown() -> str:
    """The table, one row for the models of which the pages show the same."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for spec in registry.MODELS.values():
        groups.setdefault(claims(spec), []).append(spec.name)
    titles = [page.title for page, _ in _columns()]
    rows = [("models", *titles), ("---",) * (1 + len(titles))]
    rows += [("; ".join(names), *columns) for columns, names in groups.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written_into(text: str) -> str:
    """``text`` with the table between its two marks. Raises ValueError where it has not exactly one of each."""
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise ValueError(f"There is no place for the table: the file needs the lines {START} and {END}, in this order.")
    before, rest = text.split(START)
    return f"{before}{START}\n\n{markdown()}\n\n{END}{rest.split(END)[1]}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m look_inside_bert.pages", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table between the two marks of this file")
    file: Path | None = parser.parse_args(arguments).write
    if file is None:
        sys.stdout.write(markdown() + "\n")
        return 0
    try:
        file.write_text(written_into(file.read_text(encoding="utf-8")), encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{file} was left as it was. {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
