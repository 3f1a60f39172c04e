"""The limits that a catalog puts in force, as the ledger reads them."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.catalog.catalog import Catalog
from discreet.ledger.policy import BudgetPolicy, Cap, Policy


def policy_of(catalog: Catalog) -> Policy:
    """Return the limits that a catalog puts in force."""
    budgets = {
        name: BudgetPolicy(budget.epsilon, budget.delta, budget.neighbours)
        for name, budget in catalog.budgets.items()
    }
    analysts: dict[str, Mapping[str, Cap]] = {}
    for analyst in catalog.analysts:
        caps = catalog.caps_by_budget(analyst)
        analysts[analyst] = {name: Cap(cap.epsilon, cap.delta) for name, cap in caps.items()}
    return Policy(budgets, analysts)
