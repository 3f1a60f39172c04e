"""Relations of PostgreSQL that move or are replaced under a query: one state of them is read, of a copy or of a lock."""

from __future__ import annotations

import pytest

from postgres_relations_kit import (
    HALVES,
    MOVING,
    PARTED,
    function,
    make,
    open_engine,
    rows,
    wanted,
)

pytestmark = pytest.mark.postgres

SEQUENCE = ("CREATE SEQUENCE town.s", "SELECT nextval('town.s')")
BY_SEQUENCE = "SELECT (a + 49 * last_value) % 100 AS a FROM town.t, town.s"


def test_without_the_check_people_stand_in_both_halves(url, monkeypatch):
    """The broken twin: the same reads as in test_stands_on.py, of what the check refuses."""
    make(*SEQUENCE, f"CREATE VIEW town.v AS {BY_SEQUENCE}")
    monkeypatch.setattr(
        "discreet.data.engines.postgres.stands_on.TreeContent.note", lambda *_: None
    )
    engine = open_engine(url, "v")
    with engine.hold(wanted()) as held:
        total = len(rows(held, "TRUE", "v"))
        first = len(rows(held, HALVES[0], "v"))
        make(SEQUENCE[1])
        assert first + len(rows(held, HALVES[1], "v")) != total
    engine.close()


@pytest.mark.parametrize("version", [None, "1"])
@pytest.mark.parametrize("kind", ["a sequence", "random rows"])
def test_a_copy_of_what_moves_has_one_state(url, kind, version):
    from engines import own

    made = f"CREATE VIEW town.v AS {BY_SEQUENCE}"
    make(*SEQUENCE, *(MOVING[kind][1] if kind != "a sequence" else (made,)))
    engine = open_engine(url, "v")
    labels = set()
    for _ in range(6):
        with engine.hold(wanted(copy=True, version=version)) as held:
            labels.add(held.fingerprints["d.t"])
            before = sorted(rows(held, "TRUE", "v"))
            first = rows(held, HALVES[0], "v")
            own("SELECT nextval('town.s')")
            second = rows(held, HALVES[1], "v")
            assert sorted(first + second) == before
    assert len(labels) == (6 if version is None else 1), "a copy of its own is a content of its own"
    engine.close()


@pytest.mark.parametrize("broken", [False, True])
def test_a_copy_of_what_moves_has_only_declared_values(url, monkeypatch, broken):
    """A cell that is checked and then computed again is another one: the broken twin."""
    if broken:
        monkeypatch.setattr("discreet.data.engines.postgres.held._each_once", lambda rows: rows)
    make(
        "INSERT INTO town.t SELECT 0 FROM generate_series(1, 500)",
        function("IMMUTABLE", "AS $$ BEGIN RETURN $1 + (random() * 2000)::bigint; END $$"),
        "GRANT EXECUTE ON FUNCTION town.f TO discreet_reader",
        "CREATE VIEW town.v AS SELECT town.f(a) AS a FROM town.t",
    )
    engine = open_engine(url, "v")
    with engine.hold(wanted(copy=True)) as held:
        # 500 rows of which each would be outside with odds of one in four.
        assert (max(rows(held, "{0} IS NOT NULL", "v")) > 1000) is broken
    engine.close()


def test_a_function_of_ones_own_may_read_other_tables_for_a_copy(url):
    make(
        "CREATE TABLE town.other AS SELECT 5::bigint AS a",
        "CREATE FUNCTION town.f(BIGINT) RETURNS BIGINT STABLE LANGUAGE plpgsql SECURITY DEFINER "
        "AS $$ BEGIN RETURN $1 + (SELECT a FROM town.other); END $$",
        "GRANT EXECUTE ON FUNCTION town.f TO discreet_reader",
        "CREATE VIEW town.v AS SELECT town.f(a) AS a FROM town.t",
    )
    engine = open_engine(url, "v")
    with engine.hold(wanted(copy=True)) as held:
        assert sorted(rows(held, "TRUE", "v")) == [6, 7, 8, 56, 57]
    engine.close()


def test_the_check_holds_at_every_read_not_only_at_the_first(url):
    from discreet.errors import CatalogError

    make("CREATE VIEW town.v AS SELECT a FROM town.t")
    engine = open_engine(url, "v")
    with engine.hold(wanted()) as held:
        assert len(rows(held, "TRUE", "v")) == 5
    make("CREATE OR REPLACE VIEW town.v AS SELECT a FROM town.t WHERE random() < 0.5")
    with pytest.raises(CatalogError, match="random"):
        engine.hold(wanted())
    make("CREATE OR REPLACE VIEW town.v AS SELECT a FROM town.t WHERE a > 1")
    with engine.hold(wanted()) as held:
        assert len(rows(held, "TRUE", "v")) == 4
    engine.close()


REPLACED = {
    "v": "CREATE OR REPLACE VIEW town.v AS SELECT a FROM town.t WHERE random() < 0.5",
    "m": "REFRESH MATERIALIZED VIEW town.m",
    "t": "TRUNCATE town.t",
    "a policy": "CREATE POLICY p ON town.t USING (random() < 0.5)",
}


@pytest.mark.parametrize("what", REPLACED)
def test_what_a_view_stands_on_is_not_replaced_under_a_query(url, what):
    import psycopg

    from engines import own

    make(
        "CREATE MATERIALIZED VIEW town.m AS SELECT a FROM town.t",
        "CREATE VIEW town.v AS SELECT a FROM town.t UNION ALL SELECT a FROM town.m",
        "CREATE VIEW town.w AS SELECT a FROM town.v",
    )
    engine = open_engine(url, "w")
    with engine.hold(wanted()) as held:
        with pytest.raises(psycopg.errors.LockNotAvailable):
            own("SET lock_timeout = '50ms'", REPLACED[what])
        assert len(rows(held, "TRUE", "w")) == 10
    engine.close()


@pytest.mark.parametrize("through", ["itself", "a view"])
@pytest.mark.parametrize("kind", ["a partition", "a child"])
def test_rows_that_are_attached_under_a_query_fail_it(url, kind, through):
    """PostgreSQL shows them to a transaction whose state is older than the attaching."""
    from discreet.errors import EngineFailed

    table, attach = {
        "a partition": (
            "parted",
            "ALTER TABLE town.parted ATTACH PARTITION town.more FOR VALUES FROM (1000) TO (2000)",
        ),
        "a child": ("t", "ALTER TABLE town.more INHERIT town.t"),
    }[kind]
    make(
        *PARTED,
        "CREATE TABLE town.more (a BIGINT)",
        "INSERT INTO town.more VALUES (1001)",
        f"CREATE VIEW town.v AS SELECT a FROM town.{table}",
    )
    source = table if through == "itself" else "v"
    engine = open_engine(url, source)
    with engine.hold(wanted()) as held:
        assert len(rows(held, "TRUE", source)) == 5
        make(attach)
        with pytest.raises(EngineFailed):
            rows(held, "TRUE", source)
    with engine.hold(wanted()) as held:
        assert len(rows(held, "TRUE", source)) == 6
    engine.close()


def test_an_index_that_is_made_under_a_query_does_not_fail_it(url):
    make("CREATE VIEW town.v AS SELECT a FROM town.t")
    engine = open_engine(url, "v")
    with engine.hold(wanted()) as held:
        assert len(rows(held, "a = 1", "v")) == 1
        make("CREATE INDEX ON town.t (a)")
        assert len(rows(held, "a = 1", "v")) == 1
    engine.close()
