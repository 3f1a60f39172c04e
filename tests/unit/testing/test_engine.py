"""The engine without a database keeps the contract of an engine."""

import pyarrow as pa
import pytest

from discreet.data.engines.base import open_exact
from discreet.errors import EngineFailed, UnknownName
from discreet.testing import FakeEngine

TABLES = {"census.people": {"age": "BIGINT"}}
ONE = pa.table({"n": [1]})


def test_names_are_quoted_for_the_dialect():
    assert FakeEngine(TABLES).relation("census.people") == '"census.people"'
    assert FakeEngine(TABLES, dialect="spark").relation("census.people") == "`census.people`"
    with pytest.raises(UnknownName):
        FakeEngine(TABLES).relation("elsewhere")


def test_answers_by_table_by_text_and_by_function():
    for answers in (ONE, {"SELECT 1": ONE}, lambda _sql: ONE):
        engine = FakeEngine(TABLES, answers=answers)
        assert open_exact(engine.owner_reader().run("SELECT 1")).equals(ONE)
        assert engine.ran == ["SELECT 1"]


def test_without_an_answer_it_fails_like_a_database():
    for answers in (None, {}):
        with pytest.raises(EngineFailed, match="could not answer"):
            FakeEngine(TABLES, answers=answers).owner_reader().run("SELECT 1")


def test_tables_can_be_kept():
    engine = FakeEngine(TABLES)
    assert engine.materialise("kept", "SELECT 2") == '"kept"'
    assert engine.has("kept")
    assert engine.fingerprint("kept") == engine.fingerprint("kept")
    engine.close()
    assert engine.closed
