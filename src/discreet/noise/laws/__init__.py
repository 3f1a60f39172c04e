"""Laws of additive noise, each one object: how it is drawn, what it costs, what its error bars are.

Every room above `noise` may import from here.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.noise.laws.gaussian import GaussianLaw
from discreet.noise.laws.laplace import LaplaceLaw
from discreet.noise.laws.law import NoiseLaw, to_confidence

__all__ = ["GaussianLaw", "LaplaceLaw", "NoiseLaw", "law_of", "to_confidence"]

LAWS: dict[str, type[LaplaceLaw | GaussianLaw]] = {
    law.name: law for law in (LaplaceLaw, GaussianLaw)
}


def law_of(name: str, size: str | Fraction) -> NoiseLaw:
    """Return the law of this name and size, as `to_json` writes them."""
    return LAWS[name](Fraction(size))
