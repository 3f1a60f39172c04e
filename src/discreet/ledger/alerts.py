"""Whether a budget nears its end: the part that the worst-hit person has used, against the owner's mark."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from discreet.ledger.entry import Balance


class BudgetAlert(Enum):
    """What an owner is told before questions are refused, and after."""

    NEARLY_SPENT = "nearly spent"
    SPENT = "spent"


def part_used(spent: Balance) -> Fraction:
    """Return the part of a limit that is used: of epsilon or of delta, whichever ends first."""
    parts = [spent.epsilon / spent.limit_epsilon]
    if spent.limit_delta:
        parts.append(spent.delta / spent.limit_delta)
    return min(Fraction(1), max(parts))


def alert_of(spent: Balance, mark: Fraction) -> BudgetAlert | None:
    """Return the alert of a budget whose owner wants to know from `mark` on; None before that."""
    used = part_used(spent)
    if used >= 1:
        return BudgetAlert.SPENT
    return BudgetAlert.NEARLY_SPENT if used >= mark else None
