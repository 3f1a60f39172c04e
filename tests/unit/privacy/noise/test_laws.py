import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.event import Gaussian, Laplace
from discreet.errors import InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw, law_of
from discreet.privacy.noise.laws.gaussian import _wide_gaussian_tail
from discreet.privacy.noise.tails import GaussianTail
from noise_kit import coverage, tail
from sittings import FULL


def masses(law, reach):
    x = np.arange(-reach, reach + 1)
    if isinstance(law, LaplaceLaw):
        weights = np.exp(-np.abs(x) / float(law.scale))
    else:
        weights = np.exp(-(x.astype(float) ** 2) / (2 * float(law.sigma_squared)))
    return x, weights / weights.sum()


SMALL = [LaplaceLaw.of(s) for s in ("0.2", 1, "2.5", 30)]
SMALL += [GaussianLaw.of(s) for s in ("0.1", 1, "6.25", 900)]


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_agrees_with_a_sum_of_masses(law):
    x, p = masses(law, 2000)
    assert law.variance == pytest.approx(float((p * x**2).sum()), rel=1e-9)
    for m in (0, 1, 2, 5, 20):
        beyond = float(p[np.abs(x) >= m].sum())
        assert tail(law, m) == pytest.approx(beyond, rel=1e-9, abs=1e-300)
        assert float(coverage(law, m)) == pytest.approx(float(p[np.abs(x) <= m].sum()), rel=1e-9)
        low, high = law.tail_bounds(m)
        assert 0 <= low <= high <= 1
        assert high - low <= Fraction(1, 2**60)


@pytest.mark.parametrize("law", SMALL, ids=str)
@pytest.mark.parametrize("confidence", ["0.5", "0.9", 0.95, "0.999", "0.999999999999"])
def test_half_width_is_the_least(law, confidence):
    m = law.half_width(confidence)
    assert coverage(law, m) >= float(confidence) - 1e-16
    assert m == 0 or coverage(law, m - 1) < float(confidence)


