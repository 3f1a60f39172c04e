"""The lesson 'synthetic': made-up rows.

Exercise: the noise of an independent copy, and the account of RAP.
Figures: copies of the made-up town by each method and epsilon: how wrong their tables of two columns are.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from discreet.base.numbers import Epsilon
from discreet.data.catalog.edits import with_totals
from discreet.data.catalog.writer import change_file
from discreet.lab.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.lab.town import town
from discreet.privacy.account.price import laplace_scale

COLUMNS, PEOPLE = 10, 10_000
DELTA = 1e-6


def cost_of(rho: float) -> float:
    """Return the epsilon of a rho at the lesson's delta, by the formula of the lesson."""
    return rho + 2 * math.sqrt(rho * math.log(1 / DELTA))


def _rho(given: float) -> GradedAnswer:
    if not 0 < given < 10:
        return GradedAnswer(False, "A rho between 0 and 10 is wanted.")
    found = cost_of(given)
    return judged(
        close_to(1.0, found, within=0.01),
        f"Yes: that rho costs epsilon {found:.3f}.",
        f"That rho costs epsilon {found:.3f}.",
    )


def _round() -> float:
    rounds, picks, rho = 5, 20, 0.018
    return 1 / math.sqrt(2 * rho / (2 * rounds * picks))


QUESTIONS = (
    LessonQuestion(
        "scale",
        "An independent copy of 10,000 people with 10 columns, epsilon 1, one person replaced by another. What is the scale of the Laplace noise on each share of a histogram?",
        near(
            lambda: laplace_scale(Fraction(2, PEOPLE), Epsilon.of(Fraction(1, COLUMNS))),
            "Yes: 2 x 10 / 10,000 = {:g} of a share.",
            "Sensitivity 2/n, and a tenth of epsilon for each column.",
            within=0.01,
        ),
        "2*10/(1*10000)",
        "Lap(2d / (epsilon n)).",
    ),
    LessonQuestion(
        "rho",
        "Which rho corresponds to epsilon 1 at delta 1e-6, by epsilon = rho + 2 sqrt(rho ln(1/delta))?",
        _rho,
        "(sqrt(ln(10^6) + 1) - sqrt(ln(10^6)))^2",
        "A quadratic equation in sqrt(rho); about 0.0175.",
    ),
    LessonQuestion(
        "round",
        "RAP with T = 5 rounds of K = 20 questions and rho 0.018 in all. What is sigma of the Gaussian noise on each measured count?",
        near(
            _round,
            "Yes: {:.0f} people on each count.",
            "Each measurement has rho/(2TK); Gaussian noise on a count costs rho = 1/(2 sigma^2).",
            within=0.02,
        ),
        "sqrt(2*5*20/(2*0.018))",
        "rho/(2TK) = 0.00009 for a measurement, and sigma = 1/sqrt(2 x 0.00009) = 74.5.",
    ),
)


COMPARED_COLUMNS = ("sex", "education", "married", "smoker", "job", "household_size")
METHODS = ("random", "independent", "correlated", "tree")
TOWN_PEOPLE = 5_000
TOTALS = {"epsilon": Decimal(100), "delta": Decimal("1e-5")}


def facts() -> str:
    """Return the sweep, made on the town."""
    steps = []
    for label, epsilon in epsilons((0.05, 0.2, 1.0, 5.0)).items():
        bars = tuple(SweepBar(method, _error(method, epsilon)) for method in METHODS)
        best = min(bars, key=lambda bar: bar.value)
        steps.append(SweepStep(label, bars, f"Closest at this price: {best.name}."))
    sweep = Sweep(
        "price of a copy:",
        "average distance of a table of two columns from the true one (0 the same, 1 nothing in common)",
        tuple(steps),
        2,
    )
    return facts_json({"": sweep})


def _error(method: str, epsilon: float) -> float:
    from discreet.curator import open as open_curator

    with TemporaryDirectory() as folder:
        made = town(TOWN_PEOPLE, folder=folder, tables=("people",))
        change_file(made.toml, lambda text: with_totals(text, TOTALS))
        real = made.load("people")
        with open_curator(made.toml) as curator:
            copy = curator.synthesize("people", method=method, epsilon=epsilon, rows=TOWN_PEOPLE)
        return _distance(real, copy.to_arrow())


def _distance(real: pa.Table, copy: pa.Table) -> float:
    """Return the average total variation distance over all pairs of the columns."""
    found = []
    for pair in combinations(COMPARED_COLUMNS, 2):
        shares = [_shares(table, pair) for table in (real, copy)]
        keys = shares[0].keys() | shares[1].keys()
        found.append(sum(abs(shares[0].get(k, 0.0) - shares[1].get(k, 0.0)) for k in keys) / 2)
    return float(np.mean(found))


def _shares(table: pa.Table, pair: tuple[str, str]) -> dict[tuple[str, str], float]:
    counts: dict[tuple[str, str], float] = {}
    for one, two in zip(*(table.column(name).to_pylist() for name in pair), strict=True):
        key = (str(one), str(two))
        counts[key] = counts.get(key, 0.0) + 1 / table.num_rows
    return counts
