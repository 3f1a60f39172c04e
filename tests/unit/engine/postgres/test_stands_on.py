"""Whatever a PostgreSQL relation stands on: a query sees one state of it, or is refused with a reason."""

from __future__ import annotations

import pyarrow as pa
import pytest

from permits import paid

pytestmark = pytest.mark.postgres

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


@pytest.fixture
def url():
    from engines import fill_postgres, own, postgres_url

    url = postgres_url()
    own("DROP SCHEMA discreet_state CASCADE", "CREATE SCHEMA discreet_state")
    own("GRANT USAGE, CREATE ON SCHEMA discreet_state TO discreet_reader")
    fill_postgres(url, {"t": pa.table({"a": [1, 2, 3, 51, 52]})})
    yield url
    own("DROP OPERATOR IF EXISTS public.@#@ (NONE, BIGINT) CASCADE")


def make(*statements):
    from engines import own

    own(*statements, "GRANT SELECT ON ALL TABLES IN SCHEMA town TO discreet_reader")


def open_engine(url, source):
    from discreet.engine.base import EngineLimits
    from discreet.engine.postgres.engine import PostgresEngine

    return PostgresEngine(url, {"d.t": f"town.{source}"}, limits=EngineLimits(seconds=20.0))


def wanted(*, copy=False, version=None):
    from discreet.core.schema import Column, Dataset, IntegerDomain, Table
    from discreet.core.unit import Neighbours, PrivacyUnit
    from discreet.kernel.canonical import CanonicalRecipe

    columns = (Column("a", IntegerDomain(0, 1000)),)
    table = Table("t", "town.t", PrivacyUnit(), columns, version=version, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    return {"d.t": CanonicalRecipe(dataset, table, owner="ledger")}


def rows(held, where, source):
    from discreet.engine.base import open_exact

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


@pytest.mark.parametrize("kind", STILL)
def test_what_is_read_live_has_one_state(url, kind):
    source, statements = STILL[kind]
    make(*statements)
    engine = open_engine(url, source)
    with engine.hold(wanted()) as held:
        before = sorted(rows(held, "TRUE", source))
        first = rows(held, HALVES[0], source)
        change(source)
        assert sorted(first + rows(held, HALVES[1], source)) == before != []
    engine.close()


@pytest.mark.parametrize("kind", MOVING)
def test_what_moves_is_refused_with_the_reason_and_what_to_do(url, kind):
    from discreet.errors import CatalogError

    source, statements, reason = MOVING[kind]
    make(*statements)
    engine = open_engine(url, source)
    for _ in range(2):
        with pytest.raises(CatalogError, match=reason) as caught:
            engine.hold(wanted())
        assert "cannot be held still" in str(caught.value)
        assert 'snapshot = "copy"' in str(caught.value)
        assert "town" not in str(caught.value)
    engine.close()


# Types of which values can be equal and differ: two such values as SQL, and what tells them apart.
FORMS = {
    "numeric": ("5", "5.0", "scale({0})"),
    "float8": ("0", "'-0'", "length({0}::text)"),
    "float4": ("0", "'-0'", "length({0}::text)"),
    "interval": ("'1 day'", "'24 hours'", "extract(hour FROM {0})::int"),
    "jsonb": ("'5'", "'5.0'", "length({0}::text)"),
    "bpchar": ("'a'", "'a '", "octet_length({0})"),
    "numeric[]": ("'{5}'", "'{5.0}'", "length({0}::text)"),
    "numrange": ("'[5,6]'", "'[5.0,6]'", "length({0}::text)"),
    "town.sum": ("5", "5.0", "scale({0})"),
    "town.folded": ("'a'", "'A'", "ascii({0})"),
    'text COLLATE town."ci"': ("'a'", "'A'", "ascii({0})"),
}
# Types of which equal values are the same.
SAME = {
    **dict.fromkeys(("smallint", "int", "bigint", "town.size"), ("1", "2", "({0})::int")),
    "boolean": ("true", "false", "({0})::int"),
    "date": ("'2020-01-01'", "'2020-01-02'", "extract(day FROM {0})::int"),
    "timestamptz": ("'2020-01-01'", "'2020-01-02'", "extract(day FROM {0})::int"),
    "timestamp": ("'2020-01-01'", "'2020-01-02'", "extract(day FROM {0})::int"),
    "time": ("'1:00'", "'2:00'", "extract(hour FROM {0})::int"),
    "uuid": (f"'{'1' * 32}'", f"'{'2' * 32}'", "ascii({0}::text)"),
    "text": ("'a'", "'A'", "ascii({0})"),
    "varchar(9)": ("'a'", "'A'", "ascii({0})"),
    'text COLLATE "C"': ("'a'", "'A'", "ascii({0})"),
    "bytea": ("'a'", "'A'", "length({0})"),
    "town.mood": ("'glad'", "'sad'", "CASE WHEN {0} = 'sad' THEN 1 END"),
}
MADE = (
    "DROP COLLATION IF EXISTS town.ci CASCADE",
    # The test server may be built without ICU, so that it has no collation of this kind itself.
    "CREATE COLLATION town.ci (provider = libc, locale = 'C')",
    "UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'ci'",
    "CREATE DOMAIN town.sum AS NUMERIC",
    "CREATE DOMAIN town.size AS INT",
    "CREATE DOMAIN town.folded AS TEXT COLLATE town.ci",
    "CREATE TYPE town.mood AS ENUM ('glad', 'sad')",
)
# Each takes one of several equal values for all of them, and shows it to what is around it.
SHAPES = {
    "distinct": "SELECT {tell} AS a FROM (SELECT DISTINCT p, x FROM town.x) s",
    "group": "SELECT {tell} AS a FROM (SELECT p, x FROM town.x GROUP BY p, x) s",
    "sets": "SELECT {tell} AS a FROM town.x GROUP BY GROUPING SETS ((x), (p, x))",
    "union": "SELECT {tell} AS a FROM (SELECT p, x FROM town.x UNION SELECT p, x FROM town.x) s",
    "except": "SELECT {tell} AS a FROM (SELECT p, x FROM town.x EXCEPT ALL SELECT 0, NULL) s",
    "recursive": "WITH RECURSIVE r AS (SELECT p, x FROM town.x UNION SELECT p, x FROM r) "
    "SELECT {tell} AS a FROM r",
    "window": "SELECT r AS a FROM (SELECT rank() OVER (PARTITION BY x ORDER BY p) AS r FROM town.x) s",
    "subquery": "SELECT p AS a FROM town.x AS o WHERE EXISTS "
    "(SELECT FROM (SELECT DISTINCT x FROM town.x) s WHERE {tell} > o.p)",
}
AGGREGATES = {
    "least": "SELECT {tell} AS a FROM (SELECT p, min(x) AS x FROM town.x GROUP BY p) s",
    "greatest": "SELECT {tell} AS a FROM (SELECT max(x) OVER (PARTITION BY p) AS x FROM town.x) s",
    "any of them": "SELECT {tell} AS a FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) "
    "AS x FROM town.x GROUP BY p) s",
    "most frequent": "SELECT {tell} AS a FROM "
    "(SELECT mode() WITHIN GROUP (ORDER BY x) AS x FROM town.x GROUP BY p) s",
}
NO_MAXIMUM = {"boolean", "uuid", "jsonb", "numrange"}
COUNTED = (
    "SELECT count(DISTINCT x) AS a FROM town.x",
    "SELECT p AS a FROM town.x ORDER BY x",
    "SELECT rank() OVER (ORDER BY x) AS a FROM town.x",
    "SELECT o.p AS a FROM town.x o JOIN town.x i USING (x) WHERE o.x IN (SELECT x FROM town.x)",
)


def moving_of(url, bodies):
    """Return what moves in each of several views."""
    import psycopg

    from discreet.engine.postgres.stands_on import standing_of
    from engines import owner_url

    make(*(f"CREATE VIEW town.v{i} AS {body}" for i, body in enumerate(bodies)))
    with psycopg.connect(owner_url()) as wire:
        return [standing_of(wire, "t", f"town.v{i}").moving for i in range(len(bodies))]


def with_values(kind, first, second):
    return (
        *MADE,
        f"CREATE TABLE town.x (p INT, x {kind})",
        f"INSERT INTO town.x SELECT p, {first} FROM generate_series(1, 9) p",
        f"INSERT INTO town.x SELECT p, {second} FROM generate_series(1, 9) p",
    )


@pytest.mark.parametrize("kind", [*FORMS, *SAME])
def test_one_of_several_equal_values_is_taken_only_where_they_are_the_same(url, kind):
    first, second, tell = (FORMS | SAME)[kind]
    make(*with_values(kind, first, second))
    shapes = dict(SHAPES) if kind in NO_MAXIMUM else SHAPES | AGGREGATES
    bodies = [body.format(tell=tell.format("x")) for body in shapes.values()]
    found = dict(zip(shapes, moving_of(url, [*bodies, *COUNTED]), strict=False))
    told = {shape: what for shape, what in found.items() if what and "equal without" in what}
    assert set(told) == (set(shapes) if kind in FORMS else set()), found


def test_a_count_or_an_order_of_values_that_differ_in_form_takes_none_for_others(url):
    make(*with_values("numeric", "5", "5.0"))
    assert moving_of(url, COUNTED) == [None] * len(COUNTED)
    make("ALTER TABLE town.x ADD r NUMRANGE", "ALTER TABLE town.x ADD i INT4RANGE")
    make(*(f"DROP VIEW town.v{i}" for i in range(len(COUNTED))))
    numbers, whole, array, summed = moving_of(
        url,
        [
            "SELECT lower(range_agg(r))::int AS a FROM town.x",
            "SELECT lower(range_agg(i)) AS a FROM town.x",
            "SELECT (ARRAY(SELECT p FROM town.x))[1] AS a",
            "SELECT scale(sum(DISTINCT x)) AS a FROM town.x",
        ],
    )
    assert "equal without" in numbers
    assert whole is None
    assert "ARRAY" in array
    assert "equal without" in summed


@pytest.mark.parametrize("merged", ["range_agg", "range_intersect_agg"])
def test_ranges_are_merged_only_where_ends_that_are_equal_are_the_same(url, merged):
    make(
        *MADE,
        "CREATE TYPE town.folded_range AS RANGE (subtype = text, collation = town.ci)",
        'CREATE TYPE town.plain_range AS RANGE (subtype = text, collation = "C")',
        "CREATE TABLE town.x (p INT, folded town.folded_range, plain town.plain_range)",
    )
    folded, plain = moving_of(
        url,
        [
            f"SELECT ascii(lower({merged}({column}))) AS a FROM town.x"
            for column in ("folded", "plain")
        ],
    )
    assert "ranges merged over values that can be equal without" in (folded or "")
    assert "ranges merged" not in (plain or "")


@pytest.mark.parametrize(
    ("kind", "least"), [("numeric", 0), ("float8", 1), ("interval", 0), ("jsonb", 1)]
)
@pytest.mark.parametrize("believed", [False, True])
def test_equal_values_that_differ_in_form_do_not_put_a_person_into_both_halves(
    url, kind, least, believed, monkeypatch
):
    """Believed: the broken twin, where a pushed condition shows one person in each half."""
    from discreet.engine.postgres.stands_on import _Walk
    from discreet.errors import CatalogError

    first, second, tell = FORMS[kind]
    make(
        *with_values(kind, first, second),
        f"CREATE VIEW town.v AS SELECT CASE WHEN {tell.format('x')} > {least} THEN 90 ELSE 10 END "
        "AS a FROM (SELECT DISTINCT p, x FROM town.x) s",
    )
    if believed:
        monkeypatch.setattr(_Walk, "_chosen", lambda *_: None)
    engine = open_engine(url, "v")
    if believed:
        with engine.hold(wanted()) as held:
            halves = sum(len(rows(held, half, "v")) for half in HALVES)
            assert halves > len(rows(held, "TRUE", "v"))
    else:
        with pytest.raises(
            CatalogError, match=r"equal without being the same.*cannot be held still"
        ):
            engine.hold(wanted())
    engine.close()


OF_THE_CATALOG = """
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.oid < 16384 AND p.prokind = 'f' AND p.provolatile IN ('i', 's') AND EXISTS (
    SELECT FROM pg_type t WHERE t.oid = ANY(p.proargtypes::oid[] || p.prorettype)
    AND (t.typname ~ '^reg' OR t.typname ~ '^_?aclitem$')
) OR p.proname ~ '^(enum_(first|last|range|in|out|recv|send)|ts_parse|ts_token_type|has_.*privilege)$'
  OR p.proname ~ '^(to_tsvector|to_tsquery|plainto_tsquery|websearch_to_tsquery|format_type)$'
  OR p.proname ~ '^(pg_typeof|current_user|session_user|(array|record|range|domain)_in)$'
"""


def test_no_built_in_function_is_believed_that_reads_the_catalog(url):
    """Whatever PostgreSQL says of it: IMMUTABLE text search depends on what somebody configured."""
    import psycopg

    from discreet.engine.postgres.stands_on import _CALLED
    from engines import owner_url

    with psycopg.connect(owner_url()) as session:
        found = [name for (name,) in session.execute(OF_THE_CATALOG)]
        believed = [
            name
            for name in found
            if session.execute(
                _CALLED.encode(),
                [[session.execute("SELECT %s::regprocedure::oid", [name]).fetchone()[0]]],
            ).fetchone()[0]
            is None
        ]
    assert believed == []
    assert len(found) > 100
    assert "to_tsvector(regconfig,text)" in found


def test_every_node_that_nobody_knows_is_refused():
    from discreet.engine.postgres.trees import TreeContent, read_tree

    for tree in ("({QUERY :x {NEWNODE :y 1}})", "({QUERY :x {VAR :y 1})", "}", "({QUERY})}"):
        named = TreeContent()
        read_tree(tree, named)
        assert named.moving is not None, tree
    named = TreeContent()
    read_tree(r"({QUERY :name \{NEWNODE\ :y\ 1\} :relid 7})", named)
    assert (named.moving, named.relations) == (None, {7})


SEQUENCE = ("CREATE SEQUENCE town.s", "SELECT nextval('town.s')")
BY_SEQUENCE = "SELECT (a + 49 * last_value) % 100 AS a FROM town.t, town.s"


def test_without_the_check_people_stand_in_both_halves(url, monkeypatch):
    """The broken twin: the same reads as above of what the check refuses."""
    make(*SEQUENCE, f"CREATE VIEW town.v AS {BY_SEQUENCE}")
    monkeypatch.setattr("discreet.engine.postgres.trees.TreeContent.note", lambda *_: None)
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
        monkeypatch.setattr("discreet.engine.postgres.holder._each_once", lambda rows: rows)
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
