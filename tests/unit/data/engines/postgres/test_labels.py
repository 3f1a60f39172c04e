"""Columns of an enum: a query reads the labels of one state, whoever renames them meanwhile."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from permits import paid
from sittings import FULL

pytestmark = pytest.mark.postgres

SWAP = (
    "BEGIN",
    "ALTER TYPE town.lab RENAME VALUE 'A' TO 'T'",
    "ALTER TYPE town.lab RENAME VALUE 'B' TO 'A'",
    "ALTER TYPE town.lab RENAME VALUE 'T' TO 'B'",
    "COMMIT",
)
SOURCES = {
    "a table": "t",
    "a domain": "d",
    "a view": "v",
    "a view of a view": "w",
    "a materialized view": "m",
    "a partitioned table": "p",
}


@pytest.fixture
def url():
    from engines import fill_postgres, own, postgres_url

    url = postgres_url()
    own("DROP SCHEMA discreet_state CASCADE", "CREATE SCHEMA discreet_state")
    own("GRANT USAGE, CREATE ON SCHEMA discreet_state TO discreet_reader")
    fill_postgres(url, {"numbers": pa.table({"a": list(range(10))})})
    own(
        "CREATE TYPE town.lab AS ENUM ('A', 'B', 'it''s \\ \"C\"')",
        "CREATE DOMAIN town.label AS town.lab",
        "CREATE TABLE town.t AS SELECT a, CASE WHEN a < 7 THEN 'A'::town.lab WHEN a < 9 "
        "THEN 'it''s \\ \"C\"'::town.lab END AS e FROM town.numbers",
        "CREATE TABLE town.d (a BIGINT, e town.label)",
        "INSERT INTO town.d SELECT * FROM town.t",
        "CREATE VIEW town.v AS SELECT e, a FROM town.t WHERE e = 'A' OR e IS NULL OR e > 'A'",
        "CREATE VIEW town.w AS SELECT a, e FROM town.v",
        "CREATE MATERIALIZED VIEW town.m AS SELECT * FROM town.t",
        "CREATE TABLE town.p (a BIGINT, e town.lab) PARTITION BY LIST (e)",
        "CREATE TABLE town.p1 PARTITION OF town.p DEFAULT",
        "INSERT INTO town.p SELECT * FROM town.t",
        "CREATE VIEW town.told AS SELECT a, CASE e WHEN 'A' THEN 'A' WHEN 'B' THEN 'B' END AS e "
        "FROM town.t",
        "GRANT SELECT ON ALL TABLES IN SCHEMA town TO discreet_reader",
    )
    return url


def open_engine(url, source):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine

    return PostgresEngine(url, {"d.t": f"town.{source}"}, limits=EngineLimits(seconds=20.0))


def wanted(*, copy):
    from discreet.base.schema import CategoryDomain, Column, Dataset, Table
    from discreet.base.unit import Neighbours, PrivacyUnit
    from discreet.privacy.kernel.canonical import CanonicalRecipe

    columns = (Column("e", CategoryDomain(("A", "B", 'it\'s \\ "C"'))),)
    table = Table("t", "town.t", PrivacyUnit(), columns, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    return {"d.t": CanonicalRecipe(dataset, table, owner="ledger")}


def counts(held, engine, *, copy):
    from discreet.data.engines.base import open_exact

    column, place = ("c0", 'canon."d.t"') if copy else ("e", engine.relation("d.t"))
    found = {}
    for label in ("A", "B", "it''s \\ \"C\""):
        sql = f"SELECT COUNT(*) AS n FROM {place} AS t WHERE CAST({column} AS TEXT) = '{label}'"
        found[label[0]] = open_exact(paid(held).run(sql)).to_pylist()[0]["n"]
        yield found


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_query_reads_the_labels_of_one_state(url, source, copy):
    from engines import own

    engine = open_engine(url, source)
    for found in ({"A": 7, "B": 0, "i": 2}, {"A": 0, "B": 7, "i": 2}):
        with engine.hold(wanted(copy=copy)) as held:
            label = held.fingerprints["d.t"]
            for number, each in enumerate(counts(held, engine, copy=copy)):
                seen = each
                if number == 0:
                    own(*SWAP)
            assert seen == found
        with engine.hold(wanted(copy=copy)) as later:
            assert later.fingerprints["d.t"] != label, "other labels are another content"
    engine.close()


def test_without_the_labels_of_the_state_people_stand_in_both_halves(url, monkeypatch):
    """The broken twin: PostgreSQL's own cast, which reads the label of the moment."""
    from engines import own

    monkeypatch.setattr(
        "discreet.data.engines.postgres.sources.spelled", lambda _, place, __: place
    )
    monkeypatch.setattr(
        "discreet.data.engines.postgres.sources.PostgresSources.spell", lambda *_: None
    )
    engine = open_engine(url, "t")
    with engine.hold(wanted(copy=False)) as held:
        for number, each in enumerate(counts(held, engine, copy=False)):
            seen = each
            if number == 0:
                own(*SWAP)
        assert seen["A"] + seen["B"] == 14
    engine.close()


