"""The plan's own evaluator and the engines' SQL agree on every value of every expression.

The range of a measure is worked out by `evaluate` over the declared values; the rows come from SQL.
Where the two disagree a sensitivity is wrong, so they must agree exactly, NULL for NULL.
"""

from __future__ import annotations

import datetime as dt
import random
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from curator_kit import SCHEMAS, MemoryEngine, arrow, catalog_of, world_rows
from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate, outermost_curves
from discreet.ask.plan.expr import lattice, rounded
from discreet.ask.plan.values import infer
from discreet.ask.sql.bind import bind
from discreet.ask.sql.write import expressions
from discreet.ask.sql.write.blocks import BlockWriter
from discreet.base.schema import DateDomain, NumberDomain
from discreet.data.engines.base import open_exact
from discreet.errors import DiscreetError
from engines import ENGINES, compiled, engine_place
from queries import Questions
from sittings import FULL

__all__ = ["compiled"]

CATALOG = catalog_of(Path())
CHUNK = 12


def bound(sql: str, catalog=CATALOG):
    """Return the relation and the operands of a question's aggregates and keys."""
    statement = bind(sql, catalog)
    found = [aggregate.operand for _, aggregate in statement.aggregates if aggregate.operand]
    return statement.source, [*found, *(key.value for key in statement.keys)]


def random_operands(rng: random.Random, count: int) -> list[e.Expr]:
    """Return expressions over the columns of `people`, as the binder makes them."""
    questions = Questions(rng)
    found: list[e.Expr] = []
    while len(found) < count:
        shape = rng.choice(["SUM({n})", "COUNT(CASE WHEN {t} THEN 1 END)", "MAX({n})"])
        text = shape.format(n=questions.number(2), t=questions.truth(2))
        key = questions.key()
        try:
            _, operands = bound(f"SELECT {text}, {key} FROM people GROUP BY 2")
        except DiscreetError:
            continue
        found += operands
    return found[:count]


def shown(value, domain) -> str:
    """Return one spelling for a value, whichever way an engine hands it over."""
    if value is None:
        return "NULL"
    if isinstance(value, bool) or value in (True, False):
        return str(bool(value)) if lattice(domain) is None else str(Fraction(value))
    if lattice(domain) is not None:
        return str(Fraction(value))
    if isinstance(domain, DateDomain):
        return str(value)[:10]
    return str(value)


def quotients(operand: e.Expr) -> bool:
    """Return whether something is divided by what is no constant."""
    return any(
        isinstance(node, e.Arithmetic)
        and node.operator is e.Operator.DIVIDE
        and e.columns_of(node.right)
        for node in e.walk(operand)
    )


def disagreements(engine, operands: list[e.Expr], longest: int = 10**9) -> list[str]:
    """Return where SQL and Python give different values for the rows of `people`."""
    source, _ = bound("SELECT COUNT(*) FROM people")
    columns = frozenset(field.name for field in source.fields)
    blocks = BlockWriter(engine, columns)
    block = blocks.block(source)
    writer = blocks.writer(block)
    domains = {field.name: field.domain for field in source.fields}
    broken = []
    for start in range(0, len(operands), CHUNK):
        part = operands[start : start + CHUNK]
        try:
            part = [operand for operand in part if len(writer.write(operand)) <= longest]
            texts = [f"{writer.write(operand)} AS x{i}" for i, operand in enumerate(part)]
        except DiscreetError:
            continue
        names = sorted({name for operand in part for name in e.columns_of(operand)})
        texts += [f"{block.cells[name].value} AS c{i}" for i, name in enumerate(names)]
        rows = open_exact(
            engine.owner_reader().run(f"SELECT {', '.join(texts)} {block.body()}")
        ).to_pylist()
        for row in rows:
            given = {name: canonical(row[f"c{i}"], domains[name]) for i, name in enumerate(names)}
            for i, operand in enumerate(part):
                if outermost_curves(operand, domains):
                    continue  # straight pieces: how near they are is tested beside them
                domain = infer(operand, domains)
                value = evaluate(operand, given)
                # What is inexact over a small column is a table of millionths, in SQL as in the plan.
                wanted = shown(rounded(value) if isinstance(value, float) else value, domain)
                found = row[f"x{i}"]
                if lattice(domain) is not None and found is not None:
                    found = Fraction(int(found)) * lattice(domain)[2]
                if quotients(operand) and found is not None and value is not None:
                    continue  # rounded to a grid: how near they are is tested beside them, too
                if shown(found, domain) != wanted:
                    broken.append(f"{shown(found, domain)} for {wanted}: {operand} at {given}")
    return broken


def canonical(value, domain):
    if value is None:
        return None
    if isinstance(domain, NumberDomain):
        return Fraction(int(value)) * domain.step
    if isinstance(domain, DateDomain) and isinstance(value, dt.datetime):
        return value.date()
    return int(value) if lattice(domain) is not None else value


def test_sql_and_python_agree_on_random_expressions():
    rng = random.Random(21)
    engine = MemoryEngine({"people": arrow("people", world_rows(rng, 60)["people"])})
    broken = disagreements(engine, random_operands(rng, 80 if FULL else 48))
    assert not broken, broken[0]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(10))
def test_sql_and_python_agree_on_random_expressions_in_full(seed):
    rng = random.Random(3000 + seed)
    engine = MemoryEngine({"people": arrow("people", world_rows(rng, 60)["people"])})
    broken = disagreements(engine, random_operands(rng, 2000))
    assert not broken, broken[0]


def test_a_writer_that_truncates_instead_of_flooring_is_caught(monkeypatch):
    def truncated(self, operand, divisor):
        return f"CAST(TRUNC(CAST({self.write(operand)} AS DOUBLE) / {float(divisor / self.step(operand))}) AS BIGINT)"

    monkeypatch.setattr(expressions.Writer, "_floor_divide", truncated)
    rng = random.Random(21)
    engine = MemoryEngine({"people": arrow("people", world_rows(rng, 60)["people"])})
    _, operands = bound("SELECT SUM(balance // 7), SUM(FLOOR(income)) FROM people")
    assert disagreements(engine, operands)


@pytest.mark.parametrize("kind", ENGINES[1:])
@pytest.mark.usefixtures("compiled")
def test_other_engines_agree_with_python(kind, tmp_path):
    rng = random.Random(22)
    rows = world_rows(rng, 60)["people"]
    table = arrow("people", rows)
    assert table.schema == SCHEMAS["people"]
    place = engine_place(kind, {"people": plain(table)}, tmp_path)
    engine = place.open()
    try:
        # Spark compiles each branch of a long list by itself, for minutes: DuckDB is asked those.
        count = 80 if FULL else 24 if kind == "spark" else 48
        broken = disagreements(Renamed(engine), random_operands(rng, count), longest=5_000)
    finally:
        engine.close()
    assert not broken, broken[0]


def plain(table: pa.Table) -> pa.Table:
    return table


class Renamed:
    """An engine whose tables are asked for as DATASET.TABLE."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.capabilities = engine.capabilities

    def relation(self, name):
        return self.engine.relation(name.split(".", 1)[1])

    def columns(self, name):
        return self.engine.columns(name.split(".", 1)[1])

    def owner_reader(self):
        return self.engine.owner_reader()
