"""A messy file from three commands to a right answer, and no cell lost without a word."""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import redirect_stdout

import pytest

from discreet.cli.app import run
from messy_kit import hospital


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return hospital(tmp_path / "hospital.csv")


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    """A folder in which the file was declared, and what was said then."""
    folder, words = tmp_path_factory.mktemp("clinic"), io.StringIO()
    hospital(folder / "hospital.csv")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(words):
        patch.chdir(folder)
        assert run(["init", "hospital.csv", "--unit", "row", "--epsilon", "1"]) == 0
    return folder, words.getvalue()


@pytest.fixture
def rows(declared, tmp_path, monkeypatch):
    """A copy of that folder, and what was said."""
    shutil.copytree(declared[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return declared[1]


def said(capsys, *arguments, status=0):
    assert run(list(arguments)) == status
    return capsys.readouterr().out


def test_three_commands_to_a_right_answer(clinic, capsys):
    people = ("--unit", "patient_id", "--max-rows", "9")
    said(capsys, "init", "hospital.csv", *people, "--epsilon", "9000")
    review = json.loads(said(capsys, "review", "--accept", "--json"))["tables"]["hospital.hospital"]
    assert review["waiting"] == []
    assert {c["name"] for c in review["columns"] if c["hidden"]} == {
        "patient_name",
        "email",
        "remarks",
    }
    assert sum(column["lost"] for column in review["columns"]) == 0
    sql = (
        "SELECT department, COUNT(*) AS n, SUM(cost) AS c, COUNT(cost) AS k, COUNT(admitted) AS d, "
        "COUNT(CASE WHEN sex = 'Female' THEN 1 END) AS f FROM hospital GROUP BY department"
    )
    found = json.loads(said(capsys, "query", sql, "--epsilon", "8000", "--json"))
    rows = {row[0]: row for row in found["rows"]}
    assert set(rows) - {None} == set(clinic.by_department)
    # A fifth of epsilon for each column, 9 rows a person: a count is off once in e^177 times.
    for department, count in clinic.by_department.items():
        assert rows[department][1] == count
        assert rows[department][4] == count
    assert sum(row[3] for row in rows.values()) == clinic.costs
    assert sum(row[5] for row in rows.values()) == clinic.by_sex["Female"]


def test_a_row_is_not_a_person_is_said_with_figures(rows, capsys):
    assert re.search(r"'patient_id' has 1,478 different values in 3,060 rows", rows)
    again = json.loads(said(capsys, "review", "--json"))["tables"]["hospital.hospital"]
    assert any("1,478" in warning for warning in again["warnings"])


@pytest.mark.usefixtures("rows")
def test_what_a_declaration_loses_is_shown_before_it_counts(tmp_path, capsys):
    config = tmp_path / "discreet.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace('thousands = ",", ', "").replace("trim = true, ", ""), "utf-8")
    words = said(capsys, "review")
    assert re.search(r"cost\s+look", words)
    assert re.search(r"filled cells would count as missing: '[$ ]*[0-9],", words)
    assert "'FEMALE '" in words
    done = json.loads(said(capsys, "review", "--accept", "--json"))["tables"]["hospital.hospital"]
    assert {"cost", "sex", "department"} <= set(done["waiting"])
    assert "age" in done["decided"]
    query = ("query", "SELECT SUM(cost) AS c FROM hospital", "--epsilon", "0.1")
    said(capsys, *query, status=1)
    said(capsys, "review", "--column", "cost", "--hide", "hospital.sex")
    said(capsys, *query)
    assert 'sex = { type = "text", hidden = true }' in config.read_text(encoding="utf-8")


@pytest.mark.usefixtures("rows")
def test_the_review_says_how_cells_are_read(capsys):
    words = said(capsys, "review")
    assert re.search(r"Female.*\n +read: .*capital and small letters are the same; F", words)
    assert re.search(r"read: .*numbers as 1,234\.5", words)
    assert re.search(r"read: .*dates as %", words)


def test_a_wrong_name_changes_nothing(clinic, tmp_path, capsys):
    said(capsys, "init", "hospital.csv")
    before = (tmp_path / "discreet.toml").read_bytes()
    assert run(["review", "--column", "nose"]) == 1
    assert "No declared table has a column 'nose'" in capsys.readouterr().err
    assert (tmp_path / "discreet.toml").read_bytes() == before
    words = said(capsys, "review", "--accept")
    assert "write epsilon" in words
    assert "write unit" in words