def test_a_view_that_turns_an_enum_into_text_is_refused(url):
    from discreet.errors import CatalogError
    from engines import own

    for cell in (
        "e::text",
        "concat(e)",
        "to_json(e)::text",
        "ARRAY[e]::text",
        "e::varchar",
        "('A' || a)::town.lab",
        "(e::town.label)::text",
        "format('%s', e)",
        "array_to_string(ARRAY[e], '')",
        "enum_out(e)::text",
        "enum_last(e)",
    ):
        own(
            "DROP VIEW IF EXISTS town.bad",
            f"CREATE VIEW town.bad AS SELECT a, {cell} AS e FROM town.t",
            "GRANT SELECT ON town.bad TO discreet_reader",
        )
        engine = open_engine(url, "bad")
        with pytest.raises(CatalogError, match="enum") as caught:
            engine.hold(wanted(copy=False))
        assert 'snapshot = "copy"' in str(caught.value), cell
        engine.close()


def test_a_view_that_compares_an_enum_is_held_still(url):
    from engines import own

    engine = open_engine(url, "told")
    with engine.hold(wanted(copy=False)) as held:
        for number, each in enumerate(counts(held, engine, copy=False)):
            seen = each
            if number == 0:
                own(*SWAP)
        assert seen == {"A": 7, "B": 0, "i": 0}
    engine.close()


def test_an_enum_that_comes_while_the_catalog_is_open_is_refused(url):
    from discreet.errors import CatalogError
    from engines import own

    own(
        "CREATE TABLE town.later (a BIGINT, e TEXT)",
        "GRANT SELECT ON town.later TO discreet_reader",
    )
    engine = open_engine(url, "later")
    own("ALTER TABLE town.later ALTER e TYPE town.lab USING e::town.lab")
    with pytest.raises(CatalogError, match="new column of an enum"):
        engine.hold(wanted(copy=False))
    engine.close()


@pytest.mark.parametrize("snapshot", ["live", "copy"])
def test_a_statement_bills_each_person_once(url, tmp_path, snapshot):
    """The reproduction: two disjoint halves, and labels that change places between them."""
    import threading

    from engines import own

    (tmp_path / "discreet.toml").write_text(
        f'[engine]\nurl = "{url}"\n[datasets.d]\nepsilon = 100000000\n[datasets.d.tables.t]\n'
        f'source = "town.t"\nunit = "row"\nsnapshot = "{snapshot}"\n'
        '[datasets.d.tables.t.columns]\ne = { type = "category", values = ["A", "B"] }\n'
    )
    stop, turns = threading.Event(), [0]

    def write():
        while not stop.is_set():
            own(*SWAP)
            turns[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with discreet.open(tmp_path / "discreet.toml") as curator:
            for _ in range(12 if FULL else 5):
                answer = curator.query(
                    "SELECT 1 AS k, COUNT(*) AS n FROM t WHERE e = 'A' "
                    "UNION ALL SELECT 2, COUNT(*) FROM t WHERE e = 'B'",
                    epsilon=1000,
                    fresh=True,
                )
                assert sum(row[1] for row in answer.rows) == 7
    finally:
        stop.set()
        writer.join()
    assert turns[0] > 0
