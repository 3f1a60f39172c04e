"""The hash chain of entries, and its head that is kept outside the store.

Only ledger/ imports from here.
"""
