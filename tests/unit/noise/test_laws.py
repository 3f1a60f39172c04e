import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.noise.exact.tails import GaussianTail
from discreet.noise.laws import GaussianLaw, LaplaceLaw
from discreet.noise.laws.gaussian import _wide_gaussian_tail


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
        tail = float(p[np.abs(x) >= m].sum())
        assert law.tail(m) == pytest.approx(tail, rel=1e-9, abs=1e-300)
        assert law.coverage(m) == pytest.approx(float(p[np.abs(x) <= m].sum()), rel=1e-9)
        low, high = law.tail_bounds(m)
        assert 0 <= low <= high <= 1
        assert high - low <= Fraction(1, 2**60)


@pytest.mark.parametrize("law", SMALL, ids=str)
@pytest.mark.parametrize("confidence", ["0.5", "0.9", 0.95, "0.999", "0.999999999999"])
def test_half_width_is_the_least(law, confidence):
    m = law.half_width(confidence)
    assert law.coverage(m) >= float(confidence) - 1e-16
    assert m == 0 or law.coverage(m - 1) < float(confidence)


def test_the_worked_numbers():
    law = LaplaceLaw.of(1)
    assert law.tail(3) == pytest.approx(0.073, abs=5e-4)
    assert law.tail(3) > math.exp(-3)
    assert law.joint_half_width(10_000, "0.95") == 12
    assert law.joint_failure(12, 10_000) == pytest.approx(0.033, abs=5e-4)
    assert law.joint_failure(11, 10_000) > 0.05
    assert math.log(10_000 / 0.05) == pytest.approx(12.2, abs=0.01)


@pytest.mark.parametrize("m", [1, 100, 300, 600, 719, 721, 900, 3000, 9000, 11_000, 11_500])
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
    far = GaussianLaw.of(10**12).tail(40 * 10**6)
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
