"""Privacy-loss distributions (PLD) of single events, as floating-point atoms with stated errors.

An atom is a loss value ln(P/Q) and its probability under P, for a pair (P, Q) that dominates the event:
at every epsilon its delta is at least that of any two neighbours. Errors of floating point are carried
along as numbers and added to delta and epsilon at the end (docs/notes/0008).

The law of continuous Gaussian noise is cut into blocks. Inside a block the odds P/Q lie between those at its
ends; all of its mass is moved to the two ends so that P and Q both keep theirs, which spreads the odds and can
only help the attacker (the convexity behind notes/0008, lemma 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.event import (
    Composed,
    Concentrated,
    Failing,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyEvent,
    Repeated,
    Sampled,
)
from discreet.errors import InvalidInput
from discreet.privacy.account.tally import tally

MOST_ATOMS = 20_000  # inner points of a Laplace law that are told apart
SIGMAS = 14.0  # the tail beyond has probability below 10^-43 and counts as a failure
WIDEST_SIGMA = 10_000  # larger Gaussians are taken in blocks of neighbouring integers

_HUGE = 600.0  # a loss beyond this counts as infinite
_POINTS = 600  # of a curve of deltas, between which it is joined


@dataclass(frozen=True, slots=True)
class Atoms:
    """Losses and their probabilities under P; `infinite` is the chance of a loss without bound.

    The true probabilities are at most (1 + mass_error) times these, the true losses at most
    loss_error larger.
    """

    losses: Floats
    masses: Floats
    infinite: float = 0.0
    mass_error: float = 1e-11
    loss_error: float = 0.0

    @property
    def rounding(self) -> float:
        """Return how much a loss may be understated, floating point included."""
        return self.loss_error + 1e-14 * (1 + float(np.abs(self.losses).max(initial=0.0)))


def atoms_of(event: PrivacyEvent, *, adding: bool) -> Atoms:
    """Return the law of `event`; `adding` chooses the direction where the two directions differ."""
    return _RULES.get(type(event), _by_tally)(event, adding)


def has_directions(event: PrivacyEvent) -> bool:
    """Return whether adding and removing a person have different laws."""
    match event:
        case Sampled():
            return True
        case Failing(inner):
            return has_directions(inner)
        case _:
            return False


def pure_atoms(epsilon: float) -> Atoms:
    """Return the law of randomized response, which dominates every epsilon-DP mechanism."""
    if epsilon > 700:
        return Atoms(np.zeros(0), np.zeros(0), infinite=1.0)
    losses = np.array([epsilon, -epsilon])
    return Atoms(losses, 1 / (1 + np.exp(-losses)))


def _laplace(event: Laplace, _adding: bool) -> Atoms:
    """The whole move in one coordinate dominates any way to spread it (note 0008, lemma 1)."""
    shift = event.l1.numerator // event.l1.denominator
    scale = float(event.scale)
    if not shift:
        return Atoms(np.zeros(1), np.ones(1))
    if shift / scale > 700:
        return Atoms(np.zeros(0), np.zeros(0), infinite=1.0)
    decay = math.exp(-1 / scale)
    gap = -math.expm1(-1 / scale)  # 1 - decay, without cancellation
    block = max(1, math.ceil((shift - 1) / MOST_ATOMS))
    starts = np.arange(1, shift, block, dtype=np.float64)
    ends = np.minimum(starts + block - 1, shift - 1)
    inner = np.exp(-starts / scale) * -np.expm1(-(ends - starts + 1) / scale) / (1 + decay)
    # All of a block at its greatest loss; blocks are single points unless the move is enormous.
    losses = np.concatenate(([shift / scale], (shift - 2 * starts) / scale, [-shift / scale]))
    outer = (1 / (1 + decay), math.exp(-shift / scale) / (1 + decay))
    masses = np.concatenate(([outer[0]], inner, [outer[1]]))
    error = 1e-11 + 1e-15 / gap if block > 1 else 1e-11
    return Atoms(losses, masses, mass_error=error)


def _gaussian(event: Gaussian, _adding: bool) -> Atoms:
    shift = math.isqrt(event.l2_squared.numerator // event.l2_squared.denominator)
    if event.coordinates != 1:
        return concentrated_atoms(float(event.l2_squared / (2 * event.sigma_squared)))
    if not shift:
        return Atoms(np.zeros(1), np.ones(1))
    variance = float(event.sigma_squared)
    sigma = math.sqrt(variance)
    reach = math.ceil(SIGMAS * sigma) + 1
    block = math.ceil(sigma / WIDEST_SIGMA)
    centres = np.arange(-reach, reach + block, block, dtype=np.float64) + (block - 1) / 2
    weights = np.exp(-centres * centres / (2 * variance)) * block
    total = float(weights.sum())
    losses = (shift * shift - 2 * shift * centres) / (2 * variance)
    masses = weights / total
    slope, ratio = shift / variance, shift / sigma
    if block > 1:
        # A block's sum is block * w(centre) up to a relative (block/sigma)^2 a^2/24, a the distance in
        # sigmas: below 10^-6, and nearly the same under Q. Spread over both ends, which keeps the mass
        # under P and Q and can only help the attacker.
        half = slope * block / 2
        up = math.expm1(-half) / math.expm1(-2 * half)
        losses = np.concatenate((losses + half, losses - half))
        masses = np.concatenate((masses * up, masses * (1 - up)))
    huge = losses > _HUGE
    return Atoms(
        np.maximum(losses[~huge], -_HUGE),
        masses[~huge],
        infinite=1e-42 + float(masses[huge].sum()) * (1 + 1e-9),
        mass_error=1e-11 if block == 1 else 1e-6,
        loss_error=0.0 if block == 1 else (block / sigma) ** 2 * (30 + ratio) * ratio / 12,
    )


def concentrated_atoms(rho: float) -> Atoms:
    """Return a law that dominates every rho-zCDP mechanism, from its curve of deltas.

    Upper bounds of a convex curve at some points lie above it in between as well, once joined along
    their lower hull. The slopes of that hull are a law (note 0008, lemma 3).
    """
    if not rho:
        return Atoms(np.zeros(1), np.ones(1))
    widest = rho + 2 * math.sqrt(rho * 75)
    if widest > 300:
        return Atoms(np.zeros(0), np.zeros(0), infinite=1.0)
    epsilons = np.linspace(0, widest, _POINTS)
    deltas = _concentrated_deltas(rho, epsilons)
    odds = np.exp(np.concatenate((-epsilons[:0:-1], epsilons)))
    below = 1 - np.exp(-epsilons[:0:-1]) * (1 - deltas[:0:-1])
    xs = np.concatenate(([0.0], odds))
    ys = np.concatenate(([1.0], below, deltas))
    kept = _lower_hull(xs, ys)
    xs, ys = xs[kept], ys[kept]
    slopes = np.append(np.diff(ys) / np.diff(xs), 0.0)
    masses = xs[1:] * np.maximum(np.diff(slopes), 0.0)
    return Atoms(np.log(xs[1:]), masses, infinite=float(ys[-1]) + 1e-40, mass_error=1e-9)


def _concentrated_deltas(rho: float, epsilons: Floats) -> Floats:
    best = np.full_like(epsilons, min(1.0, math.sqrt(rho / 2)))  # total variation, by Pinsker
    for factor in (0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0):
        order = np.maximum(1.0001, factor * (epsilons + rho) / (2 * rho))
        exponent = (order - 1) * (order * rho - epsilons) - np.log(order - 1)
        exponent += order * np.log1p(-1 / order)
        best = np.minimum(best, np.exp(np.minimum(exponent, 0.0)))
    return best * (1 + 1e-10)


def _lower_hull(xs: Floats, ys: Floats) -> list[int]:
    kept: list[int] = []
    for i in range(len(xs)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (ys[b] - ys[a]) * (xs[i] - xs[a]) < (ys[i] - ys[a]) * (xs[b] - xs[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def _by_tally(event: PrivacyEvent, _adding: bool) -> Atoms:
    """Return what dominates an event of which no more is known than its epsilon or its rho."""
    found = tally(event)
    if not found.soft:
        return _with_failure(pure_atoms(float(found.epsilon)), found.delta)
    if found.rho is None:
        return _refused(event, _adding)
    return _with_failure(concentrated_atoms(float(found.rho)), found.delta)


def _refused(event: PrivacyEvent, _adding: bool) -> Atoms:
    raise InvalidInput(
        f"A batch cannot hold the event {type(event).__name__} here.",
        hint="Price it on its own, and the rest as a batch.",
    )


def _with_failure(atoms: Atoms, delta: Fraction) -> Atoms:
    infinite = atoms.infinite + float(delta) * (1 + 1e-12)
    return replace(atoms, masses=atoms.masses * float(1 - delta), infinite=min(1.0, infinite))


def _sampled(event: Sampled, adding: bool) -> Atoms:
    """[Zhu, Dong & Wang 2022]: removing: (1-q) Q + q P against Q; adding: P against
    (1-q) P + q Q, for a pair (P, Q) that dominates the event in both directions."""
    if has_directions(event.event):
        raise InvalidInput("A sample of a sample has no rule: multiply the two rates instead.")
    return sampled_atoms(atoms_of(event.event, adding=adding), float(event.rate), adding=adding)


def sampled_atoms(inner: Atoms, rate: float, *, adding: bool) -> Atoms:
    """Return the law of something on a secret Poisson sample; `inner` dominates it both ways."""
    if rate == 1:
        return inner
    if adding:
        with np.errstate(under="ignore"):
            losses = -np.log1p(rate * np.expm1(-inner.losses))
        losses = np.append(losses, -math.log1p(-rate))
        masses = np.append(inner.masses, inner.infinite)
        return replace(inner, losses=losses, masses=masses, infinite=0.0)
    under_q = inner.masses * np.exp(-inner.losses)
    only_q = max(0.0, 1 - float(under_q.sum()))  # where P never goes
    losses = np.append(np.log1p(rate * np.expm1(inner.losses)), math.log1p(-rate))
    masses = np.append((1 - rate) * under_q + rate * inner.masses, (1 - rate) * only_q)
    return replace(inner, losses=losses, masses=masses, infinite=rate * inner.infinite)


Rule: TypeAlias = Callable[[Any, bool], Atoms]

_RULES: dict[type[PrivacyEvent], Rule] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    Failing: lambda event, adding: _with_failure(atoms_of(event.event, adding=adding), event.delta),
    Sampled: _sampled,
    **dict.fromkeys((Composed, Concentrated, NonPrivate, Repeated), _refused),
}


REACH = 13.0
"""Standard deviations around both centres that are cut into blocks; 10^-37 lies beyond."""

BLOCKS = 12_000


def gaussian_atoms(shift: float) -> Atoms:
    """Return a law that dominates N(0, 1) against N(shift, 1), in both directions by symmetry."""
    if not shift:
        return Atoms(np.zeros(1), np.ones(1))
    edges = np.linspace(-REACH, REACH + shift, BLOCKS + 1)
    under_p, under_q = _masses(edges), _masses(edges - shift)
    losses = shift * shift / 2 - shift * edges  # ln P/Q at each edge, falling
    high, low = losses[:-1], losses[1:]
    # p_low e^-low + p_high e^-high = q and p_low + p_high = p, written from the upper end.
    narrow = -np.expm1(low - high)
    at_low = (under_q * np.exp(low) - under_p * np.exp(low - high)) / narrow
    at_low = np.clip(at_low, 0.0, under_p)
    masses = np.concatenate((under_p - at_low, at_low))
    return Atoms(np.concatenate((high, low)), masses, infinite=1e-36, mass_error=1e-7)


def _masses(edges: Floats) -> Floats:
    """Return the standard normal mass of each block: from the nearer tail, so that nothing cancels."""
    upper = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in np.abs(edges).tolist()])
    left, right = upper[:-1], upper[1:]
    both = np.where(edges[:-1] >= 0, left - right, right - left)
    across = (edges[:-1] < 0) & (edges[1:] > 0)
    return np.asarray(np.where(across, 1 - left - right, both))
