"""The relational tree: rows on the way to an aggregate, and the aggregates themselves.

Every relation says which of its columns names the unit (None: each row is a unit of its own). No
node lets one unit's rows depend on another unit's rows; that is what "keeps the unit" means.

Read off the tree: whether only the largest group is asked for, how many rows of a unit count as the planner expects
it (the kernel derives the bound anew from the final SQL, and prices by that), and a text that two forms of
the same question share, and no two different questions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import (
    TRUE,
    ColumnRef,
    Compare,
    Expr,
    In,
    IsNull,
    Like,
    Not,
    children,
    conjuncts,
)
from discreet.base.schema import Column, Dataset, Domain, Table
from discreet.errors import QueryRefused

CLOCK = ".time"
"""The id of a timestamp's day, with this behind it, is that of the second of the day."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The base column that a field passes on unchanged."""

    dataset: str
    table: str
    column: Column


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a relation: its declared or derived domain, and where it comes from.

    `name` is an opaque id that no other field of the statement has; nothing but ids is used to
    look a field up. What the analyst or the catalog calls it is `written`, for messages alone.
    """

    name: str
    domain: Domain
    origin: Origin | None = None
    missing: bool = False
    written: str = ""

    @property
    def called(self) -> str:
        """Return the name to tell people: as written, or that of the column it comes from."""
        return self.written or (self.origin.column.name if self.origin is not None else "it")


@dataclass(frozen=True, slots=True)
class Scan:
    """A table of the catalog, read once; each column mapped to its domain or to NULL.

    `asked` is how many rows of a person should count, where a question says so itself.
    """

    dataset: Dataset | None
    table: Table
    fields: tuple[Field, ...]
    unit: str | None
    asked: int | None = None

    def id_of(self, column: str) -> str:
        """Return the id of the field that passes on a column of the table."""
        return next(f.name for f in self.fields if f.origin and f.origin.column.name == column)

    @property
    def public(self) -> bool:
        """Return whether the table holds nobody's data."""
        return self.table.unit is None

    @property
    def max_rows(self) -> int | None:
        """Return how many rows of a unit count: as asked for, unless the owner bounds the table as a whole."""
        return self.asked if self.listens else self.table.max_rows

    @property
    def listens(self) -> bool:
        """Return whether the rows of a person are bounded by what a question asks for."""
        return self.asked is not None and self.unit is not None and not self.table.bounded


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows of `source` for which `condition` is true."""

    source: Relation
    condition: Expr


@dataclass(frozen=True, slots=True)
class Project:
    """New columns computed row by row; `unit` is carried along unseen."""

    source: Relation
    fields: tuple[Field, ...]
    values: tuple[Expr, ...]
    unit: str | None


class JoinKind(Enum):
    """Inner, or keeping the left side's rows."""

    INNER = "INNER"
    LEFT = "LEFT"


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows with equal keys. If both sides are private, the unit is always among the keys."""

    left: Relation
    right: Relation
    pairs: tuple[tuple[str, str], ...]
    kind: JoinKind
    unit: str | None
    copies: int | None


class Function(Enum):
    """Aggregates."""

    COUNT = "COUNT"
    COUNT_DISTINCT = "COUNT DISTINCT"
    SUM = "SUM"
    AVG = "AVG"
    VARIANCE = "VARIANCE"
    STDDEV = "STDDEV"
    QUANTILE = "QUANTILE"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate; `operand` None means COUNT(*). MIN and MAX are the quantiles 0 and 1."""

    function: Function
    operand: Expr | None = None
    quantile: Fraction | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row for each unit: aggregates over that unit's own rows, exact, seen by nobody.

    `most`: of so many rows of a unit at most; `cut`: the SQL must leave the others out before it aggregates.
    """

    source: Relation
    fields: tuple[Field, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    keys: tuple[tuple[str, Expr], ...]
    unit: str
    most: int
    cut: bool


Relation: TypeAlias = Scan | Filter | Project | Join | PerUnit


def fields_of(relation: Relation) -> tuple[Field, ...]:
    """Return the columns that may be named above `relation`."""
    match relation:
        case Filter(source=source):
            return fields_of(source)
        case Join(left=left, right=right):
            return (*fields_of(left), *fields_of(right))
        case _:
            return relation.fields


def unit_of(relation: Relation) -> str | None:
    """Return the name of the column that says whose row it is; None where each row is a unit."""
    match relation:
        case Filter(source=source):
            return unit_of(source)
        case _:
            return relation.unit


def unit_columns(relation: Relation) -> frozenset[str]:
    """Return the columns that hold the unit of their row, or NULL: joins on the unit make several."""
    match relation:
        case Filter(source=source):
            return unit_columns(source)
        case Project(source=source, fields=fields, values=values):
            below = unit_columns(source)
            named = zip(fields, values, strict=True)
            kept = {f.name for f, value in named if columns_if_bare(value) & below}
            return frozenset(kept) | _own(relation.unit)
        case Join(left=left, right=right, pairs=pairs):
            one, two = unit_columns(left), unit_columns(right)
            joined = any(a in one and b in two for a, b in pairs)
            return one | two if joined else one | _own(relation.unit)
        case _:
            return _own(relation.unit)


def columns_if_bare(value: Expr) -> frozenset[str]:
    """Return the column that `value` is, or nothing."""
    return frozenset((value.name,)) if isinstance(value, ColumnRef) else frozenset()


def present_columns(relation: Relation) -> frozenset[str]:
    """Return columns that are NULL in no row: declared complete, or asked for by WHERE or by a join."""
    match relation:
        case Filter(source=source, condition=condition):
            asked = (_present_where(part) for part in conjuncts(condition))
            return present_columns(source).union(*asked)
        case Project(source=source, fields=fields, values=values):
            below = present_columns(source)
            named = zip(fields, values, strict=True)
            return frozenset(f.name for f, value in named if columns_if_bare(value) & below)
        case Join(left=left, right=right, pairs=pairs, kind=JoinKind.INNER):
            both = present_columns(left) | present_columns(right)
            return both.union(*(frozenset(pair) for pair in pairs))
        case Join(left=left):
            return present_columns(left)
        case _:
            return frozenset()


def _present_where(condition: Expr) -> frozenset[str]:
    """Return the columns without which a condition is not true."""
    match condition:
        case Not(operand=IsNull(operand=operand)) | Like(operand=operand):
            return columns_if_bare(operand)
        case In(operand=operand, values=values) if None not in values:
            return columns_if_bare(operand)
        case Compare():
            return frozenset().union(*(columns_if_bare(side) for side in children(condition)))
        case _:
            return frozenset()


def _own(unit: str | None) -> frozenset[str]:
    return frozenset() if unit is None else frozenset((unit,))


def scans_of(relation: Relation) -> tuple[Scan, ...]:
    """Return all tables below `relation`."""
    match relation:
        case Scan():
            return (relation,)
        case Join(left=left, right=right):
            return (*scans_of(left), *scans_of(right))
        case _:
            return scans_of(relation.source)


def is_public(relation: Relation) -> bool:
    """Return whether `relation` holds nobody's data."""
    return all(scan.public for scan in scans_of(relation))


