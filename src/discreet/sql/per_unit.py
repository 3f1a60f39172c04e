"""A subquery grouped by the person: one row for each, computed from that person's rows alone."""

from __future__ import annotations

from contextlib import suppress

from sqlglot import exp

from discreet.core.schema import BooleanDomain, Domain, IdentifierDomain, IntegerDomain
from discreet.errors import QueryRefused
from discreet.plan import expr as e
from discreet.plan.evaluate import Fields
from discreet.plan.expr import Expr, kinds_of
from discreet.plan.ir import (
    Aggregate,
    Field,
    Function,
    PerUnit,
    Project,
    Relation,
    rows_to_keep,
    unit_of,
)
from discreet.plan.kinds import NULL, kind_of
from discreet.plan.values import infer, infer_by_rule, lowered, mean_domain, sum_domain
from discreet.sql.aggregates import to_aggregate
from discreet.sql.coerce import coerce
from discreet.sql.joins import filtered
from discreet.sql.names import Names, grouped_by, written_name
from discreet.sql.refuse import refusal
from discreet.sql.scalars import Scope, to_expr
from discreet.sql.sizes import Sizes

CLAMPED = 4
"""How often the generated SQL writes a person's own aggregate to hold it inside its range."""

_COUNTS = frozenset({Function.COUNT, Function.COUNT_DISTINCT})


def per_unit(
    select: exp.Select, source: Relation, names: Names, sizes: Sizes, *, exists: bool = False
) -> Project:
    """Return the relation of a subquery that groups by the unit, HAVING included.

    All of its aggregates are of the same rows: of no more of one person than a plain question over
    `source` counts. `exists`: nothing is asked but whether there are any, so none need be left out.
    """
    unit = unit_of(source)
    if unit is None:
        raise refusal("subquery group", unit="the person column")
    most, cut = rows_to_keep(source, single=False, units_only=False)
    builder = _Builder(names, names.domains(), most, sizes)
    group = select.args.get("group")
    written = [grouped_by(node, select, names) for node in (group.expressions if group else ())]
    keys = [builder.row(node) for node in written]
    if e.ColumnRef(unit) not in keys:
        raise refusal("subquery group", unit=names.fields()[unit].called)
    extra = [key for key in keys if key != e.ColumnRef(unit)]
    found = [builder.output(node, keys) for node in select.expressions]
    outputs = list(zip(map(written_name, select.expressions), found, strict=True))
    having = select.args.get("having")
    condition = builder.output(having.this, keys) if having is not None else e.TRUE
    cut = cut and not exists and _reads_rows(builder.aggregates, extra)
    return _assemble(
        source, builder, unit=unit, extra=extra, outputs=outputs, condition=condition, cut=cut
    )


def _reads_rows(aggregates: list[tuple[str, Aggregate]], keys: list[Expr]) -> bool:
    """Return whether it matters which rows are left out: a number of rows is clamped to as many as would be left."""
    if keys:
        return bool(aggregates)
    return any(aggregate.operand is not None for _, aggregate in aggregates)


class _Builder:
    """Collects the aggregates of one subquery and what their values can be."""

    def __init__(self, names: Names, domains: Fields, max_rows: int, sizes: Sizes) -> None:
        self.names = names
        self.sizes = sizes
        self.domains = domains
        self.max_rows = max_rows
        self.aggregates: list[tuple[str, Aggregate]] = []

    def row(self, node: exp.Expr) -> Expr:
        found = coerce(to_expr(node, Scope(self.names.find, lambda _: None)), self.domains)
        kind_of(found, kinds_of(self.domains))
        return lowered(found, self.domains)

    def output(self, node: exp.Expr, keys: list[Expr]) -> Expr:
        return to_expr(
            node.unalias(), Scope(lambda column: self._key(column, keys), self._aggregate)
        )

    def _key(self, column: exp.Column, keys: list[Expr]) -> Expr:
        found = self.names.find(column)
        if found not in keys:
            raise refusal("raw rows", what=column.name)
        return found

    def _aggregate(self, node: exp.Expr) -> Expr | None:
        found = to_aggregate(node, self.row)
        if found is None:
            return None
        return self._kept(found)

    def _kept(self, found: Aggregate) -> Expr:
        """Return the column that stands for one of a person's own aggregates."""
        if found.operand is not None:
            kind_of(found.operand, kinds_of(self.domains))
        for name, known in self.aggregates:
            if known == found:
                return e.ColumnRef(name)
        if found.operand is not None:
            self.sizes.add(found.operand)
        name = self.sizes.fresh(times=CLAMPED)
        self.aggregates.append((name, found))
        return e.ColumnRef(name)

    def domain(self, aggregate: Aggregate) -> Domain:
        """Return the declared range of one person's value; the generated SQL clamps to it."""
        match aggregate.function:
            case Function.COUNT | Function.COUNT_DISTINCT:
                if aggregate.operand is not None:
                    infer(aggregate.operand, self.domains)  # or refuse it
                return IntegerDomain(0, self.max_rows)
            case Function.SUM if aggregate.operand is not None and not aggregate.distinct:
                return sum_domain(aggregate.operand, self.domains, self.max_rows)
            case Function.AVG if aggregate.operand is not None and not aggregate.distinct:
                return mean_domain(aggregate.operand, self.domains, self.max_rows)
            case Function.QUANTILE if (
                aggregate.quantile in {0, 1} and aggregate.operand is not None
            ):
                return infer(aggregate.operand, self.domains)
            case _:
                raise refusal(
                    "clause", what=f"{aggregate.function.value} for each person in a subquery"
                )


