"""A request id stands for one question and one answer, whether anybody paid for it or not."""

from __future__ import annotations

import pytest

import discreet
from discreet.ask.release import pipeline
from discreet.errors import RequestConflict, UnknownName

TOML = """
[datasets.census]
epsilon = 9
[datasets.census.tables.{table}]
source = "people.csv"
unit = "row"
[datasets.census.tables.{table}.columns]
sex = {{ type = "category", values = ["Female", "Male"] }}
"""
ALL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
MEN = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'"
WOMEN = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("sex\n" + "Female\nMale\n" * 20)
    write(tmp_path)
    return tmp_path


def write(folder, *, table="people", more=""):
    (folder / "discreet.toml").write_text(TOML.format(table=table) + more)


def opened(folder):
    return discreet.open(folder / "discreet.toml")


def test_a_free_answer_binds_its_id(folder):
    with opened(folder) as curator:
        curator.query(ALL, epsilon=1)
        free = curator.query(MEN, epsilon=1, request_id="mine")
        assert free.free
        with pytest.raises(RequestConflict, match="used before, for another question"):
            curator.query(WOMEN, epsilon=1, request_id="mine")
        again = curator.query(MEN, epsilon=1, request_id="mine")
        assert again.rows == free.rows


def test_the_twin_that_forgets_free_answers_lets_the_id_be_used_again(folder, monkeypatch):
    monkeypatch.setattr(pipeline, "_bound", lambda *_: True)
    with opened(folder) as curator:
        curator.query(ALL, epsilon=1)
        assert curator.query(MEN, epsilon=1, request_id="mine").free
        assert curator.query(WOMEN, epsilon=1, request_id="mine").free


def test_a_free_answer_stays_what_it_was_when_more_is_known(folder):
    with opened(folder) as curator:
        curator.query(ALL, epsilon=1)
        free = curator.query(MEN, epsilon="0.1", request_id="mine")
        curator.query(MEN, epsilon=3, fresh=True)
        assert curator.query(MEN, epsilon="0.1", request_id="mine").rows == free.rows
        # Free answers are no evidence, no charges, and no lines of the history.
        assert curator.ledger.spent("census").charges == 2
        assert [entry.kind for entry in curator.ledger.history(last=2)] == ["charge", "charge"]
        assert curator.ledger.verify() > 0


def test_an_id_in_work_is_not_answered_for_nothing(folder):
    with opened(folder) as curator:
        curator.query(ALL, epsilon=1)
        paid = curator.query(MEN, epsilon=2, request_id="mine", fresh=True)
        with pytest.raises(RequestConflict):
            curator.query(MEN, epsilon=2, request_id="mine")
        assert curator.query(MEN, epsilon=2, request_id="mine", fresh=True).rows == paid.rows


def test_an_answer_is_given_under_its_id_after_its_table_was_renamed(folder):
    with opened(folder) as curator:
        paid = curator.query(ALL, epsilon=1, request_id="paid")
        free = curator.query(MEN, epsilon=1, request_id="free")
    write(folder, table="persons")
    with opened(folder) as curator:
        assert curator.query(ALL, epsilon=1, request_id="paid").rows == paid.rows
        assert curator.query(MEN, epsilon=1, request_id="free").rows == free.rows
        with pytest.raises(RequestConflict):
            curator.query(ALL, epsilon=2, request_id="paid")
        with pytest.raises(UnknownName):
            curator.query(ALL, epsilon=1, request_id="new")


def test_whoever_has_no_share_any_more_is_told_nothing(folder):
    write(folder, more="[analysts.eve]\ndatasets = { census = { epsilon = 2 } }\n")
    with opened(folder) as curator:
        curator.query(ALL, epsilon=1, request_id="paid", analyst="eve")
    write(folder, more="[analysts.bob]\ndatasets = { census = { epsilon = 2 } }\n")
    with opened(folder) as curator:
        found = curator.ledger.stored.finished("eve", request_id="paid", body="anything")
        assert found is None
        with pytest.raises(discreet.errors.DiscreetError):
            curator.query(ALL, epsilon=1, request_id="paid", analyst="eve")
