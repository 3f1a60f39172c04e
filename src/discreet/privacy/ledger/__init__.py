"""The only package with memory: a durable, hash-chained record of what was spent.

Imported by: anonymize, ask, curator, measure, tasks, work.
"""

from discreet.privacy.ledger.budget import BudgetPolicy, Cap, Policy
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Balance, Entry, Payer, Receipt, SpentSoFar
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import budget_report, budget_words

__all__ = [
    "Balance",
    "BudgetPolicy",
    "Cap",
    "Charge",
    "Entry",
    "Ledger",
    "Payer",
    "Policy",
    "Receipt",
    "SpentSoFar",
    "budget_report",
    "budget_words",
]
