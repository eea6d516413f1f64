"""The one table of names: by what names the world calls the columns that a kind of data needs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from reading.data import Choices, MissingColumn, Notes, Report, Role, Table
from reading.text import clipped, named

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

PAIRS: Final[tuple[tuple[str, str], ...]] = tuple((first, second) for first, second in _TABLE["pairs"])
"""Names of a text and of the second one that goes with it: GLUE, SNLI, SICK, PAWS, QNLI and others."""

_LAST: Final = ("question", "query")  # beside a passage it is the passage that has sentences
_FIRSTS: Final = [first for first, _ in PAIRS if first not in ("a", *_LAST)]

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": tuple(dict.fromkeys(["text", "sentence", *_FIRSTS, *_TABLE["text"], *_LAST])),
    "pair": tuple(dict.fromkeys(second for _, second in PAIRS if second != "sentence")),
    "a": tuple(dict.fromkeys(["a", *(first for first, _ in PAIRS)])),
    "b": tuple(dict.fromkeys(["b", *(second for _, second in PAIRS)])),
    **{role: tuple(names) for role, names in _TABLE["names"].items()},
}
"""What a role's column may be called, in any case; the first that a file has is taken."""

SQUAD: Final = "SQuAD’s JSON"
ONE_COLUMN: Final = "a list of lines"
KNOWN: Final = {name for names in NAMES.values() for name in names}
_MOST_NAMED: Final = 8


def normalized(name: object) -> str:
    """A column's name as it is compared: without quotes and spaces around it, in small letters."""
    return str(name).strip(' "\t').lower()


def knows(roles: Mapping[str, Role], names: Sequence[object]) -> bool:
    """Whether any of these is a name for one of the roles."""
    known = {name for role in roles for name in NAMES[role]}
    return any(normalized(name) in known for name in names)


def place(kind: str, roles: Mapping[str, Role], table: Table, choices: Choices, notes: Notes) -> dict[str, int]:
    """The place of each role's column in a table: as chosen, as the format knows, or by its name.

    Raises MissingColumn where a role that is needed has none, or a column that was chosen is not there.
    """
    names = list(map(normalized, table.names))
    chosen = {role: column for role, column in choices.columns if role in roles}
    by_role = _by_name(roles, names) | {role: names.index(normalized(name)) for role, name in table.columns.items()}
    for role, column in chosen.items():
        by_role.pop(role, None)
        if column and normalized(column) in names:
            by_role[role] = names.index(normalized(column))
        elif column:
            raise _missing(kind, roles, table, notes, f"no column “{clipped(column)}” for the {roles[role].meaning}")
    for role, of in roles.items():
        if of.needed and role not in by_role:
            *others, last = NAMES[role][:_MOST_NAMED]
            accepted = f"{', '.join(others)} or {last}" if others else last
            problem = f"there is no column for the {of.meaning}"
            raise _missing(kind, roles, table, notes, problem, f"Name it {accepted}.")
    return by_role


def _by_name(roles: Mapping[str, Role], names: Sequence[str]) -> dict[str, int]:
    by_role: dict[str, int] = {}
    first, second = ("a", "b") if "a" in roles else ("text", "pair")
    if second in roles:
        pair = next((pair for pair in PAIRS if pair[0] in names and pair[1] in names), None)
        if pair is not None:
            by_role = {first: names.index(pair[0]), second: names.index(pair[1])}
    for role in roles:
        if role not in by_role:
            free = (name for name in NAMES[role] if name in names and names.index(name) not in by_role.values())
            name = next(free, None)
            if name is not None:
                by_role[role] = names.index(name)
    return by_role


def _missing(
    kind: str, roles: Mapping[str, Role], table: Table, notes: Notes, noun: str, do: str = ""
) -> MissingColumn:
    where = f"{notes.names[-1]}{f', line {table.first}' if table.first else ''}"
    there = f"read as {table.format}, it has {named(table.names)}"
    if table.format == SQUAD:
        do = "Choose question answering for it."
    elif table.format == ONE_COLUMN:
        do = "Put a tab, a comma or a semicolon between the columns."
    message = f"{where}: {noun}; {there}. {do}{' ' if do else ''}Or choose the column."
    report = Report(
        kind,
        tuple(notes.names),
        table.format,
        columns={},
        unused=tuple(table.names),
        samples=table.samples,
        roles=roles,
        header=table.header,
        quoting=table.quoting,
    )
    return MissingColumn(message, report)
