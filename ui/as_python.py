"""The view on the screen as lines of Python that compute the same numbers, to copy into a notebook.

Whoever draws numbers puts the lines that compute them here, beside what can be saved; the page's loop draws the box "As
Python". Lines use the packages below the pages alone, so that they run wherever the project is installed.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import pandas as pd
import streamlit as st

from model_zoo.engine_methods import EngineMethods
from model_zoo.question import Question
from model_zoo.tuned import is_id
from model_zoo.types import DoubleArray, FloatArray, IntArray

PARTS: Final = "python_parts"
_ENGINE: Final = "from look_inside_bert import Engine"
_ABOUT: Final = "Counts from 0, as everywhere in Python. It runs where the project is installed (`pip install .`)."
_LONGEST: Final = 20_000  # bytes of a text that was pasted
_NOTHING: Final = "No lines: what is shown was not computed, or not to the end, or its input has changed since."


Numbers = FloatArray | DoubleArray | IntArray | pd.DataFrame
_TUNED: Final = """\
# The name tuned/… is known to the app alone: save the model on the page Train, unpack it, and write its folder instead.
"""
_ABOVE: Final = ("pages", "ui", "web", "streamlit")  # packages that lines do not use
_ALIASES: Final = {"numpy": "np", "pandas": "pd"}
_WORDS: Final = re.compile(r"[\w/]+")


@dataclass(frozen=True, slots=True)
class Part:
    """Lines after which ``numbers`` is what a view shows, and the numbers that it does show."""

    lines: str
    shows: Callable[[], Numbers]
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of Python that bind names, and what they ``use``: modules, classes and functions, or import lines."""

    text: str
    uses: tuple[object, ...] = ()

    def __add__(self, other: Lines | str) -> Lines:
        if isinstance(other, Lines):
            return Lines(self.text + other.text, self.uses + other.uses)
        return Lines(self.text + other, self.uses)


NO_LINES: Final = Lines("")


def _parts() -> dict[str, Part]:
    parts: dict[str, Part] = st.session_state.setdefault(PARTS, {})
    return parts


def clear() -> None:
    """Begin to show something: nothing of what was there stands as Python any more."""
    st.session_state[PARTS] = {}


def put(
    lines: Lines | str,
    shows: Callable[[], Numbers],
    *uses: object,
    part: str = "",
) -> None:
    """Put lines here that bind ``numbers``, an array or a table, to what the view shows, which ``shows`` gives.

    ``engine`` is bound before them, and by the parts before. Of the modules, classes and functions that the file of
    ``shows`` has imported, and of those that are given as ``uses``, what the lines name is imported, from where it is
    defined; lines that import can be given, too. The lines of each further picture are a ``part`` of their own, whose
    name is a comment above them.
    """
    if isinstance(lines, Lines):
        uses = *lines.uses, *uses
        lines = lines.text
    text = textwrap.dedent(lines).strip("\n")
    bound = _names("\n".join([*(part.lines for part in _parts().values()), text]), ast.Store)
    imported = getattr(shows, "__globals__", {}).items()
    known = {name: value for name, value in imported if name not in bound and _is_below(value)}
    known |= {_name(value): value for value in uses if not isinstance(value, str)}
    named = [known[name] for name in sorted(_names(text, ast.Load)) if name in known]
    imports = dict.fromkeys(map(_import_line, (*(use for use in uses if isinstance(use, str)), *named)))
    _parts()[part] = Part(text, shows, tuple(imports))


