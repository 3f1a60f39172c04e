"""Random questions: a grammar over the small world's columns, and a mutator that breaks them."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A FROM clause and its columns by type; `unit` is the column that names the person."""

    text: str
    numbers: tuple[str, ...]
    texts: tuple[tuple[str, tuple[str, ...]], ...]
    days: tuple[str, ...]
    truths: tuple[str, ...]
    private: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    dataset: str = "census"


_SEX = ("Female", "Male", "O'Neil")
_ZIP = ("02138", "02139", "10001", "94110")
_PEOPLE = Source(
    "people",
    ("age", "income", "balance", "score"),
    (("sex", _SEX), ("zip", _ZIP)),
    ("born",),
    ("married",),
    ("town",),
    ("badge",),
)
_PEOPLE_ZIPS = Source(
    "people AS p JOIN zips AS z ON p.zip = z.zip",
    ("p.age", "p.income", "p.balance", "z.area"),
    (("p.sex", _SEX), ("z.state", ("MA", "NY", "CA")), ("p.zip", _ZIP)),
    ("p.born",),
    ("p.married",),
    ("p.town",),
    ("p.badge",),
)
_PEOPLE_LEFT = Source(
    "people AS p LEFT JOIN zips AS z ON p.zip = z.zip",
    ("p.age", "p.income", "z.area"),
    (("p.sex", _SEX), ("z.state", ("MA", "NY", "CA"))),
    ("p.born",),
    ("p.married",),
    ("p.town",),
)
_PEOPLE_SUB = Source(
    "(SELECT age * 2 AS twice, sex, income, born, town FROM people WHERE age > 3) AS s",
    ("twice", "income"),
    (("sex", _SEX),),
    ("born",),
    (),
    ("town",),
)
_PATIENTS = Source(
    "patients",
    ("age", "weight"),
    (("sex", _SEX[:2]),),
    ("born",),
    ("smoker",),
    (),
    ("person",),
    "clinic",
)
_VISITS = Source(
    "visits",
    ("cost", "code"),
    (("ward", ("A", "B", "C")),),
    ("day",),
    (),
    ("reason",),
    ("person",),
    "clinic",
)
_BOTH = Source(
    "patients AS p JOIN visits AS v ON p.person = v.person",
    ("p.age", "p.weight", "v.cost", "v.code"),
    (("p.sex", _SEX[:2]), ("v.ward", ("A", "B", "C"))),
    ("p.born", "v.day"),
    ("p.smoker",),
    ("v.reason",),
    ("p.person",),
    "clinic",
)
_BOTH_LEFT = Source(
    "patients AS p LEFT JOIN visits AS v ON p.person = v.person",
    ("p.age", "v.cost", "v.code"),
    (("p.sex", _SEX[:2]), ("v.ward", ("A", "B", "C"))),
    ("v.day",),
    ("p.smoker",),
    (),
    ("p.person",),
    "clinic",
)
_WARDS = Source(
    "visits AS v JOIN wards AS w ON v.ward = w.ward",
    ("v.cost", "w.floor"),
    (("v.ward", ("A", "B", "C")), ("w.wing", ("east", "west"))),
    ("v.day",),
    (),
    ("v.reason",),
    ("v.person",),
    "clinic",
)
_SELF = Source(
    "visits AS a JOIN visits AS b ON a.person = b.person",
    ("a.cost", "b.cost", "b.code"),
    (("a.ward", ("A", "B", "C")), ("b.ward", ("A", "B", "C"))),
    ("a.day",),
    (),
    (),
    ("a.person",),
    "clinic",
)
_PER_PERSON = Source(
    "(SELECT person, COUNT(*) AS n, SUM(cost) AS total, MAX(code) AS top, MIN(day) AS first "
    "FROM visits WHERE cost > 5 GROUP BY person) AS u",
    ("n", "total", "top"),
    (),
    ("first",),
    (),
    (),
    (),
    "clinic",
)
_PER_PERSON_HAVING = Source(
    "(SELECT person, ward, COUNT(DISTINCT code) AS n, SUM(code) AS total FROM visits "
    "GROUP BY person, ward HAVING COUNT(*) > 1) AS u",
    ("n", "total"),
    (("ward", ("A", "B", "C")),),
    (),
    (),
    (),
    (),
    "clinic",
)
_PER_PERSON_JOIN = Source(
    "patients AS p JOIN (SELECT person, COUNT(*) AS n, SUM(cost) AS total FROM visits "
    "GROUP BY person) AS u ON p.person = u.person",
    ("p.age", "u.n", "u.total"),
    (("p.sex", _SEX[:2]),),
    ("p.born",),
    ("p.smoker",),
    (),
    ("p.person",),
    "clinic",
)
_CTE = Source(
    "old",
    ("cost", "half"),
    (("ward", ("A", "B", "C")),),
    ("day",),
    (),
    ("reason",),
    (),
    "clinic",
)
CTE = "WITH old AS (SELECT cost, code / 2 AS half, ward, day, reason FROM visits WHERE code < 900) "

