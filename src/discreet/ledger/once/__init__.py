"""One look for one charge: begun marks, final outcomes, repeated request ids, sealed answers.

Only ledger/ imports from here.
"""
