"""Cells in the owner's spelling have one canonical value on every engine, the one written here."""

from __future__ import annotations

import datetime as dt
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
)
from discreet.base.spelling import Spelling
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.engines.base import open_exact
from discreet.privacy.kernel.canonical import CanonicalRecipe
from engines import ENGINES, LIMITS, engine_place
from permits import paid

CENTS = NumberDomain(Fraction(-10_000), Fraction(10_000), Fraction(1, 100))
DAYS = DateDomain(dt.date(1990, 1, 1), dt.date(2039, 12, 31))
DAY = dt.date(2024, 3, 4)
SEXES = CategoryDomain(("Female", "Male"))

CELLS: dict[str, tuple[object, Spelling, list[tuple[str | None, object]]]] = {
    "cost": (
        CENTS,
        Spelling(thousands=",", signs=("$", "USD"), trim=True, empty=("n/a",)),
        [
            ("$1,234.50", 123450),
            (" 1,234.50 USD ", 123450),
            ("-$0.5", -50),
            ("1234.5", 123450),
            ("1,23.5", None),
            ("1$2", None),
            ("n/a", None),
            ("\u0661", None),
            ("", None),
            ("1,234.50\n", None),
        ],
    ),
    "price": (
        CENTS,
        Spelling(thousands=".", decimal=",", signs=("CHF", "F")),
        [
            ("1.234,50", 123450),
            ("1.234", 123400),
            ("CHF 2,5", 250),
            ("2,5 F", 250),
            ("1,234", 123),
            ("1.2", None),
            ("+,25", 25),
            ("1e3", None),
            (None, None),
            ("2,5 FF", None),
        ],
    ),
    "count": (
        IntegerDomain(0, 9_999),
        Spelling(thousands="'", empty=("99",)),
        [
            ("1'234", 1234),
            ("1234", 1234),
            ("99", None),
            ("12'34", None),
            ("1'234.0", 1234),
            ("1'234.5", None),
            ("007", 7),
            ("-1", None),
            (" 7", None),
            ("7\n", None),
        ],
    ),
    "seen": (
        DAYS,
        Spelling(dates=("%d/%m/%Y", "%Y-%m-%d", "%d %b %y", "%b %d, %Y"), trim=True),
        [
            ("4/3/2024", DAY),
            ("04/03/2024 ", DAY),
            ("2024-03-04", DAY),
            ("4 MAR 24", DAY),
            ("Mar 4, 2024 10:00", DAY),
            ("31/02/2024", None),
            ("4 Mrz 24", None),
            ("04/03/2024\n", None),
            ("1 jan 99", dt.date(1999, 1, 1)),
            ("04.03.2024", None),
        ],
    ),
    "sex": (
        SEXES,
        Spelling(trim=True, any_case=True, same=(("Female", ("F", "w")), ("Male", ("m",)))),
        [
            ("FEMALE ", "Female"),
            ("f", "Female"),
            ("W", "Female"),
            ("Male", "Male"),
            ("\u00a0M", "Male"),
            ("Ma le", None),
            ("", None),
            ("\u212aale", None),
            ("Female\n", None),
            (None, None),
        ],
    ),
    "member": (
        BooleanDomain(),
        Spelling(same=(("true", ("ja",)), ("false", ("nein", "'"))), empty=("n/a",)),
        [
            ("ja", True),
            ("nein", False),
            ("true", True),
            ("Y", True),
            ("'", False),
            ("Ja", None),
            ("n/a", None),
            ("0", False),
            (" ja", None),
            (None, None),
        ],
    ),
}
ROWS = 10
PEOPLE = [" a", "a", "A", "b ", "b", "?", "", None, "c", "\tc"]
WHOSE = ["a", "a", "A", "b", "b", None, None, None, "c", "c"]


def held_rows(kind, folder, rows: pa.Table, table: Table) -> tuple[list[dict], dict]:
    folder.mkdir(exist_ok=True)
    place = engine_place(kind, {"odd": rows}, folder)
    sources = {f"d.{name}": source for name, source in place.sources.items()}
    engine = type(place)(place.url, sources, place.base).open(state=folder / "s", limits=LIMITS)
    mark = "`" if engine.capabilities.dialect == "spark" else '"'
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    listed = ", ".join(f"t.c{i} AS c{i}" for i in range(1, len(table.columns)))
    try:
        with engine.hold({"d.odd": CanonicalRecipe(dataset, table)}) as held:
            sql = f"SELECT {listed}, t.u AS u FROM canon.{mark}d.odd{mark} AS t"
            return open_exact(paid(held).run(sql)).to_pylist(), getattr(held, "dropped", {})
    finally:
        engine.close()


def table_of(spelled: dict[str, Column], unit: Spelling) -> Table:
    columns = (Column("person", IdentifierDomain(), spelling=unit), *spelled.values())
    return Table("odd", "odd", PrivacyUnit("person"), columns, max_rows=1, copied=True)


@pytest.mark.parametrize("kind", ENGINES)
def test_spelled_cells_have_one_value(kind, tmp_path):
    texts = {name: [text for text, _ in cells] for name, (_, _, cells) in CELLS.items()}
    people = [f" {i}" for i in range(ROWS)]
    rows = pa.table({"person": people, **{n: pa.array(t, pa.string()) for n, t in texts.items()}})
    columns = {n: Column(n, domain, spelling=s) for n, (domain, s, _) in CELLS.items()}  # type: ignore[arg-type]
    columns["place"] = Column("place", IntegerDomain(0, 99))
    found, dropped = held_rows(
        kind,
        tmp_path,
        rows.append_column("place", pa.array(range(ROWS))),
        table_of(columns, Spelling(trim=True)),
    )
    by_place = {row[f"c{len(columns)}"]: row for row in found}
    for i, (name, (_, _, cells)) in enumerate(CELLS.items(), start=1):
        values = [by_place[row][f"c{i}"] for row in range(ROWS)]
        assert values == [value for _, value in cells], name
    if dropped:  # cells that the owner called empty are no loss
        lost = [sum(t is not None and v is None for t, v in cells) for *_, cells in CELLS.values()]
        called_empty = [2, 0, 1, 0, 1, 1]
        told = [dropped["d.odd"][f"c{i}"] for i in range(1, len(CELLS) + 1)]
        assert told == [a - b for a, b in zip(lost, called_empty, strict=True)]


@pytest.mark.parametrize("kind", ENGINES)
def test_a_persons_name_is_trimmed_as_declared_and_never_otherwise(kind, tmp_path):
    rows = pa.table({"person": PEOPLE, "n": list(range(ROWS))})
    number = {"n": Column("n", IntegerDomain(0, 99))}
    plain, _ = held_rows(kind, tmp_path / "plain", rows, table_of(number, Spelling()))
    told = Spelling(trim=True, empty=("?",))
    found, _ = held_rows(kind, tmp_path / "told", rows, table_of(number, told))

    def whose(units):
        return {frozenset(n for n, u in units if u == v) for v in {u for _, u in units}}

    kept = [(row["c1"], row["u"]) for row in found]
    assert whose(kept) == whose([(n, u) for n, u in enumerate(WHOSE) if u is not None])
    untold = [(row["c1"], row["u"]) for row in plain]
    wanted = [(n, u) for n, u in enumerate(PEOPLE) if u is not None]
    assert whose(untold) == whose(wanted)
