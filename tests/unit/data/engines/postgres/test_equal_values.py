"""Views of PostgreSQL that take one of several equal values: refused where these differ in form."""

from __future__ import annotations

import pytest

from postgres_relations_kit import HALVES, make, open_engine, rows, wanted

pytestmark = pytest.mark.postgres

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

    from discreet.data.engines.postgres.stands_on import standing_of
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
    from discreet.data.engines.postgres.stands_on import _Walk
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
