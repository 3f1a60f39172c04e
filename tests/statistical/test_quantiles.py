"""Quantiles of columns in which many rows share a value, beside the exact ones, and the rank error that is stated.

The whole way: SQL, the histogram of the engine, the kernel's choice. ALPHA = 1e-9 for each assertion.
"""

from __future__ import annotations

import functools
import random
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from curator_kit import MemoryEngine, arrow, catalog_of, planned, world_rows
from discreet.ask.release.error_bars import rank_loss
from discreet.privacy.kernel import look as looking
from discreet.privacy.kernel.look import ExactResults, noised
from discreet.privacy.noise.rng import SystemRng
from discreet.testing import SeededRng, assert_frequency
from sittings import FULL

CATALOG = catalog_of(Path())
RNG = SystemRng() if FULL else SeededRng(20261119)
DRAWS = 2_000 if FULL else 300

AGES = {
    "400 in 0 to 9, 600 at 50": [i % 10 for i in range(400)] + [50] * 600,
    "600 at 50, 400 in 80 to 89": [50] * 600 + [80 + i % 10 for i in range(400)],
    "constant": [37] * 500,
    "two values": [20] * 300 + [70] * 700,
    "five values": [18, 25, 25, 40, 65] * 120,
    "all different ages": [i % 121 for i in range(1_210)],
    "few rows": [3, 3, 90],
    "none": [],
}
ASKED = {
    "MEDIAN(age)": Fraction(1, 2),
    "QUANTILE_CONT(age, 0.9)": Fraction(9, 10),
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age)": Fraction(1, 4),
    "QUANTILE_CONT(age, 0.01)": Fraction(1, 100),
    "MIN(age)": Fraction(0),
    "MAX(age)": Fraction(1),
}
"""Aggregates, and the share of the rows that should lie below what they return."""


@functools.cache
def template() -> dict[str, Any]:
    return world_rows(random.Random(1), 1)["people"][0]


def engine_of(column: str, values: list[Any], **cells: Any) -> MemoryEngine:
    rows = [
        {**template(), "row_number": i, column: value, **cells} for i, value in enumerate(values)
    ]
    return MemoryEngine({"people": arrow("people", rows), "zips": arrow("zips", [])})


@functools.cache
def engine(shape: str) -> MemoryEngine:
    return engine_of("age", AGES[shape])


def drawn(sql: str, on: MemoryEngine, *, epsilon: str = "1") -> tuple[Any, Any, list[list[Any]]]:
    """Return choice and selection of a question, and for each of its groups what was drawn."""
    plan = planned(sql, CATALOG, epsilon=epsilon)
    exact = plan.exact(on)
    ((name, choice),) = plan.question.measured.choices
    by_group = []
    for histogram in exact.histograms[name]:
        again = ExactResults(((),) * DRAWS, {}, {name: np.tile(histogram, (DRAWS, 1))})
        places = noised(again, plan.plan.mechanisms, RNG).choices[name]
        by_group.append([choice.value(place) for place in places])
    return choice, plan.plan.mechanisms.selections[name], by_group


def ranks_off(lowest: Any, highest: Any, values: list[Any], q: Fraction) -> Fraction:
    """Return how far rank q n is from the ranks that the rows from `lowest` to `highest` hold."""
    below = sum(value < lowest for value in values)
    until = sum(value <= highest for value in values)
    return max(Fraction(0), below - q * len(values), q * len(values) - until)


def missed(values: list[Any], aggregate: str, on: MemoryEngine, epsilon: str) -> int:
    """Return in how many draws the rank was further off than is stated."""
    _, selection, (found,) = drawn(f"SELECT {aggregate} FROM people", on, epsilon=epsilon)
    stated = rank_loss(selection)
    return sum(ranks_off(v, v, values, ASKED[aggregate]) > stated for v in found)


def test_the_median_of_a_heap_is_the_heap():
    """At most 120 e^-100 of the draws may be anything else."""
    for shape in ("400 in 0 to 9, 600 at 50", "600 at 50, 400 in 80 to 89"):
        assert drawn("SELECT MEDIAN(age) FROM people", engine(shape))[2] == [[50] * DRAWS]
    assert drawn("SELECT MEDIAN(age) FROM people", engine("constant"))[2] == [[37] * DRAWS]


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("aggregate", list(ASKED))
@pytest.mark.parametrize("shape", list(AGES))
def test_the_rank_is_off_by_at_most_what_is_stated(shape, aggregate, epsilon):
    off = missed(AGES[shape], aggregate, engine(shape), epsilon)
    assert_frequency(DRAWS - off, DRAWS, 0.95, 1.0)


