"""Permits: proof that a look at private rows is in the ledger. Every room may import it; the ledger alone makes one.

Imported by: engine, ledger, publish, release, server, synth.
"""
