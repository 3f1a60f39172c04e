"""Contribution bounds: how many rows of one unit reach the result, derived bottom-up from the SQL.

Each step of the derivation takes what holds of the relations below and says what holds above. A unit
is one row of the one private scan, or the column `u` of canonical relations. No step lets a row of one
unit depend on a row of another: that is all the grammar allows, and what does not fit is `Unfit`.

Where a unit must sit for a condition to hold is read off the SQL itself, never from a plan.

Guarantee: `positions_of` returns a superset of the positions of one column at which the condition can
    be true. What it does not understand restricts nothing, nor does IS NOT NULL: a statement may leave out rows that
    add nothing to it, and is still about everyone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from discreet.base.event import NULL, Positions
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.privacy.kernel.functions import Value, ValueKind
from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Derived,
    Fold,
    Joined,
    Name,
    SelectNode,
    Source,
    StoredScan,
    Term,
    Unfit,
    Window,
    conjuncts,
    walk,
)
from discreet.privacy.kernel.scalars import condition, value_of

_TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def positions_of(term: Term, column: Name, domain: FiniteDomain) -> Positions:
    """Return every position of `column` at which `term` can be true."""
    everything = Positions.whole(domain.size)
    match _as_text(term, column, domain):
        case Constant(value=False) | Constant(value=None):
            return Positions(())
        case Name() if term == column and isinstance(domain, BooleanDomain):
            return Positions.points([1])
        case Apply(name="and", operands=operands):
            for operand in operands:
                everything &= positions_of(operand, column, domain)
            return everything
        case Apply(name="or", operands=operands):
            return Positions.of(
                span for part in operands for span in positions_of(part, column, domain).spans
            )
        case Apply(name=name, operands=(inner, *others)) if inner == column:
            return _tested(name, others, domain)
        case Apply(name=name, operands=(Constant() as bound, inner)) if inner == column:
            return _compared(_TURNED.get(name, ""), bound, domain)
        case _:
            return everything


def _as_text(term: Term, column: Name, domain: FiniteDomain) -> Term:
    """Return a test of a stored category's text as the same test of the category."""
    if not isinstance(domain, CategoryDomain) or not isinstance(term, Apply):
        return term
    plain = tuple(
        column if operand == Apply("cast varchar", (column,)) else operand
        for operand in term.operands
    )
    return Apply(term.name, plain)


def _tested(name: str, others: list[Term], domain: FiniteDomain) -> Positions:
    """Return where a test of the column itself holds."""
    match name, others:
        case "not", [] if isinstance(domain, BooleanDomain):
            return Positions.points([0])
        case "is null", []:
            return Positions.points([NULL])
        case "in", _:
            return _listed(others, domain)
        case _, [Constant() as bound]:
            return _compared(name, bound, domain)
        case _:
            return Positions.whole(domain.size)


def _listed(options: list[Term], domain: FiniteDomain) -> Positions:
    spans: list[tuple[int, int]] = []
    for option in options:
        if not isinstance(option, Constant):
            return Positions.whole(domain.size)
        spans += _compared("=", option, domain).spans
    return Positions.of(spans)


def _compared(name: str, bound: Constant, domain: FiniteDomain) -> Positions:
    """Return where `column name bound` holds; NULL never does."""
    everything = Positions.whole(domain.size)
    place = _place(bound, domain)
    if place is None or name not in _TURNED:
        return everything
    if isinstance(domain, CategoryDomain) and name not in {"=", "<>"}:
        return everything  # engines order texts by their letters, not by their place in the list
    first, after = place  # the first position not below the bound, and the first one above it
    spans = {
        "=": [(first, after - 1)],
        "<>": [(0, first - 1), (after, domain.size - 1)],
        "<": [(0, first - 1)],
        "<=": [(0, after - 1)],
        ">": [(after, domain.size - 1)],
        ">=": [(first, domain.size - 1)],
    }
    inside = Positions.of([(0, domain.size - 1)])
    return Positions.of(spans[name]) & inside


