"""Files that people bring: every encoding, every line ending, and a sentence for what is no text."""

import io
import tomllib
import zipfile
from pathlib import Path

import pytest

from model_zoo.errors import InvalidInput
from reading.data import Choices, Notes
from reading.formats import delimited
from reading.sentences import split
from reading.text import MAX_CELL, MAX_LINES, Text, check_size

TEXT = "Füße, naïve\nzwei"


def decoded(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    text = Text.decode(data, name)
    return text.joined(), text.notes


def test_unicode_is_read_without_a_word_and_a_second_byte_order_mark_is_none_of_the_first_columns_name() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
        assert decoded(mark + TEXT.encode(encoding), "own") == (TEXT, ())
    for encoding in ("utf-8-sig", "utf-16"):
        assert decoded("\ufefftext,label\na,b".encode(encoding), "own") == ("text,label\na,b", ())


def test_windows_1252_is_read_and_said() -> None:
    text, (note,) = decoded(TEXT.encode("cp1252"), "own")
    assert text == TEXT
    assert "Windows-1252" in note
    text = "À l'été, où étaient-elles allées? Où? À Bâle, là-bas, à côté. Größe, Öl, Äpfel, Übermut. ÉÉÉ"
    assert decoded(text.encode("cp1252"), "own")[0] == text  # many accents are a language of the west


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "own is empty"),
        (b" \r\n\t", "own is empty"),
        ("\ufeff".encode(), "own is empty"),
        (b"text,label\n\x00,a", "own is not a text file"),
        (b"\xff\xfe\x00", "own is not the UTF-16 that it begins as"),
        (b"\x81\x8d", "own is neither UTF-8"),
    ],
)
def test_what_is_no_text_gets_a_sentence(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        decoded(data, "own")


def test_the_limit_is_a_limit_on_bytes_and_named() -> None:
    assert check_size(b"x" * 2**21, "own", 2**21) == b"x" * 2**21
    with pytest.raises(InvalidInput, match=r"own is 50\.0 MB; files may be up to 20 MB"):
        check_size(b"x" * 50_000_000, "own", 20_000_000)


def test_lines_end_at_line_feeds_and_carriage_returns_only() -> None:
    text = Text.decode("a\r\nb\rc\n\nd\u2028e\x0bf\x85g".encode(), "own")
    assert list(text.lines()) == ["a", "b", "c", "", "d\u2028e\x0bf\x85g"]
    assert list(text.numbered()) == list(enumerate(text.lines(), start=1))
    assert "".join(text.lines(ends=True)) == text.joined()


def test_what_is_compressed_or_a_picture_is_named_and_never_unpacked() -> None:
    for begins, kind in (
        (b"PK\x03\x04", "Excel or a zip archive"),
        (b"PK\x05\x06", "Excel or a zip archive"),
        (b"\xd0\xcf\x11\xe0", "an old workbook of Excel"),
        (b"\x1f\x8b\x08", "compressed file"),
        (b"BZh9", "compressed file"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x89PNG\r\n", "a picture"),
        (b"PAR1", "a Parquet table"),
    ):
        with pytest.raises(InvalidInput, match=f"own is .*{kind}.*, not a text file"):
            decoded(begins + b" and what follows", "own")
    assert decoded(b"PK is a short name.", "own")[0] == "PK is a short name."  # a text may begin like an archive


def test_a_workbook_that_unpacks_to_a_hundred_times_its_size_is_refused_by_how_it_begins() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 10_000_000)
    with pytest.raises(InvalidInput, match=r"own\.xlsx is a workbook of Excel or a zip archive, not a text file"):
        decoded(file.getvalue(), "own.xlsx")


def test_lines_beyond_the_limit_are_refused_and_counted() -> None:
    assert decoded(b"a" + b"\r\n" * (MAX_LINES - 1), "own")[1] == ()
    for end in (b"\n", b"\r"):
        with pytest.raises(InvalidInput, match="own has 1,000,001 lines; files may have up to 1,000,000"):
            decoded(b"a" + end * MAX_LINES, "own")


def rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows below the names of the columns that hold anything."""
    notes = Notes()
    notes.names.append("own")
    table = delimited.table(Text.decode(text.encode(), "own"), Choices(), notes, known=True)
    return [(line, row) for line, row in table.rows if row]


def test_rows_have_the_numbers_of_their_lines() -> None:
    assert rows('\na;b\n\n"x\ny";z\n;\n1;2') == [(4, ["x\ny", "z"]), (7, ["1", "2"])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n" + "x" * (MAX_CELL + 1), "own, line 2: .* 131,072 characters. Close the quote"),
        ('a,b\n"never closed\n' + "x,y\n" * 40_000, "own, line 2: .* 131,072 characters"),
        ("a,b\n" + "," * delimited.MAX_COLUMNS + "x", "own, line 2: 201 columns; .* 200"),
        ('a,b\n"x"y,z', "own, line 2: .*well-formed table"),
    ],
)
def test_tables_beyond_a_limit_are_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        rows(text)


@pytest.mark.slow
def test_as_many_rows_as_allowed_are_read() -> None:
    assert len(rows("a\n" + "x\n" * 200_000)) == 200_000


def test_chinese_that_is_not_unicode_is_refused_and_not_read_as_accents() -> None:
    text = "text,label\n" + "".join(f"我们都喜欢这部电影{n},{'ab'[n % 2]}\n" for n in range(30))
    for encoding in ("gbk", "gb18030"):
        with pytest.raises(InvalidInput, match="neither UTF-8 nor UTF-16"):
            decoded(text.encode(encoding), "own")


TEXTS = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TEXTS)
def test_split(case: str) -> None:
    text, expected = TEXTS[case]
    assert list(split(text)) == expected


def test_nothing_is_lost() -> None:
    text = "Dr. Who? Yes... e.g. this! “No.” J. R. said.\n\nThe end"
    assert "".join("".join(split(text)).split()) == "".join(text.split())
