"""Rows for attacking the curator: mostly good cells, and everything that breaks others."""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import pyarrow as pa

from sittings import FULL

UNIT = {"people": "row_number", "patients": "person", "visits": "person"}
"""The column that says whose row it is, by private table."""
WIDE = FULL
BORN = (dt.date(1930, 1, 1) if WIDE else dt.date(1998, 1, 1), dt.date(2001, 12, 31))
"""Days of birth. What is worked out for each of them makes statements of megabytes: few, but for the full counts."""

BIG = [2**53, 2**53 + 1, -(2**53), 2**62, -(2**62), 2**63 - 1, -(2**63)]
REALS = [math.nan, math.inf, -math.inf, -0.0, 0.0, 2.0**53, 2.0**62, -(2.0**62), 1e300, 5e-324]
SCHEMAS = {
    "people": pa.schema(
        {
            "row_number": pa.int64(),
            "age": pa.int64(),
            "sex": pa.string(),
            "zip": pa.string(),
            "income": pa.float64(),
            "balance": pa.int64(),
            "score": pa.string(),
            "born": pa.date32(),
            "married": pa.bool_(),
            "town": pa.string(),
            "badge": pa.string(),
            "note": pa.string(),
        }
    ),
    "zips": pa.schema({"zip": pa.string(), "state": pa.string(), "area": pa.int64()}),
    "patients": pa.schema(
        {
            "person": pa.int64(),
            "sex": pa.string(),
            "age": pa.int64(),
            "weight": pa.float64(),
            "smoker": pa.bool_(),
            "born": pa.date32(),
        }
    ),
    "visits": pa.schema(
        {
            "person": pa.int64(),
            "ward": pa.string(),
            "day": pa.string(),
            "cost": pa.float64(),
            "code": pa.int64(),
            "reason": pa.string(),
        }
    ),
    "wards": pa.schema({"ward": pa.string(), "floor": pa.int64(), "wing": pa.string()}),
}


class Nasty:
    """Draws cells: mostly good ones, and everything that breaks others."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def cell(self, good: Any, bad: list[Any], chance: float = 0.25) -> Any:
        if self.rng.random() < chance:
            return self.rng.choice([None, *bad])
        return good

    def integer(self, low: int, high: int) -> Any:
        edges = [low - 1, high + 1, low, high, low, high, 9 * high, -9 * high, *BIG[::3]]
        return self.cell(self.rng.randint(low, high), edges, 0.4)

    def real(self, low: float, high: float) -> Any:
        edges = [low, high, low, high, low - 1, 9 * high, high + 0.001, *REALS]
        return self.cell(round(self.rng.uniform(low, high), 3), edges, 0.4)

    def text(self, values: list[str]) -> Any:
        odd = [" " + values[0], values[0].lower(), values[0] + "\n", "", "unknown", "'; DROP", "é"]
        return self.cell(self.rng.choice(values), odd)

    def day(self, first: dt.date, last: dt.date) -> Any:
        inside = first + dt.timedelta(days=self.rng.randint(0, (last - first).days))
        odd = [first, last, dt.date(1, 1, 1), dt.date(9999, 12, 31), first - dt.timedelta(days=1)]
        return self.cell(inside, odd)

    def written_day(self, first: dt.date, last: dt.date) -> Any:
        found = self.day(first, last)
        odd = ["2020-02-30", "x", "2020-1-1", " 2020-05-05", "2021-12-31T10:00"]
        return self.cell(None if found is None else found.isoformat(), odd, 0.1)

    def person(self, row: int) -> dict[str, Any]:
        scores = ["0.5", "7", "10", " 3", "1e1", "NaN", "inf", "9" * 40, "abc", "3.25", "-0"]
        return {
            "row_number": row,
            "age": self.integer(0, 120),
            "sex": self.text(["Female", "Male", "O'Neil"]),
            "zip": self.text(["02138", "02139", "10001", "94110"]),
            "income": self.real(-1000, 500000),
            "balance": self.integer(-1_000_000, 1_000_000),
            "score": self.rng.choice(scores),
            "born": self.day(*BORN),
            "married": self.rng.choice([True, False, None]),
            "town": self.rng.choice(["Ashby", "Boxford", "Ashby ", "", None, f"own {row}"]),
            "badge": self.rng.choice([f"b{self.rng.randint(0, 9)}", None]),
            "note": f"SECRET-{row}",
        }

    def patient(self, person: int | None) -> dict[str, Any]:
        return {
            "person": person,
            "sex": self.text(["Female", "Male"]),
            "age": self.integer(0, 120),
            "weight": self.real(0, 90),
            "smoker": self.rng.choice([True, False, None]),
            "born": self.day(*BORN),
        }

    def visit(self, person: int | None) -> dict[str, Any]:
        return {
            "person": person,
            "ward": self.text(["A", "B", "C"]),
            "day": self.written_day(dt.date(2020, 1, 1), dt.date(2020, 12, 31)),
            "cost": self.real(-50, 50),
            "code": self.integer(0, 100000),
            "reason": self.rng.choice(["fall", "flu", "", None, f"private {person}", "Fall"]),
        }

    def unit(self, table: str, unit: int | None, rows: int) -> list[dict[str, Any]]:
        make = {"people": self.person, "patients": self.patient, "visits": self.visit}[table]
        return [make(unit) for _ in range(rows)]  # type: ignore[operator]

    def rows(self, table: str, units: int = 12) -> list[dict[str, Any]]:
        if table == "people":
            return [self.person(i) for i in range(units)]
        crowd = self.rng.randint(0, units - 1)
        found: list[dict[str, Any]] = []
        for unit in range(units):
            most = 40 if unit == crowd else 3
            # Several rows of one patient contradict what is declared constant: that is the point.
            found += self.unit(table, unit, self.rng.randint(0, most))
        return found + self.unit(table, None, 2)

    def public(self, table: str) -> list[dict[str, Any]]:
        if table == "zips":
            # Keys twice, three times, five times: more than declared.
            keys = ["02138"] * 5 + ["02139"] * 3 + ["10001", "94110", None, "?"]
            return [
                {"zip": z, "state": self.rng.choice(["MA", "NY", "CA", None]), "area": i % 50}
                for i, z in enumerate(keys)
            ]
        keys = ["A"] * 4 + ["B", "B", "C", None, "Z"]
        return [
            {"ward": w, "floor": i % 11, "wing": self.rng.choice(["east", "west", "x"])}
            for i, w in enumerate(keys)
        ]


def world_rows(rng: random.Random, units: int = 12) -> dict[str, list[dict[str, Any]]]:
    nasty = Nasty(rng)
    found = {table: nasty.rows(table, units) for table in UNIT}
    return {**found, **{table: nasty.public(table) for table in ("zips", "wards")}}


def arrow(table: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMAS[table])
