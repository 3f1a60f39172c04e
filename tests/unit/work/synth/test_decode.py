"""From codes to values: types, bins, gaps, and back to the same codes."""

import datetime as dt

import numpy as np
import pyarrow as pa

from copying import encoding
from discreet.measure.decoding import NULL, places_of, to_table, value_at
from discreet.work.synth.synthetic import codes_of

DICE = np.random.default_rng(5)


def every_code(repeats=50):
    sizes = encoding().shape.sizes
    rows = max(sizes) * repeats
    return np.stack([np.arange(rows) % size for size in sizes], axis=1).astype(np.int32)


def test_every_code_comes_back_as_itself():
    codes = every_code()
    places = places_of(codes, encoding(), DICE)
    assert (codes_of(places, encoding()) == codes).all()


def test_types_and_ranges():
    codes = every_code()
    table = to_table(places_of(codes, encoding(), DICE), encoding(), DICE)
    assert table.schema == pa.schema(
        {
            "id": pa.int64(),
            "sex": pa.string(),
            "age": pa.int64(),
            "income": pa.float64(),
            "born": pa.date32(),
            "seen": pa.timestamp("s"),
            "member": pa.bool_(),
        }
    )
    assert table["id"].to_pylist() == list(range(1, len(codes) + 1))
    assert set(table["sex"].to_pylist()) == {"Female", "Male"}
    ages = [age for age in table["age"].to_pylist() if age is not None]
    assert (min(ages), max(ages)) == (0, 120)
    assert table["age"].null_count == (codes[:, 1] == 121).sum() > 0
    incomes = table["income"].to_pylist()
    assert all(0 <= x <= 1000 and round(x, 2) == x for x in incomes)
    assert len(set(incomes)) > 1000  # spread inside the bins, on the declared step
    born = table["born"].to_pylist()
    assert min(born) >= dt.date(1900, 1, 1)
    assert max(born) <= dt.date(2020, 12, 31)
    seen = table["seen"].to_pylist()
    assert min(seen) >= dt.datetime(2024, 1, 1, 6)
    assert max(seen) <= dt.datetime(2024, 3, 31, 20)
    assert len({moment.second for moment in seen}) > 30
    assert set(table["member"].to_pylist()) == {True, False, None}


def test_places_inside_a_bin_are_uniform():
    column = encoding().coded[2]
    codes = np.zeros((20_000, len(encoding().coded)), dtype=np.int32)
    places = places_of(codes, encoding(), DICE)[:, 2]
    low, high = column.span(0)
    counts, _ = np.histogram(places, bins=10, range=(low, high))
    # Chi-square with 9 degrees of freedom: 75 is beyond 1e-12 of a correct sampler.
    assert ((counts - 2000) ** 2 / 2000).sum() < 75
    assert ((counts * np.linspace(0.8, 1.2, 10) - 2000) ** 2 / 2000).sum() > 75  # can fail


def test_values_as_rules_see_them():
    born, seen = encoding().coded[3], encoding().coded[4]
    assert value_at(born, 0) == dt.date(1900, 1, 1)
    assert value_at(seen, 1) == dt.date(2024, 1, 2)  # a timestamp counts as its day
    assert value_at(born, NULL) is None


def test_no_rows_make_an_empty_table():
    none = np.zeros((0, len(encoding().coded)), dtype=np.int32)
    table = to_table(places_of(none, encoding(), DICE), encoding(), DICE)
    assert table.num_rows == 0
    assert table.schema.field("born").type == pa.date32()
