"""What tests ask of noise/ beside what it gives: many draws at once, and how likely a small group is to appear."""

from fractions import Fraction

from discreet.privacy.noise.coins import RationalOdds, flip
from discreet.privacy.noise.rng import SYSTEM
from discreet.privacy.noise.select import _permute_and_flip, utility_gaps


def permute_and_flip_rows(utilities, sensitivity, epsilon, *, monotone=False, rng=SYSTEM):
    """Return one index for each row of (groups x candidates), each as `permute_and_flip` would."""
    contest = utility_gaps(utilities, sensitivity, epsilon, monotone=monotone, dimensions=2)
    return _permute_and_flip(contest, rng)


def bernoulli(probability, size, *, rng):
    """Return coins of 0 and 1 with exactly the probability that was written."""
    return flip(RationalOdds(Fraction(probability)), size, rng).astype(int)


def appearance_bounds(noise, threshold, *, units=1, max_groups=1):
    """Return fractions around the chance that a group of `units` units appears, added up over `max_groups`."""
    low, high = noise.one_sided.bounds(threshold - units, 128)
    return min(low * max_groups, Fraction(1)), min(high * max_groups, Fraction(1))


def coverage(law, m):
    """Return P(|X| <= m), rounded down."""
    return 1 - law.tail_bounds(m + 1)[1]


def tail(law, m):
    """Return P(|X| >= m) as a float: the upper bound, which is within 2^-60 of it."""
    return float(law.tail_bounds(m)[1])
