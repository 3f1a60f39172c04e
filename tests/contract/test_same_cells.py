"""Hostile cells have one canonical value on every engine, and it is the one computed here."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
)
from discreet.base.spelling import PLAIN, Spelling
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.engines.base import open_exact
from discreet.privacy.kernel.canonical import CanonicalRecipe
from engines import ENGINES, LIMITS, compiled, engine_place
from permits import paid

__all__ = ["compiled"]
pytestmark = pytest.mark.usefixtures("compiled")

CENTS = NumberDomain(Fraction(0), Fraction(100), Fraction(1, 100))
DAYS = DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31))
LEVELS = CategoryDomain(("1.0", "0.5", "0.1", "-2.0", "0.0"))
DAY = dt.date(2024, 5, 5)
CELLS: dict[str, tuple[pa.DataType, object, list[tuple[object, object]]]] = {
    "narrow": (
        pa.float32(),
        CENTS,
        [(0.1, 10), (0.125, 13), (99.995, 10000), (100.0, 10000), (math.nan, None), (-0.0, 0)],
    ),
    "exact": (
        pa.decimal128(38, 18),
        CENTS,
        [
            (Decimal("0.005000000000000000"), 1),
            (Decimal("0.004999999999999999"), 1),  # as the nearest double, by documentation
            (Decimal("99.999999999999999999"), 10000),
            (Decimal("100.000000000000000001"), 10000),
            (Decimal("99999999999999999999.5"), None),
            (None, None),
        ],
    ),
    "written": (
        pa.string(),
        DAYS,
        [
            ("2024-05-05", DAY),
            ("2024-05-05\n", None),
            ("2024-05-05 10:00", DAY),
            ("2024-05-05 10\n:00", None),
            ("2024-05-05T", DAY),
            ("2024-02-30", None),
        ],
    ),
    "level": (
        pa.float64(),
        LEVELS,
        [(1.0, "1.0"), (0.5, "0.5"), (0.1, "0.1"), (-2.0, "-2.0"), (-0.0, "0.0"), (1e300, None)],
    ),
    "moment": (
        pa.timestamp("us"),
        DAYS,
        [
            (dt.datetime(2024, 5, 5, 23, 59, 59, 999999), DAY),
            (dt.datetime(2024, 5, 5), DAY),
            (dt.datetime(2023, 12, 31, 23, 59, 59, 999999), None),
            (dt.datetime(2025, 1, 1), None),
            (dt.datetime(1, 1, 1), None),
            (None, None),
        ],
    ),
    "flag": (
        pa.float64(),
        BooleanDomain(),
        [(1.0, True), (0.0, False), (-0.0, False), (math.nan, None), (0.5, None), (None, None)],
    ),
    "narrow_flag": (
        pa.float32(),
        BooleanDomain(),
        [(1.0, True), (0.0, False), (math.inf, None), (-1.0, None), (1e30, None), (None, None)],
    ),
    "exact_flag": (
        pa.decimal128(38, 18),
        BooleanDomain(),
        [
            (Decimal("1.000000000000000000"), True),
            (Decimal("0.999999999999999999"), None),
            (Decimal("0.000000000000000000"), False),
            (Decimal("0.000000000000000001"), None),
            (Decimal("99999999999999999999.5"), None),
            (None, None),
        ],
    ),
    "fraction_flag": (
        pa.decimal128(38, 38),
        BooleanDomain(),
        [(Decimal("0.0"), False), (Decimal("0.1"), None), *[(None, None)] * 4],
    ),
    "spelled_flag": (
        pa.float64(),
        BooleanDomain(),
        [(2.0, True), (3.0, False), (1.0, True), (0.0, False), (-9.0, None), (None, None)],
    ),
    "code": (
        pa.string(),
        IntegerDomain(0, 10),
        [("7", 7), ("07", 7), ("7\n", None), (" 7", None), ("7.0", 7), ("\u0667", None)],
    ),
}
SPELLED = {
    "spelled_flag": Spelling(same=(("true", ("2",)), ("false", ("3",))), empty=("-9",)),
}
ROWS = 6


def table() -> pa.Table:
    columns = {
        name: pa.array([c for c, _ in cells], kind) for name, (kind, _, cells) in CELLS.items()
    }
    person = pa.array(range(ROWS), pa.int64())
    return pa.table({"person": person, **columns})


def declared(**more) -> Table:
    columns = [Column("person", IdentifierDomain())]
    columns += [
        Column(name, domain, spelling=SPELLED.get(name, PLAIN))  # type: ignore[arg-type]
        for name, (_, domain, _) in CELLS.items()
    ]
    return Table("odd", "odd", PrivacyUnit("person"), tuple(columns), max_rows=1, **more)


def opened(kind, tables, folder):
    place = engine_place(kind, tables, folder)
    sources = {f"d.{name}": source for name, source in place.sources.items()}
    return type(place)(place.url, sources, place.base).open(state=folder / "state", limits=LIMITS)


def canonical(engine, found: Table, columns: str):
    dialect = engine.capabilities.dialect
    mark = "`" if dialect == "spark" else '"'
    dataset = Dataset("d", (found,), Neighbours.ADD_REMOVE, "d")
    with engine.hold({f"d.{found.name}": CanonicalRecipe(dataset, found)}) as held:
        sql = f"SELECT {columns} FROM canon.{mark}d.{found.name}{mark} AS t"
        return open_exact(paid(held).run(sql)).to_pylist()


@pytest.mark.parametrize("kind", ENGINES)
def test_hostile_cells_have_one_value(kind, tmp_path):
    engine = opened(kind, {"odd": table()}, tmp_path)
    names = list(CELLS)
    listed = ", ".join(f"t.c{i + 1} AS {name}" for i, name in enumerate(names))
    found = canonical(engine, declared(copied=True), f"t.u AS u, {listed}")
    engine.close()
    by_person = {int(row["u"]): row for row in found}
    for name, (_, _, cells) in CELLS.items():
        values = [by_person[i][name] for i in range(ROWS)]
        assert values == [value for _, value in cells], name


@pytest.mark.parametrize("kind", ENGINES)
def test_rows_that_hash_alike_are_ranked_alike(kind, tmp_path):
    # Nothing and the empty text say the same in one breath, so the cells themselves decide.
    texts = ["", None, None, ""]
    rows = pa.table({"person": [1, 1, 2, 2], "note": texts, "n": [1, 1, 2, 2]})
    columns = (
        Column("person", IdentifierDomain()),
        Column("note", TextDomain()),
        Column("n", IntegerDomain(0, 9)),
    )
    found = Table("ties", "ties", PrivacyUnit("person"), columns, max_rows=1, copied=True)
    engine = opened(kind, {"ties": rows}, tmp_path)
    ranked = canonical(engine, found, "t.u AS u, t.c1 AS note, t.r AS r")
    engine.close()
    order = sorted((int(row["u"]), int(row["r"]), row["note"]) for row in ranked if row["r"] == 1)
    assert order == [(1, 1, None), (2, 1, None)]
