"""Adversarial expressions for `hunt.py`: odd literals, types mixed now and then, every function of docs/sql.md."""

from __future__ import annotations

import random
from dataclasses import dataclass

NUMBERS = "0 1 -1 2 3 7 0 1 2 5 10 60 0.5 -0.25 1e-9 -0.0 100 1e308 9223372036854775807 -9223372036854775808"
NUMBERS += " 4611686018427387904 2147483648 0.1 1e18 99999 1e-320"
TEXTS = [
    "a",
    "A",
    "",
    " ",
    "a ",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "İ",
    "\u0131",
    "\u200d",
    "ﬁ",
    "%",
    "_",
    "x|y",
]
TEXTS += [
    "10",
    "010",
    "\\",
    "''",
    "ŉ",
    "NaN",
    "NULL",
    "Straße",
    "b",
    "m",
    "f",
    "\u0345",
    "ǆ",
    "\u212a",
]
DATES = [
    "2000-02-29",
    "1999-12-31",
    "2004-02-29",
    "2000-01-01",
    "0001-01-01",
    "9999-12-31",
    "2001-02-28",
    "2000-03-01",
]
PATTERNS = ["%", "_", "a%", "%\\%%", "_%_", "%a%e%", "é%", "%́", "", "A_", "\\_", "%%", "[a]%"]
REGEXES = [
    "^a",
    "a|b",
    "(a)(b)?",
    "[^a]+$",
    "\\d{2,3}",
    "(?i)É",
    ".",
    "^$",
    "\\bx",
    "[[:alpha:]]*",
    "(a*)*b",
]
PARTS = ["year", "quarter", "month", "day", "dow", "isodow", "week", "doy"]


@dataclass(frozen=True)
class Relation:
    """What may stand behind FROM: its text and its columns as (reference, kind)."""

    text: str
    columns: tuple[tuple[str, str], ...]

    def of(self, *kinds: str) -> list[str]:
        """Return the columns of these kinds."""
        return [name for name, kind in self.columns if kind in kinds]


