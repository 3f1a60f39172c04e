"""A chosen quantile tells no unit's rows apart by more than epsilon: every small data set, every neighbour.

The sensitivity is the kernel's own, of the SQL that would run; what it is held against are all histograms of a
few rows, with every set of rows that one unit can have.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curator_kit import MemoryEngine, arrow, catalog_of, planned
from discreet.privacy.kernel.look import rank_utilities
from discreet.privacy.kernel.mechanism import Selection
from world_catalog import TABLES

BINS = 3
QUANTILES = ("0.5", "0.25", "0.9", "0", "1")
CATALOGS = {kind: catalog_of(Path(), neighbours=kind) for kind in ("add-remove", "replace-one")}

CASES = [
    (kind, groups, rows, q)
    for kind in CATALOGS
    for groups, rows in ((1, 0), (2, 0), (1, 1), (1, 2), (2, 2))
    for q in QUANTILES
]
"""Neighbours, groups, rows of a person at most (0: a row is the unit), quantile."""


@functools.cache
def empty() -> MemoryEngine:
    return MemoryEngine({name: arrow(name, []) for name in TABLES})


def admitted(kind: str, groups: int, rows: int, quantile: str) -> Selection:
    """Return a quantile as the kernel admits it, from the SQL of a question."""
    table, column, key = ("visits", "code", "ward") if rows else ("people", "age", "sex")
    by = ("", "") if groups == 1 else (f"{key}, ", f" GROUP BY {key}")
    sql = f"SELECT {by[0]}QUANTILE_CONT({column}, {quantile}) FROM {table}{by[1]}"
    plan = planned(sql, CATALOGS[kind], max_rows=rows or None)
    (selection,) = plan.sealed(empty()).mechanisms.selections.values()
    return selection


def counted(places: tuple[int, ...], groups: int) -> Any:
    """Return the histograms of some rows, each written as the number of its group and bin."""
    flat = np.bincount(np.array(places, dtype=np.int64), minlength=groups * BINS)
    return flat.reshape(groups, BINS)


def sets_of(groups: int, most: int) -> Iterator[Any]:
    """Yield every histogram of at most so many rows."""
    for size in range(most + 1):
        for places in itertools.combinations_with_replacement(range(groups * BINS), size):
            yield counted(places, groups)


def neighbours(kind: str, groups: int, rows: int) -> tuple[Any, Any]:
    """Return all pairs of small neighbours; a replaced unit may have rows that are in no group."""
    own = list(sets_of(groups, max(rows, 1)))
    if kind == "replace-one":
        pairs = list(itertools.combinations(own, 2))
    else:
        pairs = [(one, own[0]) for one in own[1:]]
    others = np.stack(list(sets_of(groups, 4 if groups == 1 else 2)))[:, None]
    one, two = (others + np.stack(side) for side in zip(*pairs, strict=True))
    return one.reshape(-1, groups, BINS), two.reshape(-1, groups, BINS)


def moved(one: Any, two: Any, quantile: Fraction) -> Fraction:
    """Return how far utilities are apart: at most in each group, added up over groups."""
    gap = np.abs(rank_utilities(one, quantile) - rank_utilities(two, quantile))
    return Fraction(int(gap.max(axis=2).sum(axis=1).max()), quantile.denominator)


def told_apart(
    one: Any, two: Any, selection: Selection, sensitivity: Fraction, halves: int = 2
) -> float:
    """Return the greatest log ratio of the chances of what is chosen in all groups together."""
    rate = float(selection.epsilon / (halves * sensitivity * selection.quantile.denominator))
    laws = []
    for side in (one, two):
        weights = rate * rank_utilities(side, selection.quantile).astype(np.float64)
        laws.append(weights - np.log(np.exp(weights).sum(axis=2, keepdims=True)))
    gap = laws[0] - laws[1]
    return float(max(gap.max(axis=2).sum(axis=1).max(), (-gap).max(axis=2).sum(axis=1).max()))


@pytest.mark.parametrize(("kind", "groups", "rows", "quantile"), CASES)
def test_no_unit_moves_a_utility_further_than_the_kernel_says(kind, groups, rows, quantile):
    """... and some unit moves it so far, except where a replaced row cannot leave its only group."""
    selection = admitted(kind, groups, rows, quantile)
    one, two = neighbours(kind, groups, rows)
    farthest = moved(one, two, selection.quantile)
    loss = told_apart(one, two, selection, selection.sensitivity)
    assert farthest <= selection.sensitivity
    assert loss <= float(selection.epsilon) + 1e-9
    assert farthest == selection.sensitivity, "more noise than is needed"


def worst(kind: str, rows: int, quantile: str, **twin: Any) -> float:
    selection = admitted(kind, 1, rows, quantile)
    sensitivity = twin.pop("sensitivity", selection.sensitivity)
    return told_apart(*neighbours(kind, 1, rows), selection, sensitivity, **twin)


def test_a_curator_that_prices_a_replaced_row_as_one_that_is_added_is_caught():
    assert worst("replace-one", 0, "0.5") <= 1 + 1e-9
    assert worst("replace-one", 0, "0.5", sensitivity=Fraction(1, 2)) > 1.2


def test_a_curator_that_forgets_the_rows_of_a_person_is_caught():
    assert worst("add-remove", 2, "0.5") <= 1 + 1e-9
    assert worst("add-remove", 2, "0.5", sensitivity=Fraction(1, 2)) > 1.2


@pytest.mark.parametrize("quantile", ["0.5", "0.25", "0.9"])
def test_the_saving_of_monotone_utilities_does_not_exist_here(quantile):
    """A row lifts the values on one side of it and lowers those on the other, so the factor 2 stays."""
    assert worst("add-remove", 0, quantile, halves=1) > 1.02


def test_the_ranks_of_a_few_rows_by_hand():
    """Against the definition, counted row by row."""
    for values in itertools.product(range(4), repeat=4):
        for q in map(Fraction, QUANTILES):
            found = rank_utilities(np.bincount(values, minlength=4), q)
            for v in range(4):
                below = sum(x < v for x in values)
                above = sum(x > v for x in values)
                too_high = (1 - q) * below - q * (4 - below)
                too_low = q * above - (1 - q) * (4 - above)
                assert found[v] == -q.denominator * max(0, too_high, too_low)
            assert found.max() == 0
