"""The card of sizes: what it says of published and bundled models."""

import re
from pathlib import Path

import pytest

import model_zoo
from model_zoo import registry
from ui.size_card import PUBLISHED, sizes, table

WEIGHTS = Path(model_zoo.__file__).parent / "weights"


def test_bert_is_as_its_authors_say() -> None:
    base, large = (sizes(registry.MODELS[model]) for model in PUBLISHED)
    assert [base[row] for row in ("layers", "width (hidden size)", "attention heads a layer")] == ["12", "768", "12"]
    assert [large[row] for row in ("layers", "width (hidden size)", "attention heads a layer")] == ["24", "1,024", "16"]
    assert pytest.approx(130e9, rel=0.01) == 256 * 512 * 1_000_000  # sequences × tokens × steps
    assert base["tokens read in pretraining"] == "about 130 billion"


@pytest.mark.parametrize("name", ["bert", "tinybert", "modernbert", "bilstm"])
def test_tokens_and_minutes_are_those_of_the_model_card(name: str) -> None:
    card = " ".join((WEIGHTS / f"embedded-{name}" / "README.md").read_text(encoding="utf-8").split())
    training = card.partition("## Training")[2].partition("|")[0]
    millions = sum(float(n) for n in re.findall(r"([\d.]+) million tokens", training))
    minutes = sum(int(n) for n in re.findall(r"(\d+) minutes", training))
    rows = sizes(registry.MODELS[f"embedded/{name}"])
    assert rows["tokens read in pretraining"].split()[0] == f"{millions:.1f}"
    number, unit = rows["pretraining took"].split()[:2]
    assert float(number) * {"hours": 60, "minutes": 1}[unit] == pytest.approx(minutes, rel=0.02)


def test_another_listed_model_has_a_column_and_an_unlisted_one_has_none() -> None:
    assert "RoBERTa base" in table("FacebookAI/roberta-base")
    assert table("somebody/elses") == table("embedded/bert")
    assert len({line.count("|") for line in table("FacebookAI/roberta-base").splitlines()}) == 1