@dataclass(frozen=True, slots=True)
class Key:
    """One GROUP BY expression under its output name."""

    name: str
    value: Expr
    domain: Domain
    missing: bool


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY expression over keys and aggregates."""

    value: Expr
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A bound question: rows, keys, aggregates, and what is done with the noisy results.

    Output, having and order expressions name keys and aggregates as columns ("agg0", "key0").
    """

    source: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    outputs: tuple[tuple[str, Expr], ...]
    having: Expr = TRUE
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def max_rows(self) -> int | None:
        """Return the rows of a person that were asked for: with each table, so that no reader has another."""
        return next((scan.asked for scan in scans_of(self.source) if scan.asked is not None), None)


def is_top(statement: Statement) -> bool:
    """Return whether a statement only asks which group is the largest."""
    if len(statement.aggregates) != 1 or len(statement.order) != 1 or not statement.keys:
        return False
    ((name, aggregate),) = statement.aggregates
    shown = [value for _, value in statement.outputs]
    return (
        aggregate == Aggregate(Function.COUNT)
        and statement.order[0].value == e.ColumnRef(name)
        and statement.order[0].descending
        and (statement.limit, statement.offset) == (1, 0)
        and statement.having == e.TRUE
        and all(name not in e.columns_of(value) for value in shown)
    )


