"""Canonical rows: which columns there are, whose row it is, which row comes first, what was left out.

On DuckDB the SELECTs are run over a few nasty rows; for other engines their texts are looked at.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from functools import cache

import duckdb
import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.base.spelling import Spelling
from discreet.base.unit import Neighbours, PathStep, PrivacyUnit, UnitPath
from discreet.data.engines.base import Capabilities
from discreet.errors import CatalogError
from discreet.privacy.kernel.canonical import (
    CanonicalRecipe,
    canonical_select,
    column_types,
    content_order,
    grouped_columns,
    is_tiny,
    ranked_select,
    stored_columns,
    units_are_whole,
)

MOMENTS = TimestampDomain(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31))
COLUMNS = (
    Column("id", IdentifierDomain()),  # c0, the unit
    Column("ward", CategoryDomain(("A", "B")), constant=True),  # c1
    Column("cost", IntegerDomain(0, 100)),  # c2
    Column("seen", MOMENTS),  # c3, its second c10
    Column("secret", IntegerDomain(0, 9), hidden=True),
    Column("draft", IntegerDomain(0, 9), reviewed=False),
    Column("member", BooleanDomain(), constant=True),  # c6
)
VISITS = Table("visits", "visits.csv", PrivacyUnit("ID"), COLUMNS, max_rows=2)
WARDS = Table("wards", "wards.csv", None, (Column("ward", CategoryDomain(("A", "B"))),))
ROWS = Table("rows", "rows.csv", PrivacyUnit(), (Column("cost", IntegerDomain(0, 100)),))
SET = Dataset("clinic", (VISITS, WARDS, ROWS), Neighbours.ADD_REMOVE, "clinic")
TYPES = {
    **dict.fromkeys(("id", "ward"), "VARCHAR"),
    **dict.fromkeys(("cost", "secret", "draft"), "BIGINT"),
    "seen": "TIMESTAMP",
    "member": "BOOLEAN",
}
SOURCE = """(VALUES
  ('p', 'B', 5, TIMESTAMP '2024-03-01 00:01:01', 1, 1, TRUE),
  ('p', 'A', 500, TIMESTAMP '2024-03-02 10:00:00', 2, 2, FALSE),
  ('p', 'x', 7, NULL, 3, 3, NULL),
  ('q', NULL, NULL, TIMESTAMP '2023-12-31 00:00:09', 4, 4, TRUE),
  (NULL, 'A', 9, NULL, 5, 5, TRUE)
) AS v(id, ward, cost, seen, secret, draft, member)"""
RELATION = f"(SELECT * FROM {SOURCE})"


@cache
def base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def run(sql: str) -> list[tuple]:
    return sorted(base().execute(sql).fetchall(), key=repr)


def recipe(table: Table = VISITS) -> CanonicalRecipe:
    return CanonicalRecipe(SET, table)


def test_hidden_and_unreviewed_columns_and_mere_names_of_people_are_not_stored() -> None:
    found = stored_columns(VISITS)
    assert list(found) == [1, 2, 3, 6, 3 + 7]
    assert found[10].moment == MOMENTS


@pytest.mark.parametrize(
    ("domain", "stored"),
    [(IdentifierDomain(), False), (TextDomain(), False), (IntegerDomain(0, 9), True)],
)
def test_a_person_column_that_says_something_else_has_a_copy(domain, stored) -> None:
    columns = (Column("id", domain), Column("other", IdentifierDomain()), Column("t", TextDomain()))
    table = Table("t", "t.csv", PrivacyUnit("id"), columns)
    assert list(stored_columns(table)) == ([0, 1, 2] if stored else [1, 2])
    assert list(stored_columns(replace(table, unit=None))) == [0, 1, 2]


def test_every_cell_is_declared_and_rows_of_nobody_are_left_out() -> None:
    rows = run(canonical_select(VISITS, [2, 3, 10], TYPES, "duckdb", RELATION))
    day = dt.date(2024, 3, 1)
    assert rows == sorted(
        [
            (5, day, 61, "p"),
            (None, day + dt.timedelta(1), 36_000, "p"),
            (7, None, None, "p"),
            (None, None, None, "q"),
        ],
        key=repr,
    )


def test_a_constant_column_says_the_least_of_its_persons_rows() -> None:
    rows = run(canonical_select(VISITS, [1, 2, 6], TYPES, "duckdb", RELATION))
    assert rows == sorted(
        [
            ("A", 5, False, "p"),
            ("A", None, False, "p"),
            ("A", 7, False, "p"),
            (None, None, True, "q"),
        ],
        key=repr,
    )


def test_truth_values_have_a_least_one_on_every_engine() -> None:
    written = {
        dialect: canonical_select(VISITS, [1, 6], TYPES, dialect, "visits")
        for dialect in ("duckdb", "postgres", "spark")
    }
    assert "MIN(s.c1)" in written["postgres"]
    assert "BOOL_AND(s.c6) OVER (PARTITION BY s.u)" in written["postgres"]
    for dialect in ("duckdb", "spark"):
        assert "MIN(s.c6) OVER (PARTITION BY s.u)" in written[dialect]


def test_rows_of_nobody_and_their_own_have_no_unit() -> None:
    types = {"ward": "VARCHAR", "cost": "BIGINT"}
    assert run(canonical_select(WARDS, [0], types, "duckdb", RELATION)) == sorted(
        [("A",), ("A",), ("B",), (None,), (None,)], key=repr
    )
    assert canonical_select(ROWS, [], types, "duckdb", "rows") == "SELECT 1 AS c FROM rows AS s"
    assert len(run(canonical_select(ROWS, [0], types, "duckdb", RELATION))) == 5


def test_people_are_texts_unless_all_go_by_integers() -> None:
    seven = "(SELECT '7' AS id, 1 AS cost UNION ALL SELECT '07', 2)"
    texts = run(
        canonical_select(VISITS, [2], {"id": "VARCHAR", "cost": "INTEGER"}, "duckdb", seven)
    )
    assert texts == [(1, "7"), (2, "07")]
    numbers = "(SELECT 7 AS id, 1 AS cost)"
    for select in (canonical_select(VISITS, [2], TYPES, "duckdb", numbers, whole=True),):
        assert run(select) == [(1, 7)]
    assert run(canonical_select(VISITS, [2], TYPES | {"id": "BIGINT"}, "duckdb", numbers)) == [
        (1, "7")
    ]


def test_which_row_comes_first_depends_on_what_a_persons_rows_say() -> None:
    found = {}
    for order in ("cost", "cost DESC"):
        given = f"(SELECT * FROM {SOURCE} ORDER BY {order})"
        rows = run(ranked_select(VISITS, TYPES, "duckdb", given))
        found[order] = rows
        assert sorted(row[-1] for row in rows if row[-2] == "p") == [1, 2, 3]
        assert [row[-1] for row in rows if row[-2] == "q"] == [1]
    assert found["cost"] == found["cost DESC"]
    alone = run(ranked_select(VISITS, TYPES, "duckdb", f"(SELECT * FROM {SOURCE} WHERE id = 'p')"))
    assert alone == [row for row in found["cost"] if row[-2] == "p"]


def test_ranked_people_are_texts_unless_told_otherwise() -> None:
    numbers = "(SELECT * REPLACE (CAST(7 AS BIGINT) AS id) FROM " + SOURCE + ")"
    types = TYPES | {"id": "BIGINT"}
    assert {row[-2] for row in run(ranked_select(VISITS, types, "duckdb", numbers))} == {"7"}
    whole = ranked_select(VISITS, types, "duckdb", numbers, whole=True)
    assert {row[-2] for row in run(whole)} == {7}


def test_rows_are_ordered_by_all_that_they_say() -> None:
    order = content_order(["a", "b"], "duckdb")
    assert order.endswith(", a NULLS FIRST, b NULLS FIRST")
    assert content_order([], "duckdb").count("NULLS") == 0


class Known:
    """An engine that knows the columns of some sources."""

    def __init__(self, types: dict[str, list[tuple[str, str]]], dialect="postgres") -> None:
        self.types, self.capabilities = types, Capabilities(dialect=dialect)

    def has(self, name: str) -> bool:
        return name in self.types

    def columns(self, name: str) -> list[tuple[str, str]]:
        return self.types[name]


def test_people_go_by_integers_if_every_table_stores_them_so() -> None:
    other = replace(VISITS, name="stays")
    tables = (VISITS, other, WARDS)
    whole, spelled = {"id": "BIGINT"}, {"id": "VARCHAR"}
    assert units_are_whole(tables, {"visits": whole, "stays": whole})
    assert not units_are_whole(tables, {"visits": whole, "stays": spelled})
    assert not units_are_whole(tables, {"visits": {}})
    # What a public table stores says nothing about people.
    assert units_are_whole(tables, {"visits": whole, "wards": {"ward": "VARCHAR"}})


def test_the_types_of_all_tables_of_the_same_people_count() -> None:
    other = replace(VISITS, name="stays")
    both = Dataset("clinic", (VISITS, other, WARDS), Neighbours.ADD_REMOVE, "clinic")
    whole, spelled = [("ID", "BIGINT")], [("ID", "VARCHAR")]
    wards = {"clinic.wards": [("ward", "VARCHAR")]}
    found = column_types(
        both, VISITS, Known({"clinic.visits": whole, "clinic.stays": whole} | wards)
    )
    assert found == ({"id": "BIGINT"}, True)
    found = column_types(both, VISITS, Known({"clinic.visits": whole, "clinic.stays": spelled}))
    assert found == ({"id": "BIGINT"}, False)
    # A table that was never connected says nothing.
    assert column_types(both, VISITS, Known({"clinic.visits": whole}))[1]
    assert column_types(both, WARDS, Known(wards))[0] == {"ward": "VARCHAR"}
    # Where types follow from rows they decide nothing.
    files = Known({"clinic.visits": whole, "clinic.stays": whole}, "spark")
    assert column_types(both, VISITS, files) == ({"id": "BIGINT"}, False)


def test_everything_that_rows_depend_on_is_in_the_declaration() -> None:
    said = recipe().declared
    number = replace(COLUMNS[0], domain=IntegerDomain(0, 9))
    trimmed = replace(COLUMNS[0], spelling=Spelling(trim=True))
    way = UnitPath((PathStep("ward", "wards", "ward"),), "ward")
    others = [
        replace(VISITS, source="other.csv"),
        replace(VISITS, columns=(number, *COLUMNS[1:])),
        replace(VISITS, columns=(trimmed, *COLUMNS[1:])),
        replace(VISITS, columns=(COLUMNS[0], replace(COLUMNS[1], constant=False), *COLUMNS[2:])),
        replace(VISITS, columns=(*COLUMNS[:2], replace(COLUMNS[2], hidden=True), *COLUMNS[3:])),
        replace(VISITS, path=way),
    ]
    told = [CanonicalRecipe(SET, table).declared for table in others]
    assert len({said, *told}) == 1 + len(others)
    # What is asked of the rows later is no part of it.
    assert CanonicalRecipe(SET, replace(VISITS, max_rows=9)).declared == said
    assert "'ID'" not in said
    assert "('id', False, None)" in said
    bounded = replace(VISITS, bounded=True)
    deeper = replace(bounded, max_rows=9)
    told = [CanonicalRecipe(SET, table).declared for table in (bounded, deeper)]
    assert len({said, *told}) == 3  # w is made of the bound
    assert recipe(WARDS).declared.startswith("('5', 'wards.csv', None, ")


def test_the_tables_of_the_same_people_are_named() -> None:
    assert recipe().people == ("clinic.visits",)
    assert recipe(WARDS).people == ()
    assert recipe(ROWS).people == ()
    assert recipe().whole({"clinic.visits": {"id": "INTEGER"}})
    assert not recipe().whole({"clinic.visits": {"id": "VARCHAR"}})
    dotted = CanonicalRecipe(replace(SET, tables=(replace(VISITS, name="a.b"),)), VISITS)
    assert not dotted.whole({"clinic.a.b": {"id": "VARCHAR"}})


def test_a_source_has_what_is_declared() -> None:
    recipe().check(TYPES)
    recipe(WARDS).check({"ward": "VARCHAR"})
    for missing in ("id", "ward", "seen", "member"):
        lacking = {name: kind for name, kind in TYPES.items() if name != missing}
        with pytest.raises(CatalogError, match=f"has no column '{missing}'"):
            recipe().check(lacking)
    # What nobody reads need not be there.
    recipe().check({n: kind for n, kind in TYPES.items() if n not in {"secret", "draft"}})
    with pytest.raises(CatalogError, match="stored in a way that"):
        recipe().check(TYPES | {"cost": "BLOB"})


def test_people_are_stored_as_numbers_that_nobody_can_foresee() -> None:
    rows = run(recipe().stored(TYPES, RELATION, salt="s"))
    units = {row[-2] for row in rows}
    assert len(units) == 2
    assert all(isinstance(unit, int) and 2**64 <= unit < 2**120 + 2**64 for unit in units)
    others = run(recipe().stored(TYPES, RELATION, salt="t"))
    assert units.isdisjoint(row[-2] for row in others)


@pytest.mark.parametrize("kind", ["BIGINT", "UBIGINT", "DOUBLE", "DECIMAL(9, 2)", "VARCHAR"])
@pytest.mark.parametrize("domain", [IdentifierDomain(), IntegerDomain(0, 9)])
def test_people_who_go_by_integers_keep_them(domain, kind) -> None:
    table = replace(VISITS, columns=(replace(COLUMNS[0], domain=domain), *COLUMNS[1:]))
    numbers = f"(SELECT * REPLACE (CAST(7 AS {kind}) AS id) FROM {SOURCE})"
    stored = recipe(table).stored(TYPES | {"id": kind}, numbers, salt="s")
    assert {row[-2] for row in run(stored)} == {7}


def test_stored_rows_within_the_bound_come_first() -> None:
    sql = recipe().stored(TYPES, RELATION, salt="s")
    ranks = [row[-1] for row in base().execute(sql).fetchall()]
    assert [rank <= 2 for rank in ranks] == [True, True, True, False]
    unbounded = recipe(replace(VISITS, max_rows=None))
    assert "ORDER BY u, r" in unbounded.stored(TYPES, RELATION, salt="s")


def lacking(sql: str) -> list[tuple[bool, ...]]:
    """Return which numbers each stored row lacks, in their order."""
    return [tuple(cell is None for cell in row) for row in base().execute(sql).fetchall()]


def test_stored_rows_that_lack_the_same_numbers_lie_together() -> None:
    numbers = tuple(
        Column(name, domain)
        for name, domain in (
            ("a", IntegerDomain(0, 900)),
            ("b", NumberDomain(Fraction(0), Fraction(900), Fraction(1, 2))),
            ("flag", BooleanDomain()),
        )
    )
    given = "(SELECT CASE WHEN i % 3 > 0 THEN i END AS a, CASE WHEN i % 5 > 0 THEN i END AS b, "
    given += "i % 2 = 0 AS flag, i // 4 AS id FROM range(90) AS t(i))"
    types = {"a": "BIGINT", "b": "BIGINT", "flag": "BOOLEAN", "id": "BIGINT"}
    rows = recipe(replace(ROWS, columns=numbers)).stored(types, given, salt="s")
    found = lacking(f"SELECT c0, c1 FROM ({rows})")
    assert found == sorted(found)
    assert len(set(found)) == 4
    people = Table("t", "t.csv", PrivacyUnit("id"), (*numbers, COLUMNS[0]), max_rows=2)
    asked = {
        bounded: recipe(replace(people, bounded=bounded)).stored(types, given, salt="s")
        for bounded in (True, False)
    }
    within = [f"SELECT c0, c1 FROM ({asked[b]}) WHERE r <= 2" for b in (True, False)]
    assert [lacking(sql) == sorted(lacking(sql)) for sql in within] == [True, False]
    ranks = [rank <= 2 for (rank,) in base().execute(f"SELECT r FROM ({asked[True]})").fetchall()]
    assert ranks == sorted(ranks, reverse=True)
    units = (
        base().execute(f"SELECT u FROM ({asked[True]}) WHERE r <= 2 AND c0 + c1 >= 0").fetchall()
    )
    assert units == sorted(units)


def test_of_many_numbers_the_first_sort() -> None:
    many = tuple(Column(f"n{i}", IntegerDomain(0, 900)) for i in range(20))
    types = {column.name: "BIGINT" for column in many}
    stored = recipe(replace(ROWS, columns=many)).stored(types, "x.t", salt="s")
    assert stored.endswith(f" ORDER BY {', '.join(f'n.c{i} IS NULL' for i in range(16))}")


def test_w_is_the_bound_or_the_place_beyond_it() -> None:
    sql = recipe(replace(VISITS, bounded=True)).stored(TYPES, RELATION, salt="s")
    found = base().execute(f"SELECT r, w FROM ({sql})").fetchall()
    assert all(within == max(rank, 2) for rank, within in found)
    assert {rank for rank, _ in found} == {1, 2, 3}
    unbounded = recipe().stored(TYPES, RELATION, salt="s")
    assert " AS w" not in unbounded


def test_what_is_grouped_by_says_the_same() -> None:
    sql = recipe().stored(TYPES, RELATION, salt="s")
    cells = "CAST(c1 AS VARCHAR), g1, c2, g2, typeof(g1), typeof(g2)"
    found = base().execute(f"SELECT {cells} FROM ({sql})").fetchall()
    assert {row[4:] for row in found} == {("VARCHAR", "UTINYINT")}
    assert all((row[0], row[2]) == (row[1], row[3]) for row in found)


@pytest.mark.parametrize(
    ("domain", "tiny"),
    [
        (IntegerDomain(0, 255), True),
        (IntegerDomain(255, 255), True),
        (IntegerDomain(0, 0), True),
        (IntegerDomain(0, 256), False),
        (IntegerDomain(-1, 9), False),
        (BooleanDomain(), False),
        (MOMENTS, False),
    ],
)
def test_tiny_numbers_have_eight_bits_and_no_sign(domain, tiny: bool) -> None:
    assert is_tiny(domain) is tiny


def test_the_first_categories_and_small_numbers_are_stored_to_be_grouped_by() -> None:
    texts = [Column(f"t{i}", CategoryDomain(("A", "B"))) for i in range(10)]
    small = [Column(f"n{i}", IntegerDomain(0, 9)) for i in range(10)]
    large = [Column("large", IntegerDomain(0, 900)), Column("open", BooleanDomain())]
    table = replace(ROWS, columns=(*texts, *large, *small))
    assert grouped_columns(table) == {*range(8), *range(12, 20)}
    types = {column.name: "VARCHAR" for column in table.columns}
    stored = recipe(table).stored(types, "x.t", salt="s")
    beside = [i for i in range(22) if f" AS g{i}" in stored]
    assert beside == [*range(8), *range(12, 20)]
    assert grouped_columns(VISITS) == {1, 2}  # neither what is hidden nor what waits for review


def test_the_plain_counts_of_a_table_are_foreseen() -> None:
    asked = 'SELECT COUNT(*) AS r0 FROM canon."clinic.visits" AS t0'
    assert recipe().foreseen("x.t") == {asked: "SELECT COUNT(*) FROM x.t"}
    bounded = recipe(replace(VISITS, bounded=True))
    counted = "SELECT COUNT(*) FROM x.t WHERE w <= 2"
    assert bounded.foreseen("x.t") == {f"{asked} WHERE t0.w <= 2": counted}


def test_stored_rows_of_nobody_are_just_their_cells() -> None:
    stored = recipe(WARDS).stored({"ward": "VARCHAR"}, RELATION, salt="s")
    assert len(run(stored)) == 5
    assert "CAST(n.c0 AS ENUM('A', 'B')) AS c0" in stored
    bare = recipe(replace(ROWS, columns=()))
    assert run(bare.stored({}, RELATION, salt="s")) == [(1,)] * 5


def test_copies_elsewhere_are_sorted_by_person() -> None:
    copied = recipe().copied(TYPES, "visits", "postgres", whole=False)
    assert copied.startswith("SELECT n.* FROM (SELECT b.c1 AS c1")
    assert copied.endswith("AS n ORDER BY n.u, n.r")
    public = recipe(WARDS).copied({"ward": "VARCHAR"}, "wards", "postgres", whole=False)
    assert "ORDER BY" not in public


def test_what_was_left_out_is_counted_row_by_row_and_cell_by_cell() -> None:
    stored = recipe().stored(TYPES, RELATION, salt="s")
    (found,) = run(recipe().dropped(TYPES, RELATION, stored=f"({stored})"))
    # Rows, rows of nobody; then ward 'x', cost 500, the last day of 2023, no truth value.
    assert found == (5, 1, 1, 1, 1, 0)
    types = {"ward": "VARCHAR"}
    stored = recipe(WARDS).stored(types, RELATION, salt="s")
    (found,) = run(recipe(WARDS).dropped(types, RELATION, stored=f"({stored})"))
    assert found == (5, 0, 1)


def test_what_the_owner_called_empty_was_not_left_out() -> None:
    costs = replace(COLUMNS[2], spelling=Spelling(empty=("500",)))
    told = recipe(replace(VISITS, columns=(*COLUMNS[:2], costs, *COLUMNS[3:])))
    stored = told.stored(TYPES, RELATION, salt="s")
    (found,) = run(told.dropped(TYPES, RELATION, stored=f"({stored})"))
    assert found == (5, 1, 1, 0, 1, 0)
