"""The server ends our connection before any one of our statements: one sentence, and the next question is answered."""

from __future__ import annotations

import psycopg
import pytest

from discreet.errors import DiscreetError
from permits import paid
from sittings import FULL

pytestmark = pytest.mark.postgres

PLACE = "town.t"
PLAIN = psycopg.Connection.execute


@pytest.fixture
def url():
    import pyarrow as pa

    from engines import fill_postgres, own, postgres_url

    url = postgres_url()
    own("DROP SCHEMA IF EXISTS discreet_state CASCADE", "CREATE SCHEMA discreet_state")
    own("GRANT USAGE, CREATE ON SCHEMA discreet_state TO discreet_reader")
    fill_postgres(url, {"t": pa.table({"a": [1, 2, 3]})})
    return url


def look(url, *, copy):
    """Open an engine, hold the table and count its rows."""
    from discreet.base.schema import Column, Dataset, IntegerDomain, Table
    from discreet.base.unit import Neighbours, PrivacyUnit
    from discreet.data.engines.base import EngineLimits, open_exact
    from discreet.data.engines.postgres.engine import PostgresEngine
    from discreet.privacy.kernel.canonical import CanonicalRecipe

    columns = (Column("a", IntegerDomain(0, 1000)),)
    table = Table("t", PLACE, PrivacyUnit(), columns, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    engine = PostgresEngine(url, {"d.t": PLACE}, limits=EngineLimits(seconds=60.0))
    try:
        assert engine.names("d.t") == ["a"]
        recipe = CanonicalRecipe(dataset, table, owner="ledger")
        with engine.hold({"d.t": recipe}) as held:
            assert held.fingerprints["d.t"]
            # A copied table is read under its canonical name, a live one where it lies.
            place = 'canon."d.t"' if copy else PLACE
            return open_exact(paid(held).run(f"SELECT COUNT(*) AS n FROM {place} AS t")).to_pylist()
    finally:
        engine.close()


def killing(monkeypatch, before):
    """Let the server end the connection before our statement of this number; return the numbers seen."""
    from engines import owner_url

    seen = []

    def execute(self, *args, **more):
        if self.info.user == "discreet_reader":
            if len(seen) == before:
                with psycopg.connect(owner_url(), autocommit=True) as owner:
                    PLAIN(owner, "SELECT pg_terminate_backend(%s, 10000)", [self.info.backend_pid])
            seen.append(args[0])
        return PLAIN(self, *args, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    return seen


@pytest.mark.parametrize("copy", [False, True])
def test_a_connection_that_ends_before_any_statement_is_one_sentence(
    url, copy, monkeypatch, record_property
):
    with monkeypatch.context() as patch:
        every = killing(patch, before=None)
        assert look(url, copy=copy) == [{"n": 3}]
    statements = len(every)
    assert statements > 20
    said = []
    for number in range(0, statements, 1 if FULL else 3):
        with monkeypatch.context() as patch:
            killing(patch, before=number)
            try:
                look(url, copy=copy)
            except DiscreetError as error:
                said.append(str(error))
    # What is sent on the way out (a ROLLBACK, dropping an old copy) may fail in silence.
    assert len(said) > statements / (2 if FULL else 6)
    assert not any("administrator" in words for words in said)  # the server's own
    assert look(url, copy=copy) == [{"n": 3}]
    record_property("statements before which the connection ended", statements)
