"""Data sets in the form in which the world publishes them (tests/reading/published): ``FILES`` by their names."""

import csv
import io
import json
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from model_zoo.errors import InvalidInput
from reading import read

FOLDER = Path(__file__).parent / "reading" / "published"
WHO = "My aunt", "The young baker", "A tired nurse", "Our neighbour", "The old pilot", "Some farmer", "Her teacher"
DID = "mended the fence", "sold a boat", "painted the hall", "lost the key", "found a coin", "wrote a song"
WHEN = "on Monday", "in spring", "before noon", "last year", "at night"
NLI = "entailment", "neutral", "contradiction"
TYPES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
N = range(70)
"""The numbers of the sentences that most of the files are made of."""


@dataclass(frozen=True)
class PublishedFile:
    """``kind`` is what it is read as; ``chosen`` what its reader cannot know and has to be told."""

    name: str
    kind: str
    data: bytes
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: bytes | None = None) -> Any:
        return read(self.data if data is None else data, self.kind, name=self.name, **self.chosen)

    def read_or_refused(self, data: bytes | None = None) -> Any:
        """The data, or what it is refused with."""
        try:
            return self.read(data)
        except InvalidInput as error:
            return str(error)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8-sig")


def sentence(n: int) -> str:
    """The n-th of sentences that are all different."""
    return f"{WHO[n % 7]} {DID[n // 7 % 6]} {WHEN[n // 42 % 5]}{f' of week {n // 210}' * (n >= 210)}."


def comma(header: str, rows: Sequence[Sequence[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([header.split(","), *rows])
    return out.getvalue().encode()


def zipped(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def parquet(rows: Sequence[Mapping[str, object]], features: Mapping[str, object] | None = None) -> bytes:
    """A table as Hugging Face's datasets writes it, with ``features`` in the schema's metadata."""
    table = pa.Table.from_pylist(list(rows))
    if features:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def published() -> Iterator[PublishedFile]:
    manifest = tomllib.loads((FOLDER / "files.toml").read_text("utf-8"))
    for kind, names in manifest["kinds"].items():
        for name in names:
            columns = manifest["columns"].get(name)
            chosen = {"columns": columns} if columns else {}
            yield PublishedFile(name, kind, (FOLDER / name).read_bytes(), chosen)


def two_quotes() -> Iterator[PublishedFile]:
    """Tab files of 3,000 rows: a quote opens in row 10, another closes 2,490 rows further on."""

    def cell(n: int, text: str) -> str:
        return {10: f'"{text}', 2500: f'{text}"'}.get(n, text)

    for name, kind, header, row in (
        ("", "labelled", "text\tlabel", lambda n: (cell(n, sentence(n)), "ab"[n % 2])),
        ("_corpus", "sentences", "id\ttext", lambda n: (n, cell(n, sentence(n)))),
        ("_minimal", "minimal pairs", "good\tbad", lambda n: (cell(n, f"He eats {n}."), f"He eat {n}.")),
        ("_pairs", "pairs", "a\tb\tlabel", lambda n: (cell(n, sentence(n)), sentence(n + 1), n % 2)),
    ):
        lines = [header, *("\t".join(map(str, row(n))) for n in range(3000))]
        yield PublishedFile(f"two_quotes{name}.tsv", kind, ("\n".join(lines) + "\n").encode())


FILES: Mapping[str, PublishedFile] = {file.name: file for file in (*published(), *two_quotes())}
_SENTENCES = [json.loads(line) for line in FILES["lists.jsonl"].text.splitlines()]
WORDS = [tuple(row["tokens"]) for row in _SENTENCES]
IOB2 = [tuple(row["ner_tags"]) for row in _SENTENCES]
"""The words and the tags of the files of tagged words."""
