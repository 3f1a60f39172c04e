"""Mechanisms: scales from sensitivities, the better family, thresholds."""

from fractions import Fraction

from asking import plan
from discreet.ask.plan.measure import BINS
from discreet.base.event import Composed, Failing, Gaussian, Laplace, Select
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from noise_kit import appearance_bounds


def test_scale_is_sensitivity_over_epsilon():
    found = plan("SELECT SUM(age) FROM people", epsilon="0.5").mechanisms
    assert found.laws == {"m0": LaplaceLaw(Fraction(240))}
    assert found.event == Laplace(Fraction(240), Fraction(120))


def test_several_measures_are_composed():
    found = plan("SELECT COUNT(*), SUM(age) FROM people").mechanisms
    assert found.event == Composed(
        (Laplace(Fraction(2), Fraction(1)), Laplace(Fraction(240), Fraction(120)))
    )


def test_many_answers_get_gaussian_noise_where_delta_allows():
    sql = ", ".join(f"COUNT(*) FILTER (WHERE age > {i})" for i in range(60))
    without = plan(f"SELECT {sql} FROM people").mechanisms
    allowed = plan(f"SELECT {sql} FROM people", delta="1e-6").mechanisms
    assert all(isinstance(law, LaplaceLaw) for law in without.laws.values())
    assert all(isinstance(law, GaussianLaw) for law in allowed.laws.values())
    assert isinstance(allowed.event.events[0], Gaussian)
    # Less noise is the point of it: 60 counts at epsilon 1.
    assert float(allowed.laws["m0"].variance) < float(without.laws["m0"].variance) / 4


def test_one_answer_keeps_laplace_noise():
    found = plan("SELECT COUNT(*) FROM people", delta="1e-6").mechanisms
    assert isinstance(found.laws["m0"], LaplaceLaw)


def test_max_and_median_are_selections_over_the_declared_domain():
    found = plan("SELECT MAX(age), MEDIAN(age) FROM people").mechanisms
    assert found.event == Composed((Select(Fraction(1, 2)), Select(Fraction(1, 2))))
    most, middle = found.selections.values()
    assert (most.bins, most.sensitivity) == (121, 1)
    assert (middle.bins, middle.sensitivity) == (121, Fraction(1, 2))


def test_quantile_sensitivity_is_for_all_rows_of_a_person():
    found = plan("SELECT QUANTILE_CONT(cost, 0.25) FROM visits").mechanisms
    assert found.selections["q0"].sensitivity == 4 * Fraction(3, 4)


def test_replaced_rows_move_a_quantile_by_one_and_across_groups_by_twice():
    settings = {"neighbours": "replace-one"}
    whole = plan("SELECT MEDIAN(age) FROM people", **settings).mechanisms
    grouped = plan("SELECT sex, MEDIAN(age) FROM people GROUP BY sex", **settings).mechanisms
    assert whole.selections["q0"].sensitivity == 1
    assert grouped.selections["q0"].sensitivity == 1  # twice one half


def test_wide_domains_are_cut_into_bins():
    ((_, found),) = plan("SELECT MEDIAN(income) FROM people").question.measured.choices
    assert found.bins <= BINS
    assert found.bins * found.width >= 100_001


def test_a_group_of_one_appears_with_probability_at_most_delta():
    found = plan("SELECT job, COUNT(*) FROM people GROUP BY job", delta="1e-6")
    failing = found.mechanisms.event
    assert isinstance(failing, Failing)
    noise = found.mechanisms.laws[found.question.measured.units]
    assert appearance_bounds(noise, found.mechanisms.threshold)[1] <= failing.delta
    assert appearance_bounds(noise, found.mechanisms.threshold - 1)[0] > failing.delta
