"""Files as visitors bring them to fine-tune on, and what is read of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from training.finetuning.data import Data

TEXT = [(f"sentence {i}", "ab"[i % 2]) for i in range(20)]


def table(rows: Sequence[Sequence[object]], header: str = "text,label", separator: str = ",") -> bytes:
    lines = [header.split(","), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(separator.join(cells) for cells in lines).encode()


def jsonl(rows: Sequence[object]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def items(data: Data) -> list[Any]:
    return [*data.train, *data.dev, *data.test]


def said(data: Data) -> str:
    return "\n".join(data.notes)


def sentences(n: int) -> str:
    return "\n".join(f"Ann{i} x x B-PER\nsleeps x x O\n" for i in range(n))
