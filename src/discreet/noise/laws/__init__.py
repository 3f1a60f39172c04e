"""Laws of additive noise, each one object: how it is drawn, what it costs, what its error bars are.

Imported by: many rooms.
"""

from discreet.noise.laws.gaussian import GaussianLaw
from discreet.noise.laws.laplace import LaplaceLaw
from discreet.noise.laws.law import NoiseLaw, to_confidence
from discreet.noise.laws.registry import law_costing, law_of

__all__ = ["GaussianLaw", "LaplaceLaw", "NoiseLaw", "law_costing", "law_of", "to_confidence"]
