"""A planner that lies: random final SQL, right and wrong, and databases to catch it with.

The drafts know nothing of what is sound: partitions, orders, joins, clamps, filters, keys and the
claims about them are drawn at random, with a bias towards what nearly fits. The judge runs what the
kernel accepts on a database and on all its neighbours and compares with what the noise was made for.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import duckdb

from discreet.core.schema import (
    CategoryDomain,
    Column,
    Dataset,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.core.unit import Neighbours, PrivacyUnit
from discreet.kernel.read_duckdb import read_duckdb
from discreet.kernel.read_sqlglot import read_sqlglot
from discreet.kernel.scans import CatalogScans, Declared
from discreet.kernel.seal import Asked, Draft, Read, exact_of, sealed
from discreet.kernel.sensitivity import Kind
from discreet.kernel.tree import Unfit

ROW = Table(
    "rows",
    "rows",
    PrivacyUnit(),
    (
        Column("a", IntegerDomain(-2, 3)),
        Column("b", IntegerDomain(0, 1000)),
        Column("c", CategoryDomain(("x", "y"))),
    ),
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
        Column("c", CategoryDomain(("x", "y")), constant=True),
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
        Column("c", CategoryDomain(("x", "y"))),
    ),
    max_rows=3,
)
PUBLIC = Table(
    "public",
    "public",
    None,
    (Column("a", IntegerDomain(-2, 3)), Column("b", IntegerDomain(0, 1000))),
    max_rows=2,
)


def datasets(neighbours: Neighbours) -> tuple[Dataset, Dataset]:
    return (
        Dataset("town", (ROW,), neighbours, "town"),
        Dataset("clinic", (PEOPLE, VISITS, PUBLIC), neighbours, "clinic"),
    )


def _scans(neighbours: Neighbours) -> CatalogScans:
    town, clinic = datasets(neighbours)
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
CONSTANT = {("clinic.people", 1), ("clinic.people", 3)}


# -- drafts ---------------------------------------------------------------------------------------


@dataclass
class Rel:
    """A relation in the making: FROM text, and its columns by kind."""

    text: str
    integers: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    ranks: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return [*self.integers, *self.texts, *self.units, *self.ranks, *self.numbers]

    def body(self) -> str:
        return f"FROM {self.text}" + (f" WHERE {' AND '.join(self.where)}" if self.where else "")


class Liar:
    """Writes one random draft; `wrong` is how often a step is drawn without care."""

    def __init__(self, dice: random.Random, wrong: float = 0.15) -> None:
        self.dice = dice
        self.wrong = wrong
        self.aliases = 0

    def lies(self) -> bool:
        return self.dice.random() < self.wrong

    def alias(self) -> str:
        self.aliases += 1
        # Sometimes an inner and an outer relation carry one name.
        return "t" if self.lies() else f"t{self.aliases}"

    def pick(self, options: list[str]) -> str:
        return self.dice.choice(options) if options else "1"

    def scan(self) -> Rel:
        table = self.dice.choice(["town.rows", "clinic.people", "clinic.visits", "clinic.visits"])
        alias = self.alias()
        if table == "town.rows":
            return Rel(
                f'canon."{table}" AS {alias}', [f"{alias}.c0", f"{alias}.c1"], [f"{alias}.c2"]
            )
        return Rel(
            f'canon."{table}" AS {alias}',
            [f"{alias}.c1", f"{alias}.c2"],
            [f"{alias}.c3"],
            [f"{alias}.u"],
            [f"{alias}.r"],
        )

    def public(self) -> Rel:
        alias = self.alias()
        return Rel(f'canon."clinic.public" AS {alias}', [f"{alias}.c0", f"{alias}.c1"])

    def integer(self, rel: Rel) -> str:
        column = self.pick(rel.integers)
        match self.dice.randrange(8):
            case 0:
                return f"{column} + {self.pick(rel.integers)}"
            case 1:
                return f"{column} * {self.dice.choice([-3, 2, 1000, 2**40])}"
            case 2:
                return f"CASE WHEN {self.condition(rel)} THEN {column} ELSE 1000 END"
            case 3 if self.lies():
                return self.dice.choice(
                    ["COUNT(*) OVER ()", f"SUM({column}) OVER (PARTITION BY {column})", "random()"]
                )
            case 4:
                return f"COALESCE({column}, -1000)"
            case _:
                return column

    def condition(self, rel: Rel) -> str:
        column, text = self.pick(rel.integers), self.pick(rel.texts or ["'x'"])
        options = [
            f"{column} > {self.dice.randrange(-3, 5)}",
            f"{column} = {self.dice.randrange(-3, 5)}",
            f"{column} BETWEEN -1 AND 2",
            f"{column} IN (0, 1, 1000)",
            f"{column} IS NULL",
            f"{column} IS NOT NULL",
            f"{text} = 'x'",
            f"{text} IN ('y')",
            f"NOT ({column} = 1)",
            f"NOT ({text} = 'x')",
            f"({column} <= 0 OR {text} = 'y')",
            f"({column} <> 1 AND {column} < 3)",
        ]
        if self.lies():
            options += [f"{column} > (SELECT 1)", f"{text} > 5", "TRUE", f"{column} NOT IN (1, 2)"]
        return self.dice.choice(options)

    def filtered(self, rel: Rel) -> Rel:
        rel.where.append(self.condition(rel))
        return rel

    def numbered(self, rel: Rel) -> Rel:
        """Number the rows of each unit and keep the first few; or nearly so."""
        alias = self.alias()
        carried = [c for c in rel.columns if self.dice.random() < 0.8 or c in rel.units]
        unit = self.pick(rel.units or rel.integers)
        partition = [unit]
        if self.lies():
            partition = self.dice.choice(
                [[], [self.pick(rel.columns)], [unit, self.pick(rel.columns)]]
            )
        order = self.dice.choice([rel.ranks, carried, rel.columns]) or [self.pick(rel.columns)]
        if self.lies():
            order = self.dice.choice(
                [[], order[:1], order[1:], [f"md5(CAST({order[0]} AS VARCHAR))"]]
            )
        over = f"PARTITION BY {', '.join(partition)} " if partition else ""
        over += f"ORDER BY {', '.join(order)}" if order else ""
        named = {c: f"c{i}" for i, c in enumerate(carried)}
        outputs = [f"{c} AS {name}" for c, name in named.items()]
        function = "ROW_NUMBER()" if not self.lies() else f"COUNT({unit})"
        outputs.append(f"{function} OVER ({over}) AS n")
        if self.lies():
            outputs.append(f"MIN({self.pick(rel.integers)}) OVER (PARTITION BY {unit}) AS m")
        found = self._above(
            rel, named, f"(SELECT {', '.join(outputs)} {rel.body()}) AS {alias}", alias
        )
        test = f"{alias}.n <= {self.dice.randrange(1, 4)}"
        if self.lies():
            test = self.dice.choice(
                [
                    f"{alias}.n >= 1",
                    f"{alias}.n < 3",
                    f"NOT ({alias}.n > 2)",
                    f"{test} OR {alias}.n = 9",
                ]
            )
        found.where.append(test)
        found.numbers.append(f"{alias}.n")
        return found

    def _above(self, rel: Rel, named: dict[str, str], text: str, alias: str) -> Rel:
        def kept(columns: list[str]) -> list[str]:
            return [f"{alias}.{named[c]}" for c in columns if c in named]

        return Rel(
            text,
            kept(rel.integers),
            kept(rel.texts),
            kept(rel.units),
            kept(rel.ranks),
            kept(rel.numbers),
        )

    def projected(self, rel: Rel) -> Rel:
        """A plain subquery: columns renamed, shuffled, computed, sometimes lost or doubled."""
        alias = self.alias()
        carried = [c for c in rel.columns if c in rel.units or self.dice.random() < 0.8]
        if self.lies():
            carried = [c for c in carried if c not in rel.units]
        self.dice.shuffle(carried)
        named = {c: f"c{i}" for i, c in enumerate(carried)}
        if self.lies() and len(carried) > 1:
            named[carried[1]] = named[carried[0]]
        outputs = [f"{c} AS {name}" for c, name in named.items()]
        outputs.append(f"{self.integer(rel)} AS e")
        extra = self.dice.choice(["", "", "", " LIMIT 3"]) if self.lies() else ""
        head = "SELECT DISTINCT" if self.lies() and self.lies() else "SELECT"
        text = f"({head} {', '.join(outputs)} {rel.body()}{extra}) AS {alias}"
        found = self._above(rel, named, text, alias)
        found.integers.append(f"{alias}.e")
        return found

    def per_unit(self, rel: Rel) -> Rel:
        alias = self.alias()
        by = [self.pick(rel.units or rel.integers)]
        if self.dice.random() < 0.3:
            by.append(self.pick([*rel.integers, *rel.texts]))
        if self.lies():
            by = [self.pick(rel.columns)]
        outputs = [f"{c} AS c{i}" for i, c in enumerate(by)]
        folds = [
            "COUNT(*)",
            f"CAST(SUM(CAST({self.pick(rel.integers)} AS BIGINT)) AS DECIMAL(38, 0))",
            f"MAX({self.pick(rel.integers)})",
            f"COUNT(DISTINCT {self.pick(rel.columns)})",
        ]
        fold = self.dice.choice(folds)
        outputs.append(f"{fold} AS a")
        named = {c: f"c{i}" for i, c in enumerate(by)}
        text = f"(SELECT {', '.join(outputs)} {rel.body()} GROUP BY {', '.join(by)}) AS {alias}"
        found = self._above(rel, named, text, alias)
        clamp = self.clamp(f"{alias}.a", cast=True)
        found.integers.append(clamp if self.dice.random() < 0.7 else f"{alias}.a")
        return found

    def joined(self, first: Rel, second: Rel) -> Rel:
        kind = self.dice.choice(["INNER", "INNER", "LEFT"])
        on = f"{self.pick(first.units)} = {self.pick(second.units)}"
        if self.lies() or not first.units or not second.units:
            on = f"{self.pick(first.integers)} = {self.pick(second.integers)}"
        if self.lies():
            on += f" {self.dice.choice(['AND', 'OR'])} {self.pick(first.integers)} = {self.pick(second.integers)}"
        right = self.wrapped(second)
        on = on.replace("\x00", "")
        for old, new in zip(second.columns, right.columns, strict=False):
            on = on.replace(old, new) if self.lies() else on
        units = right.units or right.integers
        if not self.lies():
            on = f"{self.pick(first.units or first.integers)} = {self.pick(units)}"
        return Rel(
            f"{first.text} {kind} JOIN {right.text} ON {on}",
            [*first.integers, *right.integers],
            [*first.texts, *right.texts],
            self.dice.choice([first.units, [*first.units, *right.units]]),
            [*first.ranks, *right.ranks],
            [],
            list(first.where),
        )

    def wrapped(self, rel: Rel) -> Rel:
        alias = self.alias()
        named = {c: f"c{i}" for i, c in enumerate(rel.columns)}
        outputs = ", ".join(f"{c} AS {name}" for c, name in named.items())
        return self._above(rel, named, f"(SELECT {outputs} {rel.body()}) AS {alias}", alias)

    def with_public(self, rel: Rel) -> Rel:
        public = self.public()
        alias, outer = self.alias(), self.alias()
        key, value = public.integers
        by = key if not self.lies() else value
        order = f"{key}, {value}" if not self.lies() else key
        inner = (
            f"SELECT {key} AS c0, {value} AS c1, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) "
            f"AS n {public.body()}"
        )
        cut = f"WHERE {alias}.n <= {self.dice.randrange(1, 3)}" if not self.lies() else ""
        text = f"(SELECT {alias}.c0 AS c0, {alias}.c1 AS c1 FROM ({inner}) AS {alias} {cut}) AS {outer}"
        kind = self.dice.choice(["INNER", "LEFT"])
        joined = f"{outer}.c0" if not self.lies() else f"{outer}.c1"
        return Rel(
            f"{rel.text} {kind} JOIN {text} ON {self.pick(rel.integers)} = {joined}",
            [*rel.integers, f"{outer}.c1"],
            rel.texts,
            rel.units,
            rel.ranks,
            [],
            rel.where,
        )

    def relation(self, depth: int) -> Rel:
        rel = self.scan()
        if rel.ranks and self.dice.random() < 0.4:
            rel.where.append(f"{rel.ranks[0]} <= {self.dice.randrange(1, 4)}")
        for _ in range(depth):
            step = self.dice.randrange(7)
            if step <= 1:
                rel = self.filtered(rel)
            elif step == 2 and (rel.units or self.lies()):
                rel = self.numbered(rel)
            elif step == 3:
                rel = self.projected(rel)
            elif step == 4 and (rel.units or self.lies()):
                rel = self.per_unit(rel)
            elif step == 5 and (rel.units or self.lies()):
                rel = self.joined(self.bounded(rel), self.bounded(self.scan()))
            elif step == 6:
                rel = self.with_public(rel)
        if rel.units and self.dice.random() < 0.6:
            rel = self.numbered(rel)
        return rel

    def bounded(self, rel: Rel) -> Rel:
        if not rel.units or self.lies():
            return rel
        if rel.ranks and self.dice.random() < 0.5:
            rel.where.append(f"{rel.ranks[0]} <= {self.dice.randrange(1, 3)}")
            return self.wrapped(rel)
        return self.wrapped(self.numbered(rel))

    def clamp(self, operand: str, *, cast: bool = False) -> str:
        low, high = self.dice.choice([(0, 4), (-3, 3), (5, 9), (-9, -5)])
        top, bottom, other = high, low, operand
        if self.lies():
            top = self.dice.choice([high + 1, 1000])
        if self.lies():
            bottom = self.dice.choice([low - 1, -1000])
        if self.lies():
            return f"GREATEST({low}, LEAST({high}, {operand}))"
        other = f"CAST({operand} AS BIGINT)" if cast or self.lies() else operand
        return f"CASE WHEN {operand} > {high} THEN {top} WHEN {operand} < {low} THEN {bottom} ELSE {other} END"

    def draft(self) -> Draft:
        rel = self.relation(self.dice.randrange(4))
        keys = []
        if self.dice.random() < 0.5:
            keys = [
                self.pick([*rel.integers, *rel.texts]) for _ in range(self.dice.randrange(1, 3))
            ]
        outputs: list[str] = []
        measures: dict[str, Asked] = {}
        for i in range(self.dice.randrange(1, 4)):
            written, kind = self.output(rel)
            places = []
            for each in written:
                outputs.append(each)
                places.append(len(outputs) - 1)
            if self.lies():
                kind = self.dice.choice(list(Kind))
            if self.lies():
                places = [self.dice.randrange(-1, len(outputs) + 1) for _ in places]
            centre = self.dice.choice([0, 4, -7, 2000])
            measures[f"m{i}"] = Asked(kind, tuple(places), centre)
        columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        columns += [f"{each} AS r{i}" for i, each in enumerate(outputs)]
        group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
        if self.lies() and self.lies():
            group += self.dice.choice([" HAVING COUNT(*) > 1", " ORDER BY 1", " LIMIT 1"])
        return Draft(f"SELECT {', '.join(columns)} {rel.body()}{group}", measures)

    def output(self, rel: Rel) -> tuple[list[str], Kind]:
        operand = self.integer(rel)
        held = self.clamp(operand) if self.dice.random() < 0.8 else operand
        other = held if not self.lies() else self.clamp(operand)
        total = f"CAST(SUM(CAST({held} AS BIGINT)) AS DECIMAL(38, 0))"
        square = f"SUM(CAST(CAST({held} AS BIGINT) * CAST({other} AS BIGINT) AS BIGINT))"
        present = f"COUNT({other})"
        return self.dice.choice(
            [
                (["COUNT(*)"], Kind.ROWS),
                ([f"COUNT({operand})"], Kind.PRESENT),
                ([f"COUNT(DISTINCT {self.pick([*rel.units, *rel.integers])})"], Kind.DISTINCT),
                ([f"COUNT(DISTINCT {self.pick(rel.units or rel.integers)})"], Kind.UNITS),
                ([total], Kind.SUM),
                ([total, present], Kind.CENTRED),
                ([square, total, present], Kind.SQUARES),
            ]
        )


# -- databases ------------------------------------------------------------------------------------

Rows = dict[str, list[tuple[Any, ...]]]


def database(dice: random.Random) -> Rows:
    """Return a small canonical database: rows without their rank."""

    def values(table: str) -> tuple[Any, Any, Any]:
        low = -1000 if table == "visits" else 0
        return (
            dice.choice([None, -2, 0, 1, 3]),
            dice.choice([None, low, 0, 1, 1000]),
            dice.choice([None, "x", "y"]),
        )

    people: list[tuple[Any, ...]] = []
    visits: list[tuple[Any, ...]] = []
    for unit in range(1, dice.randrange(2, 5)):
        fixed = values("people")
        people += [
            (unit, fixed[0], values("people")[1], fixed[2]) for _ in range(dice.randrange(3))
        ]
        visits += [(unit, *values("visits")) for _ in range(dice.choice([0, 1, 2, 4]))]
    return {
        "town.rows": [values("rows") for _ in range(dice.randrange(5))],
        "clinic.people": people,
        "clinic.visits": visits,
        "clinic.public": [values("public")[:2] for _ in range(dice.randrange(5))],
    }


def neighbours_of(rows: Rows, private: tuple[str, ...]) -> list[tuple[Rows, dict[str, list[Any]]]]:
    """Return every database with one unit less, each with the rows of that unit."""
    found = []
    if private == ("town.rows",):
        for i, row in enumerate(rows["town.rows"]):
            less = [*rows["town.rows"][:i], *rows["town.rows"][i + 1 :]]
            found.append(({**rows, "town.rows": less}, {"town.rows": [row]}))
        return found
    tables = ("clinic.people", "clinic.visits")
    for unit in sorted({row[0] for table in tables for row in rows[table]}):
        less = {table: [row for row in rows[table] if row[0] != unit] for table in tables}
        own = {table: [row for row in rows[table] if row[0] == unit] for table in tables}
        found.append(({**rows, **less}, own))
    return found


_COLUMNS = {
    "town.rows": "c0 BIGINT, c1 BIGINT, c2 VARCHAR",
    "clinic.people": "u BIGINT, c1 BIGINT, c2 BIGINT, c3 VARCHAR, r INTEGER",
    "clinic.visits": "u BIGINT, c1 BIGINT, c2 BIGINT, c3 VARCHAR, r INTEGER",
    "clinic.public": "c0 BIGINT, c1 BIGINT",
}


def _ranked(table: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows with their rank, which depends on the unit's own rows alone."""
    if table not in {"clinic.people", "clinic.visits"}:
        return rows
    found = []
    for unit in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == unit]
        own.sort(key=lambda row: (hashlib.md5(repr(row[1:]).encode()).hexdigest(), repr(row)))
        found += [(*row, place) for place, row in enumerate(own, 1)]
    return found


