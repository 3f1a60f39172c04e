"""Copies of real files, from the command line to the last cell; needs ../shared/data, else skips."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from discreet.cli.app import run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")
BUDGET = ("--epsilon", "1", "--delta", "1e-9", "--json")


def copied(file: str, folder: Path, capsys, *options: str) -> tuple[pa.Table, pa.Table, dict]:
    """Return the real table, its copy and what the command said."""
    source = folder / Path(file).name
    shutil.copy(DATA / file, source)
    out = folder / "copy.csv"
    assert run(["synth", str(source), "--out", str(out), *BUDGET, *options]) == 0
    said = json.loads(capsys.readouterr().out)
    return arrow_csv.read_csv(source), arrow_csv.read_csv(out), said


def codes(table: pa.Table, names: list[str]) -> np.ndarray:
    found = [table[name].cast(pa.float64()).fill_null(-1).to_pylist() for name in names]
    return np.array(found, dtype=int).T


def distance(one: np.ndarray, two: np.ndarray, columns: tuple[int, ...]) -> float:
    """Return the total variation distance between two tables on some columns."""
    both = np.concatenate([one, two])[:, list(columns)] + 1
    place = np.ravel_multi_index(tuple(both.T), tuple(both.max(axis=0) + 1))
    cells = int(place.max()) + 1
    first = np.bincount(place[: len(one)], minlength=cells) / len(one)
    second = np.bincount(place[len(one) :], minlength=cells) / len(two)
    return float(np.abs(first - second).sum() / 2)


@needs_data
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--accept",), id="declared", marks=pytest.mark.slow),
        pytest.param((), id="learned", marks=pytest.mark.slow),
    ],
)
def test_adult(options, tmp_path, capsys):
    real, copy, said = copied("adult_discretized.csv", tmp_path, capsys, *options)
    names = real.column_names
    assert copy.column_names == names
    assert abs(said["rows"] - 48_842) < 500
    one, two = codes(real, names), codes(copy, names)
    triples = list(itertools.combinations([3, 4, 5, 6, 7, 8, 13], 3))
    mean = np.mean([distance(one, two, triple) for triple in triples])
    assert mean < 0.12  # 0.08 to 0.09 in practice
    dice = np.random.default_rng(1)
    shuffled = np.stack([dice.permutation(column) for column in one.T], axis=1)
    assert np.mean([distance(one, shuffled, triple) for triple in triples]) > 0.15  # can fail


@needs_data
@pytest.mark.slow
def test_home_equity_keeps_its_gaps(tmp_path, capsys):
    real, copy, _ = copied("hmeq.csv", tmp_path, capsys, "--accept", "--target", "BAD")
    assert copy.column_names == real.column_names
    for name in ("DEBTINC", "DEROG", "MORTDUE"):
        gaps = [table[name].null_count / table.num_rows for table in (real, copy)]
        assert abs(gaps[0] - gaps[1]) < 0.05
    assert copy["LOAN"].type == pa.int64()
    assert min(x for x in copy["VALUE"].to_pylist() if x is not None) >= 0


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("file", ["acs/ma2019.csv", "acs/national2019.csv"])
def test_census_excerpts(file, tmp_path, capsys):
    real, copy, said = copied(file, tmp_path, capsys)
    assert abs(said["rows"] - real.num_rows) < 0.1 * real.num_rows
    assert set(copy.column_names) <= set(real.column_names)
    assert len(copy.column_names) >= 20
    ages = copy["AGEP"].to_pylist()
    assert abs(np.mean(ages) - np.mean(real["AGEP"].to_pylist())) < 4
