import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from discreet.lab.attacks import record_links as linkage_keys
from discreet.lab.attacks.record_links import (
    MISSING,
    coded,
    keys,
    narrowed,
    singled_out,
    subsets,
    uniqueness,
)


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def test_texts_get_common_codes():
    found = coded("zip", column(["02139", None, " 10 "]), column(["10", "", "02139"]))
    assert found.values == ("02139", "10")
    assert found.first.tolist() == [0, MISSING, 1]
    assert found.second.tolist() == [1, MISSING, 0]
    assert not found.is_date


def test_dates_are_days_however_they_are_written():
    found = coded("born", column([dt.date(1950, 1, 2), None]), column(["1950-01-05", "1949-12-31"]))
    assert found.is_date
    assert (found.second - found.first[0]).tolist() == [3, -2]
    assert found.first[1] == MISSING


def test_a_column_that_is_a_date_in_one_file_only_is_text():
    found = coded("born", column(["1950-01-02"]), column(["2 January 1950"]))
    assert not found.is_date


def test_keys_agree_where_all_columns_do():
    dice = np.random.default_rng(0)
    first = [dice.integers(-1, 50, 300) for _ in range(12)]  # 51^12 combinations: beyond 64 bits
    second = [np.concatenate([codes[:100], dice.integers(0, 50, 50)]) for codes in first]
    one, two = keys(list(zip(first, second, strict=True)))
    gone = np.any([codes < 0 for codes in first], axis=0)
    assert (one[gone] == MISSING).all()
    assert (one[~gone] != MISSING).all()
    assert (one[:100] == two[:100]).all()
    rows = {tuple(row): key for *row, key in zip(*first, one.tolist(), strict=True) if key >= 0}
    assert len(set(rows.values())) == len(rows)


def test_who_is_singled_out():
    assert singled_out(np.array([1, 1, 2, MISSING])) == 0.25
    assert singled_out(np.array([], dtype=np.int64)) == 0.0


def test_subsets_are_bounded():
    assert len(set(subsets("abcdefgh"))) == 255
    many = subsets("abcdefghijkl")
    assert len(many) == 255
    assert many[-1] == tuple("abcdefghijkl")
    assert max(map(len, many[:-1])) < 12
    assert subsets("abc", most=2) == [("a",), ("a", "b", "c")]
    assert subsets("a") == [("a",)]


def test_a_long_table_is_read_less_often(monkeypatch):
    monkeypatch.setattr(linkage_keys, "MOST_ROWS", 12)
    table = pa.table({name: ["1", "2", "2"] for name in "abc"})
    assert list(uniqueness(table, "abc")) == [("a",), ("b",), ("c",), tuple("abc")]
    assert ("a", "b") not in uniqueness(table, "abc", largest=1)


def test_uniqueness_against_counting_by_hand():
    table = pa.table({"zip": ["1", "1", "2", "2"], "sex": ["f", "f", "f", "m"]})
    assert uniqueness(table, ["zip", "sex"]) == {
        ("zip",): 0.0,
        ("sex",): 0.25,
        ("zip", "sex"): pytest.approx(0.5),
    }


def test_weld():
    """Six people of Cambridge shared his birth date, three of them men, one in his ZIP code."""
    table = pa.table(
        {
            "birth_date": [dt.date(1945, 7, 31)] * 6 + [dt.date(1950, 1, 1), None],
            "sex": ["m", "f", "m", "f", "m", "f", "m", "m"],
            "zip": ["02138", "02138", "02139", "02140", "02141", None, "02138", "02138"],
        }
    )
    assert narrowed(table, 0, ["birth_date", "sex", "zip"]) == [6, 3, 1]
    assert uniqueness(table, ["birth_date", "sex", "zip"])["birth_date", "sex", "zip"] >= 1 / 8
