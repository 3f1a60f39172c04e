"""Privacy-loss curves: Renyi divergences and privacy-loss distributions (PLD) of events.

Others ask `price`, `batch` or `convert`.

Imported by: account.
"""
