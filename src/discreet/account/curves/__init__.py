"""Privacy-loss curves: the privacy-loss distributions (PLD) of events.

Others ask `price`, `batch` or `convert`.

Imported by: account.
"""
