"""Generalisation hierarchies: levels of a column, made or read, tied to its values.

Only anonymize/ imports from here.
"""
