"""The table of models and pages: what its command writes, and that the README holds it.

That the table tells the truth is tested in test_every_model.py.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from checkpoints import spec

from model_zoo import registry
from pages import __main__ as table
from pages.__main__ import claims

ROOT = Path(__file__).parents[2]
BERT = spec("bert", "x")


CLAIMS = [
    (BERT, "yes | yes | yes | yes | yes | yes | yes | yes"),
    (replace(BERT, nsp=None), "yes | yes | no NSP head | yes | yes | yes | yes | yes"),
    (replace(BERT, nsp="SOP"), "yes | yes | yes, as SOP | yes | yes | yes | yes | yes"),
    (
        replace(BERT, mlm=False, nsp=None),
        "yes | no MLM head | no NSP head | yes | all but switching off | no prediction to track | all but predictions"
        " | yes",
    ),
    (
        spec("gpt2", "x"),
        "yes, causal | no MLM head | no NSP head | yes | all but switching off | yes | all but predictions"
        " | no, only encoders",
    ),
    (
        spec("bart", "x"),
        "encoder, decoder, cross | yes | no NSP head | yes, the encoder's | yes, the encoder's | yes | yes"
        " | no, only encoders",
    ),
    (
        replace(BERT, heads=0, nsp=None),
        "no attention | yes | no NSP head | yes | no attention | all but heads | all but attention | yes",
    ),
]


def test_what_is_said_of_a_model() -> None:
    for model, expected in CLAIMS:
        assert " | ".join(claims(model)) == expected


def test_every_model_stands_in_the_table_once_and_the_readme_holds_it() -> None:
    head, line, *rows = [row.strip("| ").split(" | ") for row in table.markdown().splitlines()]
    names = "models, Attention, Masked words, Next sentence, Layers, Corpus, Cause, Compare, Train"
    assert head == names.split(", ")
    assert line == ["---"] * 9
    by_name = {name: tuple(cells) for names, *cells in rows for name in names.split("; ")}
    assert by_name == {model.name: claims(model) for model in registry.MODELS.values()}
    assert sum(len(names.split("; ")) for names, *_ in rows) == len(registry.MODELS)
    # If not: python -m pages --write README.md
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert table.written_into(readme) == readme


def test_the_command_prints_the_table_and_writes_between_the_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.main([]) == 0
    assert capsys.readouterr().out == table.markdown() + "\n"
    file = tmp_path / "README.md"
    file.write_text(f"before — é\n{table.START}\nold\n{table.END}\nafter\n", encoding="utf-8")
    expected = f"before — é\n{table.START}\n\n{table.markdown()}\n\n{table.END}\nafter\n"
    for _ in range(2):
        assert table.main(["--write", str(file)]) == 0
        assert file.read_text(encoding="utf-8") == expected


def test_a_file_without_a_place_for_the_table_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "README.md"
    for text in ("no marks", f"{table.END}\n{table.START}", table.START, f"{table.START}{table.END}" * 2):
        file.write_text(text, encoding="utf-8")
        assert table.main(["--write", str(file)]) == 1
        assert file.read_text(encoding="utf-8") == text
        assert "There is no place for the table" in capsys.readouterr().err
    assert table.main(["--write", str(tmp_path / "nowhere" / "x.md")]) == 1
    assert "was left as it was" in capsys.readouterr().err