def _place(bound: Constant, domain: FiniteDomain) -> tuple[int, int] | None:
    value = bound.value
    match domain:
        case IntegerDomain(lower=lower) if type(value) is int and not bound.kind:
            return value - lower, value - lower + 1
        case NumberDomain(lower=lower, step=step) if type(value) is int and not bound.kind:
            # Canonical numbers are whole numbers of steps.
            at = value - int(lower / step)
            return at, at + 1
        case DateDomain(lower=first) if bound.kind == "date" and isinstance(value, str):
            at = (dt.date.fromisoformat(value) - first).days
            return at, at + 1
        case CategoryDomain() if isinstance(value, str) and not bound.kind:
            found = domain.position(value)
            # An undeclared text equals no value; where it would sort says nothing here.
            return None if found is None else (found, found + 1)
        case BooleanDomain() if isinstance(value, bool):
            return int(value), int(value) + 1
        case _:
            return None


_PLAIN = re.compile("[a-z][a-z0-9_]*", re.ASCII)

Base: TypeAlias = tuple[str, int]
"""A declared column: the engine's name of its table, and its place in the declaration."""


@dataclass(frozen=True, slots=True)
class BilledAxis:
    """A column that may split the bill: constant for a unit, and passed on unchanged."""

    base: Base
    domain: FiniteDomain


@dataclass(frozen=True, slots=True)
class Rows:
    """What holds of a relation's rows.

    `private`: the private tables below, one entry for each scan. `units`: the columns that name the
    person, all equal; none where each row is a unit. `rows`: how many rows of one unit there are at most, None
    where nothing bounds them. `rank`: columns that, with the unit, tell its rows apart. `region`:
    where units with rows here must sit. `axes`: columns that still show where their unit sits.
    `numbers`: columns of which at most m are m or less among the rows of one partition, for every m.
    `copies`: for a public relation, how many rows share the values of some columns at most.
    """

    values: Mapping[Name, Value]
    private: tuple[str, ...] = ()
    units: frozenset[Name] = frozenset()
    rows: int | None = 1
    rank: frozenset[Name] | None = None
    region: Mapping[Base, Positions] = field(default_factory=dict)
    axes: Mapping[Name, BilledAxis] = field(default_factory=dict)
    numbers: Mapping[Name, frozenset[Term]] = field(default_factory=dict)
    copies: tuple[frozenset[Name], int] | None = None


class Scans(Protocol):
    """Knows the canonical relations, from the catalog."""

    def stored(self, source: StoredScan) -> Rows:
        """Return what holds of a canonical relation that the engine keeps."""
        ...

    def view(self, source: Derived) -> Rows | None:
        """Return what holds of a canonical view, None where the subquery is not exactly that."""
        ...


def rows_of(source: Source, scans: Scans) -> Rows:
    """Return what holds of the rows of a FROM clause."""
    match source:
        case StoredScan(alias=alias):
            check_name(alias)
            return scans.stored(source)
        case Derived(select=select, alias=alias):
            check_name(alias)
            known = scans.view(source)
            return _block(select, alias, scans) if known is None else known
        case Joined():
            return _joined(source, scans)


def check_name(name: str) -> None:
    """Refuse a name that an engine might take for another one.

    Engines fold the case of names, so "a" and "A" are one column to them and two here; DuckDB reads
    `alias.x` as the output x of the same SELECT.
    """
    if _PLAIN.fullmatch(name) is None or name == "alias":
        raise Unfit("a name that an engine could read as another")


def filtered(select: SelectNode, scans: Scans) -> Rows:
    """Return what holds of the rows of FROM that pass WHERE."""
    below = rows_of(select.source, scans)
    tests = conjuncts(select.where)
    for test in tests:
        condition(test, below.values)
    region = dict(below.region)
    for name, axis in below.axes.items():
        everywhere = Positions.whole(axis.domain.size)
        for test in tests:
            found = positions_of(test, name, axis.domain) if name in walk(test) else everywhere
            if found != everywhere:
                region[axis.base] = region.get(axis.base, everywhere) & found
    rows, copies = below.rows, below.copies
    for test in tests:
        numbered = _numbered(test, below)
        if numbered is None:
            continue
        partition, most = numbered
        if below.private and partition and partition <= below.units:
            rows = most if rows is None else min(rows, most)
        elif not below.private and all(isinstance(term, Name) for term in partition):
            copies = (frozenset(t for t in partition if isinstance(t, Name)), most)
    return replace(below, region=region, rows=rows, copies=copies)


def _numbered(test: Term, below: Rows) -> tuple[frozenset[Term], int] | None:
    """Return what `number <= most` bounds: the partition, and to how many rows."""
    match test:
        case Apply(name="<=", operands=(Name() as name, Constant(value=int(most), kind=""))):
            if name in below.numbers and type(most) is int and most >= 1:
                return below.numbers[name], most
    return None


