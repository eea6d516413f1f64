"""docs/models.md: every architecture of transformers is in it, and none is worse than it says there."""

import re
from pathlib import Path

import pytest
from transformers import CONFIG_MAPPING

from model_zoo import coverage
from model_zoo.coverage import Row

STORED = coverage.read_table()


def parts(cell: str) -> dict[str, str]:
    """What a cell says, by what it says it of: "next token 2e-7; next sentence exact"."""
    matches = (re.fullmatch(r"(masked words|next token|next sentence|) ?(.*)", part) for part in cell.split("; "))
    return {match[1]: match[2] for match in matches if match}


def is_right(cell: str) -> bool:
    return re.fullmatch(r"exact|yes|\d+(e-\d+)?", cell) is not None


def is_worse(now: Row, stored: Row) -> bool:
    """Whether something is wrong or refused that was right."""
    if bool(now.cells) != bool(stored.cells):
        return bool(stored.cells)
    for new, old in zip(now.cells, stored.cells, strict=True):
        for of, message in parts(old).items():
            known = parts(new).get(of, "")
            if is_right(message) and not is_right(known):
                return True
            if "**" in known and "**" not in message:
                return True
    return (
        bool(now.cells)
        and now.cells[-1].split(";")[0].isdigit()
        and int(now.cells[-1].split(";")[0]) < int(stored.cells[-1].split(";")[0] or 0)
    )


def test_every_architecture_is_in_one_of_the_lists() -> None:
    assert sorted(STORED) == sorted(CONFIG_MAPPING)


@pytest.mark.slow
def test_no_architecture_is_worse_than_the_page_says() -> None:
    now = {row.kind: row for row in coverage.rows()}
    assert sorted(now) == sorted(STORED)
    assert not [f"{row} was: {STORED[kind]}" for kind, row in now.items() if is_worse(row, STORED[kind])]


USUAL = ("2e-7", "no head", "exact", "yes", "30")


@pytest.mark.parametrize(
    ("now", "stored", "worse"),
    [
        (("2e-7", "masked words 1e-7", *USUAL[2:]), ("exact", "masked words 9e-8", "2e-7", "1e-8", "30"), False),
        (("**0.2**", *USUAL[1:]), USUAL, True),
        (("… has none", *USUAL[1:]), USUAL, True),
        (("2e-7", "next token … no", *USUAL[2:]), ("2e-7", "next token 1e-7", *USUAL[2:]), True),
        (USUAL, ("… has none", "no head", "**3**", "… no", "28"), False),
        ((*USUAL[:4], "29"), USUAL, True),
        ((*USUAL[:4], "30; Attend **KeyError**"), USUAL, True),
        ((), USUAL, True),
        (("not opened: … no", "", "", "", ""), USUAL, True),
        (USUAL, ("not opened: … no", "", "", "", ""), False),
    ],
)
def test_what_is_worse(now: tuple[str, ...], stored: tuple[str, ...], worse: bool) -> None:
    assert is_worse(Row("bert", now), Row("bert", stored)) == worse


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [
        Row("bert", ("exact", "masked words 1e-7", "", "yes", "30")),
        Row("clip", reason="reads image and text: yes"),
    ]
    coverage.write_table(rows, tmp_path / "models.md")
    assert coverage.read_table(tmp_path / "models.md") == {row.kind: row for row in rows}


@pytest.mark.slow
def test_rows_of_those_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage.row("distilbert").cells[4].isdigit()
    assert coverage.row("vit") == Row("vit", reason="reads image")
    assert coverage.main(["gpt-sw3"]) == 0
    assert capsys.readouterr().out == "- gpt-sw3: another name of gpt2\n"