def _names(text: str, context: type[ast.expr_context]) -> set[str]:
    """The names that lines of Python use, or bind."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, context)}


def _is_below(value: object) -> bool:
    """Whether it is a module, class or function of a package below the pages."""
    if not isinstance(value, ModuleType | FunctionType | type):
        return False
    home = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return home.removeprefix("look_inside_bert.").partition(".")[0] not in _ABOVE


def _name(used: Any) -> str:
    """What a module, class or function is called in lines that import it."""
    name: str = used.__name__
    return _ALIASES.get(name, name.rpartition(".")[2])


def _import_line(used: Any) -> str:
    """The line that imports a module, class or function, from the shortest name of a package that has it."""
    if isinstance(used, str):
        return used
    if isinstance(used, ModuleType):
        package, _, name = used.__name__.rpartition(".")
        alias = _name(used)
        return f"from {package} import {name}" if package else f"import {name}" + f" as {alias}" * (alias != name)
    parts, name = used.__module__.split("."), used.__name__
    packages = (".".join(parts[:n]) for n in range(1, len(parts)))
    home = next((package for package in packages if getattr(sys.modules[package], name, None) is used), used.__module__)
    return f"from {home} import {name}"


def has_lines() -> bool:
    """Whether lines stand here already: those to come can use what they bind."""
    return bool(_parts())


def script(parts: Mapping[str, Part]) -> str:
    """All parts as one script."""
    imports = _merge_imports({_ENGINE, *(line for part in parts.values() for line in part.imports)})
    groups = ["\n".join(group) for _, group in itertools.groupby(sorted(imports, key=_import_group), key=_import_group)]
    blocks = [f"# {name}\n{part.lines}" if name else part.lines for name, part in parts.items()]
    tuned = any(map(is_id, _WORDS.findall("\n".join(blocks))))
    blocks[0] = f"{_TUNED if tuned else ''}engine = Engine()\n{blocks[0]}"
    return "\n\n".join([*groups, *blocks]) + "\n"


def _import_group(line: str) -> int:
    """Python's own modules stand first, the project's last."""
    module = line.split()[1].partition(".")[0]
    return 0 if module in sys.stdlib_module_names else 1 + (module == "look_inside_bert")


def _merge_imports(imports: Collection[str]) -> list[str]:
    """Each module's names in one line, in order."""
    names: dict[str, set[str]] = {}
    for line in imports:
        module, _, imported = line.removeprefix("from ").partition(" import ")
        names.setdefault(module, set()).update(filter(None, imported.split(", ")))
    return [f"from {name} import {', '.join(sorted(names[name]))}" if names[name] else name for name in sorted(names)]


def literal(value: object) -> str:
    """A value as Python writes it, in double quotes if possible; a dataclass without defaults, sets as sorted lists."""
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list | set | frozenset):
        ordered = value if isinstance(value, list) else sorted(value)
        return f"[{', '.join(map(literal, ordered))}]"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({arguments(**changed(value))})"
    return repr(value)


def changed(value: Any, names: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass, of these ``names`` or all, whose values are not their defaults."""
    values = {}
    for field in fields(value):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        actual = getattr(value, field.name)
        same = actual == default or (actual == frozenset() and default == ())
        if not same and (not names or field.name in names):
            values[field.name] = actual
    return values


def call(question: Question[Any], **expressions: str) -> str:
    """The call by which an engine is asked a question, where ``expressions`` stand for the fields of their names."""
    written = {name: literal(value) for name, value in changed(question).items()} | expressions
    names = [field.name for field in fields(question)]  # type: ignore[arg-type]
    named = [name for name in names if name in written]
    n = next((place for place, name in enumerate(named) if name != names[place] or place > 2), len(named))
    listed = ", ".join([*(written[name] for name in named[:n]), *(f"{name}={written[name]}" for name in named[n:])])
    method = _methods().get(type(question).__doc__)
    return f"engine.{method}({listed})" if method else f"engine.ask({type(question).__name__}({listed}))"


@cache
def _methods() -> dict[str | None, str]:
    """The methods of an engine that ask one question, by the docstring that they share with it."""
    methods = vars(EngineMethods).items()
    return {method.__doc__: name for name, method in methods if hasattr(method, "__signature__")}


def list_literal(values: Sequence[object]) -> str:
    """A list with a line for each value."""
    return "\n".join(["[", *(f"    {literal(value)}," for value in values), "]"])


def arguments(*values: Any, **named: Any) -> str:
    """The arguments of a call: those before the first of only None, and of those with names all but None."""
    positional = list(values)
    while positional and positional[-1] is None:
        positional.pop()
    return ", ".join(
        [*map(literal, positional), *(f"{name}={literal(value)}" for name, value in named.items() if value is not None)]
    )


def read_bytes(name: str, data: bytes, *, uploaded: bool) -> Lines:
    """The line that binds ``data`` to a visitor's file: one that was ``uploaded`` is read from where the lines run, as
    is a long text; a shorter one that was pasted stands in the line.
    """
    if uploaded or len(data) > _LONGEST:
        line = f"data = Path({literal(name)}).read_bytes()  # the file that you {'uploaded' if uploaded else 'pasted'}"
        return Lines(f"{line}\n", (Path,))
    text = data.decode()
    line = f'data = """{text}""".encode()'
    plain = text.isprintable() if "\n" not in text else all(map(str.isprintable, text.split("\n")))
    if "\n" not in text or "\\" in text or '"""' in text or text.endswith('"') or not plain:
        line = f"data = {literal(text)}.encode()"
    return Lines(f"{line}\n")


def box() -> None:
    """The box that shows the lines of what is on the screen when it is opened; a fragment."""
    opened = st.popover("As Python", icon=":material/code:", width="content", key="as-python", on_change="rerun")
    with opened, st.container(key="lines-of-python"):
        code = script(_parts()) if _parts() else ""
        st.caption(_ABOUT if code else _NOTHING)
        if opened.open and code:
            st.code(code, language="python", wrap_lines=True)
