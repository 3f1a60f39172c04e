"""Reports on the disk."""

import json
import os
import sqlite3
from dataclasses import replace

import duckdb
import pytest

from discreet.errors import InvalidInput
from discreet.show import Document, Figure, Grid, Paragraph, Section, bars, to_json, write
from discreet.show.document import REPORT_FILES, check_target

DOCUMENT = Document(
    "Title",
    "sub",
    "mind this",
    (
        Section(
            "One",
            (
                Paragraph("text"),
                Figure("Bars", bars(["a"], [1]), "caption"),
                Grid.of(["a", "b"], [[float("inf"), float("nan")], [0.5, None]], "numbers"),
            ),
        ),
    ),
)


def test_the_ending_says_how(tmp_path):
    assert write(DOCUMENT, tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert json.loads((write(DOCUMENT, tmp_path / "r.JSON")).read_text()) == to_json(DOCUMENT)


def test_json_names_the_kind_of_each_block_and_has_no_infinities():
    blocks = to_json(DOCUMENT)["sections"][0]["blocks"]
    assert [block["kind"] for block in blocks] == ["words", "figure", "grid"]
    assert blocks[2]["rows"] == [[None, None], [0.5, None]]


def test_other_endings_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InvalidInput, match=r"\.html or \.json"):
        write(DOCUMENT, tmp_path / "r.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        write(DOCUMENT, tmp_path / "no" / "r.html")


def test_a_document_with_a_warning_is_for_its_writer_alone(tmp_path):
    old = tmp_path / "r.html"
    old.write_text("open to all")
    old.chmod(0o644)
    assert write(DOCUMENT, old).stat().st_mode & 0o077 == 0
    harmless = replace(DOCUMENT, warning=None)
    before = os.umask(0o022)
    try:
        assert write(harmless, tmp_path / "p.html").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_a_target_is_refused_before_it_is_needed(tmp_path):
    for place, words in {
        "r.pdf": r"neither a \.html nor a \.json",
        "folder.html": "is a folder",
        "no/r.html": "There is no folder",
    }.items():
        (tmp_path / "folder.html").mkdir(exist_ok=True)
        with pytest.raises(InvalidInput, match=words):
            check_target(tmp_path / place, REPORT_FILES)
    with pytest.raises(InvalidInput, match=r"is not a \.zip file"):
        check_target(tmp_path / "r.pdf", (".zip",))
    with pytest.raises(InvalidInput, match="Nothing can be written"):
        check_target("/proc/r.html", REPORT_FILES)
    assert check_target(tmp_path / "r.HTML", REPORT_FILES).name == "r.HTML"
    assert check_target("/dev/null").name == "null"
    assert [each.name for each in tmp_path.iterdir()] == ["folder.html"]


def test_what_a_command_reads_or_writes_elsewhere_is_not_replaced(tmp_path):
    rows, other = tmp_path / "people.csv", tmp_path / "copy.csv"
    rows.write_text("age\n3\n")
    (tmp_path / "link.csv").symlink_to(rows)
    os.link(rows, tmp_path / "hard.csv")
    for name in ("people.csv", "link.csv", "hard.csv", "../" + tmp_path.name + "/people.csv"):
        with pytest.raises(InvalidInput, match="named twice"):
            check_target(tmp_path / name, (".csv",), apart=[None, str(rows)])
    with pytest.raises(InvalidInput, match="named twice"):
        check_target(other, apart=[other])
    assert check_target(other, apart=[rows, None]) == other
    assert rows.read_text() == "age\n3\n"


def test_a_declaration_and_a_database_are_not_replaced(tmp_path):
    (tmp_path / "discreet.toml").write_text("[ledger]\n")
    sqlite3.connect(tmp_path / "ledger.db").execute("CREATE TABLE t (a)")
    duckdb.connect(str(tmp_path / "rows.bin")).close()
    for name in ("discreet.toml", "ledger.db", "rows.bin"):
        with pytest.raises(InvalidInput, match="a declaration or a database"):
            check_target(tmp_path / name)
    (tmp_path / "old.zip").write_bytes(b"PK")
    assert check_target(tmp_path / "old.zip").name == "old.zip"
