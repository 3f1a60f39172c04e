"""Sources that change under a curator: the label, the bill and the rows are those of one state."""

from __future__ import annotations

import pytest

import discreet
from discreet.data.engines.files import ContentHashes
from discreet.errors import CatalogError
from ledger_kit import forked

TOML = """
[datasets.town]
epsilon = 100000
[datasets.town.tables.people]
source = "people*.csv"
unit = "row"
[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
name = { type = "category", values = ["kept.ABC", "canon.town", "x"] }
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


def write(base, rows, *, name="people.csv", odd=""):
    text = "age,name\n" + odd + "".join(f"{i % 90},x\n" for i in range(rows))
    (base / name).write_text(text)


@pytest.fixture
def town(tmp_path):
    (tmp_path / "discreet.toml").write_text(TOML)
    write(tmp_path, 10)
    with discreet.open(tmp_path / "discreet.toml") as curator:
        yield tmp_path, curator


def asked(curator, sql=COUNT, **more):
    answer = curator.query(sql, epsilon=500, fresh=True, **more)
    return answer.rows[0][-1], answer.provenance.snapshot


def test_a_running_curator_sees_what_it_labels(town):
    base, curator = town
    assert asked(curator) == (10, "people:1")
    write(base, 15)
    assert asked(curator) == (15, "people:2")
    write(base, 10)
    assert asked(curator) == (10, "people:3"), "what comes back is a newer version"
    write(base, 7, name="people-more.csv")
    assert asked(curator) == (17, "people:4"), "a file that joins the pattern counts"


def test_a_file_replaced_between_fingerprint_and_read(town, monkeypatch):
    base, curator = town
    for name in curator.catalog.sources:
        curator.engine.columns(name)  # the owner's own reading of names is not what is raced here
    copied = ContentHashes.copy

    def then_replaced(self, source, folder):
        found = copied(self, source, folder)
        write(base, 15)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(ContentHashes, "copy", then_replaced)
        # The version that began had ten rows; when the question read them they were others.
        assert asked(curator) == (15, "people:2")
    assert asked(curator) == (15, "people:2")


def test_the_command_and_a_running_curator_agree_on_the_label(town):
    base, curator = town
    assert asked(curator) == (10, "people:1")
    write(base, 15)

    def command(say):
        with discreet.open(base / "discreet.toml") as other:
            answer = other.query(COUNT, epsilon=500, fresh=True)
            say(f"{answer.rows[0][-1]} {answer.provenance.snapshot}")

    assert forked(command).lines() == ["15 people:2"]
    assert asked(curator) == (15, "people:2")


def test_one_odd_row_changes_no_sql(town):
    base, curator = town
    before = curator.explain("SELECT AVG(age) AS a FROM people WHERE age > 5", epsilon=1).to_json()
    write(base, 10, odd="unknown,7.5e\n")
    after = curator.explain("SELECT AVG(age) AS a FROM people WHERE age > 5", epsilon=1).to_json()
    assert after["sql"] == before["sql"]
    assert "canon" in before["sql"]
    assert asked(curator, "SELECT COUNT(age) AS n FROM people") == (10, "people:2")


def test_internal_names_in_texts_are_texts(town):
    base, curator = town
    write(base, 3, odd="5,kept.ABC\n6,kept.ABC\n7,canon.town\n")
    sql = "SELECT COUNT(*) AS n FROM people WHERE name = 'kept.ABC'"
    assert asked(curator, sql) == (2, "people:1")
    sql = "SELECT COUNT(*) AS n FROM people WHERE name = 'kept.\"other\"' OR name = 'canon.town'"
    assert asked(curator, sql) == (1, "people:1")


def test_what_cannot_be_read_is_refused_before_the_charge(town):
    base, curator = town
    spent = curator.query(COUNT, epsilon=500, fresh=True).after.epsilon
    refusals = {
        "a line with more cells": b"age,name\n1,x\n2,x,y,z\n",
        "another encoding": "age,name\n1,Zo\u00eb\n".encode("latin-1"),
    }
    for content in refusals.values():
        (base / "people.csv").write_bytes(content)
        with pytest.raises(CatalogError):
            asked(curator)
    write(base, 5)
    now = curator.query(COUNT, epsilon=500, fresh=True).before.epsilon
    assert now == spent, "nothing was answered meanwhile"


def test_files_of_a_pattern_are_read_whatever_columns_each_has(town):
    base, curator = town
    (base / "people-b.csv").write_text("name,age\nx,44\nx,45\n")
    old = "SELECT COUNT(*) AS n FROM people WHERE age >= 44"
    assert asked(curator, old)[0] == 2
    (base / "people-b.csv").write_text("name,years\nx,44\n")
    assert asked(curator, old)[0] == 0
    assert asked(curator, "SELECT COUNT(*) - COUNT(age) AS n FROM people")[0] == 1
    (base / "people.csv").write_bytes(b"years,name\n1,x\n")
    assert asked(curator, "SELECT COUNT(age) AS n FROM people")[0] == 0
