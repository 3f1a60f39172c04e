"""Constants in generated SQL, for each dialect."""

import datetime as dt
from fractions import Fraction

from discreet.privacy.kernel.cells import constant, decimal


def test_other_constants():
    assert constant(None, "duckdb") == "NULL"
    assert constant(True, "duckdb") == "TRUE"
    assert constant("O'Brien", "duckdb") == "'O''Brien'"
    assert constant("O'Brien", "spark") == r"'O\'Brien'"
    assert constant(dt.date(2024, 2, 29), "spark") == "DATE '2024-02-29'"
    assert constant(Fraction(7), "postgres") == "7"
    assert decimal(Fraction(1, 8)) == "0.125"
    assert (
        constant(dt.datetime(2024, 2, 29, 1, 2, 3), "duckdb") == "TIMESTAMP '2024-02-29 01:02:03'"
    )
    assert constant(False, "spark") == "FALSE"
    assert decimal(Fraction(-3)) == "-3"
    assert decimal(Fraction(1, 2)) == "0.5"
    assert decimal(Fraction(-5, 4)) == "-1.25"
    assert decimal(Fraction(1, 10**9)) == "0.000000001"