@pytest.mark.parametrize("aggregate", list(ASKED))
@pytest.mark.parametrize("shape", [shape for shape in AGES if AGES[shape]])
def test_without_noise_it_is_an_exact_quantile(shape, aggregate):
    """Nothing smaller than the lower one of numpy, nothing greater than the higher one."""
    values, q = AGES[shape], ASKED[aggregate]
    _, _, (found,) = drawn(f"SELECT {aggregate} FROM people", engine(shape), epsilon="1000")
    at = q * len(values)
    ordered = sorted(values)
    lower = ordered[int(at) - (at.denominator == 1)] if at > 0 else 0
    higher = ordered[int(at)] if at < len(values) else 120
    assert all(lower <= value <= higher for value in found)
    inverted = np.quantile(values, float(q), method="inverted_cdf")
    assert lower <= inverted <= higher


def by_the_old_utility(histograms: Any, quantile: Fraction) -> Any:
    """Rows that share a value with the candidate count on neither side of it."""
    top, bottom = quantile.numerator, quantile.denominator
    until = np.cumsum(histograms, axis=-1)
    below, above = until - histograms, until[..., -1:] - until
    return -np.abs((bottom - top) * below - top * above)


def test_a_choice_that_leaves_out_equal_rows_is_caught(monkeypatch):
    monkeypatch.setattr(looking, "rank_utilities", by_the_old_utility)
    shape = "400 in 0 to 9, 600 at 50"
    _, _, (found,) = drawn("SELECT MEDIAN(age) FROM people", engine(shape))
    assert 50 not in found
    off = missed(AGES[shape], "MEDIAN(age)", engine(shape), "1")
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(DRAWS - off, DRAWS, 0.95, 1.0)


def test_an_eighth_of_the_stated_rank_error_is_caught():
    """The bound is not so wide that anything would lie in it."""
    shape = "all different ages"
    _, selection, (found,) = drawn("SELECT MEDIAN(age) FROM people", engine(shape), epsilon="0.1")
    stated = Fraction(rank_loss(selection), 8)
    off = sum(ranks_off(v, v, AGES[shape], Fraction(1, 2)) > stated for v in found)
    with pytest.raises(AssertionError, match="too rare"):
        assert_frequency(DRAWS - off, DRAWS, 0.95, 1.0)


def test_filters_and_groups_have_medians_of_their_own():
    values = AGES["400 in 0 to 9, 600 at 50"]
    rows = [
        {**template(), "row_number": i, "age": age, "sex": ("Female", "Male")[i >= 400]}
        for i, age in enumerate(values)
    ]
    on = MemoryEngine({"people": arrow("people", rows), "zips": arrow("zips", [])})
    sql = "SELECT MEDIAN(age) FILTER (WHERE age >= 9) FROM people"
    assert drawn(sql, on)[2] == [[50] * DRAWS]
    _, _, groups = drawn("SELECT sex, MEDIAN(age) FROM people GROUP BY sex", on)
    women, men, _ = groups
    assert men == [50] * DRAWS
    assert set(women) != {50}


def test_where_values_share_a_candidate_the_rank_is_that_of_its_range():
    """Incomes in cents have 12,232 values to a candidate; the range that it stands for holds the rank."""
    values = [1_200.0] * 400 + [31_000.0] * 600
    on = engine_of("income", values)
    for aggregate, q in (("MEDIAN(income)", Fraction(1, 2)), ("MAX(income)", Fraction(1))):
        choice, selection, (found,) = drawn(f"SELECT {aggregate} FROM people", on)
        assert choice.width > 1
        off, half = 0, Fraction(choice.width, 200)
        for value in found:
            off += ranks_off(value - half, value + half, values, q) > rank_loss(selection)
        assert_frequency(DRAWS - off, DRAWS, 0.95, 1.0)
        if q == Fraction(1, 2):
            assert all(abs(value - 31_000) <= half for value in found)
