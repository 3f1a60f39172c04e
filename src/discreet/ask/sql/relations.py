"""Relations: FROM, JOIN, WHERE and subqueries, the rows under a question with the unit kept on each.

A subquery grouped by the person is one row for each, computed from that person's rows alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields
from discreet.ask.plan.expr import Expr, kinds_of
from discreet.ask.plan.ir import (
    CLOCK,
    Aggregate,
    Field,
    Filter,
    Function,
    JoinKind,
    Origin,
    PerUnit,
    Project,
    Relation,
    Scan,
    fields_of,
    is_public,
    rows_to_keep,
    scans_of,
    unit_of,
)
from discreet.ask.plan.kinds import NULL, kind_of
from discreet.ask.plan.values import infer, infer_by_rule, lowered, mean_domain, sum_domain
from discreet.ask.sql.aggregates import is_aggregate, to_aggregate
from discreet.ask.sql.joins import (
    checked_join,
    conjuncts_of,
    filtered,
    is_membership,
    joined,
    membership,
    next_join,
    shared,
)
from discreet.ask.sql.names import Named, Names, Sizes, grouped_by, written_name
from discreet.ask.sql.parse import checked, checked_table
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.scalars import Scope, coerce, to_expr
from discreet.base.schema import (
    BooleanDomain,
    Dataset,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.data.catalog.catalog import Catalog
from discreet.errors import QueryRefused, UnknownName

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


MOST_WITH = 200
DEEPEST = 40
"""Subqueries inside subqueries; each level is a level of the generated SQL, too."""


@dataclass(frozen=True, slots=True)
class BindingContext:
    """What is known while binding: the catalog, the WITH clauses so far, and the ids given out.

    Each WITH clause is kept with the context that it was written in: it sees earlier ones only.
    """

    catalog: Catalog
    max_rows: int | None = None
    ctes: Mapping[str, tuple[exp.Select, BindingContext]] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=Sizes)
    level: int = 0

    def deeper(self) -> BindingContext:
        """Return the context of a subquery."""
        if self.level == DEEPEST:
            raise refusal("too large", what=f"Subqueries are nested {DEEPEST} levels deep")
        return replace(self, level=self.level + 1)

    def inside(self, select: exp.Select) -> BindingContext:
        """Return the context of a SELECT that may have WITH clauses of its own."""
        clause = select.args.get("with_")
        if clause and len(clause.expressions) > MOST_WITH:
            raise refusal("too large", what=f"There are more than {MOST_WITH} WITH clauses")
        found, own = self, set()
        for cte in clause.expressions if clause else ():
            name = cte.alias.lower()
            if name in own:
                raise refusal("clause", what=f"WITH '{cte.alias[:40]}' twice")
            own.add(name)
            found = replace(found, ctes={**found.ctes, name: (checked(cte.this), found)})
        return found


def bind_rows(select: exp.Select, context: BindingContext) -> tuple[Relation, Names]:
    """Return the filtered rows of a SELECT and the names that it sees."""
    context = context.inside(select)
    source = select.args.get("from_")
    if source is None:
        tables = ", ".join(t.name for d in context.catalog.datasets.values() for t in d.tables)
        raise refusal("no from", tables=tables)
    where = select.args.get("where")
    loose = list(conjuncts_of(where.this)) if where is not None else []
    names = Names(context.catalog, (_named(source.this, context),), context.sizes)
    relation = names.entries[0].relation
    pending = [(join, _named(join.this, context)) for join in select.args.get("joins") or ()]
    while pending:
        join, entry = next_join(pending, names, loose)
        pending.remove((join, entry))
        relation = joined(relation, names, join, entry, loose, row_expr)
        names = names.joined(entry, merged=shared(join, names, entry))
    _one_dataset(relation, where, context)
    membership = _Memberships(context)
    plain = [part for part in loose if not is_membership(part)]
    for part in loose:
        if is_membership(part):
            relation, names = membership.joined(relation, names, part)
    if not plain and not membership.tests:
        return relation, names
    parts = (*(row_expr(part, names) for part in plain), *membership.tests)
    condition = e.all_of(parts)
    context.sizes.add(condition)
    return filtered(relation, condition, names.domains()), names


class _Memberships:
    """Joins what IN (SELECT ...) and EXISTS ask about, and collects what must hold of it."""

    def __init__(self, context: BindingContext) -> None:
        self.context = context
        self.tests: list[Expr] = []

    def joined(self, relation: Relation, names: Names, part: exp.Expr) -> tuple[Relation, Names]:
        asked = membership(part)
        source, inner = bind_rows(asked.bare, self.context.deeper())
        select = asked.grouped(source, names, inner)
        entry = _derived(select, f"_exists{len(self.tests)}", self.context, exists=asked.only_rows)
        test, pairs = asked.condition(names, entry)
        kind = JoinKind.LEFT if asked.negated else JoinKind.INNER
        self.tests.append(test)
        hidden = replace(entry, columns=())
        return checked_join(relation, entry.relation, pairs, kind), names.joined(hidden)


def row_expr(node: exp.Expr, names: Names) -> Expr:
    """Return an expression over single rows; aggregates are refused in it."""

    def no_aggregate(part: exp.Expr) -> None:
        if isinstance(part, exp.AggFunc):
            raise refusal("nested aggregate", unit="person")

    domains = names.domains()
    found = to_expr(node, Scope(names.find, no_aggregate))
    names.sizes.check(found)
    found = coerce(found, domains)
    kind_of(found, kinds_of(domains))
    return lowered(found, domains)


def _named(node: exp.Expr, context: BindingContext) -> Named:
    if isinstance(node, exp.Subquery):
        return _derived(checked(node.this), node.alias, context)
    if not isinstance(node, exp.Table):
        raise refusal("clause", what=f"FROM {type(node).__name__.upper()}")
    table = checked_table(node)
    if not table.db and table.name.lower() in context.ctes:
        select, earlier = context.ctes[table.name.lower()]
        # Where it was written it sees less, but it is nested as deep as where it is used.
        inner = replace(earlier, level=context.level)
        return _derived(select, table.alias or table.name, inner)
    return _scan(context, table)


def _scan(context: BindingContext, written: exp.Table) -> Named:
    dataset, table = context.catalog.find(written.name, written.db or None)
    if getattr(written.args.get("alias"), "columns", None):
        raise refusal("clause", what="Renaming columns in FROM")
    scan, columns = _declared(dataset, table, context.sizes)
    scan = replace(scan, asked=context.max_rows)
    return Named(written.alias or table.name, complete_rows(scan), columns, table)


def declared_scan(dataset: Dataset, table: Table) -> Scan:
    """Return a table of the catalog as it is read by itself."""
    return _declared(dataset, table, Sizes())[0]


def _declared(
    dataset: Dataset, table: Table, sizes: Sizes
) -> tuple[Scan, tuple[tuple[str, str], ...]]:
    """Return the scan of a table, and the columns that may be named with the ids of their fields."""
    unit_column = table.unit.column if table.unit is not None else None
    fields: list[Field] = []
    columns: list[tuple[str, str]] = []
    unit = None
    for column in table.columns:
        usable = not column.hidden and column.reviewed
        if not usable and column.name != unit_column:
            continue
        name = sizes.fresh()
        origin = Origin(dataset.name, table.name, column.by_day())
        fields.append(Field(name, origin.column.domain, origin, column.missing, column.name))
        clock = column.clock()
        if usable and clock is not None:
            fields.append(Field(f"{name}{CLOCK}", clock.domain, missing=column.missing))
        if usable:
            columns.append((column.name.lower(), name))
        if column.name == unit_column:
            unit = name
    return Scan(dataset, table, tuple(fields), unit), tuple(columns)


def complete_rows(scan: Scan) -> Relation:
    """Return the rows that have a declared value wherever the owner said that all rows have one.

    Guarantee: which rows are left out is a function of each row itself, or of its unit's rows where
        the column is constant for a unit, so nothing becomes more sensitive; and a question about
        a complete column and one about everybody are about the same rows.
    """
    parts: tuple[e.Expr, ...] = tuple(
        e.Not(e.IsNull(e.ColumnRef(field.name)))
        for field in scan.fields
        if field.origin is not None and field.origin.column.complete
    )
    if not parts:
        return scan
    return Filter(scan, e.all_of(parts))


def _derived(
    select: exp.Select, alias: str, context: BindingContext, *, exists: bool = False
) -> Named:
    if select.args.get("order") or select.args.get("limit") or select.args.get("offset"):
        raise refusal("clause", what="ORDER BY or LIMIT in a subquery")
    source, names = bind_rows(select, context.deeper())
    grouped = select.args.get("group") is not None
    if grouped or any(is_aggregate(output) for output in select.expressions):
        relation: Relation = per_unit(select, source, names, context.sizes, exists=exists)
    else:
        relation = _projected(select, source, names, context)
    # A unit that the subquery does not select is carried along without a name.
    columns = ((f.written.lower(), f.name) for f in fields_of(relation) if f.written)
    return Named(alias, relation, tuple(columns))


def _projected(
    select: exp.Select, source: Relation, names: Names, context: BindingContext
) -> Project:
    below, domains = names.fields(), names.domains()
    fields: list[Field] = []
    values: list[Expr] = []
    for written, value, bare in _outputs(select, names):
        known = below.get(value.name) if isinstance(value, e.ColumnRef) else None
        domain = infer_column(value, domains)
        name = context.sizes.fresh(value)
        fields.append(shown_field(name, domain, known, written))
        missing = fields[-1].missing
        values.append(value)
        column = value if bare and isinstance(value, e.ColumnRef) else None
        clock = None if column is None else below.get(f"{column.name}{CLOCK}")
        if clock is not None:  # carried along unseen
            fields.append(Field(f"{name}{CLOCK}", clock.domain, missing=missing))
            values.append(e.ColumnRef(clock.name))
    unit = unit_of(source)
    if unit is None:
        return Project(source, tuple(fields), tuple(values), None)
    return projected(source, fields, values, below[unit], context.sizes)


def _outputs(select: exp.Select, names: Names) -> list[tuple[str, Expr, bool]]:
    """Return the named outputs, `*` spelled out (inside a subquery nobody sees the rows).

    With each, whether it is a bare column: a timestamp that is cast to a date has no time.
    """
    found: list[tuple[str, Expr, bool]] = []
    for output in select.expressions:
        if isinstance(output, exp.Star) or isinstance(output.this, exp.Star):
            alias = output.table.lower() if isinstance(output, exp.Column) else ""
            seen = [entry for entry in names.entries if alias in {"", entry.alias.lower()}]
            if not seen:
                raise UnknownName(f"There is no table or alias '{output.table}' in this question.")
            found += [(name, e.ColumnRef(field), True) for name, field in _spread(seen, names)]
        else:
            value = row_expr(output, names)  # refused, if at all, before its name is looked for
            bare = isinstance(output.unalias().unnest(), exp.Column)
            found.append((written_name(output), value, bare))
    return found


def _spread(seen: list[Named], names: Names) -> list[tuple[str, str]]:
    """Return the columns of some tables; those of USING once, as the left side's."""
    found: list[tuple[str, str]] = []
    for entry in seen:
        known = {name for name, _ in found}
        found += [
            (name, field)
            for name, field in entry.columns
            if not (name in names.merged and name in known)
        ]
    return found


def _one_dataset(relation: Relation, where: exp.Expr | None, context: BindingContext) -> None:
    private = {scan.dataset.name for scan in scans_of(relation) if scan.dataset and not scan.public}
    if not private:
        inner = list(where.find_all(exp.Table)) if where is not None else []
        if any(not is_public(_named(table, context).relation) for table in inner):
            raise refusal("subquery")
        raise refusal("public only")
    if len(private) > 1:
        raise refusal("two datasets")