@pytest.mark.parametrize("law", [LaplaceLaw(Fraction(2**70)), GaussianLaw(Fraction(2**140))])
def test_half_width_may_be_larger_than_a_machine_word(law):
    m = law.half_width("0.95")
    assert m > 2**63
    assert coverage(law, m) >= 0.95 - 1e-16
    assert coverage(law, m - m // 10**6) < 0.95


def test_the_worked_numbers():
    law = LaplaceLaw.of(1)
    assert tail(law, 3) == pytest.approx(0.073, abs=5e-4)
    assert tail(law, 3) > math.exp(-3)
    assert law.joint_half_width(10_000, "0.95") == 12
    assert 10_000 * tail(law, 13) == pytest.approx(0.033, abs=5e-4)
    assert 10_000 * tail(law, 12) > 0.05
    assert math.log(10_000 / 0.05) == pytest.approx(12.2, abs=0.01)


@pytest.mark.parametrize(
    "m",
    [1, 100, 300, 600, 719, 721, 900, 3000, 11_500, *([9000, 11_000] if FULL else [])],
)
def test_wide_gaussian_bounds_hold_the_certified_sum(m):
    square = Fraction(300**2)
    low, high = _wide_gaussian_tail(m, square)
    exact_low, exact_high = (2 * side for side in GaussianTail(square).bounds(m, 128))
    assert low <= exact_low <= exact_high <= high
    if m <= 3000:
        assert high - low <= exact_high / 10**7


def test_wide_gaussian_without_its_corrections_would_be_caught():
    square = Fraction(300**2)
    low, high = _wide_gaussian_tail(600, square)
    plain = math.erfc(600 / 300 / math.sqrt(2))
    assert not low <= plain <= high


def test_large_scales():
    assert LaplaceLaw.of(10**12).half_width("0.95") == 2995732273554
    assert GaussianLaw.of(10**24).half_width("0.95") == pytest.approx(1.959963984540e12, rel=1e-11)
    assert GaussianLaw.of(10**24).variance == 1e24
    far = tail(GaussianLaw.of(10**12), 40 * 10**6)
    assert 0 < far <= 2 * math.exp(-800) * 1.001 or far == pytest.approx(0, abs=1e-300)


@pytest.mark.parametrize("bad", [0, 1, -0.5, 1.5, "nan"])
def test_refuses_a_confidence_without_meaning(bad):
    with pytest.raises(InvalidInput):
        LaplaceLaw.of(1).half_width(bad)


def test_refuses_laws_without_meaning():
    for law in (LaplaceLaw, GaussianLaw):
        for bad in (0, -1, "inf"):
            with pytest.raises(InvalidInput):
                law.of(bad)
    with pytest.raises(InvalidInput, match="count"):
        LaplaceLaw.of(1).joint_half_width(0, 0.95)


def test_tiny_scales():
    assert LaplaceLaw.of("0.001").half_width("0.99") == 0
    assert GaussianLaw.of("0.000001").half_width("0.99") == 0
    assert LaplaceLaw.of("0.001").variance == pytest.approx(0)


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_mean_size_agrees_with_a_sum_of_masses(law):
    x, p = masses(law, 2000)
    assert law.mean_size == pytest.approx(float((p * np.abs(x)).sum()), rel=1e-9)


def test_mean_size_of_wide_laws():
    for sigma in (9999, 10_000, 10_001, 10**9):
        continuous = sigma * math.sqrt(2 / math.pi)
        assert GaussianLaw.of(sigma**2).mean_size == pytest.approx(continuous, rel=1e-8)
    assert LaplaceLaw.of(10**6).mean_size == pytest.approx(10**6, rel=1e-9)


@pytest.mark.parametrize("square", ["3.9", "4", "4.1", "0.5"])
def test_variance_on_both_sides_of_its_short_cut(square):
    x, p = masses(GaussianLaw.of(square), 200)
    assert GaussianLaw.of(square).variance == pytest.approx(float((p * x**2).sum()), rel=1e-13)


@pytest.mark.parametrize("law", [*SMALL, GaussianLaw.of(301**2)], ids=str)
def test_survival_agrees_with_a_sum_of_masses(law):
    x, p = masses(law, 4000)
    k = np.array([*range(-6, 8), 20, 100, 700])
    sums = [float(p[x >= place].sum()) for place in k]
    assert law.survival(k.astype(float)) == pytest.approx(sums, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("m", [11_101, 11_500, 20_000])
def test_far_tails_of_wide_laws_are_the_subgaussian_bound(m):
    low, high = _wide_gaussian_tail(m, Fraction(300**2))
    least, most = exp_bounds(-Fraction(m * m, 2 * 300**2), 3000)
    assert low == 0
    assert (
        Fraction(2 * least, 2**3000) <= high <= Fraction(2 * most, 2**3000) + Fraction(4, 2**1024)
    )


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_joint_bars_are_single_ones_at_a_smaller_risk(law):
    assert law.joint_half_width(1, "0.9") == law.half_width("0.9")
    for count in (2, 7):
        m = law.joint_half_width(count, "0.9")
        assert m == law.half_width(1 - Fraction(1, 10 * count))
        assert count * tail(law, m + 1) <= 0.1
        assert m == 0 or count * tail(law, m) > 0.1
    with pytest.raises(InvalidInput, match="count"):
        law.joint_half_width(-1, "0.9")


@pytest.mark.parametrize("law", [LaplaceLaw.of(1), GaussianLaw.of(4)], ids=str)
def test_a_confidence_next_to_a_coverage_is_told_apart(law):
    for m in (0, 1, 3):
        low, high = law.tail_bounds(m + 1, 500)
        assert law.half_width(1 - high - Fraction(1, 2**300)) == m
        assert law.half_width(1 - low + Fraction(1, 2**300)) == m + 1


def test_names_and_sizes_lead_back_to_the_law():
    for law in (LaplaceLaw.of("2.5"), GaussianLaw.of("1/3")):
        assert law_of(*law.to_json()) == law
    assert LaplaceLaw.of("2.5").to_json() == ["laplace", "5/2"]
    assert GaussianLaw.of(4).scale_shown == 2
    assert LaplaceLaw.of("2.5").scale_shown == 2.5


def test_events_of_a_vector():
    laplace = LaplaceLaw.of(3).event(l1=lambda: 2, l2_squared=lambda: 5, coordinates=4)
    assert laplace == Laplace(Fraction(3), Fraction(2))
    gaussian = GaussianLaw.of(9).event(l1=lambda: 2, l2_squared=lambda: 5, coordinates=4)
    assert gaussian == Gaussian(Fraction(9), Fraction(5), 4)
