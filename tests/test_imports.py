"""No files of the project import each other in a circle: at the top, in functions, for types, by a name in a string."""

import pytest

from benchmarks.imports import circles, import_graph, read_sources


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    sources = read_sources()
    assert len(sources) > 400
    assert circles(sources) == []


def test_imports_of_every_kind_are_seen() -> None:
    cases = {
        "from a import first\n": {"a.first"},
        "def late():\n    import a.first\n": {"a.first"},
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.first import value\n": {"a.first"},
        "from importlib import import_module\nimport_module('a.first')\n": {"a.first"},
        "import numpy\n": set(),
    }
    for second, imported in cases.items():
        sources = {"a": "", "a.first": "from a import second\n", "a.second": second}
        assert import_graph(sources)["a.second"] == imported, second
        assert circles(sources) == ([["a.first", "a.second"]] if imported else []), second
