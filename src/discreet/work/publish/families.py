"""Families: tables over one grid of cells, whose sums must agree; public facts only.

It reads declared domains and public tables, never a private row. The finest pieces of a column are its
declared values, or the runs between the edges used; a level says to which class each piece belongs.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Comparison, Expr
from discreet.ask.plan.ir import Aggregate
from discreet.base.arrays import Bits, Integers
from discreet.base.numbers import plain
from discreet.base.schema import (
    CategoryDomain,
    Column,
    DateDomain,
    Domain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
)
from discreet.errors import InvalidInput
from discreet.work.publish.bound_tables import BoundCondition, BoundKey, BoundMeasure, BoundTable

MOST_LISTED = 20_000
"""Numbers and days with more values than this must be cut before they can be grouped by."""

MOST_CATEGORIES = 10_000_000
"""No list of categories is longer."""

_PIECEWISE = (e.Compare, e.And, e.Or, e.Not, e.IsNull, e.In, e.Case, e.Literal, e.ColumnRef)


@dataclass(frozen=True, slots=True, eq=False)
class FamilyAtoms:
    """The pieces of one column; `values` holds one value of each, the last one None for NULL.

    `starts` are the first positions of runs, None where every value is a piece of its own.
    """

    column: Column
    starts: tuple[int, ...] | None
    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        """Return how many pieces there are."""
        return len(self.values)

    @property
    def missing(self) -> bool:
        """Return whether the catalog says that values may be missing: then they are a group."""
        return self.column.missing

    def expression(self, column: Expr) -> Expr:
        """Return what the engine groups by: the column itself, or the number of its run."""
        if self.starts is None:
            return column
        bounds = [_value(self.column.domain, start) for start in self.starts[1:]]
        branches: list[tuple[Expr, Expr]] = [(e.IsNull(column), e.Literal(None))]
        branches += [
            (e.Compare(Comparison.LESS, column, e.Literal(bound)), e.Literal(number))
            for number, bound in enumerate(bounds)
        ]
        return e.Case(tuple(branches), e.Literal(len(bounds)))

    @property
    def read_domain(self) -> Domain:
        """Return the domain of what the engine groups by."""
        if self.starts is None:
            return self.column.domain
        return IntegerDomain(0, len(self.starts) - 1)


def atoms_of(column: Column, used: Iterable[Expr]) -> FamilyAtoms:
    """Return the pieces of a column that tell apart whatever `used` expressions tell apart."""
    column = column.by_day()
    domain = column.domain
    if isinstance(domain, IdentifierDomain | TextDomain):
        raise InvalidInput(
            f"Column '{column.name}' has no declared list of values, so its groups are not public.",
            hint="Declare its values in discreet.toml, or leave it out of the release.",
        )
    listed = MOST_CATEGORIES if isinstance(domain, CategoryDomain) else MOST_LISTED
    if domain.size <= listed:
        return FamilyAtoms(column, None, (*(_value(domain, i) for i in range(domain.size)), None))
    starts = _starts(column, domain, tuple(used))
    return FamilyAtoms(column, starts, (*(_value(domain, start) for start in starts), None))


def _starts(column: Column, domain: FiniteDomain, used: tuple[Expr, ...]) -> tuple[int, ...]:
    """Return the first positions of the runs on which every expression is constant."""
    starts = {0}
    for expression in used:
        nodes = list(e.walk(expression))
        bare = isinstance(expression, e.ColumnRef)
        if bare or not all(isinstance(node, _PIECEWISE) for node in nodes):
            raise InvalidInput(
                f"Column '{column.name}' has {domain.size:,} values: cut it into classes first.",
                hint=f'For example [cuts] class = {{ column = "{column.name}", edges = [...] }}.',
            )
        for node in nodes:
            written: tuple[Any, ...] = (node.value,) if isinstance(node, e.Literal) else ()
            written = node.values if isinstance(node, e.In) else written
            for value in written:
                starts |= _around(value, domain)
    return tuple(sorted(start for start in starts if 0 <= start < domain.size))


def _around(value: Any, domain: FiniteDomain) -> set[int]:
    """Return the positions at which a comparison with `value` can change."""
    match domain:
        case IntegerDomain() | NumberDomain() if isinstance(value, int | Fraction):
            step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
            place = (Fraction(value) - domain.lower) / step
            first = -(-place.numerator // place.denominator)
            return {first, first + 1}
        case DateDomain() if hasattr(value, "toordinal"):
            place = value.toordinal() - domain.lower.toordinal()
            return {place, place + 1}
        case _:
            return set()


def _value(domain: Domain, position: int) -> Any:
    return domain.value(position)  # type: ignore[union-attr]  # only finite domains come here


MISSING = "(missing)"
"""How a missing value is written where the catalog says that values may be missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The classes of a column: their labels, and the class of each piece, -1 where it has none."""

    labels: tuple[str, ...]
    codes: Integers


def level_of(atoms: FamilyAtoms, key: BoundKey) -> Level:
    """Return the classes that a key makes of a column's pieces, in the order of declared values."""
    found = _values(atoms, key)
    if key.value == e.ColumnRef(key.base) and atoms.missing:
        found[-1] = MISSING
    order: dict[Any, int] = {}
    if isinstance(key.value, e.ColumnRef) and key.value.name in key.attached:
        present = set(found)
        for value in key.attached[key.value.name].order:
            if value in present:
                order.setdefault(value, len(order))
    for value in found:
        if value is not None:
            order.setdefault(value, len(order))
    codes = np.array([-1 if value is None else order[value] for value in found], dtype=np.int64)
    return Level(tuple(map(text_of, order)), codes)


