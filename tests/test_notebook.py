"""docs/notebook.md: every recipe runs as it stands there, and prints what stands under it; so do the other sections,
whose blocks follow from each other. What docs/peers.md names from BertViz is there, and so is what takes its place.
"""

import contextlib
import inspect
import io
import re
from pathlib import Path

import pytest
from bertviz import head_view, model_view
from bertviz.neuron_view import show

from model_zoo.engine_interface import EngineInterface
from model_zoo.types import AttentionRun
from viz import notebook

PAGE = (Path(__file__).parents[1] / "docs" / "notebook.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## \d+\. (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
SECTIONS = {
    name: blocks
    for name, text in re.findall(r"^## (\D.+?)\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    if (blocks := re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL))
}
_CODE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_recipes_are_numbered_and_each_is_one_block_with_its_output() -> None:
    assert re.findall(r"^## (\d+)\.", PAGE, re.MULTILINE) == [str(number + 1) for number in range(len(RECIPES))]
    assert all(len(_CODE.findall(recipe)) == recipe.count("```python") == 1 for recipe in RECIPES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_prints_what_stands_under_it(name: str) -> None:
    ((code, expected),) = _CODE.findall(RECIPES[name])
    _run(code, expected, {"__name__": "__main__"})


@pytest.mark.slow
@pytest.mark.parametrize("name", SECTIONS)
def test_blocks_of_a_section_print_what_stands_under_them(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = {"__name__": "__main__"}
    for code, expected in SECTIONS[name]:
        _run(code, expected, known)


def _run(code: str, expected: str, known: dict[str, str]) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/notebook.md", "exec"), known)
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == expected.splitlines()


def _table(section: str, page: str = PAGE) -> list[list[str]]:
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def test_every_widget_is_named() -> None:
    assert sorted(re.findall(r"`(\w+)\(", " ".join(row[0] for row in _table("Pictures")))) == sorted(notebook.__all__)


def test_the_table_names_what_bertviz_and_this_project_have() -> None:
    page = (Path(__file__).parents[1] / "docs" / "peers.md").read_text(encoding="utf-8")
    theirs, ours = map(" ".join, zip(*_table("Coming from BertViz", page), strict=True))
    parameters = {name for view in (head_view, model_view, show) for name in inspect.signature(view).parameters}
    assert set(re.findall(r"(\w+)=", theirs)) - {"output_attentions"} <= parameters
    calls = set(re.findall(r"(?<![\w.])(engine\.|run\.|)([a-z_]+)\(", ours))
    assert {("engine.", "attend"), ("run.", "query_key"), ("", "grid")} <= calls
    owners = {"engine.": EngineInterface, "run.": AttentionRun, "": notebook}
    assert [name for owner, name in calls if not hasattr(owners[owner], name)] == []


def test_the_names_of_the_contract_are_there() -> None:
    page = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("\n## The contract\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", section, re.MULTILINE)
    names = {row: re.findall(r"`(\w+)`", cell) for row, cell in rows}
    assert [name for name in names["`Engine`"] if not hasattr(EngineInterface, name)] == []
    assert [name for name in names["what `attend` gives"] if not hasattr(AttentionRun, name)] == []
    assert sorted(names["`viz.notebook`"]) == sorted(notebook.__all__)
