"""Parquet, the format in which the Hugging Face hub keeps data sets, read by pyarrow some rows at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from model_zoo.errors import InvalidInput
from reading import progress
from reading.data import Notes, Table
from reading.text import MAX_LINES, check_cells

BEGINS: Final = b"PAR1"

_ROWS_AT_ONCE: Final = 500
_FEATURES: Final = b"huggingface"


def table(data: bytes, name: str, notes: Notes) -> Table:
    """The rows of a Parquet table, numbered from 1. Numbers of classes whose names the file has become these names.

    Raises InvalidInput where it is cut off or too long.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        n_rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidInput(f"{name} is a Parquet table that cannot be read. Check that it is whole.") from error
    if n_rows > MAX_LINES:
        raise InvalidInput(f"{name} has {n_rows:,} rows; a table may have up to {MAX_LINES:,}. Use a sample of them.")
    names = [str(field.name) for field in schema]
    classes = _class_names(schema.metadata or {})
    notes.unit = "row"
    rows = _rows(file, name, [classes.get(column, ()) for column in names], len(data))
    table = Table("a Parquet table", names, rows, unit="row")
    table.look_at(1)
    return table


def _rows(
    file: pq.ParquetFile, name: str, classes: list[Sequence[str]], n_bytes: int
) -> Iterator[tuple[int, list[Any]]]:
    number, n_rows = 0, max(file.metadata.num_rows, 1)
    try:
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
            columns = [column.to_pylist() for column in batch.columns]
            progress.count(n_bytes * batch.num_rows // n_rows)
            for values in zip(*columns, strict=True):
                number += 1
                row = [
                    _name_values(value, of) if of else _text(value) for value, of in zip(values, classes, strict=True)
                ]
                check_cells(row, name, "row", number)
                yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{name}, after row {number:,}: the Parquet table cannot be read further. Check that it is whole."
        ) from error


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _name_values(value: Any, names: Sequence[str]) -> Any:
    """The names of classes given as numbers; a number beyond them, as -1, stands for none."""
    if isinstance(value, list):
        return [_name_values(element, names) for element in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _class_names(metadata: dict[bytes, bytes]) -> dict[str, Sequence[str]]:
    """Of each column of classes their names, as the library ``datasets`` writes them into the file."""
    try:
        features = json.loads(metadata.get(_FEATURES, b"{}"))["info"]["features"]
        return {column: names for column, feature in features.items() if (names := _names_of(feature))}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _names_of(feature: Any) -> Sequence[str]:
    if isinstance(feature, list):
        return _names_of(feature[0])
    names = feature.get("names")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return _names_of(feature["feature"]) if "feature" in feature else ()
