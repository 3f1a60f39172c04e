"""More of what tools ask: pgjdbc, Metabase, DBeaver, Npgsql (Power BI), ODBC (Tableau), pgAdmin.

Written in our own words around the constructs of the real ones: composites of index keys, arrays by
position, nested joins, statistics, recursion over roles, and questions for columns only.
"""

from __future__ import annotations

import psycopg
import pytest

from pgwire_kit import endpoint


@pytest.fixture(scope="module")
def pg(tmp_path_factory):
    with endpoint(tmp_path_factory.mktemp("pg")) as found:
        yield found


@pytest.fixture(scope="module")
def connection(pg):
    with psycopg.connect(pg.url(), autocommit=True, prepare_threshold=0) as found:
        yield found


ASKED = {
    "primary keys by expanded arrays": """
        SELECT r.tab, r.col, r.seq, r.pk FROM (
          SELECT t.relname AS tab, a.attname AS col, a.attnum AS num, k.conname AS pk,
            (information_schema._pg_expandarray(k.conkey)).n AS seq,
            information_schema._pg_expandarray(k.conkey) AS parts
          FROM pg_catalog.pg_constraint k
          JOIN pg_catalog.pg_class t ON (k.conrelid = t.oid)
          JOIN pg_catalog.pg_attribute a ON (a.attrelid = t.oid)
          WHERE k.contype = 'p' AND t.relname = 'people') r
        WHERE r.num = (r.parts).x ORDER BY r.tab, r.pk, r.seq""",
    "foreign keys by position": """
        SELECT there.relname, here.relname, pos.n, CASE k.confupdtype WHEN 'c' THEN 0 ELSE 3 END
        FROM pg_catalog.pg_class there, pg_catalog.pg_attribute a, pg_catalog.pg_class here,
          pg_catalog.pg_attribute b, pg_catalog.pg_constraint k,
          pg_catalog.generate_series(1, 32) pos(n)
        WHERE there.oid = a.attrelid AND a.attnum = k.confkey[pos.n] AND k.confrelid = there.oid
          AND here.oid = b.attrelid AND b.attnum = k.conkey[pos.n] AND k.conrelid = here.oid
          AND k.contype = 'f' ORDER BY k.conname, pos.n""",
    "indexes with direction": """
        SELECT x.tab, trim(both '"' from pg_catalog.pg_get_indexdef(x.id, x.place, false)) AS col,
          CASE x.ordered WHEN true THEN CASE x.flags[x.place - 1] & 1::smallint WHEN 1 THEN 'D'
            ELSE 'A' END ELSE NULL END AS direction, x.entries
        FROM (SELECT t.relname AS tab, c.oid AS id, i.indoption AS flags, true AS ordered,
            (information_schema._pg_expandarray(i.indkey)).n AS place, c.reltuples AS entries
          FROM pg_catalog.pg_class t JOIN pg_catalog.pg_index i ON (t.oid = i.indrelid)
          JOIN pg_catalog.pg_class c ON (c.oid = i.indexrelid)
          JOIN pg_catalog.pg_am m ON (c.relam = m.oid)) AS x""",
    "types that may be used": """
        SELECT t.typname, t.oid FROM pg_catalog.pg_type t
        JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid)
        WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c
          WHERE c.oid = t.typrelid)) AND has_type_privilege(t.oid, 'USAGE') IS NOT FALSE""",
    "extensions and their tables": """
        SELECT e.extname, n.nspname, owned.names FROM pg_catalog.pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace
        LEFT JOIN (SELECT f.extname, array_agg(m.nspname || '.' || t.relname) AS names
          FROM (SELECT g.extname, unnest(g.extconfig) AS id FROM pg_catalog.pg_extension g) f
          JOIN pg_class t ON t.oid = f.id JOIN pg_namespace m ON m.oid = t.relnamespace
          GROUP BY f.extname) owned ON owned.extname = e.extname ORDER BY e.oid""",
    "indexes and how often they are used": """
        SELECT i.*, i.indkey AS keys, pg_catalog.pg_relation_size(i.indexrelid) AS bytes,
          pg_catalog.pg_stat_get_numscans(i.indexrelid) AS scans
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid""",
    "constraints between columns": """
        SELECT theirs.column_name, mine.table_schema, mine.ordinal_position FROM
          (SELECT DISTINCT constraint_schema, constraint_name, unique_constraint_schema,
            unique_constraint_name FROM INFORMATION_SCHEMA.referential_constraints) k
        INNER JOIN INFORMATION_SCHEMA.key_column_usage mine
          ON k.constraint_name = mine.constraint_name
        INNER JOIN INFORMATION_SCHEMA.key_column_usage theirs
          ON k.unique_constraint_name = theirs.constraint_name""",
    "keys by arrays in nested joins": """
        SELECT k.conname, a.attname, k.i::int2 AS place FROM (((
          SELECT conname, conrelid, conkey,
            generate_series(array_lower(conkey, 1), array_upper(conkey, 1)) AS i
          FROM pg_catalog.pg_constraint WHERE contype = 'f') k
          INNER JOIN pg_catalog.pg_class c ON c.oid = k.conrelid)
          INNER JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[k.i])
        ORDER BY k.conname, k.i""",
    "sessions": """
        SELECT s.pid, s.usename, pg_catalog.to_char(s.backend_start, 'YYYY-MM-DD') AS since,
          array_to_string(pg_catalog.pg_blocking_pids(s.pid), ', ') AS blocked
        FROM pg_catalog.pg_stat_activity s ORDER BY s.pid""",
    "encryption": "SELECT encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()",
    "languages": "SELECT l.oid, l.* FROM pg_catalog.pg_language l ORDER BY l.oid",
}


