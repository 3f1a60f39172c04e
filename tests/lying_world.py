"""Small canonical databases, and the judge of what the kernel lets through.

What is accepted runs on a database and on its neighbours; how far they are apart is compared with what
the noise was made for. A statement that fails on some rows only is a violation as well.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np

from discreet.base.schema import (
    CategoryDomain,
    Column,
    Dataset,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.privacy.kernel.canonical import CatalogScans, Declared
from discreet.privacy.kernel.look import rank_utilities
from discreet.privacy.kernel.mechanism import Mechanisms, Selection
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.read_duckdb import read_duckdb
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from discreet.privacy.kernel.seal import Draft, Read, admit, exact_of, sealed
from duckdb_kit import room

# Declared in an order that is not that of the letters.
_XY = CategoryDomain(("y", "x"))
ROW = Table(
    "rows",
    "rows",
    PrivacyUnit(),
    (Column("a", IntegerDomain(-2, 3)), Column("b", IntegerDomain(0, 1000)), Column("c", _XY)),
    max_rows=1,
)
PEOPLE = Table(
    "people",
    "people",
    PrivacyUnit("id"),
    (
        Column("id", IdentifierDomain()),
        Column("a", IntegerDomain(-2, 3), constant=True),
        Column("b", IntegerDomain(0, 1000)),
        Column("c", _XY, constant=True),
    ),
    max_rows=2,
)
VISITS = Table(
    "visits",
    "visits",
    PrivacyUnit("id"),
    (
        Column("id", IdentifierDomain()),
        Column("a", IntegerDomain(-2, 3)),
        Column("b", IntegerDomain(-1000, 1000)),
        Column("c", _XY),
    ),
    max_rows=3,
    bounded=True,
)
PUBLIC = Table(
    "public",
    "public",
    None,
    (Column("a", IntegerDomain(-2, 3)), Column("b", IntegerDomain(0, 1000))),
    max_rows=2,
)


def _scans(neighbours: Neighbours) -> CatalogScans:
    town = Dataset("town", (ROW,), neighbours, "town")
    clinic = Dataset("clinic", (PEOPLE, VISITS, PUBLIC), neighbours, "clinic")
    return CatalogScans(
        {
            "town.rows": Declared(town, ROW),
            "clinic.people": Declared(clinic, PEOPLE),
            "clinic.visits": Declared(clinic, VISITS),
            "clinic.public": Declared(clinic, PUBLIC),
        }
    )


SCANS = {neighbours: _scans(neighbours) for neighbours in Neighbours}
TABLES = SCANS[Neighbours.ADD_REMOVE].tables
PERSONAL = ("clinic.people", "clinic.visits")
Rows = dict[str, list[tuple[Any, ...]]]


def _values(table: str, dice: random.Random) -> tuple[Any, Any, Any]:
    low = -1000 if table == "visits" else 0
    return (
        dice.choice([None, -2, 0, 1, 3]),
        dice.choice([None, low, 0, 1, 1000]),
        dice.choice([None, "x", "y"]),
    )


def unit_rows(unit: int, dice: random.Random) -> Rows:
    """Return the rows of one made-up person; what is constant for them is."""
    a, _, c = _values("people", dice)
    return {
        "clinic.people": [
            (unit, a, _values("people", dice)[1], c) for _ in range(dice.randrange(3))
        ],
        "clinic.visits": [
            (unit, *_values("visits", dice)) for _ in range(dice.choice([0, 1, 2, 4]))
        ],
    }


def database(dice: random.Random) -> Rows:
    """Return a small canonical database: rows without their rank."""
    people = [unit_rows(unit, dice) for unit in range(1, dice.randrange(2, 5))]
    return {
        "town.rows": [_values("rows", dice) for _ in range(dice.randrange(5))],
        "clinic.public": [_values("public", dice)[:2] for _ in range(dice.randrange(5))],
        **{name: [row for person in people for row in person[name]] for name in PERSONAL},
    }


@dataclass(frozen=True)
class Neighbour:
    """A neighbouring database, and the rows of the unit in which it differs, in each of the two."""

    rows: Rows
    own: tuple[Rows, ...]


def neighbours_of(
    rows: Rows, private: tuple[str, ...], kind: Neighbours, dice: random.Random
) -> list[Neighbour]:
    """Return every database with one unit less, or with one unit that is another."""
    if private == ("town.rows",):
        own: list[Rows] = [{"town.rows": [row]} for row in rows["town.rows"]]
    else:
        units = sorted({row[0] for name in PERSONAL for row in rows[name]})
        own = [{n: [r for r in rows[n] if r[0] == unit] for n in PERSONAL} for unit in units]
    found = []
    for mine in own:
        less = {**rows, **{name: _without(rows[name], gone) for name, gone in mine.items()}}
        if kind is Neighbours.ADD_REMOVE:
            found.append(Neighbour(less, (mine,)))
            continue
        other: Rows = {"town.rows": [_values("rows", dice)]}
        if "town.rows" not in mine:
            other = unit_rows(next(r[0] for each in mine.values() for r in each), dice)
        more = {**less, **{name: [*less[name], *new] for name, new in other.items()}}
        found.append(Neighbour(more, (mine, other)))
    return found


def _without(rows: list[tuple[Any, ...]], gone: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    left = list(rows)
    for row in gone:
        left.remove(row)
    return left


_ENUM = "ENUM('y', 'x')"
# What the recipe stores beside: a category's text, and for a bounded table where its bound ends.
_TEXT, _WITHIN = "VARCHAR AS (CAST({} AS VARCHAR))", "BIGINT AS (GREATEST(r, 3))"
_COLUMNS = {
    "town.rows": f"c0 BIGINT, c1 BIGINT, c2 {_ENUM}, g2 {_TEXT.format('c2')}",
    "clinic.people": f"u BIGINT, c1 BIGINT, c2 BIGINT, c3 {_ENUM}, r INTEGER, g3 {_TEXT.format('c3')}",
    "clinic.visits": f"u BIGINT, c1 BIGINT, c2 BIGINT, c3 {_ENUM}, r INTEGER, g3 {_TEXT.format('c3')}, w {_WITHIN}",
    "clinic.public": "c0 BIGINT, c1 BIGINT",
}


def _ranked(table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows with their rank, which depends on the unit's own rows alone."""
    if table not in PERSONAL:
        return list(rows)
    found = []
    for unit in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == unit]
        own.sort(key=lambda row: (hashlib.md5(repr(row[1:]).encode()).hexdigest(), repr(row)))
        found += [(*row, place) for place, row in enumerate(own, 1)]
    return found


