"""Adversarial statements for `hunt.py`: a seeded grammar of nested relations over its odd tables."""

from __future__ import annotations

import random

from hunt_expressions import Expressions, Relation

PEOPLE = ("patients", "visits", "labs", "notes")
KINDS = {
    "folk": "i:int big:int f:num cat:cat code:cat flag:bool d:date ts:time txt:text who:id",
    "patients": "person:unit sex:cat age:int born:date w:num flag:bool",
    "visits": "person:unit id:id ward:cat cost:num code:int day:date at:time reason:text",
    "labs": "person:unit visit:id val:int kind:cat grade:int",
    "notes": "person:unit sort:cat n:int x:num seen:date ok:bool",
    "places": "code:cat area:int name:cat",
    "wards": "ward:cat floor:int wing:cat since:date",
}
LINKS = {"folk": ("places", "code", "code"), "visits": ("wards", "ward", "ward")}
ALIASES = [
    "a",
    "b",
    "c1",
    "u",
    "r",
    "n",
    "k",
    "val",
    "person2",
    '"A.b"',
    '"é"',
    '"select"',
    "c0",
    "m0",
    '"T"',
]


class Grammar(Expressions):
    """Draws statements; `dice` decides everything."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        self.ctes: list[str] = []
        self.count = 0

    def statement(self) -> str:
        """Return one statement."""
        self.ctes, self.count, self.deep = [], 0, self.chance(0.3)
        found = self.question()
        if self.chance(0.05):
            one, two = self.question(keys=0), self.question(keys=0)
            found = f"{one} {self.one('UNION ALL', 'UNION', 'INTERSECT', 'EXCEPT')} {two}"
        elif self.chance(0.07):
            found = self.afterwards(found)
        head = f"WITH {', '.join(self.ctes)} " if self.ctes else ""
        return head + found

    def afterwards(self, inner: str) -> str:
        """Return something done with the results of a question."""
        shown = self.one("SUM(a0)", "COUNT(*)", "MAX(a0) - MIN(a0)", "AVG(a0 * 1e308)", "a0 / 0")
        over = self.one("a0, RANK() OVER (ORDER BY a0)", "a0 / SUM(a0) OVER ()", shown, shown)
        return f"SELECT {over} AS z FROM ({inner}) AS q" + self.one("", " WHERE a0 > 0", " LIMIT 1")

    def question(self, keys: int | None = None) -> str:
        """Return one question that aggregates rows of people."""
        self.scope = self.relation(self.dice.choice([0, 0, 0, 1, 1, 1, 2, 2]))
        number = self.dice.choice([0, 0, 1, 1, 2]) if keys is None else keys
        grouped = [self.key() for _ in range(number)]
        folds = [self.fold() for _ in range(self.dice.choice([1, 1, 1, 2, 3]))]
        shown = [f"{key} AS g{i}" for i, key in enumerate(grouped)]
        shown += [f"{fold} AS a{i}" for i, fold in enumerate(folds)]
        text = f"SELECT {', '.join(shown)} FROM {self.scope.text}"
        if self.chance(0.35):
            text += f" WHERE {self.condition()}"
        if grouped:
            text += " GROUP BY " + self.one(
                ", ".join(grouped), "ALL", ", ".join("12"[: len(grouped)])
            )
            if self.chance(0.04):
                text = text.rsplit(" GROUP BY ", 1)[0] + f" GROUP BY ROLLUP ({', '.join(grouped)})"
        if self.chance(0.08):
            text += (
                f" HAVING {self.one('COUNT(*) > 1', folds[0] + ' IS NOT NULL', 'SUM(1) < 1e308')}"
            )
        if self.chance(0.12):
            text += f" ORDER BY {self.one('a0', 'a0 DESC', '1', 'COUNT(*) DESC')}" + self.one(
                "", " LIMIT 1"
            )
        if grouped and self.chance(0.03):
            text = f"SELECT {grouped[0]} AS a0 FROM {self.scope.text} GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 1"
        return text

    # -- relations ---------------------------------------------------------------------------------

    def relation(self, depth: int) -> Relation:
        """Return a relation that names people, or whose rows are people."""
        if depth <= 0:
            return self.table(self.one("folk", "folk", *PEOPLE, "visits", "visits"))
        kind = self.one(
            "plain", "plain", "person", "person", "join", "join", "public", "member", "cte"
        )
        if kind == "join":
            return self.joined(depth)
        if kind == "public":
            return self.with_public()
        inner = self.relation(depth - 1)
        if kind == "person" and inner.of("unit"):
            return self.per_person(inner)
        if kind == "member" and inner.of("unit"):
            return self.members(inner)
        found = self.projected(inner)
        if kind == "cte":
            name = f"w{len(self.ctes)}"
            self.ctes.append(f"{name} AS {found.text.rsplit(' AS ', 1)[0]}")
            return self.renamed(found, name)
        return found

    def alias(self) -> str:
        """Return a fresh name of a relation."""
        self.count += 1
        return (
            f"t{self.count}" if self.chance(0.93) else self.one("canon", "alias", "s", '"T.x"', "b")
        )

    def table(self, name: str) -> Relation:
        """Return a table under an alias."""
        alias = self.alias()
        pairs = (each.split(":") for each in KINDS[name].split())
        return Relation(
            f"{name} AS {alias}", tuple((f"{alias}.{column}", kind) for column, kind in pairs)
        )

    def renamed(self, found: Relation, text: str) -> Relation:
        """Return the columns of a subquery as those of a relation of another text."""
        alias = self.alias()
        columns = tuple((f"{alias}.{ref.split('.', 1)[1]}", kind) for ref, kind in found.columns)
        return Relation(f"{text} AS {alias}", columns)

    def projected(self, inner: Relation) -> Relation:
        """Return a subquery that passes columns on, computes some, and filters."""
        self.scope = inner
        shown, columns, alias = [], [], self.alias()
        unit = inner.of("unit")
        if unit:
            shown.append(f"{unit[0]} AS person")
            columns.append((f"{alias}.person", "unit"))
        names = self.dice.sample(ALIASES, 6)
        for ref, kind in self.dice.sample(inner.columns, min(4, len(inner.columns))):
            name = names.pop() if self.chance(0.4) else ref.rsplit(".", 1)[1]
            if kind == "unit" or (f"{alias}.{name}" in dict(columns) and self.chance(0.9)):
                continue
            shown.append(f"{ref} AS {name}")
            columns.append((f"{alias}.{name}", kind))
        for _ in range(self.dice.choice([0, 1, 2])):
            kind = self.one("int", "bool", "text", "num")
            name = names.pop() if names else "z"
            if f"{alias}.{name}" not in dict(columns):
                shown.append(f"{self.value(kind, 2)} AS {name}")
                columns.append((f"{alias}.{name}", kind))
        if not shown:
            return inner
        where = f" WHERE {self.condition()}" if self.chance(0.35) else ""
        listed = "*" if self.chance(0.1) else ", ".join(shown)
        kept = inner.columns if listed == "*" else columns
        text = f"(SELECT {listed} FROM {inner.text}{where}) AS {alias}"
        if listed == "*":
            return Relation(text, tuple((f"{alias}.{r.rsplit('.', 1)[1]}", k) for r, k in kept))
        return Relation(text, tuple(columns))

    def per_person(self, inner: Relation) -> Relation:
        """Return one row for each person, or for each person and key."""
        self.scope, alias = inner, self.alias()
        unit = inner.of("unit")[0]
        keys = [] if self.chance(0.6) else [(self.value(k := self.one("int", "cat", "date"), 1), k)]
        shown, columns = [f"{unit} AS person"], [(f"{alias}.person", "unit")]
        for i, (key, kind) in enumerate(keys):
            shown.append(f"{key} AS k{i}")
            columns.append((f"{alias}.k{i}", kind))
        for i in range(self.dice.choice([1, 1, 2, 3])):
            fold = self.one(
                "COUNT(*)", "SUM({})", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "COUNT({})"
            )
            shown.append(f"{fold.format(self.value(self.one('int', 'num'), 2))} AS v{i}")
            columns.append((f"{alias}.v{i}", "int" if "COUNT" in fold else "num"))
        where = f" WHERE {self.condition()}" if self.chance(0.4) else ""
        group = ", ".join([unit, *(key for key, _ in keys)])
        having = f" HAVING {self.one('COUNT(*) > 1', 'COUNT(*) <= 2')}" if self.chance(0.15) else ""
        text = f"(SELECT {', '.join(shown)} FROM {inner.text}{where} GROUP BY {group}{having}) AS {alias}"
        return Relation(text, tuple(columns))

    def joined(self, depth: int) -> Relation:
        """Return two relations of people joined on the person."""
        one, two = self.relation(depth - 1), self.relation(depth - 1)
        if not (one.of("unit") and two.of("unit")):
            return one if one.of("unit") else two
        how = self.one(
            "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "NATURAL JOIN", "FULL JOIN"
        )
        if how == "NATURAL JOIN":
            return Relation(f"{one.text} {how} {two.text}", one.columns + two.columns)
        on = f"{one.of('unit')[0]} = {two.of('unit')[0]}"
        if self.chance(0.3):
            self.scope = two if self.chance(0.7) else Relation("", one.columns + two.columns)
            on += f" AND {self.condition()}"
        on = "USING (person)" if self.chance(0.12) else f"ON {on}"
        return Relation(f"{one.text} {how} {two.text} {on}", one.columns + two.columns)

    def with_public(self) -> Relation:
        """Return a table joined to a public one."""
        name = self.one("folk", "visits")
        public, mine, theirs = LINKS[name]
        one, two = self.table(name), self.table(public)
        left, right = one.text.rsplit(" ", 1)[1], two.text.rsplit(" ", 1)[1]
        on = f"{left}.{mine} = {right}.{theirs}"
        if self.chance(0.25):
            self.scope = two
            on += f" AND {self.condition()}"
        how = self.one("JOIN", "LEFT JOIN")
        return Relation(f"{one.text} {how} {two.text} ON {on}", one.columns + two.columns)

    def members(self, inner: Relation) -> Relation:
        """Return the people who have, or have not, such rows."""
        other, alias = self.table(self.one(*PEOPLE)), self.alias()
        self.scope = other
        test, unit, theirs = self.condition(), inner.of("unit")[0], other.of("unit")[0]
        word = self.one("", "NOT ")
        where = self.one(
            f"{unit} {word}IN (SELECT {theirs} FROM {other.text} WHERE {test})",
            f"{word}EXISTS (SELECT 1 FROM {other.text} WHERE {theirs} = {unit} AND {test})",
        )
        text = f"(SELECT * FROM {inner.text} WHERE {where}) AS {alias}"
        columns = tuple((f"{alias}.{ref.rsplit('.', 1)[1]}", kind) for ref, kind in inner.columns)
        return Relation(text, columns)

    # -- outputs ------------------------------------------------------------------------------------

    def key(self) -> str:
        """Return something to group by."""
        kind = self.one("cat", "cat", "bool", "int", "date", "text", "time", "num")
        if self.chance(0.6) and self.scope.of(kind):
            return self.one(*self.scope.of(kind))
        return self.value(kind, 2)

    def fold(self) -> str:
        """Return an aggregate."""
        number = self.value(self.one("int", "num"), self.dice.choice([0, 0, 1, 1, 2, 2]))
        name = self.one(
            "SUM", "SUM", "SUM", "AVG", "COUNT", "VARIANCE", "STDDEV_POP", "MEDIAN", "MIN", "MAX"
        )
        every = [ref for ref, _ in self.scope.columns]
        found = self.one(
            f"{name}({number})",
            f"{name}({number})",
            "COUNT(*)",
            f"COUNT(DISTINCT {self.one(*every)})",
            f"COUNT(DISTINCT {self.value(self.one('int', 'text', 'date', 'cat'), 2)})",
            f"{self.one('SUM', 'AVG')}(DISTINCT {number})",
            f"QUANTILE_CONT({number}, {self.one('0', '0.1', '0.5', '0.999', '1', '1e-9')})",
            f"COUNT_IF({self.condition()})",
            f"{self.one('CORR', 'COVAR_POP', 'REGR_SLOPE')}({number}, {self.value('num', 1)})",
            f"{self.one('MIN', 'MAX', 'MEDIAN')}({self.value(self.one('date', 'time'), 1)})",
            f"SUM({number}) / NULLIF(COUNT(*), 0)",
            f"SUM({self.value('bool', 1)})",
        )
        return found + (
            f" FILTER (WHERE {self.condition()})"
            if self.chance(0.12) and " / " not in found
            else ""
        )
