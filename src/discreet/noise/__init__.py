"""Exact samplers of noise and private selection: the only package whose randomness carries a guarantee.

Imported by: many rooms.
"""

from discreet.noise.additive import (
    discrete_gaussian,
    discrete_gaussian_squared,
    discrete_laplace,
    geometric,
    truncated_geometric,
)
from discreet.noise.exact.coins import bernoulli, bernoulli_exp, uniform
from discreet.noise.random_response import (
    coin_response,
    randomized_response,
    randomized_response_kary,
)
from discreet.noise.rng import Rng, SystemRng
from discreet.noise.select import exponential, permute_and_flip, report_noisy_max

__all__ = [
    "Rng",
    "SystemRng",
    "bernoulli",
    "bernoulli_exp",
    "coin_response",
    "discrete_gaussian",
    "discrete_gaussian_squared",
    "discrete_laplace",
    "exponential",
    "geometric",
    "permute_and_flip",
    "randomized_response",
    "randomized_response_kary",
    "report_noisy_max",
    "truncated_geometric",
    "uniform",
]
