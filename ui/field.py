"""A field: one value of a visitor's, with its widget, its place in the address, and the way it is written there.

A field is declared by the page, the view or the shared widget that owns it. In an address everything counts from 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any, Generic, TypeVar, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

T = TypeVar("T")

_CALLED = "drawn_labels"
_DRAWN = "drawn_pages"


def _write(value: object) -> str:
    """Switches as 0 and 1, nothing as nothing, lists with commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How a value is written in an address. ``read`` raises ValueError with a sentence for what it cannot read.

    ``limits`` are what Streamlit's widgets for numbers take: the least and the greatest value, the step between two,
    and whether there may be none. ``labels`` has every option there is, and what it is called on screen.
    """

    read: Callable[[str], T]
    write: Callable[[T], str] = _write
    limits: Mapping[str, float | None] = attribute(default_factory=dict)
    labels: Mapping[Any, str] = attribute(default_factory=dict)


PLAIN: Codec[str] = Codec(str)


@dataclass(eq=False, slots=True)
class Field(Generic[T]):
    """A value of a visitor's, the same in whatever part of the script asks for it.

    ``name`` is its parameter in the address of a page, where no two fields share one. ``of`` is the page that owns it,
    "" for fields that pages share. ``clean`` brings what was typed into order before its widget is drawn. ``always``
    writes it to the address at its default too, so that a link still means the same when the default changes; the rest
    would only make addresses long. ``step`` makes another value another step in the browser's history. One that
    ``stays`` is left as it is by Back and Forward. One that is not ``shared`` is left out of links for others.
    """

    name: str
    default: T
    codec: Codec[T] = PLAIN  # type: ignore[assignment]
    of: str = ""
    always: bool = False
    step: bool = False
    stays: bool = False
    shared: bool = True
    clean: Callable[[T], T] | None = None

    @property
    def key(self) -> str:
        """The key of its widget, under which Streamlit's session has its value."""
        return f"{self.of}_{self.name}" if self.of else self.name

    @property
    def value(self) -> T:
        value = st.session_state.get(self.key, self.default)
        return cast(T, tuple(value) if isinstance(value, list) else value)  # widgets that take many give a list

    @value.setter
    def value(self, value: T) -> None:
        """Set it only where it is another one: that overwrites what is being typed into its widget."""
        if self.key not in st.session_state or self.value != value:
            st.session_state[self.key] = value

    @property
    def bound(self) -> dict[str, Any]:
        """What a widget of this field takes, its limits or its options among it: ``st.number_input("Rank",
        **RANK.bound)``.

        Streamlit keeps its value while the widget is not on the screen, wherever the visitor is.
        """
        if self.codec.labels:
            return self.offering(self.codec.labels)
        return self._bind_widget() | dict(self.codec.limits)

    def offering(self, labels: Mapping[Any, str]) -> dict[str, Any]:
        """The same for a widget whose options its view knows: they are mapped to what they are called.

        The browser knows what is chosen by what that is called, so the value is set again where the names change.
        """
        tied, called, names = self._bind_widget(), st.session_state.setdefault(_CALLED, {}), tuple(labels.values())
        if called.get(self.key) != names:
            called[self.key] = names
            st.session_state[self.key] = self.value
        return tied | {"options": list(labels), "format_func": lambda option: labels.get(option, option)}

    def _bind_widget(self) -> dict[str, Any]:
        """What ties the widget that is drawn next to this field."""
        value = self.default if self.value is None else self.value  # nothing chosen where something has to be
        if self.clean is not None:
            value = self.clean(value)
        here, drawn = _page(), st.session_state.setdefault(_DRAWN, {})
        if drawn.get(self.key) == here:
            self.value = value
        else:  # a widget of another page is another one to Streamlit, which would begin with its own default
            st.session_state[self.key] = value
        drawn[self.key] = here
        return {"key": self.key, "persist_state": "session"}

    @property
    def labels(self) -> Mapping[T, str]:
        """What its options are called on screen, where it has options of its own."""
        return self.codec.labels

    @property
    def written(self) -> str:
        """The value as a parameter's text."""
        return self.codec.write(self.value)

    @property
    def written_default(self) -> str:
        return self.codec.write(self.default)


def _page() -> str:
    """The page that runs, by Streamlit's name for it; "" outside of any."""
    context = get_script_run_ctx()
    return "" if context is None else context.page_script_hash


def is_number(text: str) -> bool:
    """Whether this is a number, and one that a browser and Python read as it is written."""
    return text.isascii() and text.isdigit() and len(text) < 16


