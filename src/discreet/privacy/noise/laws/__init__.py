"""Laws of additive noise, each one object: how it is drawn, what it costs, what its error bars are.

Imported by: ask, lab, measure, privacy/kernel, privacy/noise, testing, work.
"""

from discreet.privacy.noise.laws.gaussian import GaussianLaw
from discreet.privacy.noise.laws.laplace import LaplaceLaw
from discreet.privacy.noise.laws.law import NoiseLaw, to_confidence
from discreet.privacy.noise.laws.registry import law_costing, law_of

__all__ = ["GaussianLaw", "LaplaceLaw", "NoiseLaw", "law_costing", "law_of", "to_confidence"]