def mask_of(atoms: FamilyAtoms, condition: BoundCondition) -> Bits:
    """Return for which pieces a condition holds."""
    return np.array([value is True for value in _values(atoms, condition)], dtype=bool)


def _values(atoms: FamilyAtoms, part: BoundKey | BoundCondition) -> list[Any]:
    """Return the value of an expression for each piece."""
    value, base, attached = part.value, part.base, part.attached
    if value == e.ColumnRef(base):
        return list(atoms.values)
    if isinstance(value, e.ColumnRef):
        known = attached[value.name].values
        return [known.get(piece) for piece in atoms.values]
    used = [name for name in e.columns_of(value) if name in attached]
    found = []
    for piece in atoms.values:
        row = {name: attached[name].values.get(piece) for name in used}
        # A row without a partner in the public table is in no group at all.
        lost = any(partner is None for partner in row.values())
        found.append(None if lost else evaluate(value, {**row, base: piece}))
    return found


def text_of(value: Any) -> str:
    """Return a key as it is written in a published table.

    >>> text_of(True), text_of(Fraction(1, 2)), text_of("Kent")
    ('true', '0.5', 'Kent')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case Fraction():
            return plain(value)
        case dt.date():
            return value.isoformat()
        case _:
            return str(value)


MOST_CELLS = 400_000_000
"""A family whose finest common grouping is larger is refused: it would not fit into memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Dimension:
    """One column of a family: which leaf class each of its pieces belongs to, -1 for none."""

    base: str
    atoms: FamilyAtoms
    leaf: Integers
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class ShownKey:
    """A grouped column of a member: for each of its classes along one dimension, the label."""

    name: str
    dimension: int
    labels: tuple[str, ...]
    codes: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One measure of one table as sums of a family's leaf cells.

    `maps` has for each dimension the member's class of every leaf class, -1 where the member does
    not count it; `shape` how many classes there are. A cell of the member is one class of each
    dimension, and the sum of the leaf cells that map to it.
    """

    table: BoundTable
    measure: BoundMeasure
    maps: tuple[Integers, ...]
    shape: tuple[int, ...]
    keys: tuple[ShownKey, ...]

    @property
    def name(self) -> str:
        """Return the table's name, with the measure's where that is needed to tell."""
        several = len(self.table.measures) > 1
        return f"{self.table.name}.{self.measure.name}" if several else self.table.name

    @property
    def cells(self) -> int:
        """Return how many cells there are."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Members that are sums over the same leaf cells; tables to publish first, then exact facts."""

    dimensions: tuple[Dimension, ...]
    members: tuple[Member, ...]
    facts: tuple[Member, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the sizes of the leaf grid."""
        return tuple(dimension.size for dimension in self.dimensions)

    @property
    def cells(self) -> int:
        """Return how many leaf cells there are."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One measure of one table with the levels of its keys and the pieces that it counts."""

    table: BoundTable
    measure: BoundMeasure
    levels: tuple[Level, ...]
    box: Mapping[str, Bits]
    fact: bool

    @property
    def kind(self) -> tuple[str, str, Aggregate, tuple[Expr, ...]]:
        """Return what parts of one family have in common."""
        table = self.table
        return table.dataset.name, table.table.name, self.measure.aggregate, table.residual


def find_families(
    tables: Sequence[BoundTable], facts: Sequence[BoundTable] = ()
) -> tuple[Family, ...]:
    """Return the families of a release: of one measure, one WHERE or WHEREs that imply each other."""
    pieces = _pieces((*tables, *facts))
    parts = [_part(table, m, pieces, fact=False) for table in tables for m in table.measures]
    parts += [_part(table, m, pieces, fact=True) for table in facts for m in table.measures]
    return tuple(_family(group, pieces) for group in _groups(parts))


def _pieces(tables: Sequence[BoundTable]) -> dict[tuple[str, str], FamilyAtoms]:
    used: dict[tuple[str, str], list[Expr]] = {}
    where: dict[tuple[str, str], BoundTable] = {}
    for table in tables:
        for base, value in table.expressions():
            used.setdefault((table.table.name, base), []).append(value)
            where[table.table.name, base] = table
    return {
        place: atoms_of(where[place].table.column(place[1]), expressions)
        for place, expressions in used.items()
    }


def _part(
    table: BoundTable,
    measure: BoundMeasure,
    pieces: Mapping[tuple[str, str], FamilyAtoms],
    *,
    fact: bool,
) -> _Part:
    levels: list[Level] = []
    box: dict[str, Bits] = {}
    for key in table.keys:
        level = level_of(pieces[table.table.name, key.base], key)
        levels.append(level)
        box[key.base] = _and(box.get(key.base), _grouped(pieces[table.table.name, key.base], level))
    for condition in table.conditions:
        held = mask_of(pieces[table.table.name, condition.base], condition)
        box[condition.base] = _and(box.get(condition.base), held)
    for key, level in zip(table.keys, levels, strict=True):
        if any(condition.base == key.base for condition in table.conditions):
            # A condition that lets missing values pass makes no group for them.
            box[key.base] = _and(box.get(key.base), level.codes >= 0)
    for base, mask in box.items():
        if not mask.any():
            raise InvalidInput(
                f"Table '{table.name}' is empty: no declared value of '{base}' can be in it."
            )
    return _Part(table, measure, tuple(levels), box, fact)


def _grouped(atoms: FamilyAtoms, level: Level) -> Bits:
    """Return the pieces that a key has groups for.

    Where nobody is said to lack a value, grouping by a column leaves nobody out: two tables by
    different columns still add up to the same whole (`_dimension` drops who lacks one from both).
    """
    inside: Bits = level.codes >= 0
    if not atoms.missing and inside.any():
        inside[-1] = True
    return inside


def _and(one: Bits | None, two: Bits) -> Bits:
    return two if one is None else one & two


def _implies(one: _Part, other: _Part) -> bool:
    """Return whether whatever `one` counts, `other` counts as well."""
    for base, mask in other.box.items():
        mine = one.box.get(base)
        if (mine is None and not mask.all()) or (mine is not None and (mine & ~mask).any()):
            return False
    return True


def _groups(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return the parts by family: same kind, and linked by conditions that imply each other."""
    root = list(range(len(parts)))

    def find(i: int) -> int:
        while root[i] != i:
            i = root[i]
        return i

    for i, one in enumerate(parts):
        for j in range(i):
            other = parts[j]
            if one.kind == other.kind and (_implies(one, other) or _implies(other, one)):
                root[find(i)] = find(j)
    groups: dict[int, list[_Part]] = {}
    for i, part in enumerate(parts):
        groups.setdefault(find(i), []).append(part)
    return list(groups.values())


def _family(parts: Sequence[_Part], pieces: Mapping[tuple[str, str], FamilyAtoms]) -> Family:
    shown = [part for part in parts if not part.fact]
    if not shown:
        raise InvalidInput(
            f"The exact fact '{parts[0].table.name}' is about no table of the release.",
            hint="A fact has the measure, the table and the WHERE of some published table.",
        )
    finest = max(shown, key=lambda part: len(part.table.keys))
    bases = dict.fromkeys(
        base for part in (finest, *parts) for base in (*part.table.bases, *part.box)
    )
    source = parts[0].table.table.name
    dimensions = tuple(_dimension(base, parts, pieces[source, base]) for base in bases)
    cells = math.prod(dimension.size for dimension in dimensions)
    if cells > MOST_CELLS:
        names = ", ".join(dimension.base for dimension in dimensions)
        raise InvalidInput(
            f"The tables of '{finest.measure.name}' meet in {cells:,} cells ({names}), more than "
            f"{MOST_CELLS:,}.",
            hint="Publish fewer crossed columns together, or cut them more coarsely.",
        )
    members = [_member(part, dimensions) for part in parts]
    facts = tuple(m for m, part in zip(members, parts, strict=True) if part.fact)
    return Family(dimensions, tuple(m for m in members if m not in facts), facts)


def _dimension(base: str, parts: Sequence[_Part], atoms: FamilyAtoms) -> Dimension:
    """Return the classes of a column that no member tells apart any further."""
    columns, seen = [], np.zeros(atoms.size, dtype=bool)
    for part in parts:
        mask = part.box.get(base)
        seen |= True if mask is None else mask
        if mask is not None and not mask.all():
            columns.append(mask.astype(np.int64))
        for key, level in zip(part.table.keys, part.levels, strict=True):
            if key.base == base:
                columns.append(np.where(part.box[base], level.codes, -1))
    if not atoms.missing and any(_groups_by(part, base) for part in parts):
        # Nobody is said to lack a value here; whoever does is in no table, so that they add up.
        seen[-1] = False
    leaf = np.full(atoms.size, -1, dtype=np.int64)
    if not columns:
        leaf[seen] = 0
        return Dimension(base, atoms, leaf, 1)
    # Classes in the order in which the column's own values come.
    leaf[seen] = numbered_by_first_occurrence([column[seen] for column in columns])
    return Dimension(base, atoms, leaf, int(leaf.max()) + 1)


def numbered_by_first_occurrence(columns: Sequence[Integers]) -> Integers:
    """Return the classes that all columns together tell apart, numbered as they first occur."""
    table = np.stack(columns, axis=1)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _groups_by(part: _Part, base: str) -> bool:
    """Return whether a part groups by a column and says nothing about who lacks a value."""
    keyed = any(key.base == base for key in part.table.keys)
    return keyed and not any(condition.base == base for condition in part.table.conditions)


def _member(part: _Part, dimensions: Sequence[Dimension]) -> Member:
    maps, shape, keys = [], [], []
    for place, dimension in enumerate(dimensions):
        firsts = first_pieces(dimension)
        mask = part.box.get(dimension.base)
        held = np.ones(dimension.size, dtype=bool) if mask is None else mask[firsts]
        mine = [
            (key, level)
            for key, level in zip(part.table.keys, part.levels, strict=True)
            if key.base == dimension.base
        ]
        found = np.where(held, 0, -1)
        size = 1
        if mine:
            codes = np.stack([level.codes[firsts] for _, level in mine], axis=1)
            classes, inverse = np.unique(codes[held], axis=0, return_inverse=True)
            found[held] = inverse.reshape(-1)
            size = len(classes)
            keys += [
                ShownKey(key.name, place, level.labels, classes[:, i])
                for i, (key, level) in enumerate(mine)
            ]
        maps.append(found)
        shape.append(size)
    order = {key.name: i for i, key in enumerate(part.table.keys)}
    return Member(
        part.table,
        part.measure,
        tuple(maps),
        tuple(shape),
        tuple(sorted(keys, key=lambda key: order[key.name])),
    )


def first_pieces(dimension: Dimension) -> Integers:
    """Return one piece of each leaf class."""
    classes, first = np.unique(dimension.leaf, return_index=True)
    return first[classes >= 0]
