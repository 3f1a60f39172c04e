"""What a ledger tells: budgets and history as JSON and as text, and what was released without a guarantee.

Imported by: api, learn, ledger, publish, release, synth.
"""
