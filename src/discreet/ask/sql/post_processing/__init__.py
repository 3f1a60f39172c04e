"""Post-processing in SQL: the part of a statement over noisy results and public tables.

Nothing in here reaches a private row.

Imported by: ask/release.
"""
