"""Statements of several steps: their private questions are released one by one, the rest is free.

Imported by: release, release/planning.
"""
