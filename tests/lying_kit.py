"""A planner that lies: random final SQL, right and wrong.

The drafts know nothing of what is sound: partitions, orders, joins, clamps, filters, keys and the
claims about them are drawn at random, with a bias towards what nearly fits. `lying_world` judges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.seal import Draft, MeasureDraft

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
        return "t" if self.lies() or self.dice.random() < 0.1 else f"t{self.aliases}"

    def named(self, carried: list[str]) -> dict[str, str]:
        """Give columns new names: fresh ones, or the old ones in another order."""
        if self.dice.random() < 0.6:
            return {c: f"c{i}" for i, c in enumerate(carried)}
        bare = list(dict.fromkeys(c.split(".")[-1] for c in carried if " " not in c))
        bare += [name for name in ("c1", "c2", "c3", "u", "r", "x", "y") if name not in bare]
        self.dice.shuffle(bare)
        if self.lies():
            bare[:2] = ["a", self.dice.choice(["a", "A"])]
        return dict(zip(carried, [*bare, *(f"z{i}" for i in range(len(carried)))], strict=False))

    def pick(self, options: list[str]) -> str:
        return self.dice.choice(options) if options else "1"

    def scan(self) -> Rel:
        table = self.dice.choice(["town.rows", "clinic.people", "clinic.visits", "clinic.visits"])
        alias = self.alias()
        if table == "town.rows":
            texts = [f"{alias}.{self.beside('c2', 'g2')}"]
            return Rel(f'canon."{table}" AS {alias}', [f"{alias}.c0", f"{alias}.c1"], texts)
        people = table == "clinic.people"
        return Rel(
            f'canon."{table}" AS {alias}',
            [f"{alias}.c1", f"{alias}.c2"],
            [f"{alias}.{self.beside('c3', 'g3')}"],
            [f"{alias}.u"],
            [f"{alias}.{'r' if people else self.beside('r', 'w')}"],
        )

    def beside(self, usual: str, other: str) -> str:
        """Draw a column, or now and then the one that is stored beside it."""
        return other if self.dice.random() < 0.25 else usual

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
            case 5 if self.dice.random() < 0.3:
                short = f"CASE WHEN {self.condition(rel)} THEN 50000 ELSE 3 END"
                return self.dice.choice(
                    [short, f"ABS({column})", f"CAST({short} AS BIGINT) * 50000"]
                )
            case 6 if rel.ranks and self.lies():
                return f"{self.pick(rel.ranks)} + 2147483647"
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
            f"{text} < 'y'",
            f"CAST({text} AS VARCHAR) >= 'y'",
            f"2 > {column}",
            f"NOT ({column} IN (1, 3) OR {column} IS NULL)",
            f"{text} <> 'x'",
            f"({column} = 3 OR {column} IS NULL)",
            f"NOT ({text} IS NULL)",
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
        named = self.named(carried)
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
        named = self.named(carried)
        if self.lies() and len(carried) > 1:
            named[carried[1]] = named[carried[0]]
        outputs = [f"{c} AS {name}" for c, name in named.items()]
        outputs.append(f"{self.integer(rel)} AS e")
        if rel.units and self.dice.random() < 0.2:
            outputs.append(f"{self.pick(rel.units)} AS again")
        extra = self.dice.choice(["", "", "", " LIMIT 3"]) if self.lies() else ""
        head = "SELECT DISTINCT" if self.lies() and self.lies() else "SELECT"
        text = f"({head} {', '.join(outputs)} {rel.body()}{extra}) AS {alias}"
        found = self._above(rel, named, text, alias)
        found.integers.append(f"{alias}.e")
        if rel.units and outputs[-1].endswith(" AS again"):
            found.units.append(f"{alias}.again")
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
        if self.dice.random() < 0.1:
            return self.histogram(rel, keys)
        outputs: list[str] = []
        measures: dict[str, MeasureDraft] = {}
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
            measures[f"m{i}"] = MeasureDraft(kind, tuple(places), centre)
        columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        columns += [f"{each} AS r{i}" for i, each in enumerate(outputs)]
        group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
        if self.lies() and self.lies():
            group += self.dice.choice([" HAVING COUNT(*) > 1", " ORDER BY 1", " LIMIT 1"])
        return Draft(f"SELECT {', '.join(columns)} {rel.body()}{group}", measures)

    def histogram(self, rel: Rel, keys: list[str]) -> Draft:
        keys = [*keys, self.pick([*rel.integers, *(rel.texts if self.lies() else [])])]
        columns = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        count = "COUNT(*)" if not self.lies() else f"COUNT({self.pick(rel.integers)})"
        group = ", ".join(str(i + 1) for i in range(len(keys)))
        sql = f"SELECT {', '.join(columns)}, {count} AS r0 {rel.body()} GROUP BY {group}"
        return Draft(sql, {}, choice="q0")

    def output(self, rel: Rel) -> tuple[list[str], Kind]:
        operand = self.integer(rel)
        held = self.clamp(operand) if self.dice.random() < 0.8 else operand
        other = held if not self.lies() else self.clamp(operand)
        adds = self.dice.choice(["SUM", "SUM", "SUM", "sum_no_overflow"])
        total = f"CAST({adds}(CAST({held} AS BIGINT)) AS DECIMAL(38, 0))"
        square = f"{adds}(CAST(CAST({held} AS BIGINT) * CAST({other} AS BIGINT) AS BIGINT))"
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