def without_order(statement: Statement) -> Statement:
    """Return the statement whose groups are the candidates."""
    return replace(statement, order=(), limit=None)


def bound_rows(source: Relation) -> int:
    """Return how many rows of one unit count at most: what was asked for, or the greatest bound declared below.

    Every reader of a person's rows goes by this: the whole statement, a subquery by person, a side of a join.
    """
    private = [scan for scan in scans_of(source) if not scan.public]
    for scan in private:
        if scan.listens and scan.asked is not None:
            return scan.asked
    bounds = [scan.max_rows for scan in private if scan.max_rows is not None]
    unbounded = [scan.table.name for scan in private if scan.max_rows is None]
    if unbounded:
        raise QueryRefused(
            f"One person can have any number of rows in '{unbounded[0]}', so nothing bounds their "
            "influence.",
            hint="Set max_rows for the table in discreet.toml: at most that many rows of a person "
            "count.",
            construct="max_rows",
        )
    return max(bounds)


def structural_rows(relation: Relation) -> int | None:
    """Return the bound that the shape of the tree itself gives; None where there is none."""
    match relation:
        case Scan(table=table):
            if table.unit is None or table.unit.is_row:
                return 1
            return table.max_rows if table.bounded else None
        case Filter(source=source) | Project(source=source):
            return structural_rows(source)
        case Join(left=left, copies=copies):
            below = structural_rows(left)
            return None if below is None or copies is None else below * copies
        case PerUnit(keys=keys, most=most, cut=cut):
            if keys:
                return most if cut else None
            return 1


def rows_to_keep(relation: Relation, *, single: bool, units_only: bool) -> tuple[int, bool]:
    """Return how many rows of a unit count at most, and whether the SQL must still cut them."""
    known = structural_rows(relation)
    if known is not None:
        return known, False
    assert unit_of(relation) is not None, "only person units lack a structural bound"
    if units_only and single:
        # Counting each person once needs no bound on their rows.
        return 1, False
    return bound_rows(relation), True


def signature(statement: Statement) -> str:
    """Return a short name of what a statement measures: of which rows, by which keys.

    What is done with the noisy numbers (aliases, order, HAVING, LIMIT, arithmetic) is not part of it;
    whether only the largest group is asked for is, since that is another mechanism.
    """
    said = [
        _relation(statement.source),
        repr(sorted(repr((key.value, key.domain, key.missing)) for key in statement.keys)),
        repr(sorted({repr(aggregate) for _, aggregate in statement.aggregates})),
        repr(is_top(statement)),
        repr(statement.max_rows),
    ]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:32]


def _relation(relation: Relation) -> str:
    match relation:
        case Scan(dataset=dataset, table=table, fields=fields, max_rows=max_rows):
            columns = [(c.name, c.fingerprint) for c in table.columns]
            where = dataset.name if dataset is not None else ""
            # Over another path the same rows are other people's.
            whose = "" if table.path is None else f" {table.path!r}"
            read = f"{_ids(fields)} {columns} {max_rows} {table.bounded}{whose}"
            return f"scan {where}.{table.name} {read}"
        case Filter(source=source, condition=condition):
            return f"{_relation(source)}\nfilter {condition!r}"
        case Project(source=source, fields=fields, values=values):
            return f"{_relation(source)}\nproject {_ids(fields)} {values!r}"
        case Join(left=left, right=right, pairs=pairs, kind=kind, copies=copies):
            sides = f"{_relation(left)}\nwith {_relation(right)}"
            return f"{sides}\njoin {pairs!r} {kind.value} {copies}"
        case PerUnit(source=source, fields=fields, aggregates=aggregates, keys=keys):
            cut = f" of {relation.most} rows" if relation.cut else ""
            return f"{_relation(source)}\nper unit {_ids(fields)} {aggregates!r} {keys!r}{cut}"


def _ids(fields: tuple[Field, ...]) -> list[str]:
    """Return the ids alone: they are counted in the order of binding, whatever people wrote."""
    return [field.name for field in fields]
