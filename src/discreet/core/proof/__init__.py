"""Permits: proof that a look at private rows is in the ledger, which alone makes one.

Imported by: engine, ledger, publish, release, server, synth.
"""
