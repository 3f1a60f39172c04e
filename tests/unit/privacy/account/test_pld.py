import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.privacy.account import pld
from discreet.privacy.account.composition import optimal_delta
from discreet.privacy.account.pld import LossBatch
from discreet.privacy.account.pld_laws import Atoms, pure_atoms

EPSILON, COUNT = Fraction(1, 10), 100
BATCH = LossBatch(((pure_atoms(0.1), COUNT),))


def exact(target):
    return float(optimal_delta(EPSILON, COUNT, Fraction(target)))


def around(target, batch=BATCH):
    """Return the summed law, most precise where delta is that of `target`."""
    return batch.around_delta(exact(target))


@pytest.mark.parametrize("target", ["0.5", "2", "4", "6", "8"])
def test_upper_bound_of_the_exact_delta_at_every_depth(target):
    found = around(target).delta(float(Fraction(target)))
    assert exact(target) <= found <= exact(target) * 1.001


def test_a_narrow_window_stays_sound_because_what_it_loses_is_added(monkeypatch):
    monkeypatch.setattr(pld, "_WIDTHS", (0.5,))
    narrow = around(4)
    assert narrow.lost > 0
    assert narrow.delta(4.0) >= exact(4)
    # What is above the window: exactly, from the binomial law; the stated bound is not far off.
    last = (narrow.first + len(narrow.masses) - 1) * narrow.step
    truth = 1 / (1 + math.exp(-0.1))
    above = math.fsum(
        math.comb(COUNT, k) * truth ** (COUNT - k) * (1 - truth) ** k
        for k in range(COUNT)
        if (COUNT - 2 * k) * 0.1 > last
    )
    assert 0 < above <= narrow.lost <= 100 * above


def test_below_its_window_nothing_is_claimed():
    deep = around(8)
    assert deep.floor > 0
    assert deep.delta(deep.floor - 0.5) == 1.0
    assert deep.delta(8.0) >= exact(8)


def test_beyond_the_greatest_loss_nothing_is_left():
    assert BATCH.around_delta(1e-100).delta(20.0) < 1e-12


def test_far_from_its_centre_a_window_is_looser_but_never_wrong():
    summed = around(4)
    for target in ("1", "2", "3", "5", "6", "7"):
        assert summed.delta(float(target)) >= exact(target)


def test_floating_point_error_is_bounded_and_small():
    """The stated bound, relative to delta: a millionth even at delta 1e-20."""
    summed = BATCH.around_delta(1e-20)
    without = replace(summed, error=0.0)
    target = 8.5
    with_error, alone = summed.delta(target), without.delta(target)
    assert alone < with_error < alone * (1 + 1e-6)
    assert alone >= exact(target)


def test_errors_of_the_laws_are_carried_to_the_end():
    law = pure_atoms(0.1)
    sloppy = Atoms(law.losses, law.masses, infinite=1e-9, mass_error=1e-3, loss_error=1e-3)
    clean, careful = around(4), around(4, LossBatch(((sloppy, COUNT),)))
    assert careful.infinite == pytest.approx(1e-7)
    assert careful.mass_factor == pytest.approx(np.exp(0.1))
    assert careful.delta(4.0) > clean.delta(4.0) * 1.1


def test_powers_are_products():
    base = np.array([0.5 + 0.1j, -0.3j, 1.0])
    for count in (0, 1, 2, 7, 64):
        assert np.allclose(pld._power(base, count), base**count)
