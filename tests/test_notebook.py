"""docs/notebook.md: every recipe runs as it stands there, and prints what stands under it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "notebook.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## \d+\. (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
_CODE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_recipes_are_numbered_and_each_is_one_block_with_its_output() -> None:
    assert re.findall(r"^## (\d+)\.", PAGE, re.MULTILINE) == [str(number + 1) for number in range(len(RECIPES))]
    assert all(len(_CODE.findall(recipe)) == recipe.count("```python") == 1 for recipe in RECIPES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_prints_what_stands_under_it(name: str) -> None:
    ((code, expected),) = _CODE.findall(RECIPES[name])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == expected.splitlines()
