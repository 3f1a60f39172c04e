"""The noise of every aggregate has its predicted law, and error bars cover what they say.

ALPHA = 1e-9 for each assertion; every law is also held against laws that are wrong by a tenth.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from curator_kit import MemoryEngine, arrow, catalog_of, planned, world_rows
from discreet.ask.release.answer import finish
from discreet.privacy.kernel.look import ExactResults, noised
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.privacy.noise.rng import SystemRng
from discreet.testing import ALPHA, SeededRng, assert_frequency, assert_law
from sittings import FULL

CATALOG = catalog_of(Path())
RNG = SystemRng() if FULL else SeededRng(20261115)
N = 100_000


def fixed(plan, size: int, values: dict[str, int], histogram=None) -> ExactResults:
    """Return exact results in which every group says the same."""
    measured = plan.question.measured
    return ExactResults(
        groups=tuple((i,) for i in range(size)),
        measures={name: [values[m.kind.value]] * size for name, m in measured.measures},
        histograms={name: np.tile(histogram, (size, 1)) for name, _ in measured.choices},
    )


def noisy_of(plan, exact, rng=RNG):
    return noised(exact, plan.plan.mechanisms, rng)


def scaled(law, factor):
    if isinstance(law, LaplaceLaw):
        return LaplaceLaw(law.scale * factor)
    return GaussianLaw(law.sigma_squared * factor**2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, COUNT(*) FROM people GROUP BY age",
        "SELECT age, SUM(score) FROM people GROUP BY age",
        "SELECT age, COUNT(*), SUM(score), COUNT(married) FROM people GROUP BY age",
        "SELECT ward, COUNT(DISTINCT person), SUM(cost) FROM visits GROUP BY ward",
    ],
)
@pytest.mark.parametrize("epsilon", ["0.2", "1"])
def test_noise_has_the_planned_law(sql, epsilon):
    plan = planned(sql, CATALOG, epsilon=epsilon)
    truth = {"rows": 50, "sum": -7, "present": 3, "units": 9, "centred": 5, "squares": 1}
    noisy = noisy_of(plan, fixed(plan.plan, N, truth))
    for name, measure in plan.question.measured.measures:
        law = plan.plan.mechanisms.laws[name]
        noise = np.array(noisy.measures[name]) - truth[measure.kind.value]
        assert_law(noise, law, wrong_laws=[scaled(law, 9 / 10), scaled(law, 11 / 10)])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, COUNT(*) FROM people GROUP BY age",
        "SELECT age, SUM(score) FROM people GROUP BY age",
        "SELECT age, 100 * COUNT(married) - 3 FROM people GROUP BY age",
    ],
)
def test_the_error_of_a_linear_answer_covers_exactly_what_the_law_says(sql):
    size = 20_000 if FULL else 5_000
    plan = planned(sql, CATALOG, epsilon="0.3")
    ((name, measure),) = plan.question.measured.measures
    law = plan.plan.mechanisms.laws[name]
    exact = fixed(plan.plan, size, {"rows": 40, "sum": 40, "present": 40})
    table = finish(noisy_of(plan, exact), plan.question, plan.plan.mechanisms.laws)
    unit = {"rows": 1, "sum": 0.5, "present": 100}[measure.kind.value]
    truth = unit * 40 - (3 if measure.kind.value == "present" else 0)
    errors = {row[1] for row in table.error95}
    assert len(errors) == 1
    (half,) = errors
    inside = sum(abs(row[1] - truth) <= half for row in table.rows)
    steps = round(half / unit)
    chance = 1 - 2 * float(law.survival(np.array([steps + 1.0]))[0])
    assert 0.95 <= chance < 0.99
    assert_frequency(inside, size, chance, chance)
    # An error bar one step narrower or wider would have been noticed, or is not 95% any more.
    assert 1 - 2 * float(law.survival(np.array([float(steps)]))[0]) < 0.95


@pytest.mark.parametrize(
    ("aggregate", "count", "mean"),
    [
        (aggregate, count, mean)
        for aggregate in ("AVG(age)", "VAR_POP(age)", "STDDEV(age)")
        for count, mean in ((8, 110), (200, 100), (2000, 119), (30, 60), (2000, 7))
        # A standard deviation is the root of the variance, and so are its ends.
        if FULL or (mean > 60 and (aggregate != "VAR_POP(age)" or count == 200))
    ],
)
def test_intervals_of_means_and_variances_cover_at_least_what_they_say(aggregate, count, mean):
    size = 800 if FULL else 300
    plan = planned(f"SELECT sex, {aggregate} FROM people GROUP BY sex", CATALOG, epsilon="1")
    centred = 2 * mean * count - 120 * count
    spread = 4 * 16 * count  # every person four years from the mean, half of them on each side
    squares = (2 * mean - 120) ** 2 * count + spread
    truth = {"AVG(age)": mean, "VAR_POP(age)": 16.0, "STDDEV(age)": 4.0}[aggregate]
    exact = fixed(plan.plan, size, {"centred": centred, "present": count, "squares": squares})
    laws = plan.plan.mechanisms.laws
    table = finish(noisy_of(plan, exact), plan.question, laws)
    known = [(row[1], ends[1]) for row, ends in zip(table.rows, table.intervals, strict=True)]
    missed = sum(
        ends is not None and not ends[0] - 1e-9 <= truth <= ends[1] + 1e-9 for _, ends in known
    )
    assert_frequency(size - missed, size, 0.95, 1.0)
    if aggregate != "AVG(age)":
        return
    # Not absurdly wide: at most twice what the noise of the two measures makes of the mean.
    above, below = (laws[name] for name, _ in plan.question.measured.measures)
    deviation = (
        np.sqrt(float(above.variance) / 4 + (mean - 60) ** 2 * float(below.variance)) / count
    )
    widths = [ends[1] - ends[0] for _, ends in known if ends is not None]
    if count >= 200:
        assert np.median(widths) <= 2 * 2 * 1.96 * deviation + 1e-9


def test_a_mean_with_half_the_error_bar_is_caught():
    size = 800 if FULL else 300
    plan = planned("SELECT sex, AVG(age) FROM people GROUP BY sex", CATALOG, epsilon="1")
    exact = fixed(plan.plan, size, {"centred": 0, "present": 500, "squares": 0})
    table = finish(noisy_of(plan, exact), plan.question, plan.plan.mechanisms.laws)
    inside = sum(
        abs(row[1] - 60) <= errors[1] / 2
        for row, errors in zip(table.rows, table.error95, strict=True)
    )
    with pytest.raises(AssertionError):
        assert_frequency(inside, size, 0.95, 1.0)


def test_quantiles_are_chosen_with_the_chances_of_the_exponential_mechanism():
    size = 30_000 if FULL else 15_000
    plan = planned("SELECT sex, QUANTILE_CONT(age, 0.25) FROM people GROUP BY sex", CATALOG)
    ((name, selection),) = plan.plan.mechanisms.selections.items()
    histogram = np.zeros(selection.bins, dtype=np.int64)
    histogram[[10, 20, 21, 40, 90]] = [6, 9, 1, 12, 4]
    chosen = np.array(noisy_of(plan, fixed(plan.plan, size, {}, histogram)).choices[name])
    until = np.cumsum(histogram)
    rank = 0.25 * histogram.sum()
    utility = -np.maximum(0, np.maximum(until - histogram - rank, rank - until))

    def pvalue(epsilon):
        weights = np.exp(epsilon * utility / (2 * float(selection.sensitivity)))
        expected = weights / weights.sum() * size
        observed = np.bincount(chosen, minlength=selection.bins)
        order = np.argsort(expected)
        cuts = np.searchsorted(np.cumsum(expected[order]), np.arange(10, size, 40))
        parts = np.split(order, np.unique(cuts))
        pairs = [(observed[p].sum(), expected[p].sum()) for p in parts if expected[p].sum() >= 10]
        got, want = np.array(pairs).T
        return (
            stats.chisquare(
                np.append(got, size - got.sum()), np.append(want, size - want.sum()) + 1e-9
            ).pvalue
            if size - want.sum() >= 10
            else stats.chisquare(got, want * got.sum() / want.sum()).pvalue
        )

    epsilon = float(selection.epsilon)
    assert pvalue(epsilon) > ALPHA
    assert pvalue(epsilon * 1.25) < ALPHA
    assert pvalue(epsilon * 0.75) < ALPHA


def test_the_whole_way_gives_fresh_noise_around_the_truth():
    """Through the engine: noisy minus exact has the planned law, question after question."""
    rows = world_rows(random.Random(1), 12)
    engine = MemoryEngine({"people": arrow("people", rows["people"])})
    plan = planned("SELECT age, COUNT(*) FROM people GROUP BY age", CATALOG, epsilon="0.5")
    exact = plan.exact(engine)
    ((name, _),) = plan.question.measured.measures
    noise = np.concatenate(
        [np.array(noisy_of(plan, exact).measures[name]) - exact.measures[name] for _ in range(300)]
    )
    law = plan.plan.mechanisms.laws[name]
    assert_law(noise, law, wrong_laws=[scaled(law, 5 / 6), scaled(law, 6 / 5)])
