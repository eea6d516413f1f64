"""Published files that were damaged on their way: each is read, or refused in one sentence with its name and line."""

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from fuzzing import one_sentence
from published_files import FILES, PublishedFile, zipped

TEXT_FILES = [name for name in FILES if not name.endswith(".parquet")]
A_PLACE = re.compile(r"(line|row|record|question|article|passage|item|sentence) [\d,]+")


def decoded(file: PublishedFile) -> str:
    return file.data.decode("cp1252" if file.name == "windows.csv" else "utf-8-sig")


def separator(file: PublishedFile) -> str:
    """What stands between its cells."""
    lines = decoded(file).splitlines()
    line = lines[len(lines) // 2]
    return next((sign for sign in "\t;, " if sign in line), ",")


def with_middle_line(file: PublishedFile, change: Callable[[str], str]) -> bytes:
    lines = decoded(file).splitlines(keepends=True)
    place = next(n for n in range(len(lines) // 2, len(lines)) if len(lines[n].strip()) > 5)
    lines[place] = change(lines[place])
    return "".join(lines).encode()


def widened(line: str, sign: str) -> str:
    """With 300 more cells between these signs, or 300 more keys."""
    if line.rstrip().endswith("}"):
        return line.rstrip()[:-1] + "".join(f', "k{n}": {n}' for n in range(300)) + "}\n"
    return line.rstrip("\n") + sign + sign.join(map(str, range(300))) + "\n"


def all_widened(file: PublishedFile) -> bytes:
    sign = separator(file)
    lines = decoded(file).splitlines(keepends=True)
    return "".join(widened(line, sign) if line.strip() else line for line in lines).encode()


def long_word(line: str) -> str:
    """A word or number in the middle of the line is a megabyte."""
    words = list(re.finditer(r"[A-Za-z]{3,}|\d+", line))
    word = words[len(words) // 2]
    return line[: word.start()] + "x" * 1_000_000 + line[word.end() :]


DAMAGE: dict[str, Callable[[PublishedFile], bytes]] = {
    "a row of 300 columns": lambda file: with_middle_line(file, lambda line: widened(line, separator(file))),
    "300 columns": all_widened,
    "a cell of 1 MB": lambda file: with_middle_line(file, long_word),
    "a NUL": lambda file: with_middle_line(file, lambda line: f"{line[:3]}\0{line[3:]}"),
    "cut in UTF-16": lambda file: decoded(file).encode("utf-16")[: len(decoded(file)) | 1],
}  # fmt: skip


def read_or_refused(file: PublishedFile, data: bytes) -> Any:
    """The data, whole in itself; or the sentence with which it is refused, which has the file's name."""
    actual = file.read_or_refused(data)
    if isinstance(actual, str):
        one_sentence(actual)
        assert file.name in actual
        return actual
    assert actual.items
    assert len(actual.items) == len(actual.lines) == len(actual.splits)
    for note in actual.notes:
        one_sentence(note)
    return actual


@pytest.mark.parametrize("name", FILES)
def test_cut_in_the_middle(name: str) -> None:
    file = FILES[name]
    for share in (0.1, 0.5, 0.9):
        read_or_refused(file, file.data[: int(len(file.data) * share)])
    read_or_refused(file, file.data[:-3])


@pytest.mark.parametrize("name", TEXT_FILES)
def test_in_utf_16_it_is_the_same(name: str) -> None:
    file = FILES[name]
    expected, actual = file.read_or_refused(), read_or_refused(file, decoded(file).encode("utf-16"))
    assert getattr(actual, "items", actual) == getattr(expected, "items", expected)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", TEXT_FILES)
def test_damaged_in_one_place_or_in_all(name: str, damage: str) -> None:
    file = FILES[name]
    actual = read_or_refused(file, DAMAGE[damage](file))
    in_a_line = damage in ("a row of 300 columns", "a cell of 1 MB") and not isinstance(file.read_or_refused(), str)
    assert not isinstance(actual, str) or not in_a_line or A_PLACE.search(actual)


@pytest.mark.parametrize("name", FILES)
def test_anything_read_as_any_other_kind(name: str) -> None:
    for kind in {file.kind for file in FILES.values()} - {FILES[name].kind}:
        read_or_refused(PublishedFile(name, kind, FILES[name].data), FILES[name].data)


@pytest.mark.parametrize("name", ["SST-2/train.tsv", "lists.jsonl", "train-v1.1.json", "next.csv"])
def test_damaged_inside_an_archive(name: str) -> None:
    file = FILES[name]
    packed = PublishedFile("own.zip", file.kind, b"", file.chosen)
    complete = zipped({"train.tsv": file.data})
    for data in (complete[: len(complete) // 2], complete[:-30], complete.replace(b"train", b"tr\0in", 1), zipped({}),
                 *(zipped({name: damage(file)}) for damage in DAMAGE.values())):  # fmt: skip
        actual = packed.read_or_refused(data)
        if isinstance(actual, str):
            one_sentence(actual)
            assert "own.zip" in actual or name in actual
        else:
            assert actual.items


@pytest.mark.parametrize("opened", ['{"text":', "[", '{"data": [', '{"text": {"a":'])
def test_memory_is_not_the_square_of_how_deep_lists_are_nested(opened: str) -> None:
    n = 8_000
    tracemalloc.start()
    try:
        read_or_refused(PublishedFile("deep.json", "labelled", b""), opened.encode() + b"[" * n)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000 * n
