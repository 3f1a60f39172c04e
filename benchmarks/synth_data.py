"""Eleven generated tables with declarations, and the files of the shared folder: what copies are tried on.

Mixed types, heavy tails, codes with thousands of values, gaps, days in order, columns that follow from
others. Settings were fixed on TUNED; figures are reported on HELD_OUT, which nothing was tuned on.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TUNED = ("shop", "likert", "chain", "noise", "bank", "adult", "hmeq")
HELD_OUT = ("clinic", "villages", "sensors", "small", "wide", "odd", "acs", "pums")
FIRST = dt.date(2015, 1, 1)
ZERO = (FIRST - dt.date(1970, 1, 1)).days


@dataclass(frozen=True)
class Example:
    """A table and the lines that declare its columns."""

    rows: pa.Table
    columns: dict[str, str]

    def write(self, folder: Path, *, epsilon: str = "100000", delta: str = "1e-6") -> Path:
        """Write the table and its discreet.toml into a folder."""
        pq.write_table(self.rows, folder / "t.parquet")
        lines = [f'"{name}" = {{ {said} }}' for name, said in self.columns.items()]
        text = f"""[datasets.example]
epsilon = {epsilon}
delta = {delta}
[datasets.example.tables.t]
source = "t.parquet"
unit = "row"
[datasets.example.tables.t.columns]
{chr(10).join(lines)}
"""
        (folder / "discreet.toml").write_text(text, encoding="utf-8")
        return folder / "discreet.toml"


def integer(lower: int, upper: int, *, missing: bool = False) -> str:
    return f'type = "integer", lower = {lower}, upper = {upper}' + _gaps(missing)


def number(lower: float, upper: float, step: float, *, missing: bool = False) -> str:
    return f'type = "number", lower = {lower}, upper = {upper}, step = {step}' + _gaps(missing)


def category(values: list[str], *, missing: bool = False) -> str:
    listed = ", ".join(f'"{value}"' for value in values)
    return f'type = "category", values = [{listed}]' + _gaps(missing)


def date(first: int, last: int) -> str:
    return f'type = "date", lower = {first}-01-01, upper = {last}-12-31'


def _gaps(missing: bool) -> str:
    return ", missing = true" if missing else ""


def _days(days: np.ndarray) -> pa.Array:
    return pa.array((days + ZERO).astype(np.int32)).cast(pa.date32())


def _with_gaps(values: np.ndarray, gaps: np.ndarray) -> pa.Array:
    return pa.array(values.tolist(), mask=gaps)


def shop(rng: np.random.Generator, rows: int = 30_000) -> Example:
    """Orders: 2,808 codes by frequency, log-normal prices, totals, days in order."""
    codes = [f"{chr(65 + i // 108)}{i % 108:02d}.{j}" for i in range(702) for j in range(4)]
    chances = 1 / np.arange(1, len(codes) + 1) ** 1.1
    code = rng.choice(len(codes), rows, p=chances / chances.sum())
    kind = code % 7
    price = np.round(np.clip(np.exp(rng.normal(2.5 + 0.3 * kind, 0.9)), 0.5, 5000), 2)
    quantity = np.minimum(1 + rng.poisson(6 / (1 + price / 20)), 20)
    ordered = rng.integers(0, 1500, rows)
    sent = ordered + rng.poisson(2 + kind, rows)
    rows_ = {
        "code": pa.array([codes[i] for i in code]),
        "kind": pa.array([f"k{i}" for i in kind]),
        "price": pa.array(price),
        "quantity": pa.array(quantity),
        "total": pa.array(np.round(price * quantity, 2)),
        "ordered": _days(ordered),
        "sent": _days(sent),
        "member": pa.array(rng.random(rows) < 1 / (1 + np.exp(-(price - 30) / 20))),
    }
    return Example(
        pa.table(rows_),
        {
            "code": category(codes),
            "kind": category([f"k{i}" for i in range(7)]),
            "price": number(0, 5000, 0.01),
            "quantity": integer(1, 20),
            "total": number(0, 100_000, 0.01),
            "ordered": date(2015, 2020),
            "sent": date(2015, 2020),
            "member": 'type = "boolean"',
        },
    )


def likert(rng: np.random.Generator, rows: int = 6_000) -> Example:
    """A questionnaire: 18 answers of five steps behind which stand three hidden traits."""
    traits = rng.normal(size=(rows, 3))
    loads = rng.normal(size=(3, 18)) * (rng.random((3, 18)) < 0.5)
    score = traits @ loads + rng.normal(size=(rows, 18))
    answers = np.clip(np.floor(score + 2.5), 0, 4).astype(np.int64)
    columns = {f"q{i}": pa.array(answers[:, i]) for i in range(18)}
    columns["group"] = pa.array([f"g{i}" for i in (traits[:, 0] * 2 + 4).clip(0, 7).astype(int)])
    said = {f"q{i}": integer(0, 4) for i in range(18)}
    return Example(pa.table(columns), said | {"group": category([f"g{i}" for i in range(8)])})


def chain(rng: np.random.Generator, rows: int = 20_000) -> Example:
    """Places inside places, and a class that follows from two others: rules without exception."""
    block = np.minimum((rng.gamma(1.2, 60, rows)).astype(int), 399)
    town, state = block // 10, block // 80
    sex = rng.integers(0, 2, rows)
    age = np.clip(rng.normal(40 + 3 * state, 18), 0, 99).astype(int)
    grade = np.where(age < 18, 0, np.where(sex == 1, 1 + town % 3, 4))
    columns = {
        "block": pa.array([f"b{i:03d}" for i in block]),
        "town": pa.array([f"t{i:02d}" for i in town]),
        "state": pa.array([f"s{i}" for i in state]),
        "sex": pa.array([("F", "M")[i] for i in sex]),
        "age": pa.array(age),
        "grade": pa.array(grade),
    }
    return Example(
        pa.table(columns),
        {
            "block": category([f"b{i:03d}" for i in range(400)]),
            "town": category([f"t{i:02d}" for i in range(40)]),
            "state": category([f"s{i}" for i in range(5)]),
            "sex": category(["F", "M"]),
            "age": integer(0, 99),
            "grade": integer(0, 4),
        },
    )


def noise(rng: np.random.Generator, rows: int = 4_000) -> Example:
    """Columns that have nothing to do with each other."""
    sizes = (2, 3, 5, 10, 25, 60, 120, 200)
    columns = {
        f"c{i}": pa.array(np.minimum(rng.geometric(min(0.6, 3 / size), rows) - 1, size - 1))
        for i, size in enumerate(sizes)
    }
    return Example(pa.table(columns), {f"c{i}": integer(0, s - 1) for i, s in enumerate(sizes)})


def bank(rng: np.random.Generator, rows: int = 12_000) -> Example:
    """Heavy tails that hang together: income, savings with many zeros, debts with gaps."""
    age = np.clip(rng.normal(46, 15, rows), 18, 95).astype(int)
    skill = rng.normal(size=rows)
    income = np.exp(10.2 + 0.5 * skill + 0.006 * (age - 40) + rng.normal(0, 0.35, rows))
    saved = np.exp(8 + 0.9 * skill + 0.03 * (age - 40) + rng.normal(0, 1.3, rows))
    savings = np.where(rng.random(rows) < 0.22, 0, np.minimum(saved, 5e6))
    debt = np.exp(9 - 0.3 * skill + rng.normal(0, 1, rows))
    gaps = rng.random(rows) < 1 / (1 + np.exp((debt - 6000) / 3000))
    columns = {
        "age": pa.array(age),
        "income": pa.array(np.round(np.minimum(income, 1e6)).astype(int)),
        "savings": pa.array(np.round(savings, 2)),
        "debt": _with_gaps(np.round(np.minimum(debt, 1e6), 2), gaps),
        "job": pa.array([f"j{i}" for i in (skill * 3 + 7).clip(0, 14).astype(int)]),
        "default": pa.array(rng.random(rows) < 0.15 / (1 + savings / 3000)),
    }
    return Example(
        pa.table(columns),
        {
            "age": integer(18, 95),
            "income": integer(0, 1_000_000),
            "savings": number(0, 5_000_000, 0.01),
            "debt": number(0, 1_000_000, 0.01, missing=True),
            "job": category([f"j{i}" for i in range(15)]),
            "default": 'type = "boolean"',
        },
    )


def clinic(rng: np.random.Generator, rows: int = 9_000) -> Example:
    """Stays: two days in order, diagnoses by frequency, costs that follow the stay, gaps."""
    diagnoses = [f"{chr(65 + i // 40)}{i % 40:02d}" for i in range(900)]
    chances = 1 / np.arange(2, len(diagnoses) + 2) ** 1.3
    diagnosis = rng.choice(len(diagnoses), rows, p=chances / chances.sum())
    age = np.clip(rng.normal(55 + (diagnosis % 5) * 5 - 10, 20), 0, 100).astype(int)
    stay = np.minimum(rng.negative_binomial(2, 0.3, rows) + (age > 70), 90)
    admitted = rng.integers(0, 1700, rows)
    cost = np.round(np.exp(6 + 0.25 * np.sqrt(stay) * 2 + rng.normal(0, 0.5, rows)), 2)
    pressure = np.clip(rng.normal(110 + 0.35 * age, 15), 70, 230).astype(int)
    columns = {
        "age": pa.array(age),
        "sex": pa.array([("f", "m")[i] for i in rng.integers(0, 2, rows)]),
        "diagnosis": pa.array([diagnoses[i] for i in diagnosis]),
        "admitted": _days(admitted),
        "discharged": _days(admitted + stay),
        "cost": pa.array(np.minimum(cost, 250_000)),
        "pressure": _with_gaps(pressure, rng.random(rows) < 0.1 + 0.2 * (age < 18)),
        "ward": pa.array([f"w{i}" for i in diagnosis % 11]),
    }
    return Example(
        pa.table(columns),
        {
            "age": integer(0, 110),
            "sex": category(["f", "m"]),
            "diagnosis": category(diagnoses),
            "admitted": date(2015, 2020),
            "discharged": date(2015, 2020),
            "cost": number(0, 250_000, 0.01),
            "pressure": integer(60, 250, missing=True),
            "ward": category([f"w{i}" for i in range(11)]),
        },
    )


def villages(rng: np.random.Generator, rows: int = 4_000) -> Example:
    """Villages of which one keeps worse records than the others: gaps that say something."""
    village = rng.choice(12, rows, p=np.array([0.208] + [0.072] * 11))
    gap = rng.random(rows) < np.where(village == 0, 0.9, 0.05)
    height = np.round(rng.normal(165 + village, 9), 1)
    wealth = np.round(np.exp(rng.normal(6 + 0.1 * village, 1.1)), 0)
    columns = {
        "village": pa.array([f"v{i}" for i in village]),
        "height": _with_gaps(height.clip(100, 220), gap),
        "weight": _with_gaps(np.round((height - 100 + rng.normal(0, 8, rows)).clip(20, 200)), gap),
        "wealth": pa.array(wealth.clip(0, 100_000)),
        "children": pa.array(rng.poisson(2.2, rows).clip(0, 15)),
        "literate": pa.array(rng.random(rows) < 0.4 + 0.04 * village),
    }
    return Example(
        pa.table(columns),
        {
            "village": category([f"v{i}" for i in range(12)]),
            "height": number(100, 220, 0.1, missing=True),
            "weight": number(20, 200, 1, missing=True),
            "wealth": number(0, 100_000, 1),
            "children": integer(0, 15),
            "literate": 'type = "boolean"',
        },
    )


def sensors(rng: np.random.Generator, rows: int = 25_000) -> Example:
    """Seven numbers of a curved surface: nothing but continuous columns."""
    a, b = rng.normal(size=rows), rng.normal(size=rows)
    faces = (a, b, a * b, a**2 - b, np.sin(2 * a), a + 0.3 * b, np.exp(0.8 * b))
    values = [each + rng.normal(0, 0.2, rows) for each in faces]
    columns = {f"x{i}": pa.array(np.round(v.clip(-20, 60), 3)) for i, v in enumerate(values)}
    columns["state"] = pa.array([f"s{i}" for i in (a * 1.5 + 3).clip(0, 6).astype(int)])
    said = {f"x{i}": number(-20, 60, 0.001) for i in range(7)}
    return Example(pa.table(columns), said | {"state": category([f"s{i}" for i in range(7)])})


def small(rng: np.random.Generator, rows: int = 900) -> Example:
    """A class of pupils: few rows."""
    score = rng.normal(size=rows)
    columns = {
        "school": pa.array([f"s{i}" for i in rng.integers(0, 6, rows)]),
        "year": pa.array(rng.integers(1, 5, rows)),
        "math": pa.array((50 + 15 * score + rng.normal(0, 8, rows)).clip(0, 100).astype(int)),
        "reading": pa.array((55 + 12 * score + rng.normal(0, 9, rows)).clip(0, 100).astype(int)),
        "girl": pa.array(rng.random(rows) < 0.5),
        "meals": pa.array(rng.random(rows) < 1 / (1 + np.exp(score + 0.5))),
        "passed": pa.array(score + rng.normal(0, 0.3, rows) > -0.6),
    }
    return Example(
        pa.table(columns),
        {
            "school": category([f"s{i}" for i in range(6)]),
            "year": integer(1, 4),
            "math": integer(0, 100),
            "reading": integer(0, 100),
            "girl": 'type = "boolean"',
            "meals": 'type = "boolean"',
            "passed": 'type = "boolean"',
        },
    )


def wide(rng: np.random.Generator, rows: int = 8_000) -> Example:
    """Forty columns in blocks of four, each block with a hidden cause."""
    columns, said = {}, {}
    for block in range(10):
        hidden = rng.normal(size=rows)
        for k in range(4):
            size = (2, 4, 8, 16)[k]
            level = (hidden * 0.8 + rng.normal(size=rows) * 0.6) * size / 4 + size / 2
            columns[f"b{block}_{k}"] = pa.array(level.clip(0, size - 1).astype(int))
            said[f"b{block}_{k}"] = integer(0, size - 1)
    return Example(pa.table(columns), said)


def odd(rng: np.random.Generator, rows: int = 250) -> Example:
    """Hardly any rows: a constant, nothing but gaps, one rare value, days of which one is taken."""
    age = rng.integers(18, 90, rows)
    columns = {
        "country": pa.array(["NL"] * rows),
        "version": pa.array(np.full(rows, 3)),
        "empty": _with_gaps(np.zeros(rows), np.ones(rows, dtype=bool)),
        "rare": pa.array(np.arange(rows) == 7),
        "age": pa.array(age),
        "fee": pa.array(np.where(age < 65, 12.5, 7.25)),
        "day": _days(np.full(rows, 100)),
    }
    columns["empty"] = columns["empty"].cast(pa.float64())
    return Example(
        pa.table(columns),
        {
            "country": category(["NL"]),
            "version": integer(0, 9),
            "empty": number(0, 100, 0.5, missing=True),
            "rare": 'type = "boolean"',
            "age": integer(0, 120),
            "fee": number(0, 100, 0.01),
            "day": date(2015, 2020),
        },
    )


GENERATED: dict[str, Callable[[np.random.Generator], Example]] = {
    each.__name__: each
    for each in (shop, likert, chain, noise, bank, clinic, villages, sensors, small, wide, odd)
}