class Expressions:
    """Draws expressions over the columns of `scope`; `dice` decides everything."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.scope = Relation("", ())
        self.deep = True

    def one(self, *options: str) -> str:
        """Return one of these."""
        return self.dice.choice(options)

    def chance(self, share: float) -> bool:
        """Return True in this share of cases."""
        return self.dice.random() < share

    def condition(self) -> str:
        """Return a truth value of a row."""
        return self.value("bool", self.dice.choice([1, 1, 2]))

    def text(self) -> str:
        """Return a text literal."""
        return "'" + self.dice.choice(TEXTS).replace("'", "''") + "'"

    def value(self, kind: str, depth: int) -> str:
        """Return an expression of a kind, now and then of another one."""
        if self.chance(0.02):
            kind = self.one("int", "text", "date", "bool", "time")
        depth = depth if self.deep else min(depth, 1)
        known = self.scope.of(*({"num", "int"} if kind in {"num", "int"} else {kind}))
        if known and (depth <= 0 or self.chance(0.3)):
            return self.one(*known)
        if depth <= 0:
            return self.literal(kind)
        down = depth - 1
        build = {
            "bool": self.truth,
            "text": self.words,
            "cat": self.words,
            "date": self.day,
            "time": self.day,
        }
        return build.get(kind, self.number)(down)

    def literal(self, kind: str) -> str:
        """Return a constant."""
        if kind in {"text", "cat"}:
            return self.text()
        if kind in {"date", "time"}:
            clock = " 23:59:59" if kind == "time" else ""
            return f"{'TIMESTAMP' if clock else 'DATE'} '{self.one(*DATES)}{clock}'"
        return self.one("TRUE", "FALSE", "NULL") if kind == "bool" else self.one(*NUMBERS.split())

    def number(self, down: int) -> str:
        """Return a number."""
        x, y = self.value("num", down), self.value("int", down)
        s, d, t = self.value("text", down), self.value("date", down), self.value("time", down)
        c = self.one(*NUMBERS.split())
        return self.one(
            f"({x} {self.one('+', '-', '*')} {y})",
            f"({x} {self.one('+', '-', '*')} {c})",
            f"({x} {self.one('/', '//', '%')} {self.one('2', '-3', '0.25', '1e9', y)})",
            f"-({x})",
            f"{self.one('ABS', 'FLOOR', 'CEIL', 'SIGN', 'SQRT', 'LN', 'EXP', 'LOG2')}({x})",
            f"ROUND({x}, {self.one('0', '1', '-1', '-20')})",
            f"POWER({x}, {self.one('2', '3', '0.5', '-1', '0')})",
            f"{self.one('LEAST', 'GREATEST', 'COALESCE', 'NULLIF')}({x}, {self.one(y, c)})",
            f"CLAMP({x}, {self.one('-3', '0')}, {self.one('5', '1e9')})",
            f"CASE WHEN {self.value('bool', down)} THEN {x} ELSE {self.one(y, c, 'NULL')} END",
            f"CASE {y} WHEN 1 THEN {x} WHEN NULL THEN {c} WHEN 2.5 THEN 3 ELSE {y} END",
            f"CAST({x} AS {self.one('INTEGER', 'BIGINT', 'DECIMAL(18, 2)', 'DOUBLE', 'SMALLINT', 'HUGEINT')})",
            f"TRY_CAST({s} AS {self.one('INTEGER', 'DOUBLE', 'DECIMAL(9, 3)')})",
            f"CAST({self.value('bool', down)} AS {self.one('INTEGER', 'DOUBLE')})",
            f"LENGTH({s})",
            f"POSITION({self.text()} IN {s})",
            f"EXTRACT({self.one(*PARTS)} FROM {self.one(d, t)})",
            f"{self.one('HOUR', 'MINUTE', 'SECOND', 'YEAR', 'EPOCH')}({t})",
            f"DATE_DIFF('{self.one('day', 'month', 'year', 'week', 'second', 'hour')}', {d}, {self.one(d, t)})",
            f"({d} - DATE '{self.one(*DATES)}')",
            f"WIDTH_BUCKET({x}, {self.one('0', '-5')}, 10, {self.one('1', '4', '1000')})",
        )

    def words(self, down: int) -> str:
        """Return a text."""
        s, other = self.value("text", down), self.value(self.one("cat", "text"), down)
        return self.one(
            f"{self.one('UPPER', 'LOWER', 'TRIM', 'REVERSE')}({s})",
            f"{self.one('LEFT', 'RIGHT')}({s}, {self.one('0', '1', '2', '100000')})",
            f"SUBSTRING({s}, {self.one('0', '1', '2', '-1')}, {self.one('0', '1', '3')})",
            f"REPLACE({s}, {self.text()}, {self.text()})",
            f"SPLIT_PART({s}, {self.text()}, {self.one('1', '2', '-1')})",
            f"REGEXP_REPLACE({s}, '{self.one(*REGEXES)}', '{self.one('', 'x', '<<0>>', '[1]')}')",
            f"({s} || {other})",
            f"CONCAT({s}, {other}, {self.text()})",
            f"CASE WHEN {self.value('bool', down)} THEN {s} ELSE {other} END",
            f"COALESCE({s}, {self.text()})",
            f"NULLIF({s}, {self.text()})",
            f"CAST({self.value(self.one('int', 'date', 'bool'), down)} AS VARCHAR)",
            f"STRFTIME({self.value('date', down)}, '{self.one('%Y-%m', '%Y', '%d.%m.%Y')}')",
            f"{self.one('DAYNAME', 'MONTHNAME')}({self.value('date', down)})",
            self.text(),
        )

    def day(self, down: int) -> str:
        """Return a date or a moment."""
        d = self.value(self.one("date", "time"), down)
        unit = self.one("DAY", "MONTH", "YEAR", "WEEK", "HOUR")
        return self.one(
            f"({d} {self.one('+', '-')} INTERVAL {self.one('1', '13', '400', '-1')} {unit})",
            f"DATE_TRUNC('{self.one('month', 'year', 'week', 'quarter', 'hour', 'minute')}', {d})",
            f"LAST_DAY({d})",
            f"CAST({d} AS DATE)",
            f"TRY_CAST({self.value('text', down)} AS DATE)",
            f"TIME_BUCKET(INTERVAL '{self.one('15 minutes', '1 week', '6 hours')}', {d})",
            f"CASE WHEN {self.value('bool', down)} THEN {d} END",
            f"COALESCE({d}, DATE '{self.one(*DATES)}')",
            self.literal(self.one("date", "time")),
        )

    def truth(self, down: int) -> str:
        """Return a truth value."""
        kind = self.one("int", "num", "cat", "text", "date", "time", "bool")
        x, y, c = self.value(kind, down), self.value(kind, down), self.literal(kind)
        s, sign = (
            self.value(self.one("text", "cat"), down),
            self.one("=", "<>", "<", "<=", ">", ">="),
        )
        p, q = self.value("bool", down), self.value("bool", down)
        return self.one(
            f"{x} {sign} {c}",
            f"{x} {sign} {c}",
            f"{x} {sign} {y}",
            f"({p} {self.one('AND', 'OR')} {q})",
            f"NOT ({p})",
            f"{x} {self.one('IS NULL', 'IS NOT NULL')}",
            f"({p}) {self.one('IS TRUE', 'IS NOT TRUE', 'IS FALSE', 'IS NOT FALSE', 'IS NULL')}",
            f"{x} IS {self.one('', 'NOT ')}DISTINCT FROM {self.one(c, 'NULL')}",
            f"{x} {self.one('', 'NOT ')}IN ({c}, {self.literal(kind)}, {self.one('NULL', c)})",
            f"{x} {self.one('', 'NOT ')}BETWEEN {self.one('', 'SYMMETRIC ')}{c} AND {self.literal(kind)}",
            f"{s} {self.one('', 'NOT ')}{self.one('LIKE', 'ILIKE')} '{self.one(*PATTERNS)}'",
            f"{s} LIKE '{self.one(*PATTERNS)}' ESCAPE '{self.one('!', chr(92))}'",
            f"REGEXP_MATCHES({s}, '{self.one(*REGEXES)}')",
            f"{self.one('STARTS_WITH', 'CONTAINS', 'ENDS_WITH')}({s}, {self.text()})",
            f"({x}, {s}) IN (({c}, {self.text()}), (NULL, 'a'))",
            f"{x} = ANY(ARRAY[{c}, {self.literal(kind)}])",
            f"CASE WHEN {p} THEN {q} ELSE NULL END",
        )
