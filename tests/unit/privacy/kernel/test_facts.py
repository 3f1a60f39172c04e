"""The derivation accepts what the theorem covers, and says how far one unit reaches."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from discreet.base.event import Positions
from discreet.privacy.kernel.facts import LARGEST_SMALL, Facts, Form, facts_of
from discreet.privacy.kernel.nodes import Fold, Unfit
from kernel_kit import BOUNDED_VISITS, SCANS, duckdb_tree, facts, trees

ROWS = 'canon."town.rows" AS t'
PEOPLE = 'canon."clinic.people" AS p'
_NARROW = "CASE WHEN t.c3 THEN 50000 ELSE 3 END"
SHORT = f"CASE WHEN {_NARROW} > 60000 THEN 60000 WHEN {_NARROW} < 0 THEN 0 ELSE {_NARROW} END"
CLAMP = "CASE WHEN t.c0 > 9 THEN 9 WHEN t.c0 < -3 THEN -3 ELSE t.c0 END"


def test_a_count_of_rows() -> None:
    found = facts(f"SELECT COUNT(*) AS r0 FROM {ROWS}")
    assert [output.form for output in found.outputs] == [Form.ROWS]
    assert (found.rows, found.person, found.private) == (1, False, ("town.rows",))


def test_a_canonical_column_is_its_own_clamp() -> None:
    (output,) = facts(
        f"SELECT CAST(SUM(CAST(t.c2 AS BIGINT)) AS DECIMAL(38, 0)) AS r0 FROM {ROWS}"
    ).outputs
    assert (output.form, output.low, output.high) == (Form.SUM, 0, 200)


def test_a_column_that_was_computed_is_not() -> None:
    for made in ("t.c2 + 1", "CASE WHEN t.c3 THEN t.c2 ELSE 0 END"):
        below = f"(SELECT {made} AS x FROM {ROWS}) AS s"
        with pytest.raises(Unfit, match="a summand without a clamp"):
            facts(f"SELECT SUM(CAST(s.x AS BIGINT)) AS r0 FROM {below}")


def test_a_clamp_bounds_a_sum() -> None:
    (output,) = facts(f"SELECT SUM(CAST({CLAMP} AS BIGINT)) AS r0 FROM {ROWS}").outputs
    assert (output.low, output.high) == (-3, 9)


@pytest.mark.parametrize(
    ("chosen", "low", "high"),
    [
        ("CASE WHEN t.c3 THEN t.c2 ELSE NULL END", 0, 200),
        ("CASE WHEN t.c3 THEN NULL ELSE t.c2 END", 0, 200),
        ("CASE WHEN t.c3 THEN t.c2 ELSE 500 END", 0, 500),
        ("CASE WHEN t.c3 THEN -7 WHEN t.c0 > 2 THEN t.c2 ELSE 3 END", -7, 200),
        ("CASE WHEN t.c3 THEN 5 WHEN t.c0 > 2 THEN -8 ELSE 3 END", -8, 5),
        ("CASE WHEN t.c0 > 9 THEN 900 WHEN t.c0 < 0 THEN 0 ELSE t.c2 END", 0, 900),  # no clamp
        (f"CASE WHEN t.c3 THEN {CLAMP} ELSE NULL END", -3, 9),
        (f"CASE WHEN t.c3 THEN {CLAMP} ELSE t.c2 END", -3, 200),
        ("CASE WHEN t.c3 THEN CASE WHEN t.c0 > 2 THEN 900 ELSE t.c2 END ELSE -1 END", -1, 900),
        ("CASE WHEN t.c3 THEN CASE WHEN t.c0 > 2 THEN -900 ELSE t.c2 END ELSE 1 END", -900, 200),
    ],
)
def test_of_several_values_the_sum_is_held_by_all_of_them(chosen: str, low: int, high: int) -> None:
    (output,) = facts(f"SELECT SUM(CAST({chosen} AS BIGINT)) AS r0 FROM {ROWS}").outputs
    assert (output.form, output.low, output.high) == (Form.SUM, low, high)


@pytest.mark.parametrize(
    "chosen",
    [
        "CASE WHEN t.c3 THEN t.c2 + 1 ELSE 0 END",
        "CASE WHEN t.c3 THEN 0 ELSE t.c2 + 1 END",
        "CASE WHEN t.c3 THEN 0 WHEN t.c0 > 2 THEN t.c2 + 1 ELSE 0 END",
        "CASE WHEN t.c3 THEN CASE WHEN t.c3 THEN t.c2 + 1 ELSE 0 END ELSE 0 END",
        "CASE WHEN t.c3 THEN NULL ELSE NULL END",
        "CASE WHEN t.c3 THEN TRUE ELSE FALSE END",
        "COALESCE(t.c2, 0)",
    ],
)
def test_one_value_that_nothing_holds_is_enough_to_refuse_a_choice(chosen: str) -> None:
    with pytest.raises(Unfit):
        facts(f"SELECT SUM(CAST({chosen} AS BIGINT)) AS r0 FROM {ROWS}")


def small_sum(operand: str, rest: str = ROWS, distinct: str = "") -> Facts:
    """Return the facts of a sum in 64 bits, which DuckDB alone has."""
    total = f"CAST(sum_no_overflow({distinct}{operand}) AS DECIMAL(38, 0))"
    return facts_of(duckdb_tree(f"SELECT {total} AS r0 FROM {rest}"), SCANS)


def held(low: int, high: int) -> str:
    return (
        f"CAST(CASE WHEN t.c0 > {high} THEN {high} WHEN t.c0 < {low} THEN {low} ELSE t.c0 END "
        "AS BIGINT)"
    )


def test_a_choice_of_a_large_number_is_not_added_up_in_64_bits() -> None:
    chosen = "CAST(CASE WHEN t.c3 THEN t.c2 ELSE {} END AS BIGINT)"
    assert small_sum(chosen.format(2**21)).outputs[0].high == 2**21
    for large in (2**21 + 1, -(2**21) - 1):
        with pytest.raises(Unfit, match="leave 64 bits"):
            small_sum(chosen.format(large))


def test_a_square_fits_into_what_it_is_cast_to() -> None:
    wide = f"CAST(CASE WHEN t.c0 > {2**43} THEN {2**43} WHEN t.c0 < 0 THEN 0 ELSE t.c0 END AS DECIMAL(19, 0))"
    (output,) = facts(f"SELECT SUM({wide} * {wide}) AS r0 FROM {ROWS}").outputs
    assert output.high == 2**86
    for kind in ("BIGINT", "DECIMAL(19, 0)"):
        with pytest.raises(Unfit, match="a square that could leave its width"):
            facts(f"SELECT SUM(CAST({wide} * {wide} AS {kind})) AS r0 FROM {ROWS}")


@pytest.mark.parametrize(("low", "high"), [(0, 2**21), (-(2**21), 0), (-(2**21), 2**21), (3, 9)])
def test_small_numbers_are_added_up_in_64_bits(low: int, high: int) -> None:
    (output,) = small_sum(held(low, high)).outputs
    assert (output.form, output.low, output.high) == (Form.SUM, low, high)
    (usual,) = facts(f"SELECT SUM({held(low, high)}) AS r0 FROM {ROWS}").outputs
    assert output == usual


@pytest.mark.parametrize(("low", "high"), [(0, 1448), (-1448, 0), (-1448, 1448), (3, 9)])
def test_small_squares_are_added_up_in_64_bits(low: int, high: int) -> None:
    square = f"CAST({held(low, high)} * {held(low, high)} AS BIGINT)"
    (output,) = small_sum(square).outputs
    assert (output.form, output.low, output.high) == (Form.SQUARES, 0, max(low**2, high**2))
    (usual,) = facts(f"SELECT SUM({square}) AS r0 FROM {ROWS}").outputs
    assert output == usual


@pytest.mark.parametrize(
    ("operand", "why"),
    [
        (held(0, 2**21 + 1), "leave 64 bits"),
        (held(-(2**21) - 1, 0), "leave 64 bits"),
        (f"CAST({held(0, 1449)} * {held(0, 1449)} AS BIGINT)", "leave 64 bits"),
        (f"CAST({held(-1449, 3)} * {held(-1449, 3)} AS BIGINT)", "leave 64 bits"),
        (f"CAST({held(0, 9)} * {held(0, 8)} AS BIGINT)", "two different operands"),
        ("t.c2", "something else"),
        ("CAST(t.c2 AS DECIMAL(19, 0))", "something else"),
        ("CAST(t.c0 + t.c0 AS BIGINT)", "without a clamp"),
    ],
)
def test_other_sums_in_64_bits_are_refused(operand: str, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        small_sum(operand)


def test_without_that_rule_a_sum_would_be_another() -> None:
    """What DuckDB adds up in 64 bits goes round at their end, in silence."""
    rows = f"(VALUES (CAST({2**62} AS BIGINT)), (CAST({2**62 + 1} AS BIGINT))) AS t (c)"
    found = duckdb.execute(f"SELECT sum_no_overflow(t.c), SUM(t.c) FROM {rows}").fetchone()
    assert found == (1 - 2**63, 1 + 2**63)
    assert 1448**2 <= LARGEST_SMALL < 1449**2
    most = 2**42 - 1  # rows
    assert most * LARGEST_SMALL < 2**63 <= (most + 1) * LARGEST_SMALL


def test_sums_in_64_bits_stand_at_the_end_alone() -> None:
    with pytest.raises(Unfit, match="the aggregate sum_no_overflow"):
        small_sum("CAST(t.c2 AS BIGINT)", distinct="DISTINCT ")
    inner = (
        "(SELECT p.u AS u, sum_no_overflow(CAST(p.c2 AS BIGINT)) AS s FROM {} GROUP BY p.u) AS t"
    )
    with pytest.raises(Unfit, match="the aggregate sum_no_overflow"):
        facts_of(duckdb_tree(f"SELECT COUNT(t.s) AS r0 FROM {inner.format(PEOPLE)}"), SCANS)
    window = "(SELECT p.u AS u, sum_no_overflow(p.c2) OVER (PARTITION BY p.u) AS s FROM {}) AS t"
    with pytest.raises(Unfit):
        facts_of(duckdb_tree(f"SELECT COUNT(t.s) AS r0 FROM {window.format(PEOPLE)}"), SCANS)


def test_squares_of_one_clamped_operand() -> None:
    square = f"CAST({CLAMP} AS BIGINT) * CAST({CLAMP} AS BIGINT)"
    (output,) = facts(f"SELECT SUM(CAST({square} AS BIGINT)) AS r0 FROM {ROWS}").outputs
    assert (output.form, output.low, output.high) == (Form.SQUARES, 0, 81)


def test_the_region_is_read_off_the_filter() -> None:
    found = facts(
        f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c0 BETWEEN 20 AND 30 AND t.c1 IN ('m') "
        "AND (t.c3 OR t.c0 = 25) AND t.c4 >= DATE '2000-12-31'"
    )
    assert found.region == {
        ("town.rows", 0): Positions.of([(20, 30)]),
        ("town.rows", 1): Positions.points([1]),
        ("town.rows", 4): Positions.points([365]),
    }


def test_an_or_of_two_columns_restricts_neither() -> None:
    found = facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c0 = 3 OR t.c1 = 'm'")
    assert found.region == {}


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_the_order_of_a_list_is_not_the_order_of_its_texts(sign: str) -> None:
    found = facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE CAST(t.c1 AS VARCHAR) {sign} 'm'")
    assert found.region == {}


def test_rows_that_add_nothing_may_be_left_out_and_everyone_is_billed() -> None:
    added = CLAMP.replace("t.c0", "s.x")
    inner = f"SELECT t.c0 * 2 AS x FROM {ROWS} WHERE t.c0 IS NOT NULL"
    found = facts(f"SELECT SUM(CAST({added} AS BIGINT)) AS r0 FROM ({inner}) AS s")
    assert found.region == {}
    narrower = facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c0 IS NOT NULL AND t.c0 < 3")
    assert narrower.region == {("town.rows", 0): Positions.of([(0, 2)])}


@pytest.mark.parametrize("null", ["t.c0 IS NULL", "t.c0 IS NULL OR t.c0 > 119"])
def test_null_is_a_position(null: str) -> None:
    (positions,) = facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {null}").region.values()
    assert -1 in positions
    assert 7 not in positions


def test_rows_of_people_are_bounded_by_a_number() -> None:
    found = facts(f"SELECT COUNT(*) AS r0 FROM {BOUNDED_VISITS} AS t WHERE t.n <= 3")
    assert (found.rows, found.person) == (3, True)


def test_a_stored_rank_bounds_too() -> None:
    assert facts(f"SELECT COUNT(*) AS r0 FROM {PEOPLE} WHERE p.r <= 2").rows == 2


def test_units_need_no_bound_without_groups() -> None:
    found = facts(f"SELECT COUNT(DISTINCT p.u) AS r0 FROM {PEOPLE}")
    assert (found.rows, found.outputs[0].form) == (None, Form.UNITS)


def test_units_by_a_constant_key_need_none_either() -> None:
    found = facts(f"SELECT p.c1 AS k0, COUNT(DISTINCT p.u) AS r0 FROM {PEOPLE} GROUP BY 1")
    assert found.rows is None
    assert found.single


def test_a_row_for_each_unit() -> None:
    inner = 'SELECT v.u AS u, COUNT(*) AS a0 FROM canon."clinic.visits" AS v GROUP BY v.u'
    clamp = "CASE WHEN t.a0 > 5 THEN 5 WHEN t.a0 < 0 THEN 0 ELSE CAST(t.a0 AS BIGINT) END"
    found = facts(f"SELECT SUM(CAST({clamp} AS BIGINT)) AS r0 FROM ({inner}) AS t")
    assert (found.rows, found.outputs[0].high) == (1, 5)


def test_bounded_tables_meet_on_the_unit() -> None:
    found = facts(
        f"SELECT COUNT(*) AS r0 FROM (SELECT p.u AS u, p.c1 AS c1 FROM {PEOPLE} WHERE p.r <= 2) AS a "
        f"INNER JOIN (SELECT t.u AS u FROM {BOUNDED_VISITS} AS t WHERE t.n <= 5) AS b ON a.u = b.u "
        "WHERE a.c1 = 'f'"
    )
    assert found.rows == 10
    assert found.region == {("clinic.people", 1): Positions.points([0])}


def test_a_left_join_keeps_the_units_of_its_left_side() -> None:
    found = facts(
        f"SELECT COUNT(*) AS r0 FROM (SELECT t.u AS u FROM {BOUNDED_VISITS} AS t WHERE t.n <= 5) AS b "
        f"LEFT JOIN (SELECT p.u AS u, p.c1 AS c1 FROM {PEOPLE} WHERE p.r <= 1 AND p.c1 = 'f') AS a "
        "ON a.u = b.u WHERE a.c1 = 'm'"
    )
    assert found.region == {}


def test_a_public_table_multiplies_by_its_copies() -> None:
    found = facts(
        "SELECT COUNT(*) AS r0 FROM "
        f"(SELECT b.c1 AS c1, b.u AS u FROM {BOUNDED_VISITS} AS b WHERE b.n <= 5) AS t "
        "INNER JOIN (SELECT w.c0 AS c0, w.c1 AS c1 "
        "FROM (SELECT s.c0 AS c0, s.c1 AS c1, ROW_NUMBER() OVER (PARTITION BY s.c0 ORDER BY s.c0, s.c1)"
        ' AS n FROM canon."clinic.wards" AS s) AS w WHERE w.n <= 4) AS x ON t.c1 = x.c0'
    )
    assert found.rows == 20


REFUSED = {
    "no clamp": f"SELECT SUM(CAST(t.c0 + t.c0 AS BIGINT)) AS r0 FROM {ROWS}",
    "width not stated": f"SELECT SUM(t.c0) AS r0 FROM {ROWS}",
    "window over everybody": f"SELECT SUM(CAST(CASE WHEN COUNT(*) OVER () > 9 THEN 9 WHEN COUNT(*) "
    f"OVER () < 0 THEN 0 ELSE COUNT(*) OVER () END AS BIGINT)) AS r0 FROM {ROWS}",
    "clamp of two operands": "SELECT SUM(CAST(CASE WHEN t.c0 > 9 THEN 9 WHEN t.c0 < 0 THEN 0 ELSE "
    f"t.c0 - t.c6 END AS BIGINT)) AS r0 FROM {ROWS}",
    "clamp of two bounds": "SELECT SUM(CAST(CASE WHEN t.c0 - 1 > 9 THEN 99 WHEN t.c0 - 1 < 0 THEN 0 ELSE "
    f"t.c0 - 1 END AS BIGINT)) AS r0 FROM {ROWS}",
    "scalar subquery": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c0 > (SELECT MAX(s.c0) AS m FROM "
    'canon."town.rows" AS s)',
    "having": f"SELECT t.c0 AS k0, COUNT(*) AS r0 FROM {ROWS} GROUP BY 1 HAVING COUNT(*) > 5",
    "limit": f"SELECT COUNT(*) AS r0 FROM {ROWS} LIMIT 1",
    "limit inside": 'SELECT COUNT(*) AS r0 FROM (SELECT s.c0 AS c0 FROM canon."town.rows" AS s LIMIT 5) AS t',
    "distinct": f"SELECT DISTINCT COUNT(*) AS r0 FROM {ROWS}",
    "distinct inside": 'SELECT COUNT(*) AS r0 FROM (SELECT DISTINCT s.c0 AS c0 FROM canon."town.rows" AS s) AS t',
    "order": f"SELECT COUNT(*) AS r0 FROM {ROWS} ORDER BY 1",
    "sample": 'SELECT COUNT(*) AS r0 FROM canon."town.rows" AS t TABLESAMPLE 10%',
    "union": f"SELECT COUNT(*) AS r0 FROM {ROWS} UNION ALL SELECT COUNT(*) AS r0 FROM {ROWS}",
    "with": f"WITH x AS (SELECT 1 AS a) SELECT COUNT(*) AS r0 FROM {ROWS}",
    "undeclared": "SELECT COUNT(*) AS r0 FROM other AS t",
    "source itself": 'SELECT COUNT(*) AS r0 FROM source."town.rows" AS t',
    "hidden": f"SELECT COUNT(t.c5) AS r0 FROM {ROWS}",
    "unlisted function": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE hash(t.c0) > 5",
    "rows of people": f"SELECT COUNT(*) AS r0 FROM {PEOPLE}",
    "rows by an order with ties": "SELECT COUNT(*) AS r0 FROM (SELECT v.c2 AS c2, v.u AS u, "
    'ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.c1) AS n FROM canon."clinic.visits" AS v) AS t '
    "WHERE t.n <= 3",
    "rows numbered by something else": "SELECT COUNT(*) AS r0 FROM (SELECT v.c1 AS c1, v.u AS u, "
    'ROW_NUMBER() OVER (PARTITION BY v.c1 ORDER BY v.r, v.u) AS n FROM canon."clinic.visits" AS v) AS t '
    "WHERE t.n <= 3",
    "the unit lost": 'SELECT COUNT(*) AS r0 FROM (SELECT v.c1 AS c1 FROM canon."clinic.visits" AS v) AS t',
    "groups of everybody": "SELECT COUNT(*) AS r0 FROM (SELECT v.c1 AS c1, COUNT(*) AS n FROM "
    'canon."clinic.visits" AS v GROUP BY v.c1) AS t',
    "joined before bounded": f"SELECT COUNT(DISTINCT p.u) AS r0 FROM {PEOPLE} INNER JOIN "
    'canon."clinic.visits" AS v ON p.u = v.u',
    "joined on something else": f"SELECT COUNT(*) AS r0 FROM (SELECT p.u AS u FROM {PEOPLE} WHERE p.r "
    f"<= 1) AS a INNER JOIN (SELECT p.u AS u FROM {PEOPLE} WHERE p.r <= 1) AS b ON a.u > b.u",
    "two rows of row units": f'SELECT COUNT(*) AS r0 FROM {ROWS} INNER JOIN canon."town.rows" AS s ON t.c0 = s.c0',
    "public copies unbounded": f'SELECT COUNT(*) AS r0 FROM {ROWS} INNER JOIN canon."clinic.wards" AS w ON t.c1 = w.c0',
    "overflow": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c0 * 9223372036854775807 > 5",
    "division by a column": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE CAST(5 AS BIGINT) // t.c0 > 1",
    "text as a number": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE CAST(t.c1 AS BIGINT) > 1",
    "kinds mixed": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE t.c1 > 5",
    "keys that are not grouped": f"SELECT t.c0 AS k0, COUNT(*) AS r0 FROM {ROWS}",
    "two outputs of one name": 'SELECT COUNT(*) AS r0 FROM (SELECT s.c0 AS a, s.c6 AS a FROM canon."town.rows" AS s) AS t',
    "the unit as a value": f"SELECT COUNT(*) AS r0 FROM {PEOPLE} WHERE p.u = 5",
    "min of everybody": f"SELECT MIN(t.c0) AS r0 FROM {ROWS}",
    "a filtered aggregate": f"SELECT COUNT(*) FILTER (WHERE t.c0 > 5) AS r0 FROM {ROWS}",
    "a partition that is lost": "SELECT COUNT(*) AS r0 FROM (SELECT v.u AS c1, v.u AS u, ROW_NUMBER() OVER "
    '(PARTITION BY v.u, v.c1 ORDER BY v.r) AS n FROM canon."clinic.visits" AS v) AS v WHERE v.n <= 1',
    "names in another case": 'SELECT SUM(CAST(t."A" AS BIGINT)) AS r0 FROM (SELECT s.c0 AS a, s.c6 AS "A" '
    'FROM canon."town.rows" AS s) AS t',
    "a name of the outputs": 'SELECT COUNT(*) AS r0 FROM canon."town.rows" AS alias',
    "arithmetic on a rank": f"SELECT COUNT(*) AS r0 FROM {PEOPLE} WHERE p.r <= 2 AND p.r + 2147483647 > 1",
    "a text cast after the aggregate": "SELECT COUNT(*) AS r0 FROM (SELECT v.u AS u, CAST(MIN(v.c1) AS "
    'DECIMAL(38, 0)) AS a FROM canon."clinic.visits" AS v GROUP BY v.u) AS t',
    "a text cut by a column": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE substr(t.c1, 1, t.c6) = 'f'",
    "a square of short numbers": f"SELECT SUM(CAST({SHORT} * {SHORT} AS BIGINT)) AS r0 FROM {ROWS}",
    "an operand too few": f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE +t.c0 > 5",
    "no SQL": "SELECT COUNT(* AS r0",
    "nobody": 'SELECT COUNT(*) AS r0 FROM canon."clinic.wards" AS w',
}


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused(name: str) -> None:
    with pytest.raises(Unfit):
        facts(REFUSED[name])


@pytest.mark.parametrize("part", ["date_part('epoch', t.c4)", "date_diff('second', t.c4, t.c4)"])
def test_seconds_do_not_fit_where_days_do(part: str) -> None:
    days = part.replace("epoch", "year").replace("second", "day")
    assert facts_of(duckdb_tree(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {days} > 5"), SCANS)
    with pytest.raises(Unfit):
        facts_of(duckdb_tree(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {part} > 5"), SCANS)


def test_each_different_value_once_moves_by_what_a_row_may_say() -> None:
    (output,) = facts(f"SELECT SUM(DISTINCT CAST({CLAMP} AS BIGINT)) AS r0 FROM {ROWS}").outputs
    assert (output.form, output.low, output.high) == (Form.DISTINCT_SUM, -3, 9)
    square = f"CAST({CLAMP} AS BIGINT) * CAST({CLAMP} AS BIGINT)"
    (output,) = facts(f"SELECT SUM(DISTINCT CAST({square} AS BIGINT)) AS r0 FROM {ROWS}").outputs
    assert (output.form, output.low, output.high) == (Form.DISTINCT_SQUARES, 0, 81)
    with pytest.raises(Unfit, match="clamp"):
        facts(f"SELECT SUM(DISTINCT CAST(t.c0 + 2 AS BIGINT)) AS r0 FROM {ROWS}")


@pytest.mark.parametrize(
    "test",
    [
        "CAST(t.c1 AS VARCHAR) LIKE '%a%'",
        "LOWER(CAST(t.c1 AS VARCHAR)) = 'a'",
        "REPLACE(CAST(t.c1 AS VARCHAR), 'a', 'b') <> 'a'",
        "SPLIT_PART(CAST(t.c1 AS VARCHAR), ' ', 1) = 'a'",
    ],
)
def test_texts_may_be_searched_for_constants(test) -> None:
    assert facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {test}").rows == 1


def test_patterns_are_searched_where_that_takes_linear_time() -> None:
    sql = f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE regexp_matches(CAST(t.c1 AS VARCHAR), '^a+')"
    assert facts_of(duckdb_tree(sql), SCANS).rows == 1
    with pytest.raises(Unfit):
        facts(sql)  # read as another engine's, it searches by backtracking


@pytest.mark.parametrize(
    "test",
    [
        "CAST(t.c1 AS VARCHAR) LIKE CAST(t.c1 AS VARCHAR)",
        "REPLACE(CAST(t.c1 AS VARCHAR), CAST(t.c1 AS VARCHAR), 'b') <> 'a'",
        "SPLIT_PART(CAST(t.c1 AS VARCHAR), ' ', 0) = 'a'",
        "regexp_matches(CAST(t.c1 AS VARCHAR), '(?=a)')",
        "regexp_matches(CAST(t.c1 AS VARCHAR), CAST(t.c1 AS VARCHAR))",
        "LOWER(t.c0) = 'a'",
    ],
)
def test_texts_may_not_be_searched_for_what_a_row_says(test) -> None:
    with pytest.raises(Unfit):
        facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {test}")


# -- each sentence of a refusal, beside the neighbour that passes ------------------------------------

CUT = "(SELECT w.c0 AS c0 FROM (SELECT s.c0 AS c0, ROW_NUMBER() OVER (PARTITION BY s.c0 ORDER BY s.c0) AS n "
CUT += 'FROM canon."clinic.wards" AS s) AS w WHERE w.n <= 4) AS x'
OWN = '(SELECT v.u AS u, v.c1 AS c1, COUNT(*) AS a FROM canon."clinic.visits" AS v WHERE v.r <= 5 '
OWN += "GROUP BY v.u, v.c1) AS t"


def clamp(term: str, low: int, high: int) -> str:
    return f"CASE WHEN {term} > {high} THEN {high} WHEN {term} < {low} THEN {low} ELSE {term} END"


def test_a_statement_is_about_somebody() -> None:
    with pytest.raises(Unfit, match="about nobody"):
        facts('SELECT COUNT(*) AS r0 FROM canon."clinic.wards" AS w')
    # Not even where a public table's rows are cut, or counted once each.
    with pytest.raises(Unfit, match="about nobody"):
        facts(f"SELECT x.c0 AS k0, COUNT(DISTINCT x.c0) AS r0 FROM {CUT} GROUP BY 1")


def test_a_row_unit_beside_a_public_table_has_as_many_rows_as_copies() -> None:
    assert facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} LEFT JOIN {CUT} ON t.c1 = x.c0").rows == 4
    for aggregate in ("COUNT(*)", "COUNT(t.c0)", "COUNT(DISTINCT t.c0)"):
        with pytest.raises(Unfit, match="bounded copies"):
            facts(f"SELECT {aggregate} AS r0 FROM {ROWS} LEFT JOIN {CUT} ON t.c1 <> x.c0")


@pytest.mark.parametrize(
    ("keys", "group", "fits"),
    [
        ("t.c0 AS k0, t.c1 AS k1", "GROUP BY 1, 2", True),
        ("t.c0 AS k0", "GROUP BY t.c0", True),
        ("t.c0 AS k0", "GROUP BY t.c1", False),
        ("t.c0 AS k0, t.c1 AS k1", "GROUP BY t.c1, t.c0", False),
        ("t.c0 AS k0", "GROUP BY t.c0, t.c1", False),  # a second group that is not shown
    ],
)
def test_keys_are_the_groups(keys: str, group: str, *, fits: bool) -> None:
    sql = f"SELECT {keys}, COUNT(*) AS r0 FROM {ROWS} {group}"
    if fits:
        assert facts(sql).keys == keys.count(" AS ")
        return
    with pytest.raises(Unfit, match="keys that are not the groups"):
        facts(sql)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("t.c0", "no aggregate"),
        ("5", "no aggregate"),
        ("CAST(t.c0 AS DECIMAL(38, 0))", "no aggregate"),
        ("COUNT(*) + 1", "no aggregate"),
        ("MIN(t.c0)", "the aggregate min"),
        ("MAX(CAST(t.c2 AS BIGINT))", "the aggregate max"),
        ("BOOL_OR(t.c3)", "the aggregate bool_or"),
        ("SUM(t.c2)", "width is not stated"),
        (f"SUM({CLAMP})", "width is not stated"),
        ("SUM(CAST(t.c0 + 1 AS BIGINT))", "a summand without a clamp"),
        ("SUM(CAST(t.c3 AS BIGINT))", "a summand without a clamp"),
        ("COUNT(t.c9)", "does not have"),
        ("COUNT(DISTINCT t.c9)", "does not have"),
    ],
)
def test_an_output_is_a_count_or_a_clamped_sum(output: str, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        facts(f"SELECT {output} AS r0 FROM {ROWS}")


def test_a_sum_is_of_something() -> None:
    tree = duckdb_tree(f"SELECT COUNT(*) AS r0 FROM {ROWS}")
    assert facts_of(replace(tree, outputs=(("r0", Fold("count", None)),)), SCANS).keys == 0
    for name in ("sum", "max"):
        with pytest.raises(Unfit, match=f"the aggregate {name}"):
            facts_of(replace(tree, outputs=(("r0", Fold(name, None)),)), SCANS)


@pytest.mark.parametrize(
    ("key", "numbered"),
    [
        ("t.c0", True),
        ("t.c2 + 3", True),
        ("t.c1", False),
        ("t.c3", False),
        ("t.c4", False),
        ("t.c1 AS k, t.c0", True),
        ("t.c0 AS k, t.c1", False),  # the last one counts
    ],
)
def test_bins_are_whole_numbers(key: str, *, numbered: bool) -> None:
    places = "1, 2" if " AS k" in key else "1"
    found = facts(f"SELECT {key} AS k1, COUNT(*) AS r0 FROM {ROWS} GROUP BY {places}")
    assert found.numbered is numbered


def test_a_number_of_any_size_is_no_bin() -> None:
    assert not facts(f"SELECT t.a AS k0, COUNT(*) AS r0 FROM {OWN} GROUP BY 1").numbered
    assert not facts(f"SELECT COUNT(*) AS r0 FROM {ROWS}").numbered
    assert not Facts(1, (), 1, single=True, private=(), person=False, region={}).numbered


@pytest.mark.parametrize(
    ("counted", "form"),
    [
        ("p.u", Form.UNITS),
        ("CASE WHEN p.c2 > 5 THEN p.u ELSE NULL END", Form.UNITS),
        ("CASE WHEN p.c2 > 5 THEN p.u ELSE p.u END", Form.DISTINCT),
        ("CASE WHEN p.c2 > 5 THEN NULL ELSE p.u END", Form.DISTINCT),
        ("CASE WHEN p.c2 > 5 THEN p.c2 ELSE NULL END", Form.DISTINCT),
        ("p.c2", Form.DISTINCT),
    ],
)
def test_different_units_and_different_values(counted: str, form: Form) -> None:
    found = facts(f"SELECT COUNT(DISTINCT {counted}) AS r0 FROM {PEOPLE} WHERE p.r <= 2")
    assert [(each.form, each.low, each.high) for each in found.outputs] == [(form, 0, 1)]
    present = facts(f"SELECT COUNT({counted}) AS r0 FROM {PEOPLE} WHERE p.r <= 2").outputs[0]
    assert (present.form, present.low, present.high) == (Form.PRESENT, 0, 1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS r0",
        "SELECT COUNT(DISTINCT p.u) AS r0, COUNT(*) AS r1",
        "SELECT COUNT(DISTINCT p.c2) AS r0",
        "SELECT p.c2 AS k0, COUNT(DISTINCT p.u) AS r0",
        "SELECT p.c1 AS k0, p.c2 AS k1, COUNT(DISTINCT p.u) AS r0",
        "SELECT CASE WHEN p.c1 = 'f' THEN p.c2 ELSE 0 END AS k0, COUNT(DISTINCT p.u) AS r0",
    ],
)
def test_only_units_in_one_group_each_need_no_bound(sql: str) -> None:
    group = "" if " k0" not in sql else "GROUP BY 1, 2" if " k1" in sql else "GROUP BY 1"
    with pytest.raises(Unfit, match="rows of a unit that nothing bounds"):
        facts(f"{sql} FROM {PEOPLE} {group}")
    assert facts(f"{sql} FROM {PEOPLE} WHERE p.r <= 2 {group}").rows == 2


@pytest.mark.parametrize(
    ("key", "single"),
    [
        ("p.c1", True),
        ("UPPER(CAST(p.c1 AS VARCHAR))", True),
        ("CASE WHEN p.c1 = 'f' THEN 1 ELSE 0 END", True),
        ("p.c2", False),
        ("CASE WHEN p.c2 > 5 THEN 'f' ELSE CAST(p.c1 AS VARCHAR) END", False),
    ],
)
def test_a_unit_has_one_group_where_keys_are_constant_for_it(key: str, *, single: bool) -> None:
    sql = f"SELECT {key} AS k0, COUNT(DISTINCT p.u) AS r0 FROM {PEOPLE} WHERE p.r <= 2 GROUP BY 1"
    assert facts(sql).single is single


# -- squares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "most"), [(-5, 3, 25), (-3, 5, 25), (-7, -2, 49), (2, 6, 36)]
)
def test_a_square_is_that_of_the_end_farther_from_zero(low: int, high: int, most: int) -> None:
    one = f"CAST({clamp('t.c6', low, high)} AS BIGINT)"
    (output,) = facts(f"SELECT SUM({one} * {one}) AS r0 FROM {ROWS}").outputs
    assert (output.form, output.low, output.high) == (Form.SQUARES, 0, most)


ROOT = 3_037_000_499
"""The largest number whose square has 63 bits."""


@pytest.mark.parametrize("cast", ["{}", "CAST({} AS BIGINT)"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_square_of_64_bits_leaves_them_beyond_its_root(cast: str, sign: int) -> None:
    def square(reach: int) -> str:
        one = cast.format(clamp("t.c6", *sorted((0, sign * reach))))
        return f"SELECT SUM(CAST({one} * {one} AS BIGINT)) AS r0 FROM {ROWS}"

    assert facts(square(ROOT)).outputs[0].high == 9_223_372_030_926_249_001
    with pytest.raises(Unfit, match="leave its width"):
        facts(square(ROOT + 1))


def test_many_squares_of_decimals_fit_38_digits() -> None:
    """One square fits, five of the largest did not: their sum failed from the fifth row on."""
    one = f"CAST({clamp('t.c6', 0, 2**44)} AS DECIMAL(19, 0))"
    (output,) = facts(f"SELECT SUM({one} * {one}) AS r0 FROM {ROWS}").outputs
    assert output.high == 2**88
    for high in (2**44 + 1, 2**62, 2**63 - 1):
        more = f"CAST({clamp('t.c6', 0, high)} AS DECIMAL(19, 0))"
        with pytest.raises(Unfit, match="leave its width"):
            facts(f"SELECT SUM({more} * {more}) AS r0 FROM {ROWS}")


def test_a_short_operand_is_squared_once_it_is_widened() -> None:
    wide = f"CAST({SHORT} AS BIGINT)"
    (output,) = facts(f"SELECT SUM({wide} * {wide}) AS r0 FROM {ROWS}").outputs
    assert output.high == 3_600_000_000
    with pytest.raises(Unfit, match="unknown width"):
        facts(f"SELECT SUM({SHORT} * {SHORT}) AS r0 FROM {ROWS}")


def test_a_product_of_two_operands_is_no_square() -> None:
    one, two = f"CAST({clamp('t.c6', 0, 1)} AS BIGINT)", f"CAST({clamp('t.c6', 0, 9)} AS BIGINT)"
    for product in (f"{one} * {two}", f"{two} * {one}", f"{one} * CAST(t.c0 AS BIGINT)"):
        with pytest.raises(Unfit, match="two different operands"):
            facts(f"SELECT SUM({product}) AS r0 FROM {ROWS}")


def test_a_square_is_of_a_clamp() -> None:
    with pytest.raises(Unfit, match="without a clamp"):
        facts(f"SELECT SUM((t.c6 + 1) * (t.c6 + 1)) AS r0 FROM {ROWS}")
    (output,) = facts(f"SELECT SUM(t.c6 * t.c6) AS r0 FROM {ROWS}").outputs  # its own clamp
    assert output.high == 2_500


def test_a_factor_that_says_true_for_one_is_another_operand() -> None:
    # Python calls True and 1 equal. The text of one has four letters, so this product was y * 0 and not
    # y * y: a row moved 4 * 0 - 4 * 5 * 5 + 25 = -75 where the noise was made for (2 * 5 - 5)^2 = 25.
    def factor(word: str) -> str:
        term = f"CASE WHEN LENGTH(CAST({word} AS VARCHAR)) < 3 THEN t.c6 ELSE 0 END"
        return f"CAST({clamp(term, 0, 5)} AS BIGINT)"

    for word in ("1", "TRUE"):
        sql = f"SELECT SUM({factor('1')} * {factor(word)}) AS r0 FROM {ROWS}"
        for tree in trees(sql):
            if word == "1":
                assert facts_of(tree, SCANS).outputs[0].high == 25
                continue
            with pytest.raises(Unfit, match="two different operands"):
                facts_of(tree, SCANS)