_MEMBERS = (
    "(SELECT * FROM patients AS p WHERE p.person {}IN (SELECT person FROM visits WHERE cost > 5)) AS p",
    "(SELECT * FROM patients AS p WHERE {}EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person)) AS p",
)
_ARE_MEMBERS = tuple(
    Source(text.format(word), ("p.age", "p.weight"), (("p.sex", _SEX[:2]),), ("p.born",), ("p.smoker",),
           (), ("p.person",), "clinic")
    for text in _MEMBERS
    for word in ("", "NOT ")
)  # fmt: skip
_SAME_WARD = Source(
    "(SELECT * FROM visits AS v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = v.person "
    "AND w.ward = v.ward AND w.code <> v.code)) AS v",
    ("v.cost", "v.code"),
    (("v.ward", ("A", "B", "C")),),
    ("v.day",),
    (),
    ("v.reason",),
    ("v.person",),
    "clinic",
)
_NARROWED_LEFT = Source(
    "patients AS p LEFT JOIN visits AS v ON p.person = v.person AND v.cost > 20",
    ("p.age", "v.cost", "v.code"),
    (("p.sex", _SEX[:2]), ("v.ward", ("A", "B", "C"))),
    ("v.day",),
    ("p.smoker",),
    (),
    ("p.person",),
    "clinic",
)
_NATURAL = Source(
    "visits NATURAL JOIN wards",
    ("cost", "floor"),
    (("ward", ("A", "B", "C")), ("wing", ("east", "west"))),
    ("day",),
    (),
    ("reason",),
    ("person",),
    "clinic",
)
_MEAN_EACH = Source(
    "(SELECT person, AVG(cost) AS mean, AVG(code) AS rank, COUNT(*) AS n FROM visits GROUP BY 1) AS u",
    ("mean", "rank", "n"),
    (),
    (),
    (),
    (),
    (),
    "clinic",
)

SOURCES = (
    *_ARE_MEMBERS,
    _SAME_WARD,
    _NARROWED_LEFT,
    _NATURAL,
    _MEAN_EACH,
    _PEOPLE,
    _PEOPLE,
    _PEOPLE,
    _PEOPLE_ZIPS,
    _PEOPLE_LEFT,
    _PEOPLE_SUB,
    _PATIENTS,
    _PATIENTS,
    _VISITS,
    _VISITS,
    _BOTH,
    _BOTH_LEFT,
    _WARDS,
    _SELF,
    _PER_PERSON,
    _PER_PERSON_HAVING,
    _PER_PERSON_JOIN,
    _CTE,
)


