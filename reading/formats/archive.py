"""Zip archives: the files in them, and never more bytes than are allowed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from model_zoo.errors import InvalidInput
from model_zoo.types import MB, counted
from reading import progress
from reading.data import Notes

BEGINS: Final = (b"PK\x03\x04", b"PK\x05\x06")
MAX_FILES: Final = 1_000

_ENTRY: Final = b"PK\x01\x02"  # begins each entry of an archive's directory
_DEFLATED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CLUTTER: Final = ("__macosx", "thumbs.db", "desktop.ini")
# What Python's own reader raises for archives that are cut off or forged.
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def unpacked(files: Sequence[tuple[str, bytes]], max_bytes: int, notes: Notes) -> Iterator[tuple[str, bytes, bool]]:
    """The files themselves, those in archives among them, with whether they are of one.

    Raises InvalidInput where they are too many, or more than ``max_bytes`` together, packed or unpacked.
    """
    if len(files) > MAX_FILES:
        raise InvalidInput(f"There are {len(files):,} files; at most {MAX_FILES:,} are read. Join them.")
    packed = sum(len(data) for _, data in files)
    if packed > max_bytes:
        raise _too_large("The files together are", max_bytes, packed)
    left = max_bytes
    n_hidden: list[str] = []
    for name, data in files:
        if not data.startswith(BEGINS):
            left -= len(data)
            if left < 0:
                raise _too_large("The files together are", max_bytes)
            yield name, data, False
            continue
        for member, content in _members(name, data, left, max_bytes, n_hidden):
            left -= len(content)
            yield member, content, True
    if n_hidden:
        notes.say(f"Passed over {counted(len(n_hidden), 'hidden file')} in the archive.")


def _too_large(name: str, max_bytes: int, size: int | None = None) -> InvalidInput:
    amount = f"{size / MB:.1f} MB" if size else f"more than {max_bytes // MB} MB unpacked"
    return InvalidInput(f"{name} {amount}; up to {max_bytes // MB} MB are read. Use a sample of the sentences.")


def _members(name: str, data: bytes, left: int, max_bytes: int, hidden: list[str]) -> Iterator[tuple[str, bytes]]:
    """The files of an archive. What its directory says of sizes is not believed: no more than ``left`` bytes are
    unpacked.
    """
    # Before the directory is read, which makes an object of each entry.
    if data.count(_ENTRY) > MAX_FILES:
        raise InvalidInput(f"{name} holds more than {MAX_FILES:,} files. Join them, or pack fewer.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            progress.count(n_more=min(sum(entry.file_size for entry in entries), left) - len(data))
            if any(entry.filename == "[Content_Types].xml" for entry in entries):
                raise InvalidInput(
                    f"{name} is a workbook of Excel or a document of Word. Save its table as CSV or its text as UTF-8."
                )
            for entry in entries:
                parts = entry.filename.replace("\\", "/").split("/")
                if entry.is_dir():
                    continue
                if any(part.lower() in _CLUTTER or (part.startswith(".") and part != "..") for part in parts):
                    hidden.append(entry.filename)
                    continue
                printable = "".join(sign for sign in entry.filename if sign.isprintable())[-80:]
                content = _content(archive, entry, f"{printable} in {name}", parts, left, max_bytes)
                left -= len(content)
                yield f"{name}/{printable}", content
    except _BROKEN as error:
        raise InvalidInput(
            f"{name} is not a zip archive that can be unpacked. Check that it is complete, and pack it again."
        ) from error


def _content(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, parts: list[str], left: int, max_bytes: int
) -> bytes:
    """What an entry holds. Raises InvalidInput where that is not to be unpacked, or more than ``left`` bytes."""
    if ".." in parts or parts[0] in ("", "~") or parts[0].endswith(":"):
        raise InvalidInput(f"{name}: the path leads out of the archive. Pack the files themselves.")
    if entry.flag_bits & 1:
        raise InvalidInput(f"{name} is encrypted. Pack it without a password.")
    if entry.compress_type not in _DEFLATED:  # others unpack without a bound
        raise InvalidInput(f"{name} is packed by a method that is not read. Pack it as an ordinary zip (Deflate).")
    with archive.open(entry) as opened:
        content = opened.read(left + 1)
    if len(content) > left:
        raise _too_large(f"{name}: the files together are", max_bytes)
    if content.startswith(BEGINS):
        raise InvalidInput(f"{name} is an archive, too. Pack the files themselves into one archive.")
    return content
