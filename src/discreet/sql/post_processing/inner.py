"""Subqueries inside a condition on rows that can be answered first, and stand there as constants.

`WHERE beds > (SELECT AVG(beds) FROM wards)`: a public table is simply read. `WHERE age > (SELECT
AVG(age) FROM people)` is asked like any question; its noisy answer is a number that everybody may
know, so it may stand in the next question like one that the analyst typed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.errors import DiscreetError
from discreet.plan.ir import Function
from discreet.sql.bind import bind
from discreet.sql.parse import ParsedQuestion
from discreet.sql.post_processing.needed import query_reads_people, source_reads_people, sources
from discreet.sql.post_processing.program import Program
from discreet.sql.post_processing.split import split

MOST_LISTED = 1_000
"""Values of a list that a public subquery may give."""

_NOISY_DIGITS, _DIGITS = 6, 12


@dataclass(frozen=True, slots=True)
class Inner:
    """A subquery of a condition: over public tables a program, else one private question.

    `listed`: it stands behind IN, and gives many values.
    """

    select: exp.Select
    program: Program | None
    listed: bool

    @property
    def private(self) -> bool:
        """Return whether it must be paid for."""
        return self.program is None


def inner_questions(tree: exp.Expr, catalog: Catalog) -> list[Inner]:
    """Return the subqueries of conditions that can be answered by themselves, in their order.

    Whatever else stands there is left to the rules for memberships, or is refused by them.
    """
    return [inner for _, inner in _places(tree, catalog)]


def with_constants(tree: exp.Expr, catalog: Catalog, values: list[list[Any]]) -> exp.Expr:
    """Return a statement with its inner questions replaced by what they say."""
    found = tree.copy()
    places = _places(found, catalog)
    for (place, inner), given in zip(places, values, strict=True):
        digits = _NOISY_DIGITS if inner.private else _DIGITS
        nodes = [_constant(value, digits) for value in given]
        if inner.listed:
            place.set("query", None)
            place.set("expressions", nodes or [exp.Null()])
        else:
            place.replace(nodes[0] if nodes else exp.Null())
    return found


def _places(tree: exp.Expr, catalog: Catalog) -> list[tuple[exp.Expr, Inner]]:
    """Return the nodes to be replaced: a subquery, or the IN before one."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    found = []
    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        if where is None or not _over_people(select, catalog, named):
            continue
        for node in where.walk(prune=lambda each: isinstance(each, exp.Query)):
            place, inner = _read(node, catalog, named)
            if place is not None and inner is not None:
                found.append((place, inner))
    return found


def _over_people(select: exp.Select, catalog: Catalog, named: set[str]) -> bool:
    # A name of WITH may stand for either; if it holds no people, nothing is lost but a refusal.
    known = dict.fromkeys(named, True)
    try:
        return any(source_reads_people(each, catalog, known) for each in sources(select))
    except DiscreetError:
        return False


def _read(
    node: exp.Expr, catalog: Catalog, named: set[str]
) -> tuple[exp.Expr | None, Inner | None]:
    listed = isinstance(node, exp.In) and node.args.get("query") is not None
    if listed:
        query: exp.Expr = node.args["query"].unnest()
    elif isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.In | exp.Exists):
        query = node.unnest()
    else:
        return None, None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None, None
    tables = list(query.find_all(exp.Table))
    if not tables or any(not table.db and table.name.lower() in named for table in tables):
        return None, None
    try:
        return node, _answerable(query, catalog, listed=listed)
    except DiscreetError:
        return None, None  # of the outer row, or declined anyway


def _answerable(query: exp.Select, catalog: Catalog, *, listed: bool) -> Inner | None:
    tables = [catalog.table(t.name, t.db or None) for t in query.find_all(exp.Table)]
    if all(table.public for table in tables):
        program = split(query.copy(), catalog)
        return None if program is None else Inner(query, program, listed)
    if listed or query.args.get("group") or query_reads_people(query, catalog, {}):
        return None
    if split(query.copy(), catalog) is not None:
        return None
    statement = bind(ParsedQuestion("", query.copy()), catalog)
    functions = [aggregate.function for _, aggregate in statement.aggregates]
    if len(functions) != 1 or functions[0] is Function.QUANTILE:
        return None
    return Inner(query, None, listed)


def _constant(value: Any, digits: int) -> exp.Expr:
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case dt.date():
            kind = "TIMESTAMP" if isinstance(value, dt.datetime) else "DATE"
            return exp.cast(exp.Literal.string(str(value)), kind)
        case int() | float() | Decimal() | Fraction():
            return _number(value, digits)
        case _:
            return exp.Literal.string(str(value))


def _number(value: float | Decimal | Fraction, digits: int) -> exp.Expr:
    """Return a number of so many digits: what a condition compares with, and no finer than useful."""
    if isinstance(value, int):
        written = str(abs(value))
    else:
        written = format(Decimal(f"{abs(float(value)):.{digits - 1}e}"), "f")
    found = exp.Literal.number(written)
    return exp.Neg(this=found) if value < 0 else found
