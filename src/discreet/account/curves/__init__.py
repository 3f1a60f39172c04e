"""Privacy-loss curves: Renyi divergences and privacy-loss distributions (PLD) of events.

Only account/ imports from here; others ask `price`, `batch` or `convert`.
"""
