"""A SELECT of the release as groupings of base columns: keys, conditions and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.schema import Column, Dataset, Table
from discreet.errors import InvalidInput
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.ir import (
    CLOCK,
    Aggregate,
    Filter,
    Function,
    Join,
    JoinKind,
    Relation,
    Scan,
    Statement,
)

ReadPublicRows = Callable[[Scan], Mapping[str, Sequence[Any]]]
"""The rows of a public table: by column, one value each."""


OWN_COLUMNS = frozenset({"value", "scale"})
"""What files of measurements and facts say beside the keys."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A public column: for each value of a private base column, the value that belongs to it."""

    base: str
    values: Mapping[Any, Any]
    order: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundKey:
    """One grouped column under its published name: a function of one base column."""

    name: str
    base: str
    value: Expr
    attached: Mapping[str, Attached]


@dataclass(frozen=True, slots=True)
class BoundMeasure:
    """One published number: COUNT(*), COUNT(x) or SUM(x) over base columns."""

    name: str
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """A conjunct of WHERE over one base column."""

    base: str
    value: Expr
    attached: Mapping[str, Attached]


@dataclass(frozen=True, slots=True, eq=False)
class BoundTable:
    """A table of the release, bound to one private table.

    `residual`: conjuncts over several columns; they are kept as they are, and tables that differ in
    them are never of one family.
    """

    name: str
    sql: str
    dataset: Dataset
    table: Table
    keys: tuple[BoundKey, ...]
    measures: tuple[BoundMeasure, ...]
    conditions: tuple[BoundCondition, ...]
    residual: tuple[Expr, ...]

    @property
    def bases(self) -> tuple[str, ...]:
        """Return the base columns that keys and conditions use, in order."""
        used = [key.base for key in self.keys] + [c.base for c in self.conditions]
        return tuple(dict.fromkeys(used))

    def expressions(self) -> Iterable[tuple[str, Expr]]:
        """Yield each base column with what is computed of it."""
        for key in self.keys:
            yield key.base, key.value
        for condition in self.conditions:
            yield condition.base, condition.value


def bound_table(name: str, sql: str, statement: Statement, public: ReadPublicRows) -> BoundTable:
    """Return one SELECT of a release, or say why it cannot be published."""
    scan, filters, attached = _unfold(name, statement.source, public)
    own = {f.name: f.origin.column for f in scan.fields if f.origin is not None}
    clocks = clock_names(scan)
    names = {identity: e.ColumnRef(column.name) for identity, column in own.items()}
    names |= {identity: e.ColumnRef(written) for identity, written in clocks.items()}
    reader = _Reader(own, attached, clocks)
    if statement.having != e.TRUE or statement.order or statement.limit is not None:
        raise InvalidInput(
            f"Table '{name}': HAVING, ORDER BY and LIMIT have no place in a release.",
            hint="Every public key appears, in the order of its declared values.",
        )
    assert scan.dataset is not None, "every table belongs to a dataset"
    keys, measures = _outputs(name, statement, reader, names)
    conditions, residual = [], []
    for part in (part for each in filters for part in e.conjuncts(each)):
        bases = reader.bases(part)
        if len(bases) == 1 and not reader.times(part):
            conditions.append(BoundCondition(bases[0], e.substitute(part, names), attached))
        elif any(column in attached for column in e.columns_of(part)):
            raise InvalidInput(
                f"Table '{name}': a condition mixes a public column with others.",
                hint="Join conditions with AND, each over one column.",
            )
        else:
            residual.append(e.substitute(part, names))
    return BoundTable(
        name=name,
        sql=sql,
        dataset=scan.dataset,
        table=scan.table,
        keys=keys,
        measures=measures,
        conditions=tuple(conditions),
        residual=tuple(sorted(residual, key=repr)),
    )


def clock_names(scan: Scan) -> dict[str, str]:
    """Return the seconds of the day beside timestamps, under the names of their columns."""
    own = {f.name: f.origin.column.name for f in scan.fields if f.origin is not None}
    clocks = (f.name for f in scan.fields if f.name.endswith(CLOCK))
    return {name: f"{own[name.removesuffix(CLOCK)]}{CLOCK}" for name in clocks}


def _unfold(
    name: str, source: Relation, public: ReadPublicRows
) -> tuple[Scan, list[Expr], dict[str, Attached]]:
    """Return the private table, the conditions and the public columns attached to it."""
    match source:
        case Scan() if not source.public:
            return source, [], {}
        case Filter(source=below, condition=condition):
            scan, filters, attached = _unfold(name, below, public)
            return scan, [*filters, condition], attached
        case Join(left=left, right=right, pairs=((one, two),), kind=JoinKind.INNER):
            if isinstance(right, Scan) and right.public:
                scan, filters, attached = _unfold(name, left, public)
                found = _attach(name, scan, attached, (one, two), right, public(right))
                return scan, filters, {**attached, **found}
    raise InvalidInput(
        f"Table '{name}' must read one private table, joined to public ones on one column each.",
        hint="Write SELECT keys, COUNT(*) AS n FROM private p JOIN public q ON p.x = q.x GROUP BY.",
    )


