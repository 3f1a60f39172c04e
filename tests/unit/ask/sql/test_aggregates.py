"""Aggregate calls in their many spellings."""

from fractions import Fraction

import pytest

from asking import catalog
from discreet.ask.plan.ir import Function
from discreet.ask.sql.bind import bind
from discreet.errors import QueryRefused


def aggregate(call):
    ((_, found),) = bind(f"SELECT {call} FROM people", catalog()).aggregates
    return found.function, found.quantile


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("COUNT(*)", (Function.COUNT, None)),
        ("COUNT(1)", (Function.COUNT, None)),
        ("COUNT(DISTINCT sex)", (Function.COUNT_DISTINCT, None)),
        ("SUM(age)", (Function.SUM, None)),
        ("AVG(age)", (Function.AVG, None)),
        ("VAR_POP(age)", (Function.VARIANCE, None)),
        ("VAR_SAMP(age)", (Function.VARIANCE, None)),
        ("STDDEV_SAMP(age)", (Function.STDDEV, None)),
        ("MIN(age)", (Function.QUANTILE, Fraction(0))),
        ("MAX(age)", (Function.QUANTILE, Fraction(1))),
        ("MEDIAN(age)", (Function.QUANTILE, Fraction(1, 2))),
        ("QUANTILE_CONT(age, 0.9)", (Function.QUANTILE, Fraction(9, 10))),
        ("QUANTILE_DISC(age, 0.9)", (Function.QUANTILE, Fraction(9, 10))),
        ("APPROX_QUANTILE(age, 0.9)", (Function.QUANTILE, Fraction(9, 10))),
        (
            "PERCENTILE_CONT(0.2) WITHIN GROUP (ORDER BY age)",
            (Function.QUANTILE, Fraction(1, 5)),
        ),
        (
            "PERCENTILE_DISC(0.2) WITHIN GROUP (ORDER BY age DESC)",
            (Function.QUANTILE, Fraction(4, 5)),
        ),
        ("SUM(age) FILTER (WHERE sex = 'Male')", (Function.SUM, None)),
    ],
)
def test_spelling(call, expected):
    assert aggregate(call) == expected


@pytest.mark.parametrize(
    "call",
    [
        "COUNT(DISTINCT age, sex)",
        "COUNT(NULL)",
        "QUANTILE_CONT(age, 1.5)",
        "QUANTILE_CONT(age, age)",
        "QUANTILE_CONT(age, '1/0')",
        "LISTAGG(sex)",
        "ARRAY_AGG(age)",
        "FIRST(age)",
        "ANY_VALUE(age)",
        "MODE(sex)",
        "ARG_MAX(age, income)",
        "COUNT(*) OVER ()",
        "SUM(age) OVER (PARTITION BY sex)",
        "SUM(COUNT(*))",
        "VARIANCE(DISTINCT age, income)",
    ],
)
def test_refused(call):
    with pytest.raises(QueryRefused):
        aggregate(call)
