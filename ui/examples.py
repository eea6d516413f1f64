"""Examples to start from: each is a complete state of its page, in which there is something to see.

What they show was found by measuring the models that ship with the app; ``tests/pages/test_examples.py`` measures it
again, so that a retrained model cannot leave an example that shows nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui.field import Field, read_values, whole_state


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """``values`` are the fields it sets. ``looks`` are pairs of tokens, counted from 1: in the head that it opens,
    the first looks at the second more than at any other.
    """

    title: str
    values: Mapping[Field[Any], Any]
    looks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """The examples of one page. ``decides`` are the fields of a state: what an example does not name gets its default.
    ``clicked`` are those of them that a click in the page's picture changes.
    """

    decides: tuple[Field[Any], ...]
    all: tuple[Example, ...]
    clicked: tuple[Field[Any], ...] = ()

    def state(self, example: Example) -> dict[Field[Any], Any]:
        """All the fields that choosing this example sets."""
        return whole_state(self.decides, example.values)

    def on_screen(self) -> Example | None:
        """The example whose state the page is in, whatever has been clicked in its picture since."""
        for example in self.all:
            wanted = self.state(example)
            if all(field.written == field.codec.write(wanted[field]) for field in wanted if field not in self.clicked):
                return example
        return None


def read_examples(page: str, decides: tuple[Field[Any], ...], clicked: tuple[Field[Any], ...] = ()) -> Examples:
    """The examples in ``examples.toml`` of a page's folder: of each its title, the values of fields, as they stand in
    an address, and what it ``looks`` at, if that is to be measured.
    """
    file = Path(__file__).parents[1] / "pages" / page / "examples.toml"
    examples = [
        Example(
            example["title"],
            read_values(decides, example["values"]),
            tuple((query, key) for query, key in example.get("looks", ())),
        )
        for example in tomllib.loads(file.read_text(encoding="utf-8"))["examples"]
    ]
    return Examples(decides, tuple(examples), clicked)
