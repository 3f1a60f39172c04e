"""A column of a subquery has the kind that it is written with."""

import datetime as dt

import pytest
import sqlglot

from discreet.ask.plan import expr as e
from discreet.ask.plan.values import infer
from discreet.ask.sql.relations import infer_column
from discreet.ask.sql.scalars import Scope, to_expr
from discreet.base.schema import BooleanDomain, CategoryDomain, DateDomain, IntegerDomain

FIELDS = {
    "small": IntegerDomain(-2, 5),
    "sex": CategoryDomain(("Female", "Male")),
    "day": DateDomain(dt.date(2024, 1, 1), dt.date(2024, 3, 31)),
    "yes": BooleanDomain(),
}


def column(sql, how=infer_column):
    scope = Scope(lambda column: e.ColumnRef(column.name), lambda _: None)
    return how(to_expr(sqlglot.parse_one(sql, read="duckdb"), scope), FIELDS)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("NULLIF(small, small)", IntegerDomain),
        ("CASE WHEN small > 99 THEN small END", IntegerDomain),
        ("NULLIF(FLOOR(small), small)", IntegerDomain),
        ("NULLIF(sex, sex)", CategoryDomain),
        ("NULLIF(day, day)", DateDomain),
        ("NULLIF(yes, yes)", BooleanDomain),
        ("small > 0", BooleanDomain),
        ("NULL", BooleanDomain),
    ],
)
def test_a_column_that_is_always_null_keeps_the_kind_it_is_written_with(sql, kind):
    """As a truth value, its sum was one of conditions that are none: an error inside."""
    assert isinstance(column(sql), kind)
    if sql.startswith("NULLIF"):
        assert isinstance(column(sql, infer), BooleanDomain)  # there are no values to tell it from
