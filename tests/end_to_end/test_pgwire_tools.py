"""What browsing tools ask before anybody asks a question: it costs nothing and does not fail.

The queries have the shape of those that JDBC drivers, DBeaver and Metabase send.
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
    with psycopg.connect(pg.url(), autocommit=True) as found:
        yield found


JDBC_TABLES = """
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",
  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'
    WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' THEN 'SYSTEM TABLE' ELSE 'TEMPORARY' END
    WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' ELSE NULL END
    ELSE NULL END AS "TABLE_TYPE",
  d.description AS "REMARKS"
FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_description d
  ON (c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass)
WHERE c.relnamespace = n.oid AND n.nspname LIKE 'census' AND c.relkind IN ('r', 'p')
ORDER BY "TABLE_TYPE", "TABLE_SCHEM", "TABLE_NAME"
"""
JDBC_COLUMNS = """
SELECT * FROM (
  SELECT current_database() AS current_database, n.nspname, c.relname, a.attname, a.atttypid,
    a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen,
    t.typtypmod, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum,
    nullif(a.attidentity, '') AS attidentity, nullif(a.attgenerated, '') AS attgenerated,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description, t.typtype
  FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
  JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid)
  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum)
  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid = dsc.classoid AND dc.relname = 'pg_class')
  LEFT JOIN pg_catalog.pg_namespace dn
    ON (dc.relnamespace = dn.oid AND dn.nspname = 'pg_catalog')
  WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped
    AND n.nspname LIKE 'census' AND c.relname LIKE 'people') c
WHERE true ORDER BY nspname, c.relname, attnum
"""
JDBC_KEYS = """
SELECT result."TABLE_CAT", result."COLUMN_NAME", result."KEY_SEQ" FROM (
  SELECT NULL AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", ct.relname AS "TABLE_NAME",
    a.attname AS "COLUMN_NAME", (information_schema._pg_expandarray(i.indkey)).n AS "KEY_SEQ",
    a.attnum AS "A_ATTNUM"
  FROM pg_catalog.pg_class ct
  JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)
  JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
  JOIN pg_catalog.pg_index i ON (a.attrelid = i.indrelid)
  WHERE ct.relname = 'people' AND i.indisprimary) result
ORDER BY result."KEY_SEQ"
"""
JDBC_TYPE = """
SELECT typinput = 'array_in'::regproc AS is_array, typtype, typname, pg_type.oid
FROM pg_catalog.pg_type LEFT JOIN (
  SELECT ns.oid AS nspoid, ns.nspname, r.r FROM pg_namespace AS ns JOIN (
    SELECT s.r, (current_schemas(false))[s.r] AS nspname
    FROM generate_series(1, array_upper(current_schemas(false), 1)) AS s(r)) AS r
  USING (nspname)) AS sp ON sp.nspoid = typnamespace
WHERE pg_type.typname = 'int4' ORDER BY sp.r, pg_type.oid DESC
"""
METABASE_PRIVILEGES = """
WITH table_privileges AS (
  SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table,
    pg_catalog.has_any_column_privilege(current_user,
      '"' || t.schemaname || '"' || '.' || '"' || t.objectname || '"', 'update') AS update,
    pg_catalog.has_any_column_privilege(current_user,
      '"' || t.schemaname || '"' || '.' || '"' || t.objectname || '"', 'select') AS select
  FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
        UNION SELECT schemaname, viewname AS objectname FROM pg_catalog.pg_views
        UNION SELECT schemaname, matviewname AS objectname FROM pg_catalog.pg_matviews) t
  WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema'
    AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
SELECT t.* FROM table_privileges t WHERE t.schema = 'census'
"""
METABASE_FIELDS = """
SELECT c.column_name AS name,
  CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name)
    ELSE format('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type",
  c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema",
  c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?",
  col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS TEXT),
    CAST(c.table_name AS TEXT)) AS REGCLASS) AS OID), c.ordinal_position) AS "field-comment"
FROM information_schema.columns AS c
LEFT JOIN (
  SELECT tc.table_schema, tc.table_name, kc.column_name
  FROM information_schema.table_constraints AS tc
  JOIN information_schema.key_column_usage AS kc
    ON tc.constraint_name = kc.constraint_name AND tc.table_name = kc.table_name
  WHERE tc.constraint_type = 'PRIMARY KEY') AS pk
  ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name
    AND c.column_name = pk.column_name
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema = 'census'
ORDER BY "table-schema", "table-name", "database-position"
"""
DBEAVER_TABLES = """
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr,
  pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = {schema} AND c.relkind NOT IN ('i', 'I', 'c')
"""
DBEAVER_COLUMNS = """
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value,
  dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i'
  AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = {table}
ORDER BY a.attnum
"""
DBEAVER_TYPES = """
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name,
  d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
  AND (et.typcategory IS NULL OR et.typcategory <> 'C')
