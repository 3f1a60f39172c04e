"""Idempotent paid requests: begun marks, final outcomes, repeated request ids, sealed answers.

Imported by: learn, ledger, ledger/checkpoint, ledger/reports, publish, release, synth.
"""
