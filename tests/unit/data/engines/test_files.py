from __future__ import annotations

import gzip
import os

import pytest

from discreet.data.engines import files
from discreet.data.engines.files import ContentHashes, FileKind, column_names, delimiter, find_files
from discreet.errors import CatalogError


def test_files_are_found_by_name_pattern_and_folder(tmp_path):
    (tmp_path / "b.csv").write_text("a\n1\n")
    (tmp_path / "a.csv").write_text("a\n1\n")
    found = find_files("t", "*.csv", tmp_path)
    assert [path.name for path in found.paths] == ["a.csv", "b.csv"]
    assert found.kind is FileKind.CSV
    assert find_files("t", "a.csv", tmp_path).paths == ((tmp_path / "a.csv").resolve(),)


def test_the_content_and_not_the_name_says_what_a_file_is(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"PAR1....")
    assert find_files("t", "a.csv", tmp_path).kind is FileKind.PARQUET
    (tmp_path / "b.csv").write_text("a\n")
    with pytest.raises(CatalogError, match="mixes"):
        find_files("t", "*.csv", tmp_path)


def test_a_missing_file_is_the_owners_mistake(tmp_path):
    with pytest.raises(CatalogError, match="people"):
        find_files("people", "none.csv", tmp_path)


@pytest.mark.parametrize(
    ("line", "found"), [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a", ",")]
)
def test_the_first_line_alone_gives_the_delimiter(tmp_path, line, found):
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\n{',;|' * 50}\n")
    assert delimiter(path) == found


def test_quoted_separators_do_not_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"x,y,z";b\n')
    assert delimiter(path) == ";"
    assert column_names("t", path) == ["x,y,z", "b"]


def test_packed_files_and_byte_order_marks(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfone|two\r\n1|2\r\n"))
    assert column_names("t", path) == ["one", "two"]


@pytest.mark.parametrize("line", ["", "a,,b", "a,A"])
def test_a_first_line_that_names_no_columns(tmp_path, line):
    path = tmp_path / "a.csv"
    path.write_text(f"{line}\n1\n")
    with pytest.raises(CatalogError, match="first line"):
        column_names("t", path)


def test_the_hash_follows_the_content(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    source = find_files("t", "a.csv", tmp_path)
    hashes = ContentHashes(tmp_path / "hashes.json")
    first = hashes.of(source)
    os.utime(path, ns=(1, 1))
    assert hashes.of(source) == first, "a new date is not new content"
    facts = path.stat()
    path.write_text("a\n2\n")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert hashes.of(source) != first, "old date and size must not hide new content"


def test_the_hash_is_remembered_between_processes(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    source = find_files("t", "a.csv", tmp_path)
    assert ContentHashes(tmp_path / "hashes.json").known(source) is None
    monkeypatch.setattr(files, "_SETTLED", 0.0)
    first = ContentHashes(tmp_path / "hashes.json").of(source)
    memory = tmp_path / "hashes.json"
    memory.write_text(memory.read_text().replace('", "', '", "00'))
    # A changed memory shows that the file was not read again.
    assert ContentHashes(memory).of(source) != first
    memory.write_text("broken")
    assert ContentHashes(memory).of(source) == first


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("*.csv", ["a.csv", "aa.csv"]),
        ("a**.csv", ["a.csv", "aa.csv"]),
        ("**/*.csv", ["a.csv", "aa.csv", "b/c.csv"]),
        ("**/***.csv", ["a.csv", "aa.csv", "b/c.csv"]),
        ('"**', []),
    ],
)
def test_two_stars_are_any_folders_only_by_themselves(tmp_path, pattern, meant):
    (tmp_path / "b").mkdir()
    for name in ("a.csv", "aa.csv", "b/c.csv"):
        (tmp_path / name).write_text("x\n1\n")
    found = files.files_like(tmp_path / pattern)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == meant


def test_a_folder_that_may_not_be_looked_into_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x\n1\n")

    def denied(_path):
        raise PermissionError

    monkeypatch.setattr(type(tmp_path), "is_file", denied)
    for look in (lambda: files.files_like(tmp_path / "*.csv"), lambda: files.files_in(tmp_path)):
        with pytest.raises(CatalogError, match="may not be looked into"):
            look()
