"""Attacks on counts: differencing, reconstruction, census tables, refusals.

Reached through the registry of attacks.
"""
