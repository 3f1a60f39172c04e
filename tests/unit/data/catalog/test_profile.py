import pyarrow as pa
import pytest

from discreet.data.catalog import profile as profiles
from discreet.data.catalog.guess import guess_column
from discreet.data.catalog.profile import (
    constant_columns,
    count_distinct,
    read_profile,
    rows_per_unit,
)


@pytest.fixture
def engine(owner_engine):
    return owner_engine(
        t=pa.table({
            "who": [1, 1, 1, 2, 2, None],
            "a": [5, 5, 5, 6, 6, 7],
            "b": [1, 2, 1, 1, 1, 1],
            "x": [0.5, float("nan"), float("inf"), None, 0.5, 1.5],
        })
    )  # fmt: skip


def test_values_counts_and_missing(engine):
    found = read_profile(engine, "t", "who")
    assert (found.rows, found.missing, found.present, found.distinct) == (6, 1, 5, 2)
    assert dict(zip(found.values.to_pylist(), found.counts, strict=True)) == {1: 3, 2: 2}


def test_what_is_no_finite_number_is_missing(engine):
    found = read_profile(engine, "t", "x")
    assert sorted(found.values.to_pylist()) == [0.5, 1.5]
    assert found.missing == 3


def test_a_repr_shows_no_values(engine):
    assert "0.5" not in repr(read_profile(engine, "t", "x"))


def test_rows_of_a_person(engine):
    assert rows_per_unit(engine, "t", "who") == (3, 3, 1.0)


def test_constant_columns(engine):
    assert constant_columns(engine, "t", "who", ["a", "b"]) == {"a"}
    assert constant_columns(engine, "t", "who", []) == set()


def test_a_column_with_too_many_values_keeps_its_true_bounds(owner_engine, monkeypatch):
    monkeypatch.setattr(profiles, "MOST_VALUES", 10)
    values = [7.5 * i for i in range(100)] + [None]
    engine = owner_engine(t=pa.table({"x": values, "s": [str(v) for v in values]}))
    found = read_profile(engine, "t", "x")
    assert not found.complete
    assert found.distinct <= 11
    assert found.extremes == (0.0, 742.5)
    assert (found.rows, found.missing) == (101, 1)
    assert guess_column(found).settings["upper"] == 800
    assert read_profile(engine, "t", "s").extremes is None


def test_a_column_that_cannot_be_read(engine):
    assert read_profile(engine, "t", "nothing") is None


@pytest.mark.parametrize(
    ("values", "bits"),
    [
        ([*range(-50, 50), *range(20), None], True),
        ([7 * i for i in range(100)] * 3, True),
        (pa.array([2**32 - 1 - i for i in range(100)], pa.uint32()), True),
        (pa.array([*range(-99, 0), None, 7], pa.int16()), True),
        ([10**15 * i for i in range(100)] * 2, False),
        ([-(2**63), 2**63 - 1, *range(50)], False),
        ([f"P{i}" for i in range(100)] * 2, False),
        ([i / 8 for i in range(100)] * 2, False),
    ],
)
def test_values_are_counted_by_bits_where_they_lie_close(owner_engine, monkeypatch, values, bits):
    monkeypatch.setattr(profiles, "MOST_VALUES", 10)
    engine = owner_engine(t=pa.table({"x": values}))
    found = read_profile(engine, "t", "x")
    asked, run = [], engine._run
    monkeypatch.setattr(engine, "_run", lambda sql, **how: asked.append(sql) or run(sql, **how))
    assert count_distinct(engine, "t", found) == len(set(pa.array(values).to_pylist()) - {None})
    assert not found.complete
    assert ["BITSTRING_AGG" in sql for sql in asked] == [bits]
