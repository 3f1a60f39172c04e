"""What a ledger tells: budgets and history as JSON and as text, and what was released without a guarantee.

Imports the ledger; nothing in the ledger imports it.
"""