def _attach(  # noqa: PLR0917 a step of `_unfold`
    name: str,
    scan: Scan,
    attached: Mapping[str, Attached],
    pair: tuple[str, str],
    right: Scan,
    rows: Mapping[str, Sequence[Any]],
) -> dict[str, Attached]:
    """Return the columns of a public table as functions of a private base column."""
    one, two = pair
    columns = {f.name: f.origin.column.name for f in right.fields if f.origin is not None}
    domains = {f.name: f.domain for f in right.fields}
    if one in attached:
        base, steps = attached[one].base, attached[one].values
    else:
        base = next(f.origin.column.name for f in scan.fields if f.name == one and f.origin)
        column = scan.table.column(base).by_day()
        size = getattr(column.domain, "size", None)
        if size is None:
            raise InvalidInput(f"Table '{name}': '{base}' has no declared values to join on.")
        steps = {column.domain.value(i): column.domain.value(i) for i in range(size)}  # type: ignore[union-attr]
    places: dict[Any, int] = {}
    for number, value in enumerate(rows[columns[two]]):
        if value is not None and places.setdefault(value, number) != number:
            raise InvalidInput(
                f"'{value}' stands twice in column '{columns[two]}' of the public table "
                f"'{right.table.name}', so a row would count twice.",
            )
    found = {}
    for identity, written in columns.items():
        values = {}
        for start, via in steps.items():
            place = places.get(via) if via is not None else None
            value = rows[written][place] if place is not None else None
            if value is None:
                raise InvalidInput(
                    f"'{via}' of column '{base}' has no {written} in the public table "
                    f"'{right.table.name}': the hierarchy has an orphan.",
                    hint="Add it to the public table; every declared value needs its place.",
                )
            values[start] = value
        found[identity] = Attached(base, values, _order(domains[identity]))
    return found


def _order(domain: Any) -> tuple[Any, ...]:
    size = getattr(domain, "size", None)
    return () if size is None else tuple(domain.value(i) for i in range(size))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Says which base columns an expression is a function of."""

    own: Mapping[str, Column]
    attached: Mapping[str, Attached]
    clocks: Mapping[str, str]

    def bases(self, value: Expr) -> tuple[str, ...]:
        found = [self._base(name) for name in sorted(e.columns_of(value))]
        return tuple(dict.fromkeys(found))

    def _base(self, name: str) -> str:
        if name in self.attached:
            return self.attached[name].base
        return self.clocks[name] if name in self.clocks else self.own[name].name

    def times(self, value: Expr) -> bool:
        """Return whether an expression reads a time of day: no dimension of a release."""
        return any(name in self.clocks for name in e.columns_of(value))


def _outputs(
    name: str, statement: Statement, reader: _Reader, names: Mapping[str, Expr]
) -> tuple[tuple[BoundKey, ...], tuple[BoundMeasure, ...]]:
    by_key = {key.name: key.value for key in statement.keys}
    by_aggregate = dict(statement.aggregates)
    keys, measures = [], []
    for output, value in statement.outputs:
        inner = value.name if isinstance(value, e.ColumnRef) else ""
        if inner in by_key:
            bases = reader.bases(by_key[inner])
            if reader.times(by_key[inner]):
                raise InvalidInput(
                    f"Table '{name}': '{output}' is a time of day, which no release groups by.",
                    hint="Group by the day, or declare a column that holds the hour.",
                )
            if len(bases) != 1:
                raise InvalidInput(f"Table '{name}': '{output}' is made of several columns.")
            written = e.substitute(by_key[inner], names)
            keys.append(BoundKey(output, bases[0], written, reader.attached))
        elif inner in by_aggregate:
            measures.append(_measure(name, output, by_aggregate[inner], reader, names))
        else:
            raise InvalidInput(
                f"Table '{name}': '{output}' is neither a grouped column nor COUNT or SUM.",
                hint="Arithmetic on published numbers is left to their readers.",
            )
    _check_outputs(name, statement, len(keys), [k.name for k in keys] + [m.name for m in measures])
    if not measures:
        raise InvalidInput(f"Table '{name}' has no COUNT(*) and no SUM.")
    return tuple(keys), tuple(measures)


def _check_outputs(name: str, statement: Statement, keys: int, names: Sequence[str]) -> None:
    if keys != len(statement.keys):
        raise InvalidInput(f"Table '{name}': every column in GROUP BY must be selected, once.")
    suffixed = [f"{each}{end}".lower() for each in names for end in ("", "_low", "_high")]
    if len(set(suffixed)) != len(suffixed):
        raise InvalidInput(f"Table '{name}' has two columns of one name.")


def check_column_names(tables: Iterable[BoundTable]) -> None:
    """Refuse names of published columns that a package cannot keep apart, or nobody could see."""
    for table in tables:
        for name in (*(key.name for key in table.keys), *(each.name for each in table.measures)):
            if not name.isprintable():
                raise InvalidInput(
                    f"Table '{table.name}': the name {name!a} has letters that are not shown.",
                    hint="Select it under another name: SELECT x AS name.",
                )
        for key in table.keys:
            if key.name.lower() in OWN_COLUMNS:
                raise InvalidInput(
                    f"Table '{table.name}' groups by '{key.name}', which is the name of a column that "
                    "every file of measurements has.",
                    hint="Select it under another name: SELECT x AS name.",
                )


def _measure(
    name: str, output: str, aggregate: Aggregate, reader: _Reader, names: Mapping[str, Expr]
) -> BoundMeasure:
    if aggregate.distinct or aggregate.function not in {Function.COUNT, Function.SUM}:
        raise InvalidInput(
            f"Table '{name}': '{output}' is {aggregate.function.value}; a release adds up COUNT and "
            "SUM only.",
            hint="Publish SUM and COUNT: readers divide them.",
        )
    operand = aggregate.operand
    if operand is not None:
        if any(column in reader.attached for column in e.columns_of(operand)):
            raise InvalidInput(f"Table '{name}': '{output}' adds up a public column.")
        operand = e.substitute(operand, names)
    return BoundMeasure(output, Aggregate(aggregate.function, operand))