def _block(select: SelectNode, alias: str, scans: Scans) -> Rows:
    """Return what holds of a subquery: a projection, or one row for each unit and key."""
    below = filtered(select, scans)
    names = [name for name, _ in select.outputs]
    if len(set(names)) != len(names):
        raise Unfit("two outputs of one name")
    for name in names:
        check_name(name)
    if select.group:
        return _per_unit(select, alias, below)
    return _projected(select, alias, below)


def _projected(select: SelectNode, alias: str, below: Rows) -> Rows:
    values: dict[Name, Value] = {}
    numbers: dict[Name, frozenset[Term]] = {}
    passed: dict[Name, Name] = {}
    units = set()
    for output, term in select.outputs:
        name = Name(alias, output)
        if isinstance(term, Window):
            values[name] = _window(term, below)
            others = [other for _, other in select.outputs if other is not term]
            if term.name == "row_number":
                if not _total(term, below, others):
                    raise Unfit("rows numbered in an order that leaves ties")
                numbers[name] = frozenset(term.partition)
            continue
        values[name] = value_of(term, below.values)
        if isinstance(term, Name):
            passed.setdefault(term, name)
            if term in below.units:
                units.add(name)
            if term in below.numbers:
                numbers[name] = below.numbers[term]
    # Once, and only now: an inner and an outer column may carry the same name. For the same reason a
    # number is worth nothing where a column of its partition is not passed on.
    numbers = {
        name: frozenset(passed[term] for term in partition if isinstance(term, Name))
        for name, partition in numbers.items()
        if partition <= passed.keys()
    }
    return _above(replace(below, numbers=numbers), values, passed, frozenset(units))


def _above(
    below: Rows,
    values: Mapping[Name, Value],
    passed: Mapping[Name, Name],
    units: frozenset[Name],
) -> Rows:
    """Return what still holds when only some columns are passed on; `units` are those of the unit."""
    if below.units and not units:
        raise Unfit("a subquery that loses the unit")
    rank, copies = below.rank, below.copies
    if rank is not None:
        rank = frozenset(passed[n] for n in rank) if rank <= passed.keys() else None
    if copies is not None:
        keys, most = copies
        copies = (frozenset(passed[n] for n in keys), most) if keys <= passed.keys() else None
    return replace(
        below,
        values=values,
        units=units,
        rank=rank,
        axes={passed[name]: axis for name, axis in below.axes.items() if name in passed},
        copies=copies,
    )


def _window(term: Window, below: Rows) -> Value:
    """Return the value of a window that stays within one unit (or within a public table)."""
    if below.private and not below.units.intersection(term.partition):
        raise Unfit("a window over the rows of several units")
    for part in (*term.partition, *term.order):
        value_of(part, below.values)
    if term.name == "row_number":
        return Value(ValueKind.INTEGER, 1, 2**62)  # 32 bits on some engines
    if term.name not in {"min", "max", "bool_and", "bool_or"} or term.operand is None or term.order:
        raise Unfit(f"the window {term.name}")
    found = value_of(term.operand, below.values)
    if term.name in {"bool_and", "bool_or"} and found.kind is not ValueKind.BOOLEAN:
        raise Unfit("AND or OR of something that is no truth value")
    return found


def _total(term: Window, below: Rows, others: list[Term]) -> bool:
    """Return whether rows that the order leaves tied are the same in all that is passed on.

    Then it does not matter which of them is first, and neither other units' rows nor the physical
    order can decide what is kept.
    """
    settled = {*term.order, *term.partition}
    if below.rank is not None and below.rank <= settled:
        return True
    return all(other in settled or isinstance(other, Constant) for other in others)


def _per_unit(select: SelectNode, alias: str, below: Rows) -> Rows:
    """Return what holds of GROUP BY the unit, and perhaps further keys of its own rows."""
    if not below.units.intersection(select.group):
        raise Unfit("groups that mix the rows of several units")
    keys = set(select.group)
    for key in keys:
        value_of(key, below.values)
    values: dict[Name, Value] = {}
    passed: dict[Name, Name] = {}
    units: set[Name] = set()
    rank: set[Name] = set()
    for output, term in select.outputs:
        name = Name(alias, output)
        if term in keys:
            values[name] = value_of(term, below.values)
            (units if term in below.units else rank).add(name)
            if isinstance(term, Name):
                passed.setdefault(term, name)
        else:
            values[name] = _own_aggregate(term, below)
    shown = {term for _, term in select.outputs}
    found = _above(replace(below, numbers={}), values, passed, frozenset(units))
    alone = keys <= below.units
    return replace(
        found,
        rows=1 if alone else below.rows,
        rank=frozenset(rank) if keys <= shown else None,
        copies=None,
    )


