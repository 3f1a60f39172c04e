"""A checked SELECT to a bound statement: what is grouped, aggregated, and done with the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr, kinds_of
from discreet.ask.plan.ir import Aggregate, Function, Key, Order, Relation, Statement
from discreet.ask.plan.kinds import check_condition, kind_of
from discreet.ask.plan.values import infer, numeric
from discreet.ask.sql.aggregates import PAIRED, is_aggregate, of_two, to_aggregate, where
from discreet.ask.sql.names import Names, Sizes, grouped_by, place_of
from discreet.ask.sql.parse import ParsedQuestion, only_known, parse
from discreet.ask.sql.refuse import refusal
from discreet.ask.sql.relations import BindingContext, bind_rows, row_expr
from discreet.ask.sql.scalars import Scope, coerce, to_expr
from discreet.ask.sql.timestamps import timed
from discreet.base.schema import Domain, IdentifierDomain, IntegerDomain
from discreet.data.catalog.catalog import Catalog

FORMULA = 40
"""At most so many nodes turn the measures of one aggregate back into its value."""


def bind(sql: str | ParsedQuestion, catalog: Catalog, *, max_rows: int | None = None) -> Statement:
    """Return the statement that `sql` asks for, bound to the catalog; reads no rows.

    `max_rows`: how many rows of a person count in it, wherever it reads them; None is as declared.
    """
    select = parse(sql)
    source, names = bind_rows(select, BindingContext(catalog, max_rows))
    found = _Outer(select, source, names).statement()
    # Last, so that a rule can say in its own words what it declines; here also what was not used.
    only_known(select)
    return found


class _Outer:
    """Binds the outermost SELECT: its outputs see keys and aggregates only."""

    def __init__(self, select: exp.Select, source: Relation, names: Names) -> None:
        self.select = select
        self.source = source
        self.names = names
        self.domains = names.domains()
        self.aliases = {
            output.alias.lower(): output.this
            for output in select.expressions
            if isinstance(output, exp.Alias)
        }
        self.keys: list[Key] = []
        self.opened: list[str] = []
        self.aggregates: list[tuple[str, Aggregate]] = []
        self.sizes = Sizes()

    def statement(self) -> Statement:
        group = self.select.args.get("group")
        for node in group.expressions if group is not None else ():
            self._add_key(grouped_by(node, self.select, self.names))
        outputs = tuple(
            self._named_output(i, node) for i, node in enumerate(self.select.expressions)
        )
        having = self.select.args.get("having")
        order = self.select.args.get("order")
        found = Statement(
            source=self.source,
            keys=tuple(self.keys),
            aggregates=(),
            outputs=outputs,
            having=self._having(having.this) if having is not None else e.TRUE,
            order=tuple(self._order(node, outputs) for node in order.expressions) if order else (),
            limit=self._whole("limit"),
            offset=self._whole("offset") or 0,
        )
        if not self.aggregates and not self.keys:
            raise refusal("no aggregate")
        if not self.aggregates:
            # Keys alone: which groups exist is itself a count.
            self._aggregate_ref(Aggregate(Function.COUNT))
        return replace(found, aggregates=tuple(self.aggregates))

    def _add_key(self, node: exp.Expr) -> None:
        if is_aggregate(node):
            raise refusal("clause", what="GROUP BY an aggregate")
        value = self._moment(node, row_expr(node, self.names))
        if isinstance(value, e.Literal):
            return
        self.names.sizes.add(value)
        domain = infer(value, self.domains)
        if isinstance(domain, IdentifierDomain):
            raise refusal("identifier", what=node.sql())
        field = self.names.fields().get(value.name) if isinstance(value, e.ColumnRef) else None
        missing = field.missing if field else self._may_be_missing(value)
        self.keys.append(Key(f"key{len(self.keys)}", value, domain, missing))

    def _moment(self, node: exp.Expr, value: Expr) -> Expr:
        """Return a key; a timestamp by itself is its moment, and one that was cast to a date its day."""
        found = timed(value, self.domains) if isinstance(node.unnest(), exp.Column) else None
        return value if found is None else found.moment()

    def _may_be_missing(self, value: Expr) -> bool:
        fields = self.names.fields()
        return any(fields[name].missing for name in e.columns_of(value))

    def _named_output(self, index: int, node: exp.Expr) -> tuple[str, Expr]:
        if isinstance(node, exp.Star):
            raise refusal("star")
        inner = node.unalias()
        value = self._output(inner)  # refused, if at all, before it is spelled out as a name
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else "")
        name = name or inner.sql(dialect="duckdb").lower() or f"column{index + 1}"
        return name, value

    def _output(self, node: exp.Expr) -> Expr:
        """Return an expression over keys and aggregates."""
        if not is_aggregate(node):
            key = self._as_key(node)
            if key is not None:
                return key
        found = self._convert(node)
        self.sizes.add(found)
        found = coerce(found, self._shown())
        kind_of(found, kinds_of(self._shown()))
        return found

    def _having(self, node: exp.Expr) -> Expr:
        found = self._output(node)
        check_condition(found, kinds_of(self._shown()))
        return found

    def _shown(self) -> dict[str, Domain]:
        """Return the domains of keys and aggregates; most aggregates are numbers of any size."""
        found: dict[str, Domain] = {key.name: key.domain for key in self.keys}
        for name, aggregate in self.aggregates:
            found[name] = IntegerDomain(0, 0)
            if aggregate.function is Function.QUANTILE and aggregate.operand is not None:
                found[name] = infer(aggregate.operand, self.domains)
        return found

    def _convert(self, node: exp.Expr) -> Expr:
        return to_expr(node, Scope(self._bare_column, self._key_or_aggregate))

    def _key_or_aggregate(self, node: exp.Expr) -> Expr | None:
        filtered = isinstance(node, exp.Filter) and isinstance(node.this, PAIRED)
        paired = node.this if filtered else node
        if isinstance(paired, PAIRED):
            first, second = (row_expr(p, self.names) for p in (paired.this, paired.expression))
            if filtered:
                condition = row_expr(node.expression.this, self.names)
                first, second = where(condition, first), where(condition, second)
            return of_two(paired, first, second, self.domains, self._aggregate_ref)
        found = to_aggregate(node, self._operand)
        if found is not None:
            return self._aggregate_ref(found)
        if isinstance(node, exp.Column) or is_aggregate(node):
            return None
        return self._as_key(node)

    def _operand(self, node: exp.Expr) -> Expr:
        """Return what is aggregated; of a timestamp, COUNT(DISTINCT) counts moments and not days."""
        value = row_expr(node, self.names)
        if isinstance(node, exp.Column) and isinstance(node.parent, exp.Distinct):
            found = timed(value, self.domains)
            return value if found is None else found.seconds()
        return value

    def _as_key(self, node: exp.Expr) -> Expr | None:
        if not any(isinstance(part, exp.Column) for part in node.walk()):
            return None
        try:
            value = self._moment(node, row_expr(node, self.names))
        except Exception:  # noqa: BLE001  # the whole may not bind although its parts are keys
            return None
        for key in self.keys:
            if key.value == value:
                return e.ColumnRef(key.name)
        return None

    def _bare_column(self, column: exp.Column) -> Expr:
        try:
            value: Expr | None = self._moment(column, self.names.find(column))
        except Exception:
            if column.table or column.name.lower() not in self.aliases:
                raise
            value = None
        for key in self.keys:
            if key.value == value:
                return e.ColumnRef(key.name)
        aliased = self.aliases.get(column.name.lower())
        plain = column.table or aliased is None
        plain = plain or (value is not None and isinstance(aliased, exp.Column))
        if plain or column.name.lower() in self.opened:
            # An alias inside its own meaning is the column, which nobody aggregated.
            raise refusal("raw rows", what=column.name)
        self.opened.append(column.name.lower())
        try:
            return self._output(self.aliases[column.name.lower()])
        finally:
            self.opened.pop()

    def _aggregate_ref(self, found: Aggregate) -> e.ColumnRef:
        found = counting_truth(found, self.domains)
        self._check(found)
        for name, known in self.aggregates:
            if known == found:
                return e.ColumnRef(name)
        name = f"agg{len(self.aggregates)}"
        self.aggregates.append((name, found))
        self.sizes.known[name] = FORMULA
        if found.operand is not None:
            self.names.sizes.add(found.operand)
        return e.ColumnRef(name)

    def _check(self, aggregate: Aggregate) -> None:
        if aggregate.operand is None:
            return
        kind_of(aggregate.operand, kinds_of(self.domains))
        if aggregate.function in {Function.COUNT, Function.COUNT_DISTINCT}:
            infer(aggregate.operand, self.domains)
            return
        if aggregate.function is Function.QUANTILE:
            domain = infer(aggregate.operand, self.domains)
            if not hasattr(domain, "lower"):
                numeric(aggregate.operand, self.domains)
            return
        numeric(aggregate.operand, self.domains)

    def _order(self, node: exp.Expr, outputs: tuple[tuple[str, Expr], ...]) -> Order:
        inner = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(inner, exp.Literal) and not inner.is_string:
            place = place_of(inner)
            if not 0 <= place < len(outputs):
                raise refusal("order", what=f"column {str(inner.this)[:40]}")
            value = outputs[place][1]
        else:
            value = self._output(inner)
        return Order(value, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))

    def _whole(self, clause: str) -> int | None:
        node = self.select.args.get(clause)
        if node is None:
            return None
        value = node.expression
        if not isinstance(value, exp.Literal) or value.is_string or not str(value.this).isdigit():
            raise refusal("clause", what=f"{clause.upper()} with anything but a whole number")
        return int(value.this)


def counting_truth(aggregate: Aggregate, fields: Mapping[str, Domain]) -> Aggregate:
    """Return SUM and AVG of a truth value as those of 1 and 0."""
    operand = aggregate.operand
    if operand is None or aggregate.function not in {Function.SUM, Function.AVG}:
        return aggregate
    if kind_of(operand, kinds_of(fields)) != "boolean":
        return aggregate
    ones = ((operand, e.Literal(1)), (e.Not(operand), e.Literal(0)))
    return replace(aggregate, operand=e.Case(ones, e.Literal(None)))
