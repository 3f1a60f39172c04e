"""Cuts inside SQL: the name of a cut stands for a CASE over its column, with labels such as 18-34."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from discreet.core.numbers import plain
from discreet.core.schema import Column, Dataset, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.publish.specification.spec import Cut
from discreet.sql.parse import ParsedQuestion


def with_cuts(
    sql: str, tree: exp.Expr, cuts: Sequence[Cut], columns: Mapping[str, Column]
) -> ParsedQuestion:
    """Return a SELECT whose cuts are written out. `columns` are those of the private tables."""
    named = {cut.name.lower(): cut for cut in cuts}
    for node in list(tree.find_all(exp.Column)):
        cut = named.get(node.name.lower())
        if cut is None:
            continue
        column = columns.get(cut.column.lower())
        if column is None:
            raise InvalidInput(f"The cut '{cut.name}' is of a column that no table here has.")
        case = _case(cut, column, node.args.get("table"))
        shown = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        node.replace(exp.alias_(case, cut.name, quoted=True) if shown else case)
    return ParsedQuestion(sql, tree)


def check_names(cuts: Sequence[Cut], dataset: Dataset) -> None:
    """Refuse a cut whose name means something else already: another cut, or another column."""
    known = {column.name.lower() for table in dataset.tables for column in table.columns}
    for number, cut in enumerate(cuts):
        name = cut.name.lower()
        if name in known and name != cut.column.lower():
            raise InvalidInput(
                f"The cut '{cut.name}' has the name of a column, which it would hide.",
                hint="Give the cut a name of its own.",
            )
        if any(name == other.name.lower() for other in cuts[:number]):
            raise InvalidInput(
                "Two cuts have one name; upper and lower case do not tell them apart."
            )


def labels(cut: Cut, column: Column) -> tuple[str, ...]:
    """Return the names of a cut's classes: 0-17 for whole numbers, 0 to <5000 for others.

    >>> from discreet.core.schema import Column, IntegerDomain
    >>> labels(Cut("g", "age", (Fraction(0), Fraction(18), Fraction(65))), Column("age", IntegerDomain(0, 120)))
    ('0-17', '18-64')
    """
    pairs = list(zip(cut.edges, cut.edges[1:], strict=False))
    if isinstance(column.domain, IntegerDomain):
        spans = [(-(-low // 1), -(-high // 1) - 1) for low, high in pairs]
        return tuple(str(low) if low == high else f"{low}-{high}" for low, high in spans)
    return tuple(f"{plain(low)} to <{plain(high)}" for low, high in pairs)


def _case(cut: Cut, column: Column, table: exp.Identifier | None) -> exp.Case:
    if not isinstance(column.domain, IntegerDomain | NumberDomain):
        raise InvalidInput(
            f"The cut '{cut.name}' is of '{column.name}', which is no number.",
            hint="Only numbers can be cut; group by other columns as they are.",
        )
    case = exp.Case()
    for name, low, high in zip(labels(cut, column), cut.edges, cut.edges[1:], strict=False):
        above = _compared(exp.GTE, column.name, table, low)
        below = _compared(exp.LT, column.name, table, high)
        case = case.when(exp.and_(above, below), exp.Literal.string(name), copy=False)
    return case


def _compared(
    kind: type[exp.Binary], column: str, table: exp.Identifier | None, edge: Fraction
) -> exp.Expr:
    name = exp.Column(
        this=exp.to_identifier(column, quoted=True), table=table.copy() if table else None
    )
    number: exp.Expr = exp.Literal.number(plain(abs(edge), significant=30))
    return kind(this=name, expression=exp.Neg(this=number) if edge < 0 else number)
