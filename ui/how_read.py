"""How a visitor's file was read: one line above a preview on every page alike, and boxes that change every choice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pandas as pd
import streamlit as st

from model_zoo.types import counted
from reading import Choices, MissingColumn, Report
from reading.text import clipped
from ui.as_python import arguments, literal
from ui.field import Codec, Field
from ui.messages import caption

_NONE: Final = "none"
_MOST_NAMED: Final = 6
_LONGEST: Final = 200
_MOST_CHOICES: Final = 12
_HEADER: Final[Mapping[bool | None, str]] = {True: "names the columns", False: "is data"}
_QUOTES: Final[Mapping[str, str]] = {"csv": "around cells, as in CSV", "none": "signs like any other"}


def choices_field(name: str, of: str) -> Field[Choices]:
    """What a visitor decides of how a page reads files: in its address, but nothing where all is left to the files."""
    return Field(name, Choices(), Codec(_read, written), of=of)


def _read(text: str) -> Choices:
    try:
        values: Any = json.loads(text) if text else {}
        columns, header, quoting = values.pop("columns", {}), values.pop("header", None), values.pop("quoting", None)
        if (
            not values
            and len(columns) <= _MOST_CHOICES
            and all(isinstance(name, str) and len(name) <= _LONGEST for pair in columns.items() for name in pair)
            and header in (None, True, False)
            and quoting in (None, *_QUOTES)
        ):
            return Choices(tuple(columns.items()), header, quoting)
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    raise ValueError(f"“{text[:40]}” does not say how to read a file.")


def written(choices: Choices) -> str:
    """The choices as an address has them, "" for none."""
    values = {
        "columns": dict(choices.columns) or None,
        "header": choices.header,
        "quoting": choices.quoting,
    }
    chosen = {name: value for name, value in values.items() if value is not None}
    return json.dumps(chosen, ensure_ascii=False, separators=(",", ":")) if chosen else ""


def in_python(choices: Choices) -> str:
    """The choices as arguments of ``read``, each after a comma."""
    columns = ", ".join(f"{literal(role)}: {literal(column)}" for role, column in choices.columns)
    named = arguments(header=choices.header, quoting=choices.quoting)
    return "".join(f", {part}" for part in (f"columns={{{columns}}}" if columns else "", named) if part)


def choices_in_python(choices: Choices) -> tuple[str, tuple[str, ...]]:
    """The choices as an argument of what reads several files, after a comma, and what that imports; "" for none."""
    if choices == Choices():
        return "", ()
    changed = arguments(columns=choices.columns or None, header=choices.header, quoting=choices.quoting)
    return f", choices=Choices({changed})", ("from look_inside_bert.reading import Choices",)


@contextmanager
def choosing(field: Field[Choices]) -> Iterator[None]:
    """Draw the boxes that choose columns here, where a file lacks one by its name. It is raised again, as a message."""
    try:
        yield
    except MissingColumn as error:
        _boxes(error.report, field)
        raise


def draw(report: Report, field: Field[Choices]) -> None:
    """How files were read, in one line; what was left out of them, and why; a preview; and what can be changed."""
    caption(_sentence(report))
    for remark in report.remarks:
        caption(remark)
    if report.preview:
        st.dataframe(_preview(report), hide_index=True, width="stretch")
    if report.roles or field.value != Choices():
        with st.expander("Read it differently", icon=":material/tune:"):
            _boxes(report, field)


def _sentence(report: Report) -> str:
    """ "Read as a table (tab between columns): 150 texts. The text: “sentence1”; the label: “gold_label”."."""
    columns = "; ".join(f"{report.roles[role].meaning}: “{clipped(name)}”" for role, name in report.columns.items())
    unused = ", ".join(f"“{clipped(name)}”" for name in report.unused[:_MOST_NAMED])
    more = " …" if len(report.unused) > _MOST_NAMED else "."
    header = " The first line is data." if report.header is False else ""
    quotes = " Quotes are signs like any other." if report.quoting == "none" else ""
    sentences = [
        f"Read as {report.format}: {counted(report.n_items, report.noun)}.{header}{quotes}",
        f"{columns[:1].upper()}{columns[1:]}." if columns else "",
        f"Not used: {unused}{more}" if unused else "",
    ]
    return " ".join(filter(None, sentences))


def _preview(report: Report) -> pd.DataFrame:
    """The first items, without the fields that none of them has."""
    frame = pd.DataFrame(report.preview, columns=list(report.fields))
    return frame.loc[:, [bool(frame[name].any()) for name in frame.columns]]


def _boxes(report: Report, field: Field[Choices]) -> None:
    """A select box a role, and those for the first line and for quotes where the format leaves them open; in pairs, so
    that they keep their order on a phone.
    """
    choices = field.value
    names = [*dict.fromkeys([*report.samples, *report.columns.values(), *report.unused])]
    boxes: list[tuple[str, str, Mapping[Any, str], Any]] = []
    for role, of in report.roles.items():
        options = {name: _labelled(report.samples, name) for name in (names if of.needed else [_NONE, *names])}
        chosen = dict(choices.columns).get(role, report.columns.get(role, "")) or (None if of.needed else _NONE)
        value = chosen if chosen in options else None
        boxes.append((f"{of.meaning[:1].upper()}{of.meaning[1:]}", f"column {role}", options, value))
    if report.header is not None:
        boxes.append(("The first line", "header", _HEADER, report.header))
    if report.quoting is not None:
        boxes.append(("Quotes are", "quoting", _QUOTES, report.quoting))
    for left in range(0, len(boxes), 2):
        for place, box in zip(st.columns(2), boxes[left : left + 2], strict=False):
            with place:
                _box(field, *box)
    if choices != Choices():
        st.button("Read it as it looks", key=f"{field.key} as it looks", on_click=forget, args=(field,))


def _labelled(samples: Mapping[str, str], name: str) -> str:
    sample = samples.get(name, "")
    return f"{clipped(name)} (“{sample}”)" if sample else clipped(name)


def _box(field: Field[Choices], label: str, choice: str, options: Mapping[Any, str], value: Any) -> None:
    key = f"{field.key} {choice}"
    st.session_state[key] = value
    st.selectbox(
        label,
        [*options],
        key=key,
        format_func=options.__getitem__,
        placeholder="Choose a column",
        on_change=_choose,
        args=(field, choice),
    )


def _choose(field: Field[Choices], choice: str) -> None:
    value, before = st.session_state[f"{field.key} {choice}"], field.value
    if choice == "header":
        # The columns have other names then.
        field.value = Choices((), value, before.quoting)
    elif choice == "quoting":
        field.value = Choices(before.columns, before.header, value)
    else:
        role = choice.removeprefix("column ")
        columns = dict(before.columns) | {role: "" if value in (None, _NONE) else value}
        field.value = Choices(tuple(columns.items()), before.header, before.quoting)


def forget(field: Field[Choices]) -> None:
    """Leave all choices to the file."""
    field.value = Choices()
