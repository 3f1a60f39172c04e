"""Exact samplers of noise and private selection: the only package whose randomness carries a guarantee.

Imported by: many rooms.
"""

from discreet.privacy.noise.additive import discrete_laplace
from discreet.privacy.noise.rng import Rng, SystemRng

__all__ = ["Rng", "SystemRng", "discrete_laplace"]
