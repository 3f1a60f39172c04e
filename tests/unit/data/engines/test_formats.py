"""One table in every readable format gives one and the same plain CSV, or one sentence."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile

import pyarrow as pa
import pytest

from discreet.data.engines.files import column_names, find_files, plain_files
from discreet.data.engines.formats import detected_encoding
from discreet.errors import CatalogError, InvalidInput

ROWS = [("Köln", "1,5"), ("Zürich", '2"'), ("Oslo", "")]
TEXT = 'city,cost\nKöln,"1,5"\nZürich,"2"""\nOslo,\n'


def packed_zip(path, names=("t.csv",)):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, TEXT)


def zstd(path):
    with pa.output_stream(str(path), compression="zstd") as out:
        out.write(TEXT.encode())


def json_lines(path):
    lines = [json.dumps({"city": city, "cost": cost or None}) for city, cost in ROWS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sqlite(path):
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (city TEXT, cost TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
    database.close()


def workbook(path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("city", "cost"), *ROWS]:
        book.active.append(row)
    book.save(path)


FORMATS = {
    "t.csv": lambda path: path.write_text(TEXT, encoding="utf-8"),
    "mark.csv": lambda path: path.write_text(TEXT, encoding="utf-8-sig"),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "named_wrongly.csv": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "t.csv.zst": zstd,
    "t.zip": packed_zip,
    "wide.csv": lambda path: path.write_text(TEXT, encoding="utf-16"),
    "cr.csv": lambda path: path.write_bytes(TEXT.replace("\n", "\r").encode()),
    "t.jsonl": json_lines,
    "t.sqlite": sqlite,
    "t.xlsx": workbook,
}


def plain_text(folder, name, encoding=""):
    source = find_files("t", name, folder, encoding)
    assert column_names("t", source.paths[0], encoding) == ["city", "cost"]
    (path,) = plain_files(source, folder).paths
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    return content.decode("utf-8-sig")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path, name):
    FORMATS[name](tmp_path / name)
    assert plain_text(tmp_path, name) == TEXT


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-16-le", "utf-16-be"])
def test_a_declared_encoding_is_read_and_detected(tmp_path, encoding):
    path = tmp_path / "old.csv"
    path.write_bytes(TEXT.encode(encoding if encoding != "windows-1252" else "cp1252"))
    assert plain_text(tmp_path, "old.csv", encoding) == TEXT
    guessed, words = detected_encoding(path)
    assert guessed == {"latin-1": "windows-1252"}.get(encoding, encoding)
    assert guessed.startswith("utf") or words == ("Köln", "Zürich")


def test_utf_8_needs_no_word(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT, encoding="utf-8")
    assert detected_encoding(tmp_path / "t.csv") == ("", ())


def test_a_bare_carriage_return_in_a_cell_is_no_line_end(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'city,cost\n"a\rb",1\n')
    source = find_files("t", "t.csv", tmp_path)
    assert plain_files(source, tmp_path) == source


def test_a_table_of_several_must_be_named(tmp_path):
    sqlite(tmp_path / "t.sqlite")
    with sqlite3.connect(tmp_path / "t.sqlite") as database:
        database.execute("CREATE TABLE other (x)")
    database.close()
    with pytest.raises(CatalogError, match="say which"):
        plain_text(tmp_path, "t.sqlite")
    source = find_files("t", "t.sqlite#T", tmp_path)
    assert source.part == "T"
    (path,) = plain_files(source, tmp_path).paths
    assert path.read_text(encoding="utf-8") == TEXT


def test_an_archive_of_several_files_is_refused(tmp_path):
    packed_zip(tmp_path / "t.zip", ("a.csv", "b.csv"))
    with pytest.raises(InvalidInput, match="holds 2 files"):
        plain_text(tmp_path, "t.zip")


def test_a_folder_is_its_files(tmp_path):
    (tmp_path / "year").mkdir()
    for name in ("b.csv", "a.csv", "_SUCCESS", ".c.csv.crc"):
        (tmp_path / "year" / name).write_text(TEXT, encoding="utf-8")
    found = find_files("t", "year", tmp_path)
    assert [path.name for path in found.paths] == ["a.csv", "b.csv"]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.zip", "t.jsonl", "t.sqlite"])
def test_a_damaged_file_is_one_sentence_without_a_cell(tmp_path, name):
    FORMATS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2] + b"\xff\xfe CANARY")
    with pytest.raises((InvalidInput, CatalogError)) as caught:
        plain_text(tmp_path, name)
    assert "CANARY" not in str(caught.value)
    assert "K\u00f6ln" not in str(caught.value)