def _own_aggregate(term: Term, below: Rows) -> Value:
    """Return the value of an aggregate over one unit's own rows; sums may be of any size."""
    decimal = False
    match term:
        # Only a whole number of rows or of a sum fits for certain.
        case Apply(
            name="cast decimal(38, 0)", operands=(Fold(name="count" | "sum") as inner_fold,)
        ):
            term, decimal = inner_fold, True
    if not isinstance(term, Fold):
        raise Unfit("neither a key nor an aggregate")
    if term.operand is None:
        return Value(ValueKind.INTEGER, narrow=decimal)
    inner = value_of(term.operand, below.values)
    match term.name:
        case "count":
            return Value(ValueKind.INTEGER, narrow=decimal)
        case "sum" if inner.kind in {ValueKind.INTEGER, ValueKind.NOTHING} and inner.wide:
            # Some engines add whole numbers up to a decimal one, of which nothing is computed uncast.
            return Value(ValueKind.INTEGER, narrow=True)
        case "min" | "max":
            return inner
        case "bool_and" | "bool_or" if inner.kind is ValueKind.BOOLEAN:
            return inner
        case _:
            raise Unfit(f"the aggregate {term.name}")


def _joined(join: Joined, scans: Scans) -> Rows:
    first, second = rows_of(join.first, scans), rows_of(join.second, scans)
    values = {**first.values, **second.values}
    if len(values) != len(first.values) + len(second.values):
        raise Unfit("two relations of one name")
    tests = conjuncts(join.on)
    for test in tests:
        condition(test, values)
    if second.private:
        return _units_joined(first, second, tests, values, left=join.left)
    return _public_joined(first, second, tests, values)


def _units_joined(
    first: Rows, second: Rows, tests: tuple[Term, ...], values: Mapping[Name, Value], *, left: bool
) -> Rows:
    """Return what holds of two private relations: a row pairs rows of one unit only."""
    if not first.units or not second.units:
        raise Unfit("private rows joined without a person")
    if not any(_pairs_units(test, first, second) for test in tests):
        raise Unfit("rows of different units in one pair")
    if first.rows is None or second.rows is None:
        raise Unfit("private tables that meet before each is bounded")
    known = first.rank is not None and second.rank is not None
    region, axes = dict(first.region), dict(first.axes)
    if not left:
        for base, positions in second.region.items():
            region[base] = region[base] & positions if base in region else positions
        axes.update(second.axes)
    return Rows(
        values=values,
        private=(*first.private, *second.private),
        units=first.units,
        rows=first.rows * second.rows,
        rank=(first.rank or frozenset()) | (second.rank or frozenset()) if known else None,
        region=region,
        axes=axes,
    )


def _pairs_units(test: Term, first: Rows, second: Rows) -> bool:
    if not isinstance(test, Apply) or test.name != "=":
        return False
    one, two = test.operands
    return (one in first.units and two in second.units) or (
        one in second.units and two in first.units
    )


def _public_joined(
    first: Rows, second: Rows, tests: tuple[Term, ...], values: Mapping[Name, Value]
) -> Rows:
    """Return what holds of rows joined to a public relation: each becomes at most some copies."""
    copies, rank = None, None
    if second.copies is not None:
        keys, most = second.copies
        if keys <= _equated(tests, second):
            copies = most
            rank = first.rank if most == 1 else None
    rows = None
    if first.private and first.rows is not None and copies is not None:
        rows = first.rows * copies
    return replace(first, values=values, rows=rows, rank=rank, numbers={}, copies=None)


def _equated(tests: tuple[Term, ...], second: Rows) -> set[Name]:
    """Return the columns of `second` that ON sets equal to something of the other side."""
    found = set()
    for test in tests:
        if isinstance(test, Apply) and test.name == "=":
            one, two = test.operands
            for mine, other in ((one, two), (two, one)):
                outside = not any(part in second.values for part in walk(other))
                if isinstance(mine, Name) and mine in second.values and outside:
                    found.add(mine)
    return found
