"""Relations of PostgreSQL that stay the same while they are read, and ones that do not, with the statements that make them."""

from __future__ import annotations

from permits import paid

HALVES = ("COALESCE({0}, 0) < 50", "COALESCE({0}, 0) >= 50")
FOREIGN = (
    "DROP FOREIGN DATA WRAPPER IF EXISTS elsewhere CASCADE",
    "CREATE FOREIGN DATA WRAPPER elsewhere",
    "CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere",
    "CREATE FOREIGN TABLE town.far (a BIGINT) SERVER elsewhere",
)
PARTED = (
    "CREATE TABLE town.parted (a BIGINT) PARTITION BY RANGE (a)",
    "CREATE TABLE town.low PARTITION OF town.parted FOR VALUES FROM (MINVALUE) TO (1000)",
    "INSERT INTO town.parted SELECT a FROM town.t",
)
FAMILY = ("CREATE TABLE town.child () INHERITS (town.t)", "INSERT INTO town.child VALUES (60)")
POLICY = ("ALTER TABLE town.t ENABLE ROW LEVEL SECURITY",)


def view(body, *before):
    return (*before, f"CREATE VIEW town.v AS {body}")


def function(kind, body, language="plpgsql"):
    return f"CREATE FUNCTION town.f(BIGINT) RETURNS BIGINT {kind} LANGUAGE {language} {body}"


HONEST = "AS $$ BEGIN RETURN $1; END $$"
LYING = "AS $$ BEGIN RETURN $1 + (random() * 100)::bigint; END $$"

