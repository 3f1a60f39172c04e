"""Sums of products: exact in whole numbers, with noise for what a unit can do, and many columns."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.schema import BooleanDomain, CategoryDomain, Column, IntegerDomain, NumberDomain
from discreet.base.unit import Neighbours
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.work.learn import regression
from discreet.work.learn.gram_matrix import (
    STEP,
    coded_column,
    exact_products,
    numbers_of,
    products_law,
    variables_of,
)

COLUMNS = [
    Column("a", IntegerDomain(0, 10)),
    Column("b", NumberDomain(Fraction(-1), Fraction(1), Fraction(1, 10**6))),
    Column("c", CategoryDomain(("x", "y", "z"))),
    Column("d", BooleanDomain()),
]
VARIABLES = [v for column in COLUMNS for v in variables_of(column)]
CODED = [coded_column(column, gaps=True) for column in COLUMNS]


def codes(rows, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, c.size, rows) for c in CODED], axis=1).astype(np.int32)


def test_every_number_lies_between_the_ends():
    for variable in VARIABLES:
        column = next(c for c in CODED if c.name == variable.column)
        found = numbers_of(variable, column)
        assert len(found) == column.size
        assert np.abs(found).max() == STEP
        assert (found == np.rint(found)).all()
    assert CODED[1].values <= 4096


def test_sums_are_exact_whatever_the_order():
    rows = codes(40)
    found = exact_products(rows, CODED, VARIABLES)
    assert (found == exact_products(rows[::-1], CODED, VARIABLES)).all()
    each = sum(exact_products(rows[i : i + 1], CODED, VARIABLES) for i in range(40))
    assert (found == each).all()


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_unit_is_within_the_noise_and_the_twin_for_one_row_is_not(neighbours):
    replaced = neighbours is Neighbours.REPLACE_ONE
    rows = codes(4000, seed=1)
    size = len(VARIABLES) + 1
    upper = np.triu_indices(size)
    moves = [
        int((exact_products(rows[i : i + 2], CODED, VARIABLES)[upper].astype(object) ** 2).sum())
        for i in range(0, 4000, 200)
    ]
    law = products_law(size, MarginalBudget(Fraction(1, 2), True), CountSensitivity(2, neighbours))
    same = np.repeat(np.array([[10, CODED[1].values - 1, 0, 1]], dtype=np.int32), 2, axis=0)
    worst = exact_products(same, CODED, VARIABLES)[upper].astype(object)
    factor = 4 if replaced else 1  # two opposite ones
    assert max(moves) * factor <= law.sigma_squared
    assert int((worst**2).sum()) * factor > 0.9 * law.sigma_squared
    twin = products_law(size, MarginalBudget(Fraction(1, 2), True), CountSensitivity(1, neighbours))
    assert int((worst**2).sum()) * factor > twin.sigma_squared


def test_without_noise_the_weights_are_those_of_least_squares():
    rows = codes(5000, seed=2)
    sums = exact_products(rows, CODED, VARIABLES).astype(float) / STEP**2
    found = regression.fit(sums, 0.0)
    tables = [numbers_of(v, next(c for c in CODED if c.name == v.column)) / STEP for v in VARIABLES]
    place = {c.name: i for i, c in enumerate(CODED)}
    matrix = np.stack(
        [t[rows[:, place[v.column]]] for v, t in zip(VARIABLES, tables, strict=True)], axis=1
    )
    full = np.column_stack([np.ones(len(rows)), matrix[:, :-1]])
    known = np.linalg.lstsq(full, matrix[:, -1], rcond=None)[0]
    assert np.abs(found - known).max() < 1e-6
