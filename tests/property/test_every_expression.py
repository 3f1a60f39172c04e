"""Every kind of expression, on every point of small domains: the engine, the evaluator, the range and
the box say the same.

Questions that people might write (test_expressions.py) missed `x IN (0.5)` on an integer and a
truth value cast to a number: nobody writes them. So expressions are drawn here from the tree's own
node types, kept if the planner accepts them, and compared on all combinations of all values.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from fractions import Fraction

import duckdb
import pytest

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import kinds_of, lattice, points
from discreet.ask.plan.kinds import SCALARS, kind_of, kind_of_value
from discreet.ask.plan.regions import to_box
from discreet.ask.plan.values import infer
from discreet.ask.sql.write import expressions
from discreet.ask.sql.write.expressions import Cell, Writer
from discreet.base.event import NULL
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.errors import DiscreetError
from sittings import FULL

HALF = Fraction(1, 2)
DAY = dt.date(2024, 2, 28)
FIELDS = {
    "i": IntegerDomain(-1, 1),
    "n": NumberDomain(-HALF, HALF, HALF),
    "b": BooleanDomain(),
    "c": CategoryDomain(("a", "B1")),
    "d": DateDomain(DAY, DAY + dt.timedelta(days=2)),
}
CONSTANTS = [
    None,
    0,
    1,
    -1,
    2,
    HALF,
    Fraction(1, 3),
    Fraction(-7, 4),
    True,
    False,
    "a",
    "b1",
    "1",
    DAY,
]
OPTIONS = [(), (0,), (1,), (2,), (-1,), (1, 1), ("month",), ("week",), (HALF,)]
ROWS = [
    dict(zip(FIELDS, row, strict=True))
    for row in itertools.product(*([None, *points(domain)] for domain in FIELDS.values()))
]


def drawn(rng: random.Random, depth: int) -> e.Expr:
    """Return any expression at all, sensible or not."""
    if depth == 0 or rng.random() < 0.15:
        if rng.random() < 0.65:
            return e.ColumnRef(rng.choice(list(FIELDS)))
        return e.Literal(rng.choice(CONSTANTS))

    def below() -> e.Expr:
        return drawn(rng, depth - 1)

    def several() -> tuple[e.Expr, ...]:
        return tuple(below() for _ in range(rng.randint(1, 3)))

    makers = [
        lambda: e.Arithmetic(rng.choice(list(e.Operator)), below(), below()),
        lambda: e.Negate(below()),
        lambda: e.Compare(rng.choice(list(e.Comparison)), below(), below()),
        lambda: e.And(several()),
        lambda: e.Or(several()),
        lambda: e.Not(below()),
        lambda: e.IsNull(below()),
        lambda: e.In(below(), tuple(rng.choices(CONSTANTS, k=rng.randint(1, 3)))),
        lambda: e.Like(below(), rng.choice(["a%", "_1", "b1", "%"]), rng.random() < 0.5),
        lambda: e.Case(tuple((below(), below()) for _ in range(rng.randint(1, 2))), below()),
        lambda: e.Extreme(rng.random() < 0.5, several()),
        lambda: e.Call(rng.choice(list(SCALARS)), below(), rng.choice(OPTIONS)),
        lambda: e.DatePart(rng.choice(list(e.Part)), below()),
        lambda: e.Coalesce(several()),
    ]
    return rng.choice(makers)()


def accepted(rng: random.Random, count: int) -> list[e.Expr]:
    """Return expressions that the planner takes."""
    kinds, found = kinds_of(FIELDS), []
    while len(found) < count:
        expr = drawn(rng, rng.choice([1, 1, 2, 2, 3]))
        try:
            kind_of(expr, kinds)
            infer(expr, FIELDS)
            written(expr)
        except DiscreetError:
            continue
        if e.columns_of(expr):
            found.append(expr)
    return found


def stored(name: str, value):
    found = lattice(FIELDS[name])
    return value if value is None or found is None else int(value / found[2])


def written(expr: e.Expr) -> str:
    cells = {name: Cell(f"r.{name}", domain, f"r.{name}") for name, domain in FIELDS.items()}
    return Writer(cells, "duckdb").write(expr)


@pytest.fixture(scope="module")
def rows():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE r (k INTEGER, i BIGINT, n BIGINT, b BOOLEAN, c VARCHAR, d DATE)"
    )
    listed = [[k, *(stored(name, row[name]) for name in FIELDS)] for k, row in enumerate(ROWS)]
    connection.executemany("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?)", listed)
    yield connection
    connection.close()


def inside(value, domain) -> bool:
    """Return whether a value is one that the inferred domain holds, of the same Python type."""
    if value is None:
        return True
    found = lattice(domain)
    if found is not None:
        whole = not isinstance(value, bool) and isinstance(value, int | Fraction)
        return (
            whole
            and found[0] <= value <= found[1]
            and (Fraction(value) / found[2]).denominator == 1
        )
    match domain:
        case BooleanDomain():
            return isinstance(value, bool)
        case CategoryDomain(values=values):
            return value in values
        case _:
            return isinstance(value, dt.date) and domain.lower <= value <= domain.upper


def alike(shown, wanted) -> bool:
    """Return whether the engine said what was worked out; inexact functions are held in millionths."""
    if isinstance(wanted, float):
        return shown is not None and abs(shown - wanted) <= 1e-4 * max(1, abs(wanted))
    return shown == wanted and isinstance(shown, bool) == isinstance(wanted, bool)


def wrong(expr: e.Expr, connection) -> str | None:
    """Return the first row on which anything disagrees about `expr`."""
    domain = infer(expr, FIELDS)
    found = connection.execute(f"SELECT {written(expr)} FROM r ORDER BY k").fetchall()
    step = lattice(domain)
    said = kind_of(expr, kinds_of(FIELDS))
    box = to_box(expr, FIELDS) if said == "boolean" else None
    for row, (value,) in zip(ROWS, found, strict=True):
        wanted = evaluate(expr, row)
        shown = value * step[2] if step is not None and value is not None else value
        if not alike(shown, wanted):
            return f"{shown!r} for {wanted!r} at {row}: {expr}"
        if wanted is not None and kind_of_value(wanted) != said:
            return f"{wanted!r} is not a {said}: {expr}"
        if not inside(shown, domain):
            return f"{shown!r} is not in {domain}: {expr}"
        if box is not None and not boxed(box, row, wanted):
            return f"the box of {expr} is wrong at {row}"
    return None


def boxed(box, row, truth) -> bool:
    def position(name):
        value = row[name]
        return NULL if value is None else list(points(FIELDS[name])).index(value)

    exact = all(position(name) in spans for name, spans in box.positions.items())
    kept = exact and evaluate(box.residual, row) is True
    hulled = all(position(name) in spans for name, spans in box.hull.items())
    return kept == (truth is True) and (hulled or truth is not True)


def test_all_kinds_of_expressions_agree_on_all_points(rows):
    for expr in accepted(random.Random(4), 100 if FULL else 40):
        assert wrong(expr, rows) is None


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(20))
def test_all_kinds_of_expressions_agree_on_all_points_in_full(rows, seed):
    for expr in accepted(random.Random(500 + seed), 1000):
        assert wrong(expr, rows) is None


FOUND = [
    e.In(e.ColumnRef("i"), (HALF,)),
    e.IsNull(e.In(e.ColumnRef("i"), (HALF,))),
    e.In(e.ColumnRef("i"), (HALF, None)),
    e.Call("number", e.ColumnRef("b")),
    e.Call("integer", e.ColumnRef("b")),
    e.Call("text", e.ColumnRef("n")),
]


@pytest.mark.parametrize("expr", FOUND, ids=str)
def test_what_a_hunt_found(rows, expr):
    assert wrong(expr, rows) is None


def test_an_engine_that_says_false_for_null_is_caught(rows, monkeypatch):
    monkeypatch.setattr(expressions.Writer, "_in", lambda self, operand, values: "FALSE")
    assert wrong(FOUND[0], rows) is not None