"""
# ruff: noqa: ISC004  # long statements in a list
SMALL = [
    "SELECT version()",
    "SELECT current_schema(), session_user",
    "SELECT current_database() AS a, current_schemas(false) AS b",
    "SHOW search_path",
    "SHOW standard_conforming_strings",
    "SHOW TRANSACTION ISOLATION LEVEL",
    "SET extra_float_digits = 3",
    "SET application_name = 'PostgreSQL JDBC Driver'",
    "SET SESSION TIMEZONE TO 'UTC'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = 'discreet'",
    "SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN "
    "pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND "
    "d.classoid = 'pg_namespace'::regclass ORDER BY nspname",
    "SELECT * FROM pg_catalog.pg_settings WHERE name = 'standard_conforming_strings'",
    "SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{a,add}')",
    "SELECT * FROM pg_catalog.pg_enum WHERE 1<>1 LIMIT 1",
    "SELECT reltype FROM pg_catalog.pg_class WHERE 1<>1 LIMIT 1",
    "SELECT t.typname, t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n "
    "ON t.typnamespace = n.oid WHERE n.nspname != 'pg_toast'",
    "SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace WHERE "
    "nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1])",
    "SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) AS total FROM pg_class c",
    "SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a "
    "LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid ORDER BY a.rolname",
    "SELECT x.some_new_column FROM pg_catalog.pg_brand_new x",
    "SELECT n.nspname, proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON "
    "p.pronamespace = n.oid WHERE prokind = 'f'",
    "SELECT 1 AS one WHERE true",
    "SELECT pg_advisory_unlock_all()",
    "UNLISTEN *",
    "RESET ALL",
    "DISCARD ALL",
    "DEALLOCATE ALL",
]


@pytest.mark.parametrize("sql", SMALL)
def test_small_questions_do_not_fail_and_cost_nothing(pg, connection, sql):
    connection.execute(sql)
    assert pg.spent() == 0


def test_jdbc(pg, connection):
    tables = connection.execute(JDBC_TABLES).fetchall()
    assert [row[:4] for row in tables] == [("discreet", "census", "people", "TABLE")]
    columns = connection.execute(JDBC_COLUMNS).fetchall()
    assert [row[3] for row in columns] == ["age", "sex", "income", "born", "married"]
    assert [row[9] for row in columns] == [1, 2, 3, 4, 5]
    assert connection.execute(JDBC_KEYS).fetchall() == []
    assert connection.execute(JDBC_TYPE).fetchall() == [(False, "b", "int4", 23)]
    assert pg.spent() == 0


def test_metabase(pg, connection):
    [row] = connection.execute(METABASE_PRIVILEGES).fetchall()
    assert row == (None, "census", "people", False, True)
    fields = connection.execute(METABASE_FIELDS).fetchall()
    assert [(row[0], row[1], row[6]) for row in fields][:2] == [
        ("age", "int4", "0 to 120"),
        ("sex", "text", "Female, Male"),
    ]
    assert pg.spent() == 0


def test_dbeaver(pg, connection):
    [(schema,)] = connection.execute(
        "SELECT oid FROM pg_namespace WHERE nspname = 'census'"
    ).fetchall()
    cursor = connection.execute(DBEAVER_TABLES.format(schema=schema))
    assert [column.name for column in cursor.description][:3] == ["oid", "oid", "relname"]
    [table] = cursor.fetchall()
    columns = connection.execute(DBEAVER_COLUMNS.format(table=table[0])).fetchall()
    assert [row[2] for row in columns] == ["age", "sex", "income", "born", "married"]
    assert len(connection.execute(DBEAVER_TYPES).fetchall()) > 15
    assert pg.spent() == 0


def test_a_generated_question_is_answered(pg, connection):
    connection.execute("SET discreet.epsilon = 1")
    rows = connection.execute(
        'SELECT "census"."people"."sex" AS "sex", COUNT(*) AS "count" FROM "census"."people" '
        'GROUP BY "census"."people"."sex" ORDER BY "census"."people"."sex" ASC'
    ).fetchall()
    assert [row[0] for row in rows] == ["Female", "Male"]
    assert pg.spent("alice") == 1


def test_only_the_callers_own_datasets_are_seen(pg):
    with psycopg.connect(pg.url("bob"), autocommit=True) as bob:
        names = bob.execute("SELECT DISTINCT nspname FROM pg_namespace ORDER BY 1").fetchall()
        assert ("secret",) not in names
        with pytest.raises(psycopg.errors.UndefinedTable):
            bob.execute("SELECT COUNT(*) FROM agents")
        with pytest.raises(psycopg.errors.UndefinedTable):
            bob.execute("SELECT * FROM preview.agents")
    with psycopg.connect(pg.url("owner"), autocommit=True) as owner:
        assert owner.execute("SELECT to_regclass('secret.agents') IS NOT NULL").fetchall() == [
            (True,)
        ]
