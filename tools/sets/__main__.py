"""Writes the items of the built-in sets: ``python -m tools.sets`` makes ``training/finetuning/sets/*.tsv`` anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tools.sets import acceptability, entities, inference, questions, sentiment, similarity
from training.finetuning.data import SPLITS, Item, Labelled, PassageQuestion, Scored, Split, Tagged
from training.finetuning.sets import DITTO, FOLDER

MAKE: Final[Mapping[str, Callable[[Split], Sequence[tuple[int, Any]]]]] = {
    "acceptability": acceptability.make_items,
    "entities": entities.make_items,
    "inference": inference.make_items,
    "questions": questions.make_items,
    "sentiment": sentiment.make_items,
    "similarity": similarity.make_items,
}

_REPEATED: Final = ("text", "passage", "kind", "cluster")


def cells(item: Item) -> dict[str, str]:
    """An item as cells by their columns."""
    match item:
        case Labelled():
            return {"label": item.label, "text": item.text} | ({} if item.pair is None else {"pair": item.pair})
        case Tagged():
            return {"words": " ".join(item.words), "tags": " ".join(item.tags)}
        case PassageQuestion():
            ((start, answer),) = item.answers or ((0, ""),)
            return {"question": item.text, "start": str(start), "answer": answer, "passage": item.pair}
        case Scored():
            return {"score": f"{item.score:g}", "text": item.text, "pair": item.pair}


def table(name: str) -> str:
    """The content of a set's file; a text or cluster that is the same as in the line above is not repeated."""
    rows: list[dict[str, str]] = []
    for split in SPLITS:
        for number, item in MAKE[name](split):
            kind = {"kind": acceptability.KIND_OF[item.cluster]} if name == "acceptability" else {}
            rows.append({"split": split, "number": str(number)} | cells(item) | kind | {"cluster": item.cluster})
    columns = list(rows[0])
    lines = ["\t".join(columns)]
    for above, row in zip([{}, *rows], rows, strict=False):
        repeated = {column for column in _REPEATED if column in row and above.get(column) == row[column]}
        lines.append("\t".join(DITTO if column in repeated else row[column] for column in columns))
    return "\n".join(lines) + "\n"


def main() -> None:
    for name in MAKE:
        (FOLDER / f"{name}.tsv").write_text(table(name), encoding="utf-8")


if __name__ == "__main__":
    main()
