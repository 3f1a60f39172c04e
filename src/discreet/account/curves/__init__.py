"""Privacy-loss curves: the privacy-loss distributions (PLD) of events.

Only account/ imports from here; others ask `price`, `batch` or `convert`.
"""