class Questions:
    """Draws SQL. Most of it is accepted; what is refused is refused with a sentence."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.source = _PEOPLE

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def question(self) -> str:
        rng = self.rng
        self.source = rng.choice(SOURCES)
        keys = [self.key() for _ in range(self.pick(0, 0, 1, 1, 1, 2))]
        keys = [key for key in keys if key]
        aggregates = [self.aggregate() for _ in range(self.pick(1, 1, 1, 2, 3))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        shown += [f"{text} AS a{i}" for i, text in enumerate(aggregates)]
        head = CTE if self.source is _CTE else ""
        text = f"{head}SELECT {', '.join(shown)} FROM {self.source.text}"
        if rng.random() < 0.5:
            text += f" WHERE {self.truth(2)}"
        if keys:
            text += (
                f" GROUP BY {', '.join(self.pick(keys, [str(i + 1) for i in range(len(keys))]))}"
            )
        if rng.random() < 0.1:
            text += f" HAVING {self.pick('COUNT(*) > 3', aggregates[0] + ' > 1')}"
        if rng.random() < 0.2:
            text += f" ORDER BY {self.pick('a0', '1 DESC', 'a0 DESC NULLS LAST')}"
            text += self.pick("", " LIMIT 3", " LIMIT 2 OFFSET 1")
        return text

    def key(self) -> str:
        s = self.source
        options = [name for name, _ in s.texts] * 3 + list(s.truths) + list(s.private)
        options += [f"EXTRACT(YEAR FROM {day})" for day in s.days]
        options += [f"DATE_TRUNC('month', {day})" for day in s.days[:1]]
        small = [n for n in s.numbers if n.endswith(("age", "area", "score", "floor", ".n"))]
        options += [*small, *(f"FLOOR({n} / 10)" for n in small), *(f"{n} // 7" for n in small)]
        options += [f"CASE WHEN {self.truth(1)} THEN 'yes' ELSE 'no' END"]
        options += [f"LEFT({name}, 1)" for name, _ in s.texts[:1]]
        options += [f"{name} || '-' || LOWER({name})" for name, _ in s.texts[:1]]
        options += [
            f"CONCAT({name}, {other})"
            for (name, _), (other, _) in zip(s.texts, s.texts[1:], strict=False)
        ]
        options += [f"STRFTIME({day}, '%Y-%m')" for day in s.days[:1]]
        options += [f"LAST_DAY({day})" for day in s.days[:1]]
        options += [f"SUBSTRING(UPPER({name}), 1, 2)" for name in s.private]
        options += [f"WIDTH_BUCKET({n}, 0, 100, 4)" for n in s.numbers[:1]]
        return self.rng.choice(options)

    def aggregate(self) -> str:
        s = self.source
        number = lambda: self.number(2)  # noqa: E731  # a fresh expression each time
        options = [
            lambda: "COUNT(*)",
            lambda: f"COUNT({number()})",
            lambda: f"COUNT(DISTINCT {self.pick(*(s.identifiers or ('1',)), *s.numbers)})",
            lambda: f"SUM({number()})",
            lambda: f"SUM({number()})",
            lambda: f"AVG({number()})",
            lambda: f"AVG({number()})",
            lambda: f"VAR_POP({number()})",
            lambda: f"STDDEV({self.pick(*s.numbers)})",
            lambda: f"MEDIAN({self.pick(*s.numbers)})",
            lambda: f"QUANTILE_CONT({number()}, {self.pick('0.25', '0.9', '0.333')})",
            lambda: f"{self.pick('MIN', 'MAX')}({number()})",
            lambda: f"MIN({s.days[0]})" if s.days else "COUNT(*)",
            lambda: f"COUNT(*) FILTER (WHERE {self.truth(1)})",
            lambda: f"SUM({number()}) FILTER (WHERE {self.truth(1)})",
            lambda: f"SUM(CASE WHEN {self.truth(1)} THEN {number()} ELSE {number()} END)",
            lambda: f"COUNT(CASE WHEN {self.truth(1)} THEN 1 END)",
            lambda: f"{self.pick('SUM', 'AVG', 'VARIANCE')}(DISTINCT {number()})",
            lambda: f"COUNT_IF({self.truth(1)})",
            lambda: f"SUM({self.truth(0)})",
            lambda: f"{self.pick('CORR', 'COVAR_POP', 'REGR_SLOPE')}({number()}, {number()})",
            lambda: f"COUNT(DISTINCT {self.pick(*s.private, '1')})",
            lambda: f"AVG(LENGTH({self.pick(*s.private)}))" if s.private else "COUNT(*)",
        ]
        return self.rng.choice(options)()

    def constant(self) -> str:
        return self.pick("0", "1", "3", "17", "50", "100", "0.5", "-4", "2.25", "1000", "99999")

    def number(self, depth: int) -> str:
        s = self.source
        if depth <= 0 or self.rng.random() < 0.35:
            return self.pick(*s.numbers)
        one, two = self.number(depth - 1), self.number(depth - 1)
        options = [
            f"({one} + {two})",
            f"({one} - {two})",
            f"({one} * {self.constant()})",
            f"({one} + {self.constant()})",
            f"({one} / {self.pick('2', '3', '7', '-4', '0.5')})",
            f"({one} // {self.pick('2', '10', '7')})",
            f"({one} % {self.pick('2', '10', '7', '0.75')})",
            f"-{one}",
            f"ABS({one})",
            f"FLOOR({one})",
            f"CEIL({one})",
            f"ROUND({self.pick(*s.numbers)})",
            f"SIGN({self.pick(*s.numbers)})",
            f"LEAST({one}, {two})",
            f"GREATEST({one}, {self.constant()})",
            f"CLAMP({one}, 3, 70)",
            f"COALESCE({one}, {self.constant()})",
            f"NULLIF({one}, {self.constant()})",
            f"CASE WHEN {self.truth(depth - 1)} THEN {one} ELSE {two} END",
            f"CASE WHEN {self.truth(depth - 1)} THEN {one} END",
            f"CAST({one} AS INTEGER)",
            f"({self.pick(*s.numbers)} * {self.pick(*s.numbers)})",
            f"POWER({self.pick(*s.numbers)}, 2)",
            f"({one} / {self.pick(*s.numbers)})",
            f"({one} / NULLIF(ABS({two}), 0))",
            f"ROUND({one}, {self.pick('0', '1', '-1', '-2')})",
            f"LN({self.pick(*s.numbers)} + 2)",
            f"CAST({one} AS DECIMAL(20, {self.pick('0', '1')}))",
        ]
        options += [f"POSITION('a' IN {name})" for name, _ in s.texts]
        options += [
            f"DATE_DIFF('{self.pick('year', 'week')}', {day}, DATE '2001-01-01')" for day in s.days
        ]
        options += [f"EXTRACT({self.part()} FROM {day})" for day in s.days]
        options += [f"({day} - DATE '2000-03-01')" for day in s.days]
        options += [f"LENGTH({name})" for name, _ in s.texts]
        return self.rng.choice(options)

    def part(self) -> str:
        return self.pick("YEAR", "QUARTER", "MONTH", "DAY", "DOW", "ISODOW", "WEEK", "DOY")

    def comparison(self) -> str:
        return self.pick("=", "<>", "<", "<=", ">", ">=")

    def truth(self, depth: int) -> str:
        s = self.source
        if depth > 0 and self.rng.random() < 0.45:
            one, two = self.truth(depth - 1), self.truth(depth - 1)
            return self.pick(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        column = self.pick(*s.numbers)
        options = [
            f"{column} {self.comparison()} {self.constant()}",
            f"{column} BETWEEN {self.constant()} AND 60",
            f"{column} BETWEEN SYMMETRIC 60 AND {self.constant()}",
            f"({column}, {self.pick(*s.numbers)}) IN ((1, 2), (30, 50.5))",
            f"({column}, {self.pick(*s.numbers)}) <> (30, 2)",
            f"{column} IN (1, 2, 30, 50.5)",
            f"{column} IS NULL",
            f"{column} IS NOT NULL",
            f"{self.number(depth)} {self.comparison()} {self.constant()}",
            f"{self.number(depth)} {self.comparison()} {self.number(depth)}",
            f"({column} > 20) IS NOT TRUE",
        ]
        for name, values in s.texts:
            value = self.pick(*values, "nobody", " Male").replace("'", "''")
            options += [
                f"{name} {self.comparison()} '{value}'"
                if value in values
                else f"{name} = '{value}'",
                f"{name} IN ('{value}', 'x', NULL)",
                f"{name} NOT IN ('{value}')",
                f"{name} LIKE '%{value[-2:]}%'",
                f"UPPER({name}) = '{value.upper()}'",
                f"{name} IS NULL",
                f"regexp_matches({name}, '^[A-M]')",
                f"REPLACE({name}, 'a', 'o') <> {name}",
            ]
        for name in s.private:
            options += [
                f"{name} LIKE '%a%'",
                f"{name} <> ''",
                f"LENGTH({name}) > 2",
                f"regexp_matches({name}, '[a-f]+')",
                f"SPLIT_PART({name}, ' ', 1) = 'x'",
                f"{name} IS DISTINCT FROM 'b'",
            ]
        for day in s.days:
            options += [
                f"{day} + INTERVAL 1 MONTH > DATE '2000-01-01'",
                f"{day} {self.comparison()} '2020-06-15'",
                f"EXTRACT({self.part()} FROM {day}) = {self.pick('3', '12', '2020', '1999')}",
                f"{day} > DATE '2021-01-31' - INTERVAL 1 MONTH",
            ]
        options += list(s.truths) + [f"{name} IS NOT FALSE" for name in s.truths]
        return self.rng.choice(options)


TOKENS = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "COUNT(*)",
    "SUM(",
    "AVG(",
    "(",
    ")",
    ",",
    ".",
    ";",
    "--",
    "/*",
    "*/",
    "'",
    '"',
    "$$",
    "people",
    "visits",
    "patients",
    "zips",
    "age",
    "income",
    "sex",
    "note",
    "person",
    "town",
    "*",
    "+",
    "-",
    "/",
    "//",
    "%",
    "=",
    "<>",
    "<",
    ">",
    "IN",
    "IS",
    "NULL",
    "NOT",
    "AND",
    "OR",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "OVER",
    "(PARTITION",
    "UNION",
    "ALL",
    "EXCEPT",
    "INTERSECT",
    "WITH",
    "RECURSIVE",
    "AS",
    "(SELECT",
    "LATERAL",
    "CROSS",
    "JOIN",
    "NATURAL",
    "LEFT",
    "RIGHT",
    "FULL",
    "ON",
    "USING(",
    "DISTINCT",
    "TABLESAMPLE",
    "10%",
    "QUALIFY",
    "WINDOW",
    "read_csv('x')",
    "pg_sleep(9)",
    "query('x')",
    "::",
    "INTEGER",
    "VARCHAR",
    "CAST(",
    "1e999",
    "0x1F",
    "1e400",
    "'2020-13-45'",
    "DATE",
    "INTERVAL",
    "'1'",
    "MONTH",
    "TRUE",
    "FALSE",
    "'SECRET'",
    "DROP",
    "TABLE",
    "DELETE",
    "COPY",
    "PRAGMA",
    "SET",
    "INSTALL",
    "ATTACH",
    "EXPLAIN",
    "SUMMARIZE",
    "VALUES",
    "(1,2)",
    "UNNEST([1,2])",
    "{'a':1}",
    "[1]",
    "->",
    "->>",
    "@",
    "#",
    "~",
    "^",
    "|",
    "&",
    "!",
    "LIKE",
    "ILIKE",
    "SIMILAR",
    "TO",
    "ESCAPE",
    "BETWEEN",
    "EXISTS",
    "ANY(",
    "ALL(",
    "FILTER(",
    "WITHIN",
    "GROUP(",
    "ROLLUP(",
    "CUBE(",
    "GROUPING",
    "SETS((",
    "FETCH",
    "FIRST",
    "1",
    "ROWS",
    "ONLY",
    "FOR",
    "UPDATE",
    "OFFSET",
    "-1",
    "NULLS",
    "LAST",
    "information_schema.tables",
]


class Mutator:
    """Breaks valid statements: swaps, drops and repeats words, splices, or writes from tokens."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.questions = Questions(rng)

    def statement(self) -> str:
        if self.rng.random() < 0.1:
            count = self.rng.randint(1, 25)
            return " ".join(self.rng.choice(TOKENS) for _ in range(count))
        text = self.questions.question()
        for _ in range(self.rng.choice([1, 1, 1, 2, 4])):
            text = self.typed(text) if self.rng.random() < 0.5 else self.broken(text)
        return text

    def typed(self, text: str) -> str:
        """Return the text with one operand of another type: still well formed, often nonsense."""
        words = re.split(r"([\s(),]+)", text)
        places = [
            i
            for i, word in enumerate(words)
            if i > 1 and re.fullmatch(r"[a-z.]+|-?[0-9.]+|'[^']*'", word)
        ]
        if not places:
            return text
        other = ["'x'", "'5'", "3", "0", "1e-18", "1e17", "age", "sex", "born", "NULL", "TRUE"]
        words[self.rng.choice(places)] = self.rng.choice([*other, "(SELECT 1)", "note", "-1.5"])
        return "".join(words)

    def broken(self, text: str) -> str:
        words = text.split(" ")
        place = self.rng.randrange(len(words))
        match self.rng.randint(0, 7):
            case 0:
                del words[place]
            case 1:
                words.insert(place, self.rng.choice(TOKENS))
            case 2:
                words[place] = self.rng.choice(TOKENS)
            case 3:
                words[place] = self.rng.choice(words)
            case 4:
                words = words[place:] + words[:place]
            case 5:
                other = self.questions.question().split(" ")
                words = words[:place] + other[self.rng.randrange(len(other)) :]
            case 6:
                spot = self.rng.randrange(len(text))
                return text[:spot] + self.rng.choice("'\"();,.*%\\\x00é0\n") + text[spot + 1 :]
            case _:
                words[place] = f"({self.questions.question()})"
        return " ".join(words)
