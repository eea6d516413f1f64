"""Which models of the registry work on which page, as a Markdown table.

``python -m model_zoo.table`` prints it; ``--write README.md`` puts it between the two marks of that file. The tests of
every model hold the table to what models really do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model_zoo import registry
from model_zoo.types import ModelSpec

PAGES = ("Attention", "Masked words", "Next sentence", "Layers", "Compare")

START = "<!-- written by `python -m model_zoo.table --write README.md` -->"
END = "<!-- end of the table of models -->"

_SENTENCES = {"NSP": "yes", "SOP": "yes, as SOP", None: "no NSP head"}


def claims(spec: ModelSpec) -> tuple[str, ...]:
    """What each of ``PAGES`` shows of a model, or in a few words why it does not."""
    return (
        _attention(spec),
        "yes" if spec.mlm else "no MLM head",
        _SENTENCES[spec.nsp],
        "yes, the encoder's" if spec.cross_attention else "yes",
        _compared(spec),
    )


def _attention(spec: ModelSpec) -> str:
    if not spec.attention:
        return "no attention"
    if spec.cross_attention:
        return "encoder, decoder, cross"
    return "yes, causal" if spec.causal else "yes"


def _compared(spec: ModelSpec) -> str:
    if not spec.attention:
        return "all but attention"
    return "yes" if spec.mlm else "all but predictions"


def markdown() -> str:
    """The table, one row for the models of which the pages show the same."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for spec in registry.MODELS.values():
        groups.setdefault(claims(spec), []).append(spec.name)
    rows = [("models", *PAGES), ("---",) * (1 + len(PAGES))]
    rows += [("; ".join(names), *shown) for shown, names in groups.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written_into(text: str) -> str:
    """``text`` with the table between its two marks. Raises ValueError where it has not exactly one of each."""
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise ValueError(f"There is no place for the table: the file needs the lines {START} and {END}, in this order.")
    before, rest = text.split(START)
    return f"{before}{START}\n\n{markdown()}\n\n{END}{rest.split(END)[1]}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m model_zoo.table", description=__doc__.split("\n", 1)[0])
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