def count(noun: str) -> Codec[int]:
    """A number from 1 on."""

    def read(text: str) -> int:
        if not is_number(text) or int(text) < 1:
            raise ValueError(f"{noun} “{text[:40]}” is not a number from 1 on of at most 15 digits.")
        return int(text)

    return Codec(read, limits={"min_value": 1})


def within(noun: str, low: int, high: int, step: int = 1) -> Codec[int]:
    """A whole number with bounds, both of which it may reach."""

    def read(text: str) -> int:
        if not is_number(text) or not low <= int(text) <= high:
            raise ValueError(f"{noun} “{text[:40]}” is not a number from {low} to {high}.")
        return int(text)

    return Codec(read, limits={"min_value": low, "max_value": high, "step": step})


def place(noun: str, most: int = 10_000) -> Codec[int]:
    """A place in a list, which counts from 0 in the program."""
    counted = within(noun, 1, most)
    return Codec(lambda text: counted.read(text) - 1, lambda value: str(value + 1))


def places(noun: str) -> Codec[tuple[int, ...]]:
    """Places in a list, which count from 0 in the program, with commas between them."""

    def read(text: str) -> tuple[int, ...]:
        parts = text.split(",") if text else []
        if not all(is_number(part) and len(part) < 7 and int(part) for part in parts):
            raise ValueError(f"“{text[:40]}” names no {noun}. Write numbers from 1 on, separated by commas.")
        return tuple(sorted({int(part) - 1 for part in parts}))

    return Codec(read, lambda value: ",".join(str(place + 1) for place in value))


def one_of(noun: str, options: Mapping[Any, str] | Sequence[str]) -> Codec[Any]:
    """One of a few names; a mapping says what they are called on screen."""
    labels = options if isinstance(options, Mapping) else dict(zip(options, options, strict=True))

    def read(text: str) -> str:
        if text not in labels:
            raise ValueError(f"{noun} “{text[:40]}” does not exist; there are {', '.join(labels)}.")
        return text

    return Codec(read, labels=labels)


def optional(codec: Codec[T]) -> Codec[T | None]:
    """Nothing as None, anything else as ``codec`` has it."""
    return Codec(
        lambda text: codec.read(text) if text else None,
        lambda value: "" if value is None else codec.write(value),
        dict(codec.limits) | {"value": None} if codec.limits else {},
        codec.labels,
    )


def pattern(matches: str, complaint: str, *, empty: bool = False) -> Codec[str]:
    """A text of a certain shape; ``complaint`` ends the sentence about another one."""

    def read(text: str) -> str:
        if (text or not empty) and not re.fullmatch(matches, text):
            raise ValueError(f"“{text[:40]}” {complaint}")
        return text

    return Codec(read)


def names(matches: str, complaint: str) -> Codec[tuple[str, ...]]:
    """Names of a certain shape with commas between them, each once; whether they exist is for their page to say."""
    name = pattern(matches, complaint)
    return Codec(lambda text: tuple(dict.fromkeys(map(name.read, text.split(",") if text else []))))


def number(noun: str, low: float, high: float, step: float) -> Codec[float]:
    """A number with or without a fraction, and with bounds, both of which it may reach."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise ValueError(f"{noun} “{text[:40]}” is not a number from {low:g} to {high:g}.")
        return value

    limits = {"min_value": float(low), "max_value": float(high), "step": float(step)}
    return Codec(read, lambda value: f"{value:g}", limits)


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"a switch is 0 or 1, not “{text[:40]}”.")
    return text == "1"


SWITCH = Codec(_switch)
# Names of models with commas between them; whether they exist, and how many there may be, is for the page to say.
MODELS = Codec(lambda text: tuple(name.strip() for name in text.split(",") if name.strip()))
SHARE = number("the threshold", 0, 1, step=0.01)
HEADS = names(r"[1-9][0-9]{0,3}\.[1-9][0-9]{0,3}", "is not a head. Write heads as layer.head, as in 3.7.")


def read_values(fields: Iterable[Field[T]], texts: Mapping[str, str]) -> dict[Field[T], T]:
    """Values of some of the ``fields``, from the ``texts`` that stand for them in an address, by their names."""
    by_name = {field.name: field for field in fields}
    return {by_name[name]: by_name[name].codec.read(text) for name, text in texts.items()}


def whole_state(fields: Iterable[Field[Any]], values: Mapping[Field[Any], Any]) -> dict[Field[Any], Any]:
    """A value for each field: the default where ``values`` has none, so that nothing of the state before is left."""
    return {field: field.default for field in fields} | dict(values)