@pytest.mark.parametrize("name", ASKED)
def test_tools_are_answered_for_free(pg, connection, name):
    prepared = connection.execute(ASKED[name]).fetchall()
    with psycopg.ClientCursor(connection) as simple:
        assert simple.execute(ASKED[name]).fetchall() == prepared
    assert (len(prepared) > 0) == (name == "types that may be used")
    assert pg.spent() == 0


def test_a_sync_with_statistics(pg, connection):
    """Row counts are private: the statistics are there to be joined, and empty."""
    sql = """
        SELECT n.nspname AS "schema", c.relname AS "name", CASE c.relkind WHEN 'r' THEN 'TABLE'
          WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS "type", d.description,
          s.n_live_tup AS "rows"
        FROM "pg_catalog"."pg_class" AS c
        INNER JOIN "pg_catalog"."pg_namespace" AS n ON c.relnamespace = n.oid
        LEFT JOIN "pg_catalog"."pg_description" AS d
          ON (c.oid = d.objoid) AND (d.objsubid = %s) AND (d.classoid = 'pg_class'::regclass)
        LEFT JOIN "pg_stat_user_tables" AS s
          ON (n.nspname = s.schemaname) AND (c.relname = s.relname)
        WHERE (n.nspname !~ %s) AND c.relkind IN ('r', 'v', 'm') AND (n.nspname IN (%s, %s))"""
    rows = connection.execute(sql, [0, "^pg_", "public", "census"]).fetchall()
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        ("census", "people", "TABLE", None)
    ]
    assert connection.execute("SELECT * FROM pg_stat_user_tables").fetchall() == []
    assert pg.spent() == 0


def test_columns_from_two_catalogs_at_once(pg, connection):
    sql = """
        (SELECT c.column_name AS "name", c.ordinal_position - 1 AS "place",
           (c.column_default IS NULL OR lower(c.column_default) = 'null')
             AND c.is_nullable = 'NO' AS "required"
         FROM information_schema.columns AS c
         WHERE c.table_schema !~ '^information_schema|pg_' AND c.table_schema IN (%s))
        UNION ALL
        (SELECT a.attname, a.attnum - 1, FALSE FROM pg_catalog.pg_class AS t
         INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid
         WHERE t.relkind = 'm' AND a.attnum >= 1)
        ORDER BY "place" ASC"""
    rows = connection.execute(sql, ["census"]).fetchall()
    assert [row[0] for row in rows] == ["age", "sex", "income", "born", "married"]
    assert pg.spent() == 0