def _literal(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


Vectors = dict[str, dict[Any, Any]]
_QUANTILE, _BINS = Fraction(1, 3), 5


class World:
    """One DuckDB that holds a canonical database, with the types that canonical rows are stored as."""

    def __init__(self) -> None:
        self.connection = room()
        self.connection.execute("CREATE SCHEMA canon")
        self.held: dict[str, Counter[tuple[Any, ...]]] = {table: Counter() for table in _COLUMNS}
        for table, columns in _COLUMNS.items():
            self.connection.execute(f'CREATE TABLE canon."{table}" ({columns})')

    def fill(self, rows: Rows, dice: random.Random, sql: str) -> None:
        """Load what `sql` reads, in random physical order: nobody may depend on it."""
        for table, each in rows.items():
            if f'"{table}"' not in sql or Counter(each) == self.held[table]:
                continue
            self.held[table] = Counter(each)
            ready = _ranked(table, each)
            dice.shuffle(ready)
            self.connection.execute(f'DELETE FROM canon."{table}"')
            if ready:
                listed = ", ".join(f"({', '.join(map(_literal, row))})" for row in ready)
                self.connection.execute(f'INSERT INTO canon."{table}" VALUES {listed}')

    def tree(self, sql: str) -> str:
        row = self.connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
        assert row is not None
        return str(row[0])

    def binds(self, read: Read) -> bool:
        """Return whether the engine takes a statement at all: if not, that is public."""
        try:
            self.connection.execute(f"EXPLAIN {read.draft.sql}").fetchall()
        except duckdb.Error:
            return False
        return True

    def vectors(self, read: Read) -> Vectors:
        """Return the exact value of each measure, by group; of a histogram the utilities."""
        found: Vectors = {name: {} for name in read.bounds}
        keys = read.facts.keys
        histograms: dict[Any, Any] = {}
        for row in self.connection.execute(read.draft.sql).fetchall():
            if read.draft.choice is not None:
                counts = histograms.setdefault(row[: keys - 1], np.zeros(_BINS, dtype=np.int64))
                if row[keys - 1] is not None:
                    counts[min(max(int(row[keys - 1]), 0), _BINS - 1)] += row[keys]
                continue
            outputs = tuple(int(v or 0) for v in row[keys:])
            for name, bound in read.bounds.items():
                value = exact_of(read.draft.measures[name], bound, outputs)
                found[name][row[:keys]] = value
        if read.draft.choice is not None:
            found["q"] = {
                group: rank_utilities(counts, _QUANTILE) for group, counts in histograms.items()
            }
        return found


def judged(draft: Draft, world: World, neighbours: Neighbours) -> Read | None:
    """Return the sealed draft, None where the kernel refuses it; both readers must agree on bounds."""
    trees: list[Read | None] = []
    for read in (lambda: read_duckdb(world.tree(draft.sql)), lambda: _by_sqlglot(draft.sql)):
        try:
            trees.append(sealed(draft, read(), SCANS[neighbours]))
        except Unfit:
            trees.append(None)
    own, other = trees
    if own is not None and other is not None:
        assert _bounds(own) == _bounds(other), f"two readings of {draft.sql}"
    return own


def _bounds(read: Read) -> Any:
    # Not the region: one of them may see through a spelling, such as NOT (x IS NULL), and bill less.
    forms = [(each.form, each.low, each.high) for each in read.facts.outputs]
    return forms, read.bounds, read.stability, read.facts.private


def _by_sqlglot(sql: str) -> Any:
    return read_sqlglot(sql, "duckdb")


def violations(
    read: Read, rows: Rows, world: World, dice: random.Random, kind: Neighbours
) -> list[str]:
    """Return everything about a sealed draft that is untrue on `rows` and its neighbours."""
    found = []
    try:
        world.fill(rows, dice, read.draft.sql)
        base = world.vectors(read)
        for neighbour in neighbours_of(rows, read.facts.private, kind, dice):
            world.fill(neighbour.rows, dice, read.draft.sql)
            outside = all(_outside(read, own) for own in neighbour.own)
            found += compared(read, base, world.vectors(read), outside=outside)
    except duckdb.Error as error:
        found.append(f"fails because of what a row says: {str(error)[:100]}")
    return found


def compared(read: Read, one: Vectors, two: Vectors, *, outside: bool) -> list[str]:
    """Return in what two exact results are further apart than the event says."""
    found = []
    for name in one:
        moved = _difference(one[name], two[name])
        found += _choice_too_far(read, moved) if name == "q" else _too_far(read, name, moved)
        if outside and moved:
            found.append(f"{name}: somebody outside the billed region moves it")
    return found


def _difference(one: dict[Any, Any], two: dict[Any, Any]) -> dict[Any, Any]:
    gaps = {group: one.get(group, 0) - two.get(group, 0) for group in {*one, *two}}
    return {group: gap for group, gap in gaps.items() if np.any(gap)}


def _too_far(read: Read, name: str, moved: dict[Any, int]) -> list[str]:
    stability, bound = read.stability, read.bounds[name]
    found = []
    if sum(map(abs, moved.values())) > stability.l1(bound):
        found.append(f"{name}: moves by {moved}, the noise is for {stability.l1(bound)}")
    if sum(v * v for v in moved.values()) > stability.l2_squared(bound):
        found.append(f"{name}: moves by {moved} in L2, for {stability.l2_squared(bound)}")
    if len(moved) > stability.coordinates:
        found.append(f"{name}: {len(moved)} groups move, {stability.coordinates} were counted")
    return found


def _choice_too_far(read: Read, moved: dict[Any, Any]) -> list[str]:
    assert read.draft.choice is not None
    chosen = {read.draft.choice: Selection(_QUANTILE, Fraction(1), _BINS)}
    admitted = admit(Mechanisms({}, chosen), (read,)).selections[read.draft.choice]
    total = Fraction(sum(int(np.abs(gap).max()) for gap in moved.values()), _QUANTILE.denominator)
    if total <= admitted.sensitivity:
        return []
    return [f"utilities move by {total}, the choice is for {admitted.sensitivity}"]


def _outside(read: Read, own: Rows) -> bool:
    """Return whether a unit sits outside the region that is billed."""
    for (table, place), positions in read.facts.region.items():
        values = {row[place] for row in own.get(table, [])}
        if not values:
            return True  # nowhere on this axis
        domain: Any = TABLES[table].table.columns[place].domain
        for value in values:
            if value is None:
                at = -1
            elif isinstance(domain, CategoryDomain):
                at = domain.position(value)
            else:
                at = value - domain.lower
            if at not in positions:
                return True
    return False


@dataclass
class Tally:
    """What a run came to."""

    statements: int = 0
    accepted: int = 0
    databases: int = 0
    unbound: int = 0
    violations: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.statements} statements, {self.accepted} accepted, {self.databases} databases, "
            f"{self.unbound} that no engine binds, {len(self.violations)} violations"
        )


def hunt(drafts: Any, dice: random.Random, kind: Neighbours, *, each: int = 2) -> Tally:
    """Judge drafts on `each` random databases; return the counts."""
    world, tally = World(), Tally()
    for draft in drafts:
        tally.statements += 1
        read = judged(draft, world, kind)
        if read is None:
            continue
        if not world.binds(read):
            tally.unbound += 1
            continue
        tally.accepted += 1
        for _ in range(each):
            tally.databases += 1
            found = violations(read, database(dice), world, dice, kind)
            if found:
                tally.violations.append((f"{draft.sql} {draft.measures}", found[0]))
                break
    return tally
