"""The laws by name: adding one is adding a line."""

from __future__ import annotations

from fractions import Fraction

from discreet.privacy.noise.laws.gaussian import GaussianLaw
from discreet.privacy.noise.laws.laplace import LaplaceLaw
from discreet.privacy.noise.laws.law import NoiseLaw

LAWS: dict[str, type[NoiseLaw]] = {law.name: law for law in (LaplaceLaw, GaussianLaw)}


def law_of(name: str, size: str | Fraction) -> NoiseLaw:
    """Return the law of this name and size, as `to_json` writes them."""
    return LAWS[name](Fraction(size))


def law_costing(amount: Fraction, moved: Fraction | int, *, concentrated: bool) -> NoiseLaw:
    """Return the law of the least variance that costs `amount` on what moves so far; among equals the last one."""
    best, *rivals = (
        law.costing(amount, moved) for law in LAWS.values() if law.concentrated == concentrated
    )
    for rival in rivals:
        if rival.variance <= best.variance:
            best = rival
    return best
