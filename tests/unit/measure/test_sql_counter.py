"""Exact marginals by SQL are those of the rows; nobody counts without a permit."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from copying import MemoryEngine
from discreet.measure import sealing as sql_counter
from discreet.measure.private_marginals import CountSensitivity
from discreet.measure.sealing import (
    MemoryCounter,
    SealedCodes,
    SqlCounter,
    store_codes,
    unstored_counter,
)
from discreet.measure.shape import Shape
from permits import of_engine, paid, permit_of
from town_source import town_source

SHAPE = Shape(("a", "b", "c", "d"), (3, 1, 7, 300))


def counters(rows=500):
    dice = np.random.default_rng(rows)
    codes = np.stack([dice.integers(0, size, rows) for size in SHAPE.sizes], 1).astype(np.int32)
    table = pa.table({f"c{i}": codes[:, i].astype(np.int16) for i in range(4)})
    engine = MemoryEngine({"codes": table})
    counter = SqlCounter(of_engine(engine), engine.relation("codes"), SHAPE)
    return counter, MemoryCounter(codes, SHAPE), engine


WANTED = [(), (0,), (3,), (0, 1), (2, 3), (0, 2, 3), (1,), (0, 1, 2, 3), (0,)]


@pytest.mark.parametrize("rows", [500, 1, 0])
def test_they_are_the_counts_of_the_rows(rows):
    counter, reference, _ = counters(rows)
    for found, expected in zip(counter.marginals(WANTED), reference.marginals(WANTED), strict=True):
        assert found.dtype == np.int64
        assert found.shape == expected.shape
        assert (found == expected).all()


def test_many_are_counted_in_few_statements_and_only_once():
    counter, reference, engine = counters()
    pairs = list(itertools.combinations(range(4), 2)) * 10
    first = counter.marginals(pairs)
    assert len(engine.ran) == 1
    second = counter.marginals(pairs)
    assert len(engine.ran) == 1
    assert all((x == y).all() for x, y in zip(first, second, strict=True))
    first[0][:] = -1  # what a caller does to a result is nobody else's business
    assert (counter.marginals([pairs[0]])[0] == reference.marginals([pairs[0]])[0]).all()


WIDE = Shape(tuple(f"x{i}" for i in range(30)), tuple(2 + i * 7 for i in range(30)))


@pytest.mark.parametrize("most", [10**6, 10])
@pytest.mark.parametrize("rows", [200, 0])
def test_very_many_of_a_small_table_are_counted_here(most, rows, monkeypatch):
    monkeypatch.setattr(sql_counter, "MOST_CELLS", most)
    dice = np.random.default_rng(2)
    codes = np.stack([dice.integers(0, size, rows) for size in WIDE.sizes], 1).astype(np.int32)
    table = pa.table({f"c{i}": codes[:, i].astype(np.int16) for i in range(30)})
    engine = MemoryEngine({"codes": table})
    counter = SqlCounter(of_engine(engine), engine.relation("codes"), WIDE)
    pairs = list(itertools.combinations(range(30), 2))
    found = counter.marginals(pairs)
    expected = MemoryCounter(codes, WIDE).marginals(pairs)
    assert all((x == y).all() for x, y in zip(found, expected, strict=True))
    fetched = most == 10**6 or not rows
    assert len(engine.ran) == (2 if fetched else 1 + -(-len(pairs) // sql_counter.BATCH))
    assert (counter.marginals([(3,)])[0] == MemoryCounter(codes, WIDE).marginals([(3,)])[0]).all()


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(sql_counter, "REMEMBERED", 100)
    counter, reference, engine = counters()
    for _ in range(2):
        (found,) = counter.marginals([(2, 3)])
        assert (found == reference.marginals([(2, 3)])[0]).all()
    assert len(engine.ran) == 2


def codes(sql):
    return SealedCodes(sql, Shape(("a",), (3,)), CountSensitivity(), town_source())


def test_nobody_counts_without_a_permit():
    _, _, engine = counters(1)
    for unpaid in (None, "yes", engine, engine.hold({}), engine.owner_reader(), permit_of("town")):
        for count in (store_codes, unstored_counter):
            with pytest.raises(TypeError, match="charge"):
                count(unpaid, codes("SELECT 1 AS c0"))
        with pytest.raises(TypeError, match="charge"):
            SqlCounter(unpaid, "codes", SHAPE)
    for count in (store_codes, unstored_counter):
        with pytest.raises(TypeError, match="kernel"):
            count(paid(engine.hold({})), "SELECT 1 AS c0")
    assert not engine.ran
    assert "hidden" in repr(SqlCounter(of_engine(engine), "codes", SHAPE))


def test_codes_are_stored_over_the_held_rows():
    _, _, engine = counters(1)
    reader = paid(engine.hold({}))
    one, two = (store_codes(reader, codes(f"SELECT {n} AS c0")) for n in (1, 2))
    assert len(engine.ran) == 2
    assert one.marginals([(0,)])[0].tolist() == [0, 1, 0]
    assert two.marginals([(0,)])[0].tolist() == [0, 0, 1]
