"""Every text that comes from outside shows as it is, in every figure and every HTML file: nothing of it is markup."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tried_texts import NASTY

from tests.viz.test_every_figure import EXAMPLES, FIGURES
from viz.bertviz_offline import bertviz_html
from viz.standalone import standalone_html

# The texts of the examples: tokens, words, labels, titles, names. All other strings are the figures' own choices.
_OUTSIDE = {"cat", "dog", "she", "t", "a", "b", "x", "y", "A", "B", "M", "m", "A task", "a long word in the way",
            "word order", "The cat saw dogs.", "The", "saw", "dogs"}  # fmt: skip
# What Plotly would take for markup, formulas, templates or links.
_RAW = ("<img", "<script", "</script", "$x$", "%{evil}", "<a ")


def _with(nasty: str, value: Any) -> Any:
    """The same value with the nasty text before each text from outside."""
    if isinstance(value, str):
        return f"{nasty}{value}" if value in _OUTSIDE else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with(nasty, part) for part in value))
    if isinstance(value, tuple | list):
        return type(value)(_with(nasty, part) for part in value)
    if isinstance(value, dict):
        return {_with(nasty, key) if key == "m" else key: _with(nasty, part) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: _with(nasty, getattr(value, field.name)) for field in dataclasses.fields(value) if field.init
        }
        return dataclasses.replace(value, **changed)
    return value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_from_outside_is_markup_in_a_figure(name: str) -> None:
    positional, named = EXAMPLES[name]
    for nasty in (*(nasty for nasty in NASTY if any(raw in nasty for raw in _RAW)), " ".join(NASTY)):
        figure = FIGURES[name](*_with(nasty, positional), **_with(nasty, named))
        for string in _strings(json.loads(figure.to_json())):
            assert not [raw for raw in _RAW if raw in string], string


def test_no_text_from_outside_is_markup_in_a_file() -> None:
    source = {"html": "<div></div>", "css": "", "js": "export default function () {}"}

    def files(text: str) -> tuple[str, str]:
        page = standalone_html(source, {"tokens": [text]}, title=text, caption=text, meta={text: text})
        return page, bertviz_html("head", [np.full((1, 2, 2), 0.5, dtype=np.float32)], [text, text])

    plain = files("x")
    for nasty in NASTY:
        for html, without in zip(files(nasty), plain, strict=True):
            assert html.count("<") == without.count("<")  # not one tag more than for a plain letter
            assert html.count("</script") == without.count("</script")