def test_types_with_their_elements(pg, connection):
    sql = """
        SELECT n.nspname, t.oid, t.typname, t.kind, t.element FROM (
          SELECT y.oid, y.typname, y.typnamespace, y.typelem AS element,
            CASE WHEN p.proname = 'array_recv' THEN 'a' ELSE y.typtype END AS kind,
            CASE WHEN y.typtype = 'm' THEN
              (SELECT rngtypid FROM pg_range WHERE rngmultitypid = y.oid) END AS part
          FROM pg_type AS y LEFT JOIN pg_proc AS p ON p.oid = y.typreceive
          LEFT JOIN pg_range ON (pg_range.rngtypid = y.oid)) AS t
        JOIN pg_namespace AS n ON (n.oid = t.typnamespace)
        WHERE t.kind IN ('b', 'a') ORDER BY CASE WHEN t.kind = 'b' THEN 0 ELSE 5 END;"""
    rows = connection.execute(sql).fetchall()
    assert ("pg_catalog", 23) in [row[:2] for row in rows]
    assert pg.spent() == 0


def test_roles_that_a_role_belongs_to(pg, connection):
    sql = """
        SELECT r.rolname, CASE WHEN 'pg_signal_backend' = ANY(ARRAY(WITH RECURSIVE up AS (
            SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = r.oid
            UNION ALL
            SELECT m.roleid, more.rolname FROM up AS below
              JOIN pg_auth_members m ON m.member = below.oid
              JOIN pg_roles more ON more.oid = m.roleid)
          SELECT rolname FROM up)) THEN True ELSE False END AS may_signal
        FROM pg_catalog.pg_roles AS r WHERE rolname = current_user"""
    assert connection.execute(sql).fetchall() == [("alice", False)]
    endless = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r {join}) SELECT * FROM r"
    for join in ("", "LEFT JOIN pg_auth_members m ON true", "JOIN pg_class c ON true"):
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(endless.format(join=join))


def test_settings_as_a_function(connection):
    sql = "SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() LIMIT 1"
    assert connection.execute(sql).fetchall() == [("hex",)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT set_config('role', 'owner', false)")


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT * FROM "census"."people" LIMIT 0',
        "SELECT * FROM people WHERE 1 = 0",
        'SELECT * FROM "census"."people" AS t WHERE (1 <> 1) AND age > 3',
        "SELECT * FROM (SELECT * FROM census.people) AS custom LIMIT 0",
        "WITH w AS (SELECT * FROM people) SELECT * FROM w WHERE FALSE",
        "SELECT * FROM people FETCH FIRST 0 ROWS ONLY",
    ],
)
def test_asking_for_columns_only_is_free(pg, connection, sql):
    cursor = connection.execute(sql)
    assert [column.name for column in cursor.description] == [
        "age", "sex", "income", "born", "married",
    ]  # fmt: skip
    assert [column.type_code for column in cursor.description][:3] == [23, 25, 701]
    assert cursor.fetchall() == []
    assert pg.spent() == 0


def test_columns_of_an_answer_are_free_too(pg, connection):
    cursor = connection.execute("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 0")
    assert [(c.name, c.type_code) for c in cursor.description] == [("sex", 25), ("n", 20)]
    assert cursor.fetchall() == []
    assert pg.spent() == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people LIMIT 1",
        "SELECT * FROM people WHERE 1 = 1",
        "SELECT * FROM people WHERE 1 = 0 OR TRUE",
        "SELECT * FROM people WHERE age <> age",
        "SELECT * FROM people LIMIT 0 + 1",
        "SELECT * FROM agents LIMIT 0",
        "SELECT note FROM people LIMIT 0",
    ],
)
def test_what_might_show_something_is_refused(pg, sql):
    with (
        psycopg.connect(pg.url("bob"), autocommit=True) as bob,
        pytest.raises(psycopg.Error) as caught,
    ):
        bob.execute(sql)
    assert caught.value.sqlstate in ("0A000", "42P01", "42703")
