"""Pure mathematics: events in, cost out. No data, no chance, no memory.

Imported by: many rooms.
"""

from discreet.account.accountant import Accountant
from discreet.account.advanced import advanced_epsilon, optimal_delta, optimal_epsilon
from discreet.account.calibrate import (
    epsilon_for_rho,
    gaussian_epsilon,
    gaussian_sigma_squared,
    laplace_scale,
    rho_for,
)
from discreet.account.curves.renyi import RenyiAccountant
from discreet.account.explain import EpsilonExplanation, explain, one_sentence
from discreet.account.filter import BudgetFilter, Limits
from discreet.account.group import group_delta, group_epsilon, group_rho
from discreet.account.odometer import Odometer
from discreet.account.price import price
from discreet.account.pure import PureAccountant
from discreet.account.zcdp import ZcdpAccountant

__all__ = [
    "Accountant",
    "BudgetFilter",
    "EpsilonExplanation",
    "Limits",
    "Odometer",
    "PureAccountant",
    "RenyiAccountant",
    "ZcdpAccountant",
    "advanced_epsilon",
    "epsilon_for_rho",
    "explain",
    "gaussian_epsilon",
    "gaussian_sigma_squared",
    "group_delta",
    "group_epsilon",
    "group_rho",
    "laplace_scale",
    "one_sentence",
    "optimal_delta",
    "optimal_epsilon",
    "price",
    "rho_for",
]