# What is read, and the statements that make it.
STILL = {
    "a table": ("t", ()),
    "an unlogged table": (
        "u",
        ("CREATE UNLOGGED TABLE town.u (a BIGINT)", "INSERT INTO town.u SELECT a FROM town.t"),
    ),
    "a view": ("v", view("SELECT a FROM town.t WHERE a > 0")),
    "a view of a view": (
        "w",
        (*view("SELECT a FROM town.t"), "CREATE VIEW town.w AS SELECT a FROM town.v"),
    ),
    "a union, a join and a group": (
        "v",
        view(
            "SELECT max(x.a) AS a FROM town.t x JOIN town.t y USING (a) GROUP BY x.a "
            "UNION ALL SELECT a FROM town.t"
        ),
    ),
    "a recursive view": (
        "v",
        view(
            "WITH RECURSIVE r(a) AS (SELECT a FROM town.t UNION SELECT a + 40 FROM r WHERE a < 50) "
            "SELECT a FROM r"
        ),
    ),
    "times of the transaction": (
        "v",
        view(
            "SELECT a FROM town.t WHERE now() > '2000-01-01'::date AND to_char(now(), 'YYYY') > '2' "
            "AND CURRENT_TIMESTAMP - INTERVAL '1 day' < now() AND date_trunc('day', now()) <= now()"
        ),
    ),
    "ranks": (
        "v",
        view(
            "SELECT a FROM (SELECT a, rank() OVER (ORDER BY a) AS r FROM town.t) x WHERE r < 1000"
        ),
    ),
    "an extension's immutable function": (
        "v",
        (
            "CREATE EXTENSION vector SCHEMA town",
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA town TO discreet_reader",
            *view("SELECT a FROM town.t WHERE town.vector_dims('[1,2]'::town.vector) = 2"),
        ),
    ),
    "a materialized view": ("m", ("CREATE MATERIALIZED VIEW town.m AS SELECT a FROM town.t",)),
    "a materialized view of random rows": (
        "m",
        ("CREATE MATERIALIZED VIEW town.m AS SELECT a FROM town.t WHERE random() > 2 OR a > 0",),
    ),
    "a view of a materialized view": (
        "v",
        view("SELECT a FROM town.m", "CREATE MATERIALIZED VIEW town.m AS SELECT a FROM town.t"),
    ),
    "a partitioned table": ("parted", PARTED),
    "a table with children": ("t", FAMILY),
    "a policy": ("t", (*POLICY, "CREATE POLICY p ON town.t USING (a > 0)")),
    "a policy that reads a table": (
        "t",
        (
            "CREATE TABLE town.may AS SELECT 2::bigint AS a",
            *POLICY,
            "CREATE POLICY p ON town.t USING (a IN (SELECT a FROM town.may))",
        ),
    ),
    "a policy that is not in force": ("t", ("CREATE POLICY p ON town.t USING (random() > 2)",)),
    "generated columns": (
        "g",
        (
            "CREATE TABLE town.g (b BIGINT, a BIGINT GENERATED ALWAYS AS (b + 1) STORED)",
            "INSERT INTO town.g SELECT a FROM town.t",
        ),
    ),
    "virtual columns": (
        "g",
        (
            "CREATE TABLE town.g (b BIGINT, a BIGINT GENERATED ALWAYS AS (b + 1) VIRTUAL)",
            "INSERT INTO town.g SELECT a FROM town.t",
        ),
    ),
    "a domain": (
        "g",
        (
            "CREATE DOMAIN town.size AS BIGINT CHECK (VALUE > 0)",
            "CREATE TABLE town.g (a town.size)",
            "INSERT INTO town.g SELECT a FROM town.t",
        ),
    ),
    "texts of numbers and days": (
        "v",
        view(
            "SELECT concat(a, '-', now()::date)::text <> '' AS b, to_json(a)::text || a::varchar AS c, "
            "(a::text)::numeric AS d, ARRAY[a]::text[] AS e, a FROM town.t WHERE ('x' || a) <> 'y'"
        ),
    ),
    "every kind of expression": (
        "v",
        view(
            "SELECT CASE a WHEN 1 THEN 2 ELSE coalesce(nullif(a, 3), 4) END AS x, greatest(a, 1) AS y, "
            "ROW(a, 1) < ROW(2, 3) AS z, a IS DISTINCT FROM 4 AS w, (a > 1) IS TRUE AS t, "
            "(ARRAY[a, 2])[1] AS f, a = ANY(ARRAY[1, 2]) AS g, grouping(a) AS h, CURRENT_DATE AS d, "
            "(SELECT count(*) FROM town.t AS i WHERE i.a < o.a) AS k, a FROM town.t AS o "
            "WHERE a::text COLLATE \"C\" <> '' GROUP BY GROUPING SETS ((a), (a, a))"
        ),
    ),
    "a name that looks like a volatile function": (
        "v",
        view('SELECT a, 1 AS "x} :funcid 1598 {FUNCEXPR :funcid 1598 " FROM town.t'),
    ),
}
MOVING = {
    "a foreign table": ("far", FOREIGN, "a foreign table"),
    "a view of a foreign table": ("v", view("SELECT a FROM town.far", *FOREIGN), "a foreign table"),
    "a view of a view of a foreign table": (
        "w",
        (*view("SELECT a FROM town.far", *FOREIGN), "CREATE VIEW town.w AS SELECT a FROM town.v"),
        "a foreign table",
    ),
    "a foreign table in a subquery": (
        "v",
        view("SELECT a FROM town.t WHERE a IN (SELECT a FROM town.far)", *FOREIGN),
        "a foreign table",
    ),
    "a foreign table in a WITH": (
        "v",
        view("WITH x AS (SELECT a FROM town.far) SELECT a FROM x", *FOREIGN),
        "a foreign table",
    ),
    "a foreign partition": (
        "parted",
        (
            *FOREIGN,
            *PARTED,
            "ALTER TABLE town.parted ATTACH PARTITION town.far FOR VALUES FROM (1000) TO (2000)",
        ),
        "a foreign table",
    ),
    "a foreign child": (
        "t",
        (*FOREIGN, "ALTER FOREIGN TABLE town.far INHERIT town.t"),
        "a foreign",
    ),
    "a view of a foreign child": (
        "v",
        view("SELECT a FROM town.t", *FOREIGN, "ALTER FOREIGN TABLE town.far INHERIT town.t"),
        "a foreign table",
    ),
    "a policy that reads a foreign table": (
        "t",
        (*FOREIGN, *POLICY, "CREATE POLICY p ON town.t USING (a IN (SELECT a FROM town.far))"),
        "a foreign table",
    ),
    "a policy that reads a view": (
        "t",
        (
            *view("SELECT 1::bigint AS a"),
            *POLICY,
            "CREATE POLICY p ON town.t USING (a IN (SELECT a FROM town.v))",
        ),
        "a view in a row-level security policy",
    ),
    "a volatile policy": (
        "t",
        (*POLICY, "CREATE POLICY p ON town.t USING (a > 100 * random())"),
        r"random\(\)",
    ),
    "a policy of a setting": (
        "t",
        (*POLICY, "CREATE POLICY p ON town.t USING (current_setting('a.b', true) IS NULL)"),
        r"current_setting\(\)",
    ),
    "a view of a sequence": (
        "v",
        view(
            "SELECT (a + last_value) % 100 AS a FROM town.t, town.s",
            "CREATE SEQUENCE town.s",
        ),
        "a sequence",
    ),
    "random rows": ("v", view("SELECT a FROM town.t WHERE random() < 0.5"), r"random\(\)"),
    "random rows below a view": (
        "w",
        (
            *view("SELECT a FROM town.t WHERE random() < 0.5"),
            "CREATE VIEW town.w AS SELECT a FROM town.v",
        ),
        r"random\(\)",
    ),
    "a volatile function in a condition of a join": (
        "v",
        view("SELECT x.a FROM town.t x JOIN town.t y ON x.a = y.a AND random() < 0.5"),
        r"random\(\)",
    ),
    "the time of the statement": (
        "v",
        view("SELECT a FROM town.t WHERE statement_timestamp() > '2000-01-01'"),
        r"statement_timestamp\(\)",
    ),
    "the time of the clock": (
        "v",
        view("SELECT a FROM town.t WHERE clock_timestamp() > '2000-01-01'"),
        r"clock_timestamp\(\)",
    ),
    "a table that is named by a text": (
        "v",
        view("SELECT a FROM town.t WHERE table_to_xml('town.t', true, true, '') IS NOT NULL"),
        r"table_to_xml\(\)",
    ),
    "counters of the server": (
        "v",
        view("SELECT a FROM town.t WHERE pg_stat_get_numscans(1) >= 0"),
        r"pg_stat_get",
    ),
    "a catalog, some of whose rows are altered in place": (
        "v",
        view("SELECT sum(reltuples)::bigint AS a FROM pg_class"),
        "a catalog of PostgreSQL",
    ),
    "a system column": ("v", view("SELECT a FROM town.t WHERE xmax::text = '0'"), "system column"),
    "a system column below a view": (
        "w",
        (
            *view("SELECT a, xmax AS x FROM town.t"),
            "CREATE VIEW town.w AS SELECT a FROM town.v WHERE x = '0'::xid",
        ),
        "system column",
    ),
    "the table of a row": (
        "v",
        view("SELECT a FROM town.t GROUP BY a, tableoid HAVING tableoid > 0"),
        "system column",
    ),
    "a policy of a system column": (
        "t",
        (*POLICY, "CREATE POLICY p ON town.t USING (ctid::text <> 'x')"),
        "system column",
    ),
    "a policy for some roles": (
        "t",
        (*POLICY, "CREATE POLICY p ON town.t TO pg_read_all_data USING (true)"),
        "policy for some roles",
    ),
    "the name of a role": ("v", view("SELECT a FROM town.t WHERE CURRENT_USER <> ''"), "role"),
    "the name of a table": (
        "v",
        view("SELECT a FROM town.t WHERE (a::oid)::regclass::text <> ''"),
        "conversion between regclass",
    ),
    "a name that is looked up": (
        "v",
        view("SELECT a FROM town.t WHERE ('x' || a)::regrole IS NOT NULL"),
        "conversion between regrole",
    ),
    "names of tables in an array": (
        "v",
        view("SELECT a FROM town.t WHERE ARRAY[a::oid::regclass]::text[] <> '{x}'"),
        "conversion between regclass",
    ),
    "the name of a type in JSON": (
        "v",
        view("SELECT a FROM town.t WHERE to_json(a::oid::regtype)::text <> ''"),
        "conversion between regtype",
    ),
    "a rule of rights": (
        "v",
        view("SELECT a FROM town.t WHERE '{}'::aclitem[]::text <> ''"),
        "conversion between aclitem",
    ),
    "text search as configured": (
        "v",
        view("SELECT a FROM town.t WHERE to_tsvector('english', a::text) @@ '1'::tsquery"),
        r"to_tsvector\(\)",
    ),
    "a dictionary": (
        "v",
        view("SELECT a FROM town.t WHERE ts_lexize('english_stem', a::text) IS NOT NULL"),
        r"ts_lexize\(\)",
    ),
    "a whole row as text": (
        "v",
        view("SELECT a FROM town.t AS t WHERE t::text <> ''"),
        "conversion of whole rows",
    ),
    "a whole row in a text": (
        "v",
        view("SELECT a FROM town.t AS t WHERE concat('x', t) <> ''"),
        "conversion of whole rows",
    ),
    "columns of a text": (
        "v",
        view("SELECT r.a FROM town.t, json_to_record('{\"a\": 1}') AS r(a BIGINT)"),
        r"json_to_record\(\)",
    ),
    "an expression that nobody knows": (
        "v",
        view("SELECT a FROM town.t WHERE JSON_OBJECT('a': a)::text <> ''"),
        "not known to stay the same",
    ),
    "a function": (
        "v",
        view("SELECT town.f(a) AS a FROM town.t", function("", HONEST)),
        "not built",
    ),
    "a function that says it is immutable": (
        "v",
        view("SELECT town.f(a) AS a FROM town.t", function("IMMUTABLE", LYING)),
        "not built",
    ),
    "a function in SQL": (
        "v",
        view("SELECT town.f(a) AS a FROM town.t", function("STABLE", "RETURN $1 + 1", "sql")),
        "not built",
    ),
    "an operator of one's own": (
        "v",
        view(
            "SELECT a FROM town.t WHERE @#@ a > 0",
            function("IMMUTABLE", LYING),
            "CREATE OPERATOR public.@#@ (FUNCTION = town.f, RIGHTARG = BIGINT)",
        ),
        "not built",
    ),
    "a cast of one's own": (
        "v",
        view(
            "SELECT ROW(a)::town.pair::bigint AS a FROM town.t",
            "CREATE TYPE town.pair AS (x BIGINT)",
            "CREATE FUNCTION town.g(town.pair) RETURNS BIGINT IMMUTABLE LANGUAGE plpgsql "
            "AS $$ BEGIN RETURN (random() * 100)::bigint; END $$",
            "CREATE CAST (town.pair AS BIGINT) WITH FUNCTION town.g(town.pair)",
        ),
        "not built",
    ),
    "an aggregate of one's own": (
        "v",
        view(
            "SELECT town.last(a) AS a FROM town.t",
            "CREATE FUNCTION town.second(BIGINT, BIGINT) RETURNS BIGINT IMMUTABLE LANGUAGE sql "
            "AS 'SELECT $2'",
            "CREATE AGGREGATE town.last(BIGINT) (SFUNC = town.second, STYPE = BIGINT)",
        ),
        "not built",
    ),
    "a function that takes the place of a table": (
        "v",
        view(
            "SELECT x.a FROM town.rows() AS x(a)",
            "CREATE FUNCTION town.rows() RETURNS SETOF BIGINT STABLE LANGUAGE sql "
            "AS 'SELECT a FROM town.t'",
        ),
        "not built",
    ),
    "a sample": ("v", view("SELECT a FROM town.t TABLESAMPLE BERNOULLI (50)"), "TABLESAMPLE"),
    "some rows": ("v", view("SELECT a FROM town.t LIMIT 2"), "LIMIT"),
    "the first of each": ("v", view("SELECT DISTINCT ON (a % 2) a FROM town.t"), "DISTINCT ON"),
    "numbered rows": (
        "v",
        view("SELECT row_number() OVER (ORDER BY a % 2) AS a FROM town.t"),
        r"row_number\(\)",
    ),
    "a window of rows": (
        "v",
        view("SELECT sum(a) OVER (ORDER BY a % 2 ROWS 1 PRECEDING)::bigint AS a FROM town.t"),
        "ROWS",
    ),
    "any value": ("v", view("SELECT any_value(a) AS a FROM town.t"), r"any_value\(\)"),
    "a list": ("v", view("SELECT (array_agg(a))[1] AS a FROM town.t"), r"array_agg\(\)"),
    "a sum of floats": ("v", view("SELECT sum(a::float8)::bigint AS a FROM town.t"), r"sum\(\)"),
}


