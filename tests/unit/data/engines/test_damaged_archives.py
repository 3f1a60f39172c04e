"""One wrong byte where a zip archive says what is in it: it is read, or refused as damaged."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest
from openpyxl import Workbook

from discreet.data.catalog.sources import check_file
from discreet.data.engines.formats import write_plain
from discreet.errors import DiscreetError, InternalError, InvalidInput
from discreet.server.features.data import uploads
from discreet.server.features.data.uploads import UploadBounds
from sittings import FULL

CENTRAL, LOCAL, END = b"PK\1\2", b"PK\3\4", b"PK\5\6"


def workbook() -> bytes:
    """Return a workbook of few parts, without styles and what is said of its author."""
    book, full, out = Workbook(), io.BytesIO(), io.BytesIO()
    book.active.append(["a", "b"])
    book.active.append([1, "x"])
    book.save(full)
    with zipfile.ZipFile(full) as source, zipfile.ZipFile(out, "w") as made:
        for name in source.namelist():
            if not re.search(r"docProps|theme|styles", name):
                made.writestr(name, source.read(name))
    return out.getvalue()


def zipped_csv(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr("a.csv", "a,b\n1,x\n")
    return out.getvalue()


WHOLE = {
    "a.xlsx": workbook(),
    "a.csv.zip": zipped_csv(zipfile.ZIP_DEFLATED),
    "stored.csv.zip": zipped_csv(zipfile.ZIP_STORED),
    "bzip2.csv.zip": zipped_csv(zipfile.ZIP_BZIP2),
    "lzma.csv.zip": zipped_csv(zipfile.ZIP_LZMA),
}


def header_bytes(whole: bytes) -> list[int]:
    """Return the places of all bytes of the headers of members, of the directory and of its end."""
    places: list[int] = []
    for mark, fixed, lengths in ((LOCAL, 30, "<26xHH"), (CENTRAL, 46, "<28xHHH"), (END, 22, "")):
        at = whole.find(mark)
        while at >= 0:
            names = struct.unpack_from(lengths, whole, at) if lengths else ()
            places += range(at, at + fixed + sum(names))
            at = whole.find(mark, at + 4)
    return places


def changed(whole: bytes) -> list[bytes]:
    """Return the archive with each of those bytes changed; where there are many, a third of them in one of three ways."""
    places, found = header_bytes(whole), []
    many = not FULL and len(places) >= 200
    for at in places[:: 3 if many else 1]:
        ways = (255, 0, whole[at] ^ 0x55)
        some = ways[at // 3 % 3 :][:1] if many else ways
        found += [whole[:at] + bytes([value]) + whole[at + 1 :] for value in some]
    return found


def upload(path: Path) -> None:
    """Take a file in as the server does; the child's work is done here."""
    with patch.object(uploads, "_rewrite", lambda source, target, *_: write_plain(source, target)):
        uploads.plain_upload(path, file="sent.xlsx", bounds=UploadBounds(1 << 20))


@pytest.mark.parametrize("name", WHOLE)
def test_each_byte_of_the_headers_wrong(tmp_path, name):
    path, said = tmp_path / name, {"read": 0, "refused": 0}
    for content in changed(WHOLE[name]):
        path.write_bytes(content)
        for take in (check_file, upload):
            try:
                take(path)
                said["read"] += 1
            except InternalError:
                raise
            except DiscreetError:
                said["refused"] += 1
    assert min(said.values()) > 50


def test_a_version_that_no_reader_knows_is_damage(tmp_path):
    whole = bytearray(WHOLE["a.xlsx"])
    whole[whole.index(CENTRAL) + 6] = 255
    path = tmp_path / "a.xlsx"
    path.write_bytes(whole)
    with pytest.raises(InvalidInput, match="begins like a packed file, but cannot be unpacked"):
        check_file(path)


def test_the_twin_with_a_list_of_errors_meets_others(tmp_path):
    """As it was: only a broken directory was damage, and whatever else was raised came through."""
    path, raw = tmp_path / "a.xlsx", 0
    for content in changed(WHOLE["a.xlsx"]):
        path.write_bytes(content)
        try:
            zipfile.ZipFile(path).close()
        except zipfile.BadZipFile:
            pass
        except Exception:
            raw += 1
    assert raw