def _assemble(
    source: Relation,
    builder: _Builder,
    *,
    unit: str,
    extra: list[Expr],
    outputs: list[tuple[str, Expr]],
    condition: Expr,
    cut: bool,
) -> Project:
    below, person = builder.names.fields(), builder.sizes.fresh()
    keyed = [(builder.sizes.fresh(), key) for key in extra]
    fields = [Field(person, IdentifierDomain(), below[unit].origin)]
    fields += [_key_field(name, key, builder) for name, key in keyed]
    fields += [
        Field(name, builder.domain(found), missing=found.function not in _COUNTS)
        for name, found in builder.aggregates
    ]
    grouped: Relation = PerUnit(
        source,
        tuple(fields),
        tuple(builder.aggregates),
        tuple(keyed),
        person,
        builder.max_rows,
        cut,
    )
    renamed: dict[str, Expr] = {
        key.name: e.ColumnRef(name) for name, key in keyed if isinstance(key, e.ColumnRef)
    }
    renamed[unit] = e.ColumnRef(person)
    domains = {field.name: field.domain for field in fields}
    if condition != e.TRUE:
        condition = coerce(e.substitute(condition, renamed), domains)
        grouped = filtered(grouped, condition, domains)
    shown: list[Field] = []
    values: list[Expr] = []
    by_name = {field.name: field for field in fields}
    for name, written in outputs:
        value = coerce(e.substitute(written, renamed), domains)
        kind_of(value, kinds_of(domains))
        known = by_name.get(value.name) if isinstance(value, e.ColumnRef) else None
        fresh = builder.sizes.fresh(value)
        shown.append(shown_field(fresh, infer_column(value, domains), known, name))
        values.append(value)
    return projected(grouped, shown, values, fields[0], builder.sizes)


def projected(
    source: Relation, fields: list[Field], values: list[Expr], unit: Field, sizes: Sizes
) -> Project:
    """Return a subquery's columns; the unit is carried along without a name where it is none of them."""
    own = [f.name for f, v in zip(fields, values, strict=True) if v == e.ColumnRef(unit.name)]
    if not own:
        own = [sizes.fresh()]
        fields = [*fields, Field(own[0], IdentifierDomain(), unit.origin)]
        values = [*values, e.ColumnRef(unit.name)]
    return Project(source, tuple(fields), tuple(values), own[0])


def shown_field(name: str, domain: Domain, known: Field | None, written: str = "") -> Field:
    """Return a column of a subquery; `known` is the one below where it is nothing but that."""
    origin, missing = (known.origin, known.missing) if known else (None, True)
    return Field(name, domain, origin, missing, written)


def infer_column(expr: Expr, fields: Fields) -> Domain:
    """Return the domain of a column of a subquery: as `infer`, but of the kind that is written.

    What is never anything but NULL, such as NULLIF(x, x), has no values to tell a kind from.
    """
    found, written = infer(expr, fields), kind_of(expr, kinds_of(fields))
    if isinstance(found, BooleanDomain) and written not in {"boolean", NULL}:
        with suppress(QueryRefused):
            return infer_by_rule(expr, fields)
    return found


def _key_field(name: str, key: Expr, builder: _Builder) -> Field:
    known = builder.names.fields().get(key.name) if isinstance(key, e.ColumnRef) else None
    return shown_field(name, infer_column(key, builder.domains), known)