def make(*statements):
    from engines import own

    own(*statements, "GRANT SELECT ON ALL TABLES IN SCHEMA town TO discreet_reader")


def open_engine(url, source):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine

    return PostgresEngine(url, {"d.t": f"town.{source}"}, limits=EngineLimits(seconds=20.0))


def wanted(*, copy=False, version=None):
    from discreet.base.schema import Column, Dataset, IntegerDomain, Table
    from discreet.base.unit import Neighbours, PrivacyUnit
    from discreet.privacy.kernel.canonical import CanonicalRecipe

    columns = (Column("a", IntegerDomain(0, 1000)),)
    table = Table("t", "town.t", PrivacyUnit(), columns, version=version, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    return {"d.t": CanonicalRecipe(dataset, table, owner="ledger")}


def rows(held, where, source):
    from discreet.data.engines.base import open_exact

    column, place = ("c0", 'canon."d.t"') if held._places else ("a", f"town.{source}")
    sql = f"SELECT {column} AS a FROM {place} AS t WHERE {where.format(column)}"
    return [int(row["a"]) for row in open_exact(paid(held).run(sql)).to_pylist()]


CHANGES = {
    "t": ("INSERT INTO town.t VALUES (4), (90)", "UPDATE town.t SET a = 101 - a"),
    "parted": ("INSERT INTO town.parted VALUES (4)", "UPDATE town.parted SET a = 101 - a"),
    "m": (),
}


def change(source):
    make(*CHANGES["t"], *(CHANGES["parted"] if source == "parted" else ()))