def _literal(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


class World:
    """One DuckDB that holds a canonical database."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:", config={"threads": "1"})
        self.connection.execute("CREATE SCHEMA canon")
        for table, columns in _COLUMNS.items():
            self.connection.execute(f'CREATE TABLE canon."{table}" ({columns})')

    def fill(self, rows: Rows, dice: random.Random) -> None:
        """Load a database in random physical order: nobody may depend on it."""
        for table, each in rows.items():
            self.connection.execute(f'DELETE FROM canon."{table}"')
            ready = _ranked(table, each)
            dice.shuffle(ready)
            if ready:
                listed = ", ".join(f"({', '.join(map(_literal, row))})" for row in ready)
                self.connection.execute(f'INSERT INTO canon."{table}" VALUES {listed}')

    def tree(self, sql: str) -> str:
        row = self.connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
        assert row is not None
        return row[0]

    def vectors(self, read: Read) -> dict[str, dict[Any, int]]:
        """Return the exact value of each measure, by group."""
        found: dict[str, dict[Any, int]] = {name: {} for name in read.bounds}
        for row in self.connection.execute(read.draft.sql).fetchall():
            group, outputs = (
                row[: read.facts.keys],
                tuple(int(v or 0) for v in row[read.facts.keys :]),
            )
            for name, bound in read.bounds.items():
                found[name][group] = exact_of(read.draft.measures[name], bound, outputs)
        return found


def judged(draft: Draft, world: World, neighbours: Neighbours) -> Read | None:
    """Return the sealed draft, None where the kernel refuses it; two parsers must agree."""
    reads = []
    for parse in (
        lambda: read_duckdb(world.tree(draft.sql)),
        lambda: read_sqlglot(draft.sql, "duckdb"),
    ):
        try:
            reads.append(sealed(draft, parse(), SCANS[neighbours]))
        except Unfit:
            reads.append(None)
    return reads[0]


def violations(read: Read, rows: Rows, world: World, dice: random.Random) -> list[str]:
    """Return everything about a sealed draft that is untrue on `rows` and its neighbours."""
    world.fill(rows, dice)
    base = world.vectors(read)
    found = []
    removed: list[dict[str, dict[Any, int]]] = []
    for less, own in neighbours_of(rows, read.facts.private):
        world.fill(less, dice)
        other = world.vectors(read)
        outside = _outside(read, own)
        for name in read.bounds:
            moved = _difference(base[name], other[name])
            found += _too_far(read, name, moved)
            if outside and any(moved.values()):
                found.append(f"{name}: somebody outside the billed region moves it")
        removed.append({name: _difference(base[name], other[name]) for name in read.bounds})
    return found


def _difference(one: dict[Any, int], two: dict[Any, int]) -> dict[Any, int]:
    return {
        group: one.get(group, 0) - two.get(group, 0)
        for group in {*one, *two}
        if one.get(group, 0) != two.get(group, 0)
    }


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


def _outside(read: Read, own: dict[str, list[Any]]) -> bool:
    """Return whether a unit sits outside the region that is billed."""
    for (table, place), positions in read.facts.region.items():
        values = {row[place] for row in own.get(table, [])}
        if not values:
            return True  # nowhere on this axis
        declared = TABLES[table].table.columns[place].domain
        for value in values:
            if value is None:
                at: int | None = -1
            elif isinstance(declared, CategoryDomain):
                at = declared.position(value)
            else:
                at = value - declared.lower
            if at not in positions:
                return True
    return False


__all__ = ["Fraction", "Liar", "World", "database", "judged", "violations"]
