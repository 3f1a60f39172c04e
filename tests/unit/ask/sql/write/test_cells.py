"""Columns of a block, and the conditions that they lie somewhere."""

from discreet.ask.sql.write.expressions import Cell, in_positions
from discreet.base.event import Positions
from discreet.base.schema import IntegerDomain

AGE = IntegerDomain(0, 120)


def test_positions_as_conditions():
    cell = Cell("v", AGE, "t.x")
    assert in_positions(cell, Positions.whole(AGE.size), "duckdb") is None
    assert in_positions(cell, Positions(()), "duckdb") == "FALSE"
    assert in_positions(cell, Positions.of([(3, 5)]), "duckdb") == "(t.x BETWEEN 3 AND 5)"
    assert in_positions(cell, Positions.points([-1]), "duckdb") == "(t.x IS NULL)"
    both = in_positions(cell, Positions.of([(-1, 5)]), "duckdb")
    assert both == "(t.x BETWEEN 0 AND 5 OR t.x IS NULL)"
