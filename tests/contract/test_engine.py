"""What every engine must answer, run on each one of the list in tests/engines.py.

No chance is involved: the same tables, the same SQL, and truths that are computed in Python.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from decimal import Decimal

import pyarrow as pa
import pytest

from discreet.base.schema import Column, Dataset, IntegerDomain, Table
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.engines.base import open_exact
from discreet.data.engines.column_types import ColumnKind
from discreet.data.engines.connect import KINDS
from discreet.data.engines.functions import function, templates
from discreet.errors import CatalogError, UnknownName
from discreet.privacy.kernel.canonical import CanonicalRecipe
from engines import BIG, ENGINES, TABLES, Place, cell, engine_place, name, people, read, rows


@pytest.fixture(scope="module", params=ENGINES)
def place(request, tmp_path_factory):
    return engine_place(request.param, TABLES, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def engine(place):
    engine = place.open()
    yield engine
    engine.close()


# -- the same answers everywhere; the expected ones are computed in Python


def test_counts_by_a_canonical_category(engine):
    sex = read(engine, ColumnKind.TEXT, "sex")
    key = f"CASE WHEN {sex} IN ('Female', 'Male', 'Zoë') THEN {sex} END"
    sql = f"SELECT {key} AS sex, COUNT(*) AS n FROM {engine.relation('people')} GROUP BY 1"
    truth: dict = {}
    for value in people()["sex"].to_pylist():
        key = value if value in ("Female", "Male", "Zoë") else None
        truth[key] = truth.get(key, 0) + 1
    assert rows(engine, sql) == sorted(truth.items(), key=repr)
    assert open_exact(engine.owner_reader().run(sql)).schema.types == [pa.string(), pa.int64()]


def test_sums_of_clamped_integers_are_exact_decimals(engine):
    age = read(engine, ColumnKind.INTEGER, "age")
    clamped = f"CASE WHEN {age} < 0 THEN 0 WHEN {age} > 100 THEN 100 ELSE {age} END"
    total = function("sum_integer", engine.capabilities.dialect, clamped)
    truth = sum(min(100, max(0, a)) for a in people()["age"].to_pylist() if a is not None)
    assert cell(engine, f"SELECT {total} AS s FROM {engine.relation('people')}") == truth


def test_sums_beyond_64_bits_neither_raise_nor_wrap(engine):
    total = function("sum_integer", engine.capabilities.dialect, name(engine, "huge"))
    result = open_exact(
        engine.owner_reader().run(f"SELECT {total} AS s FROM {engine.relation('people')}")
    )
    assert result.schema.types == [pa.decimal128(38, 0)]
    assert result.to_pylist() == [{"s": Decimal(240 * BIG)}]
    assert 240 * BIG > 2**63


def test_integers_beyond_reach_are_null(engine):
    big = read(engine, ColumnKind.INTEGER, "big")
    sql = f"SELECT COUNT({big}) AS n FROM {engine.relation('people')}"
    assert cell(engine, sql) == 0


def test_nan_infinity_and_minus_zero_are_tamed(engine):
    income = read(engine, ColumnKind.NUMBER, "income")
    sql = f"SELECT DISTINCT {income} AS x FROM {engine.relation('people')}"
    found = [value for (value,) in rows(engine, sql)]
    assert sorted(map(repr, found)) == sorted(["None", "0.0", "10.5", "250000.25", "1e+300"])


def test_text_is_read_as_integers_or_not_at_all(engine):
    text, plain = read(engine, ColumnKind.INTEGER, "text"), read(engine, ColumnKind.TEXT, "text")
    sql = f"SELECT DISTINCT {plain} AS t, {text} AS i FROM {engine.relation('people')}"
    wanted = {"12": 12, "1e3": 1000, "007": 7, "-0": 0}
    found = dict(rows(engine, sql))
    assert len(found) == 12
    assert {t: i for t, i in found.items() if i is not None} == wanted


def test_text_is_read_as_numbers_or_not_at_all(engine):
    text, plain = read(engine, ColumnKind.NUMBER, "text"), read(engine, ColumnKind.TEXT, "text")
    sql = f"SELECT DISTINCT {plain} AS t, {text} AS x FROM {engine.relation('people')}"
    found = {t: x for t, x in rows(engine, sql) if x is not None}
    assert found == {
        "12": 12,
        "1e3": 1000,
        "007": 7,
        "2.50": 2.5,
        "-0": 0,
        "9" * 30: float("9" * 30),
    }
    assert math.copysign(1, found["-0"]) == 1


def test_text_is_read_as_dates_or_not_at_all(engine):
    day, plain = read(engine, ColumnKind.DATE, "written"), read(engine, ColumnKind.TEXT, "written")
    sql = f"SELECT DISTINCT {plain} AS t, {day} AS d FROM {engine.relation('people')}"
    found = {t: d for t, d in rows(engine, sql) if d is not None}
    assert found == {"2024-02-29": dt.date(2024, 2, 29)}


def test_every_kind_of_every_column_is_total(engine):
    pairs = [(kind, column) for kind in ColumnKind for column in people().column_names]
    counts = [f"COUNT({read(engine, *pair)}) AS c{i}" for i, pair in enumerate(pairs)]
    (found,) = rows(engine, f"SELECT {', '.join(counts)} FROM {engine.relation('people')}")
    for (kind, column), count in zip(pairs, found, strict=True):
        present = 240 - people()[column].null_count
        spelled = (
            kind is ColumnKind.TEXT and column != "income"
        )  # NaN and 1e300 have several spellings
        assert (count == present) if spelled else (0 <= count <= present)


def test_parts_of_dates(engine):
    dialect, day = engine.capabilities.dialect, name(engine, "day")
    parts = ["year", "quarter", "month", "week", "day", "weekday", "day_number"]
    cells = ", ".join(f"{function(part, dialect, day)} AS {part}" for part in parts)
    back = function("day_of_number", dialect, function("day_number", dialect, day))
    found = rows(
        engine, f"SELECT {day} AS d, {back} AS b, {cells} FROM {engine.relation('people')}"
    )
    epoch = dt.date(1970, 1, 1)
    for d, b, *values in found:
        iso = d.isocalendar()
        quarter = (d.month + 2) // 3
        truth = [d.year, quarter, d.month, iso.week, d.day, iso.weekday, (d - epoch).days]
        assert (b, values) == (d, truth)


def test_integer_arithmetic(engine):
    dialect, age = engine.capabilities.dialect, read(engine, ColumnKind.INTEGER, "age")
    cells = [
        function("divide", dialect, age, "7"),
        function("divide", dialect, "7", age),
        function("modulo", dialect, age, "7"),
        function("bit_and", dialect, age, "12"),
        function("bit_or", dialect, age, "12"),
        function("bit_xor", dialect, age, "12"),
        function("divide_number", dialect, age, "0"),
        function("floor_to_integer", dialect, f"{age} / 2.0"),
    ]
    named = ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(cells))
    found = rows(engine, f"SELECT {age} AS a, {named} FROM {engine.relation('people')}")
    for a, *values in found:
        if a is None:
            assert values == [None] * 8
            continue
        truth = [
            int(a / 7),
            int(7 / a) if a else None,
            int(math.fmod(a, 7)),
            a & 12,
            a | 12,
            a ^ 12,
        ]
        assert values == [*truth, None, math.floor(a / 2)]


def test_hashes_agree_with_the_definition(engine):
    dialect, sex = engine.capabilities.dialect, read(engine, ColumnKind.TEXT, "sex")
    cells = f"{function('hash60', dialect, sex)} AS h, {function('sha256', dialect, sex)} AS s"
    found = rows(engine, f"SELECT DISTINCT {sex} AS t, {cells} FROM {engine.relation('people')}")
    for text, short, long in found:
        if text is None:
            assert (short, long) == (None, None)
            continue
        raw = text.encode()
        digest = hashlib.md5(raw, usedforsecurity=False).hexdigest()
        assert short == int(digest[:15], 16)
        assert long == hashlib.sha256(raw).hexdigest()


def test_bounding_by_hash_keeps_the_same_rows_everywhere(engine):
    dialect = engine.capabilities.dialect
    person, age, sex = (name(engine, c) for c in ("person", "age", "sex"))
    kind = "STRING" if dialect == "spark" else "VARCHAR"
    text = (
        f"'key|' || CAST({person} AS {kind}) || '|' || COALESCE(CAST({age} AS {kind}), '') "
        f"|| '|' || COALESCE({sex}, '')"
    )
    order = function("hash60", dialect, text)
    sql = (
        f"SELECT p, a FROM (SELECT {person} AS p, {age} AS a, ROW_NUMBER() OVER "
        f"(PARTITION BY {person} ORDER BY {order}) AS r FROM {engine.relation('people')}) AS t "
        "WHERE r <= 2"
    )
    by_person: dict = {}
    for row in people().to_pylist():
        raw = f"key|{row['person']}|{'' if row['age'] is None else row['age']}|{row['sex'] or ''}"
        digest = hashlib.md5(raw.encode(), usedforsecurity=False).hexdigest()
        by_person.setdefault(row["person"], []).append((int(digest[:15], 16), row["age"]))
    truth = [(p, age) for p, kept in by_person.items() for _, age in sorted(kept)[:2]]
    assert rows(engine, sql) == sorted(truth, key=repr)


def test_text_sorts_by_its_bytes(engine):
    sex = read(engine, ColumnKind.TEXT, "sex")
    sql = f"SELECT MIN({sex}) AS low, MAX({sex}) AS high FROM {engine.relation('people')}"
    assert rows(engine, sql) == [(" Male", "zebra")]
    below = f"SELECT COUNT(*) AS n FROM {engine.relation('people')} WHERE {sex} < 'a'"
    truth = sum(1 for s in people()["sex"].to_pylist() if s is not None and s.encode() < b"a")
    assert cell(engine, below) == truth


def test_an_empty_result_keeps_its_types(engine):
    sql = f"SELECT {name(engine, 'age')} AS a, COUNT(*) AS n FROM {engine.relation('people')}"
    result = open_exact(engine.owner_reader().run(f"{sql} WHERE 1 = 0 GROUP BY 1"))
    assert (result.num_rows, result.schema.types) == (0, [pa.int64(), pa.int64()])


def test_every_function_is_there_for_every_dialect():
    known = [set(templates(kind.dialect.name)) for kind in KINDS]
    assert len(known) == 3
    assert known[0] == known[1] == known[2]


# -- tables


def test_the_columns_of_a_source(engine):
    assert [column for column, _ in engine.columns("people")] == people().column_names


def test_unknown_names(engine):
    with pytest.raises(UnknownName):
        engine.relation("nobody")
    assert not engine.has("nobody")
    assert not engine.has("../x")
    assert engine.has("people")
    for ask in (engine.columns, engine.names):
        with pytest.raises(UnknownName):
            ask("nobody")


def test_the_fingerprint_is_stable(place, engine):
    other = place.open()
    assert label(other) == label(engine)
    other.close()


class Alone(CanonicalRecipe):
    """Of a table that belongs to no dataset."""

    def whole(self, types):
        return False


def label(engine):
    columns = (Column("age", IntegerDomain(0, 120)),)
    table = Table("people", "people", PrivacyUnit(), columns)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    with engine.hold({"people": Alone(dataset, table)}) as held:
        return held.fingerprints["people"]


def test_a_missing_source_is_named(place):
    broken = Place(place.url, {"ghosts": "no_such_table_or_file"}, place.base)
    with pytest.raises(CatalogError, match="ghosts"):
        broken.open().columns("ghosts")
