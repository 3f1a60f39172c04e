"""What the same words mean on different engines: the width of a sum, and division."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.engines.functions import function
from discreet.privacy.kernel import read_sqlglot, seal
from discreet.privacy.kernel.facts import Form, facts_of
from discreet.privacy.kernel.functions import Value, ValueKind
from discreet.privacy.kernel.nodes import Name, Unfit
from discreet.privacy.kernel.scalars import value_of
from discreet.privacy.kernel.seal import parse
from kernel_kit import SCANS

ROWS = 'canon."town.rows" AS t'
SHARED = "canon.`town.rows` AS t"
CLAMP = "CASE WHEN t.c6 > 9 THEN 9 WHEN t.c6 < -3 THEN -3 ELSE t.c6 END"


def summed(kind: str, rows: str = SHARED) -> str:
    return f"SELECT CAST(SUM(CAST({CLAMP} AS {kind})) AS DECIMAL(38, 0)) AS r0 FROM {rows}"


def test_a_sum_of_64_bits_is_refused_where_it_stays_so() -> None:
    """On Spark it wraps or raises at 2^63, as the rows have it."""
    with pytest.raises(Unfit, match="could leave 64 bits on this engine"):
        parse(summed("BIGINT"), "spark", None)
    (output,) = facts_of(parse(summed("DECIMAL(19, 0)"), "spark", None), SCANS).outputs
    assert (output.form, output.low, output.high) == (Form.SUM, -3, 9)


IN_PARTS = f"SELECT {function('sum_integer', 'spark', CLAMP)} AS r0 FROM {SHARED}"


def test_a_sum_21_bits_at_a_time_is_that_sum() -> None:
    (output,) = facts_of(parse(IN_PARTS, "spark", None), SCANS).outputs
    assert (output.form, output.low, output.high) == (Form.SUM, -3, 9)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        (", 42)", ", 41)"),
        (", 21) & 2097151", ", 21) & 2097150"),
        ("AS BIGINT) & 2097151", "AS BIGINT) & 4194303"),
        ("* 2097152", "* 2097153"),
        ("* 4398046511104", "* 4398046511105"),
        ("+", "-"),
        ("BIGINT", "INT"),
        ("THEN 9 ", "THEN 8 "),
        ("SUM(shift", "MAX(shift"),
        ("SUM(shift", "SUM(DISTINCT shift"),
        ("DECIMAL(38, 0)", "BIGINT"),
    ],
)
def test_parts_of_anything_else_are_no_sum(part: str, other: str) -> None:
    """The first, and the last, of each kind of piece is written otherwise."""
    for sql in (IN_PARTS.replace(part, other, 1), other.join(IN_PARTS.rsplit(part, 1))):
        assert sql != IN_PARTS
        with pytest.raises(Unfit):
            facts_of(parse(sql, "spark", None), SCANS)


def test_the_twin_that_does_not_compare_takes_them_for_a_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part is then multiplied by anything, and one row moves the sum by more than is said."""
    other = IN_PARTS.replace("* 4398046511104", "* 4398046511105")
    monkeypatch.setattr(read_sqlglot, "_in_parts", lambda _: mock.ANY)
    (output,) = facts_of(parse(other, "spark", None), SCANS).outputs
    assert (output.form, output.low, output.high) == (Form.SUM, -3, 9)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_the_parts_of_whole_numbers_add_up(numbers: list[int]) -> None:
    parts = [(x >> 42, x >> 21 & 2097151, x & 2097151) for x in numbers]
    high, middle, low = map(sum, zip(*parts, strict=True))
    assert high * 4398046511104 + middle * 2097152 + low == sum(numbers)
    assert all(abs(part) * 2**42 <= 2**63 for parted in parts for part in parted)


def test_elsewhere_it_is_added_up_in_more() -> None:
    (output,) = facts_of(parse(summed("BIGINT", ROWS), "postgres", None), SCANS).outputs
    assert (output.low, output.high) == (-3, 9)


@pytest.mark.parametrize("kind", ["BIGINT", "DECIMAL(19, 0)"])
def test_squares_are_no_exception(kind: str) -> None:
    square = f"CAST({CLAMP} AS {kind}) * CAST({CLAMP} AS {kind})"
    sql = f"SELECT SUM({square}) AS r0 FROM {SHARED}"
    if kind == "BIGINT":
        with pytest.raises(Unfit, match="could leave 64 bits"):
            parse(sql, "spark", None)
    else:
        assert parse(sql, "spark", None)


def test_a_persons_own_sum_is_one_too() -> None:
    inner = "SELECT v.u AS u, SUM(CAST(v.c1 AS BIGINT)) AS x FROM canon.`town.visits` AS v"
    sql = f"SELECT COUNT(*) AS r0 FROM ({inner} GROUP BY v.u) AS s WHERE s.x > 3"
    with pytest.raises(Unfit, match="could leave 64 bits"):
        parse(sql, "spark", None)
    assert parse(sql.replace("BIGINT", "DECIMAL(19, 0)"), "spark", None)


def forget(monkeypatch: pytest.MonkeyPatch, fact: str) -> None:
    """Let no dialect say `fact` of itself."""
    silent = {name: replace(row, **{fact: False}) for name, row in seal.DIALECTS.items()}
    monkeypatch.setattr(seal, "DIALECTS", silent)


def test_the_twin_without_the_dialect_lets_it_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch, "narrow_sums")
    assert parse(summed("BIGINT"), "spark", None)


@pytest.mark.parametrize(("dialect", "whole"), [("postgres", True), ("spark", False)])
def test_a_division_is_whole_only_where_the_engine_says_so(dialect: str, whole: bool) -> None:
    tree = parse("SELECT t.a / t.b AS x FROM s.t AS t", dialect, None)
    columns = {Name("t", name): Value(ValueKind.INTEGER, 1, 9, wide=True) for name in "ab"}
    if whole:
        assert value_of(tree.outputs[0][1], columns).bounded == (0, 9)
    else:
        with pytest.raises(Unfit, match="does not list 'real /'"):
            value_of(tree.outputs[0][1], columns)


def searched(pattern: str) -> str:
    return f"SELECT COUNT(*) AS r0 FROM {SHARED} WHERE t.c1 LIKE '{pattern}'"


def test_a_search_with_many_parts_is_refused_where_it_backtracks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Java tries every way to share a text among the parts: how long that takes, a row decides."""
    assert parse(searched("%a%"), "spark", None)
    assert parse(searched("%a%a%a%b").replace("`", '"'), "postgres", None)
    with pytest.raises(Unfit, match="as long as a row decides"):
        parse(searched("%a%a%a%b"), "spark", None)
    forget(monkeypatch, "backtracks")
    assert parse(searched("%a%a%a%b"), "spark", None)
