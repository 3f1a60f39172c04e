import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.event import Approximate, Failing, Gaussian, Laplace, Pure, Sampled
from discreet.errors import InvalidInput
from discreet.privacy.account.discrete_gaussian import delta_bounds
from discreet.privacy.account.pld import StackedLaws
from discreet.privacy.account.pld_laws import (
    atoms_of,
    concentrated_atoms,
    has_directions,
    pure_atoms,
)

ONE = Fraction(1)


def curve(losses, masses, infinite, epsilon):
    """Return delta at `epsilon` of a law given by atoms."""
    return float((masses * np.maximum(0, -np.expm1(epsilon - losses))).sum()) + infinite


def delta_of_rho(rho, epsilon):
    """Return the least delta of the conversion [CKS20, Corollary 13] over a fine grid of its orders."""
    over = np.exp(np.linspace(math.log(1e-6), math.log(1e6), 20_000))  # the order less 1
    exponents = (
        over * ((1 + over) * rho - epsilon) - np.log(over) + (1 + over) * np.log(over / (1 + over))
    )
    return math.exp(float(exponents.min()))


def delta_at(atoms, epsilon):
    return curve(atoms.losses, atoms.masses, atoms.infinite, epsilon)


@pytest.mark.parametrize(("scale", "shift"), [("1", 1), ("5", 3), ("40", 100), ("30000", 30001)])
def test_laplace_law_sums_to_one_and_covers_the_truth(scale, shift):
    atoms = atoms_of(Laplace(Fraction(scale), Fraction(shift)), adding=False)
    assert float(atoms.masses.sum()) == pytest.approx(1, abs=1e-11)
    # The mass under Q is one as well: e^-loss of every atom, and no more.
    if len(atoms.losses) == shift + 1:
        assert float((atoms.masses * np.exp(-atoms.losses)).sum()) == pytest.approx(1)
    t = math.exp(-1 / float(Fraction(scale)))
    assert atoms.masses[0] == pytest.approx(1 / (1 + t))
    assert atoms.losses[0] == pytest.approx(shift / float(Fraction(scale)))


def test_spread_moves_are_dominated_by_one_move():
    """Lemma 1 of note 0008: two coordinates moving by 1 and 2 against one moving by 3."""
    single = {k: atoms_of(Laplace(Fraction(2), Fraction(k)), adding=False) for k in (1, 2, 3)}
    losses = np.add.outer(single[1].losses, single[2].losses).ravel()
    masses = np.multiply.outer(single[1].masses, single[2].masses).ravel()
    for epsilon in np.linspace(-2, 2, 41):
        assert curve(losses, masses, 0.0, epsilon) <= delta_at(single[3], epsilon) + 1e-12


@pytest.mark.parametrize("variance", ["0.05", "1", "900", "4e8"])
def test_gaussian_law_is_its_own_sum(variance):
    shift = max(1, math.isqrt(int(Fraction(variance)) // 9))
    event = Gaussian(Fraction(variance), Fraction(shift) ** 2, 1)
    atoms = atoms_of(event, adding=False)
    for epsilon in ("0.1", "1", "2"):
        low, high = delta_bounds(
            sigma_squared=event.sigma_squared, shift=shift, epsilon=Fraction(epsilon)
        )
        bound = delta_at(atoms, float(Fraction(epsilon)) - atoms.rounding) * (1 + atoms.mass_error)
        assert float(low) <= bound <= float(high) * (1 + 1e-4) + 1e-41


@pytest.mark.parametrize("rho", [0.001, 0.1, 2.0])
def test_concentrated_law_dominates_its_curve(rho):
    atoms = concentrated_atoms(rho)
    assert float(atoms.masses.sum()) + atoms.infinite <= 1 + 1e-9
    for epsilon in np.linspace(0.05, rho + 8 * math.sqrt(rho), 15):
        # The Gaussian is rho-zCDP: its exact delta must lie below, the formula's not far above.
        mu = math.sqrt(2 * rho)
        normal = math.erfc((epsilon / mu - mu / 2) / math.sqrt(2)) / 2
        truth = normal - math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2)) / 2
        found = delta_at(atoms, epsilon)
        assert found >= truth * (1 - 1e-9)
        assert found <= min(math.sqrt(rho / 2), delta_of_rho(rho, epsilon)) * 1.05


def test_sampling_amplifies_both_directions():
    inner = Approximate(ONE, Fraction(1, 1000))
    for adding in (False, True):
        atoms = atoms_of(Sampled(inner, Fraction(1, 10)), adding=adding)
        assert float(atoms.masses.sum()) + atoms.infinite == pytest.approx(1)
        amplified = math.log1p(0.1 * math.expm1(1.0))
        assert delta_at(atoms, amplified) <= 1e-4 * (1 + 1e-9)
    assert has_directions(Failing(Sampled(Pure(ONE), ONE), Fraction(1, 9)))
    assert not has_directions(Pure(ONE))


def test_hopeless_events_always_fail():
    for event in (Pure(Fraction(800)), Laplace(Fraction(1, 1000), ONE)):
        assert atoms_of(event, adding=False).infinite == 1
    assert concentrated_atoms(500.0).infinite == 1
    with pytest.raises(InvalidInput):
        atoms_of(Sampled(Sampled(Pure(ONE), ONE), ONE), adding=False)


def test_events_that_cannot_move_lose_nothing():
    for event in (Laplace(ONE, Fraction(1, 2)), Gaussian(ONE, Fraction(1, 2), 1)):
        assert delta_at(atoms_of(event, adding=False), 0.0) == 0
    assert delta_at(concentrated_atoms(0.0), 0.0) == 0


@pytest.mark.parametrize("step", [0.3, 0.0137])
def test_splitting_onto_a_grid_only_helps_the_attacker(step):
    """Lemma 2 of note 0008; rounding to the nearest point would fail the same check."""
    atoms = atoms_of(Laplace(Fraction(7), Fraction(5)), adding=False)
    stack = StackedLaws.of(((atoms, 1),))
    grid = stack.on_grid(step)
    masses = np.exp(grid.logs)
    assert float(masses.sum()) == pytest.approx(1)
    under_q = float((masses * np.exp(-grid.losses * step)).sum())
    assert under_q == pytest.approx(float((atoms.masses * np.exp(-atoms.losses)).sum()))
    nearest = np.round(atoms.losses / step) * step
    caught = False
    for epsilon in np.linspace(-1, 1, 81):
        truth = delta_at(atoms, epsilon)
        assert curve(grid.losses * step, masses, 0.0, epsilon) >= truth - 1e-12
        caught |= curve(nearest, atoms.masses, 0.0, epsilon) < truth - 1e-9
    assert caught


def test_moments_of_a_stack():
    stack = StackedLaws.of(((pure_atoms(0.5), 3), (pure_atoms(1.0), 2)))
    assert stack.log_moment(0.0) == pytest.approx(0)
    # E_P[e^-loss] is the mass of Q.
    assert stack.log_moment(-1.0) == pytest.approx(0)
    mean, deviation = stack.spread(0.0)
    assert mean == pytest.approx(3 * 0.5 * math.tanh(0.25) + 2 * math.tanh(0.5))
    assert deviation > 0
    assert stack.range() == (-3.5, 3.5)
