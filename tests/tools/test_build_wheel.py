"""What the build of a wheel changes in a module: where it imports the project's own packages from, and nothing else."""

import pytest

from tools.build_wheel import rename_imports


@pytest.mark.parametrize(
    ("source", "renamed"),
    [
        ("from viz.grid import grid", "from look_inside_bert.viz.grid import grid"),
        ("from viz import (\n    grid,\n)", "from look_inside_bert.viz import (\n    grid,\n)"),
        ("import viz", "import look_inside_bert.viz as viz"),
        ("import viz.grid as grid", "import look_inside_bert.viz.grid as grid"),
        ("import viz.grid", "import look_inside_bert.viz.grid, look_inside_bert.viz as viz"),
        ("import re, web\nweb.viz", "import re, look_inside_bert.web as web\nweb.viz"),
        ("def é(): 'é'; from web import a", "def é(): 'é'; from look_inside_bert.web import a"),
        ("from .viz import a\nfrom vizard import b\nimport webs", None),
        ('"import viz"  # from viz import grid\r\n', None),
    ],
)
def test_imports_of_rooms_come_from_the_package(source: str, renamed: str | None) -> None:
    assert rename_imports(source.encode(), {"viz", "web"}).decode() == (renamed or source)
