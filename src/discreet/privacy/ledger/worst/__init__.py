"""The bill of the worst-hit person: charges on boxes of the public domain, and their greatest sum.

Imported by: privacy/ledger.
"""
