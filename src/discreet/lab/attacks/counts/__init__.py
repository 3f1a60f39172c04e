"""Attacks on counts: differencing, reconstruction, census tables, refusals.

Found through the registry of attacks.

Imported by: lab/attacks.
"""
