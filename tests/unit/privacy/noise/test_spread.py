import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.privacy.noise.error_bars import combined_half_width
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from noise_kit import tail

ONE = LaplaceLaw.of(1)
TEN = GaussianLaw.of(100)
CASES = [
    [(1, ONE), (-1, ONE)],
    [(1, ONE)] * 5,
    [(1, ONE), (2, ONE), (3, TEN)],
    [("0.1", ONE), ("1/3", TEN)],
    [(2, TEN), (5, LaplaceLaw.of("0.3"))],
]


def brute_force(terms, confidence):
    """The same by listing every outcome on a lattice of thirtieths."""
    law_of_sum = {Fraction(0): 1.0}
    for coefficient, law in terms:
        k = np.arange(-90, 91, dtype=float)
        mass = law.survival(k) - law.survival(k + 1)
        grown = {}
        for value, p in law_of_sum.items():
            for x, q in zip(k.astype(int).tolist(), mass.tolist(), strict=True):
                if p * q > 1e-13:
                    at = value + Fraction(coefficient) * x
                    grown[at] = grown.get(at, 0.0) + p * q
        law_of_sum = grown
    held = 0.0
    for distance in sorted({abs(value) for value in law_of_sum}):
        held += law_of_sum.get(distance, 0.0)
        held += law_of_sum.get(-distance, 0.0) if distance else 0.0
        if held >= confidence:
            return distance
    raise AssertionError


@pytest.mark.parametrize("terms", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_equals_brute_force_on_small_lattices(terms, confidence):
    computed = combined_half_width(terms, confidence)
    assert computed == pytest.approx(float(brute_force(terms, confidence)), abs=1e-9)


def test_one_term_is_exact():
    assert combined_half_width([("2.5", ONE)], 0.95) == 2.5 * ONE.half_width(0.95)
    assert combined_half_width([], 0.95) == 0
    assert combined_half_width([(0, ONE)], 0.95) == 0


def test_a_coarse_grid_is_an_upper_bound_and_close():
    terms = [(1, LaplaceLaw.of(100)), (2, GaussianLaw.of(10_000))]
    fine = combined_half_width(terms, 0.95)
    for cells in (1 << 10, 1 << 12, 1 << 14):
        coarse = combined_half_width(terms, 0.95, cells=cells)
        assert fine <= coarse <= fine * (1 + 300 / cells)


def test_wide_laws_scale():
    narrow = combined_half_width([(1, LaplaceLaw.of(1000)), (1, LaplaceLaw.of(1000))], 0.95)
    wide = combined_half_width([(1, LaplaceLaw.of(10**9)), (1, LaplaceLaw.of(10**9))], 0.95)
    assert wide == pytest.approx(narrow * 10**6, rel=0.002)


def test_many_equal_terms_come_near_the_normal_curve():
    terms = [(1, ONE)] * 400
    assert combined_half_width(terms, 0.95) == pytest.approx(
        1.96 * (400 * ONE.variance) ** 0.5, rel=0.03
    )


def test_refuses_confidence_beyond_its_accuracy():
    with pytest.raises(InvalidInput, match="too close to 1"):
        combined_half_width([(1, ONE), (1, ONE)], "0.999999999")


@pytest.mark.parametrize("law", [ONE, LaplaceLaw.of("0.1"), TEN, GaussianLaw.of(10**6)], ids=str)
def test_survival_agrees_with_certified_tails(law):
    k = np.array([-2000.0, -30.0, -1.0, 0.0, 1.0, 2.0, 30.0, 2000.0])
    got = law.survival(k)
    for place, value in zip(k.astype(int).tolist(), got.tolist(), strict=True):
        if place >= 1:
            assert value == pytest.approx(tail(law, place) / 2, rel=1e-9, abs=1e-14)
        else:
            assert value == pytest.approx(1 - tail(law, 1 - place) / 2, rel=1e-12)


def on_a_coarse_grid(terms, confidence, step):
    """Each term rounded to the grid and the sums listed; half a step for each term is added."""
    law_of_sum = {0: 1.0}
    for coefficient, law in terms:
        k = np.arange(-400, 401, dtype=float)
        mass = law.survival(k) - law.survival(k + 1)
        rounded = {}
        for x, q in zip(k.astype(int).tolist(), mass.tolist(), strict=True):
            at = math.ceil(abs(coefficient) * x / step - Fraction(1, 2))
            rounded[at] = rounded.get(at, 0.0) + q
        grown = {}
        for value, p in law_of_sum.items():
            for at, q in rounded.items():
                grown[value + at] = grown.get(value + at, 0.0) + p * q
        law_of_sum = grown
    h = 0
    while sum(p for value, p in law_of_sum.items() if abs(value) <= h) < confidence:
        h += 1
    return (h + Fraction(len(terms), 2)) * step


@pytest.mark.parametrize(
    "terms",
    [
        [(1, LaplaceLaw.of(5)), (-2, LaplaceLaw.of(5))],
        [(1, TEN), (1, TEN), (3, LaplaceLaw.of(2))],
        [(Fraction(1, 2), TEN), (5, LaplaceLaw.of(1))],
    ],
    ids=range(3),
)
@pytest.mark.parametrize("cells", [64, 200])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_a_coarse_grid_rounds_each_term_by_half_a_step(terms, cells, confidence):
    unit = min(abs(Fraction(coefficient)) for coefficient, _ in terms)
    spread = math.sqrt(sum(float(c) ** 2 * law.variance for c, law in terms))
    step = unit * math.ceil(80 * spread / (float(unit) * cells))
    assert any((c / step).denominator > 1 for c, _ in terms)
    expected = on_a_coarse_grid(terms, confidence, step)
    assert combined_half_width(terms, confidence, cells=cells) == float(expected)


@pytest.mark.parametrize(("cells", "size"), [(300, 512), (1 << 10, 1 << 10), (1 << 17, 1 << 12)])
def test_a_grid_has_the_cells_that_80_standard_deviations_need(cells, size, monkeypatch):
    sizes, transform = [], np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda a: sizes.append(len(a)) or transform(a))
    terms = [(1, LaplaceLaw.of(20)), (1, LaplaceLaw.of(10))]  # 80 deviations are 2,528 cells
    combined_half_width(terms, 0.9, cells=cells)
    assert sizes == [size, size]
    sizes.clear()
    combined_half_width([(1, ONE), (1, LaplaceLaw.of("0.5"))], 0.9)
    assert sizes == [256, 256], "at least 256 cells"


def test_confidence_is_refused_only_where_the_error_of_sums_would_show():
    twice = [(1, ONE), (1, ONE)]
    assert combined_half_width(twice, "0.99999998") == brute_force(twice, 0.99999998)
    with pytest.raises(InvalidInput, match="too close to 1"):
        combined_half_width(twice, "0.999999991")
