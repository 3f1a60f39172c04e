"""FROM, JOIN, WHERE and subqueries: the rows under a question, with the unit kept on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.core.schema import Dataset, IdentifierDomain, Table
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import (
    Field,
    Filter,
    Join,
    JoinKind,
    Origin,
    Project,
    Relation,
    Scan,
    fields_of,
    is_public,
    scans_of,
    unit_of,
)
from discreet.plan.kinds import check_condition, kind_of
from discreet.plan.values import infer, kind, kinds_of, lattice
from discreet.sql.aggregates import is_aggregate
from discreet.sql.coerce import coerce
from discreet.sql.names import Named, Names, written_name
from discreet.sql.parse import checked, checked_table
from discreet.sql.per_unit import per_unit
from discreet.sql.refuse import refusal
from discreet.sql.scalars import Scope, to_expr
from discreet.sql.sizes import Sizes

MOST_WITH = 200
DEEPEST = 40
"""Subqueries inside subqueries; each level is a level of the generated SQL, too."""


@dataclass(frozen=True, slots=True)
class BindingContext:
    """What is known while binding: the catalog, the WITH clauses so far, and the ids given out.

    Each WITH clause is kept with the context that it was written in: it sees earlier ones only.
    """

    catalog: Catalog
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
    loose = list(_conjuncts(where.this)) if where is not None else []
    names = Names(context.catalog, (_named(source.this, context),), context.sizes)
    relation = names.entries[0].relation
    pending = [(join, _named(join.this, context)) for join in select.args.get("joins") or ()]
    while pending:
        join, entry = _next_join(pending, names, loose)
        pending.remove((join, entry))
        relation = _joined(relation, names, join, entry, loose)
        names = names.joined(entry)
    _one_dataset(relation, where, context)
    if not loose:
        return relation, names
    condition = e.all_of(tuple(row_expr(part, names) for part in loose))
    context.sizes.add(condition)
    domains = {name: field.domain for name, field in names.fields().items()}
    check_condition(condition, kinds_of(domains))
    infer(condition, domains)
    return Filter(relation, condition), names


def row_expr(node: exp.Expr, names: Names) -> Expr:
    """Return an expression over single rows; aggregates are refused in it."""

    def no_aggregate(part: exp.Expr) -> None:
        if isinstance(part, exp.AggFunc):
            raise refusal("nested aggregate", unit="person")

    domains = {name: field.domain for name, field in names.fields().items()}
    found = to_expr(node, Scope(names.find, no_aggregate))
    names.sizes.check(found)
    found = coerce(found, domains)
    kind_of(found, kinds_of(domains))
    return found


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.And):
        return [part for side in node.flatten() for part in _conjuncts(side)]
    return _conjuncts(node.this) if isinstance(node, exp.Paren) else [node]


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
    table = context.catalog.table(written.name, written.db or None)
    if getattr(written.args.get("alias"), "columns", None):
        raise refusal("clause", what="Renaming columns in FROM")
    scan, columns = _declared(context.catalog.dataset_of(table), table, context.sizes)
    return Named(written.alias or table.name, _complete(scan), columns, table)


def scan_of(dataset: Dataset, table: Table) -> Scan:
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
        if usable:
            columns.append((column.name.lower(), name))
        if column.name == unit_column:
            unit = name
    return Scan(dataset, table, tuple(fields), unit), tuple(columns)


def _complete(scan: Scan) -> Relation:
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
    return Filter(scan, parts[0] if len(parts) == 1 else e.And(parts))


def _derived(select: exp.Select, alias: str, context: BindingContext) -> Named:
    if select.args.get("order") or select.args.get("limit") or select.args.get("offset"):
        raise refusal("clause", what="ORDER BY or LIMIT in a subquery")
    source, names = bind_rows(select, context.deeper())
    grouped = select.args.get("group") is not None
    if grouped or any(is_aggregate(output) for output in select.expressions):
        relation: Relation = per_unit(select, source, names, context.sizes)
    else:
        relation = _projected(select, source, names, context)
    # A unit that the subquery does not select is carried along without a name.
    columns = ((f.written.lower(), f.name) for f in fields_of(relation) if f.written)
    return Named(alias, relation, tuple(columns))


def _projected(
    select: exp.Select, source: Relation, names: Names, context: BindingContext
) -> Project:
    below = names.fields()
    domains = {name: field.domain for name, field in below.items()}
    fields: list[Field] = []
    values: list[Expr] = []
    for written, value in _outputs(select, names):
        known = below.get(value.name) if isinstance(value, e.ColumnRef) else None
        missing, origin = (known.missing, known.origin) if known else (True, None)
        domain = infer(value, domains)
        fields.append(Field(context.sizes.fresh(value), domain, origin, missing, written))
        values.append(value)
    unit = unit_of(source)
    if unit is None:
        return Project(source, tuple(fields), tuple(values), None)
    own = [f.name for f, v in zip(fields, values, strict=True) if v == e.ColumnRef(unit)]
    if own:
        return Project(source, tuple(fields), tuple(values), own[0])
    fields.append(Field(context.sizes.fresh(), IdentifierDomain(), below[unit].origin))
    values.append(e.ColumnRef(unit))
    return Project(source, tuple(fields), tuple(values), fields[-1].name)


def _outputs(select: exp.Select, names: Names) -> list[tuple[str, Expr]]:
    """Return the named outputs, `*` spelled out (inside a subquery nobody sees the rows)."""
    found: list[tuple[str, Expr]] = []
    for output in select.expressions:
        if isinstance(output, exp.Star):
            listed = [column for entry in names.entries for column in entry.columns]
            found += [(name, e.ColumnRef(field)) for name, field in listed]
        else:
            value = row_expr(output, names)  # refused, if at all, before its name is looked for
            found.append((written_name(output), value))
    return found


def _next_join(
    pending: list[tuple[exp.Join, Named]], names: Names, loose: list[exp.Expr]
) -> tuple[exp.Join, Named]:
    """Return the first join whose condition, written in ON or in WHERE, links it to the rest."""
    for join, entry in pending:
        if join.args.get("on") or join.args.get("using"):
            return join, entry
        # A condition may name tables that come later in FROM; those wait for their turn.
        seen = [part for part in loose if _visible(part, names, entry)]
        if any(_pair(part, names, entry) is not None for part in seen):
            return join, entry
    raise refusal("join condition", what=f"none links {pending[0][1].alias} to the other tables")


def _pair(part: exp.Expr, names: Names, entry: Named) -> tuple[str, str] | None:
    """Return (left field, right field) if `part` equates a column of `entry` with one in `names`."""
    if not isinstance(part, exp.EQ):
        return None
    if not isinstance(part.this, exp.Column) or not isinstance(part.expression, exp.Column):
        return None
    both = names.joined(entry)
    one, two = both.find(part.this).name, both.find(part.expression).name
    mine = {field for _, field in entry.columns}
    if one not in mine and two in mine:
        return one, two
    if two not in mine and one in mine:
        return two, one
    return None


def _joined(
    left: Relation, names: Names, join: exp.Join, entry: Named, loose: list[exp.Expr]
) -> Join:
    kind = _kind(join)
    pairs: list[tuple[str, str]] = []
    for column in join.args.get("using") or ():
        written = exp.column(column.name)
        only_right = replace(names, entries=(entry,))
        pairs.append((names.find(written).name, only_right.find(written).name))
    for part in _conjuncts(join.args["on"]) if join.args.get("on") else ():
        pair = _pair(part, names, entry)
        if pair is not None:
            pairs.append(pair)
        elif kind is JoinKind.INNER:
            loose.append(part)
        else:
            raise refusal("join condition", what="LEFT JOIN takes nothing else in ON")
    if kind is JoinKind.INNER:
        for part in list(loose):
            pair = _pair(part, names, entry) if _visible(part, names, entry) else None
            if pair is not None:
                pairs.append(pair)
                loose.remove(part)
    if not pairs:
        raise refusal("join condition", what=f"none links {entry.alias} to the other tables")
    return _checked_join(left, entry.relation, pairs, kind)


def _visible(part: exp.Expr, names: Names, entry: Named) -> bool:
    aliases = {known.alias.lower() for known in (*names.entries, entry)}
    columns = {name for known in (*names.entries, entry) for name, _ in known.columns}
    return all(
        column.table.lower() in aliases if column.table else column.name.lower() in columns
        for column in part.find_all(exp.Column)
    )


def _kind(join: exp.Join) -> JoinKind:
    side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
    if kind.upper() in {"", "INNER", "OUTER"} and side.upper() in {"", "LEFT"}:
        return JoinKind.LEFT if side.upper() == "LEFT" else JoinKind.INNER
    raise refusal("join kind", what=f"{side} {kind}".strip().upper())


def _checked_join(
    left: Relation, right: Relation, pairs: list[tuple[str, str]], kind: JoinKind
) -> Join:
    if is_public(left) and not is_public(right):
        if kind is JoinKind.LEFT:
            raise refusal("join kind", what="LEFT (from a public to a private table)")
        return _checked_join(right, left, [(b, a) for a, b in pairs], kind)
    _same_kind(left, right, pairs)
    unit = unit_of(left)
    if is_public(right):
        copies = [scan.table.max_rows or 1 for scan in scans_of(right)]
        return Join(left, right, tuple(pairs), kind, unit, copies=max(copies))
    other = unit_of(right)
    if unit is None or other is None:
        raise refusal("row join")
    # Always on the unit too: a pair of rows of two different people is never formed.
    if (unit, other) not in pairs:
        pairs = [(unit, other), *pairs]
    return Join(left, right, tuple(pairs), kind, unit, copies=None)


def _same_kind(left: Relation, right: Relation, pairs: list[tuple[str, str]]) -> None:
    """Refuse to equate columns whose values an engine would first have to convert."""
    known = {f.name: f for side in (left, right) for f in fields_of(side)}
    for pair in pairs:
        both = [known[name] for name in pair]
        kinds = [(kind(f.domain), (lattice(f.domain) or ("",))[-1]) for f in both]
        if kinds[0] != kinds[1]:
            names = " and ".join(f.called for f in both)
            raise refusal("join condition", what=f"{names} are declared differently")


def _one_dataset(relation: Relation, where: exp.Expr | None, context: BindingContext) -> None:
    private = {scan.dataset.name for scan in scans_of(relation) if scan.dataset and not scan.public}
    if not private:
        inner = list(where.find_all(exp.Table)) if where is not None else []
        if any(not is_public(_named(table, context).relation) for table in inner):
            raise refusal("subquery")
        raise refusal("public only")
    if len(private) > 1:
        raise refusal("two datasets")
