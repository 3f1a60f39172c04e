"""What proves that a look at private rows is in the ledger. The ledger alone makes one.

Imported by: engine, ledger, publish, release, server, synth.
"""
