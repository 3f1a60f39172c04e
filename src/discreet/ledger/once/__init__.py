"""Idempotent paid requests: begun marks, final outcomes, repeated request ids, sealed answers.

Only ledger/ imports from here.
"""
