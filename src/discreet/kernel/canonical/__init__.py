"""Canonical relations: every cell in its declared domain, every row told whose it is.

Engines are handed what is written here.

Imported by: anonymize, api, kernel/derive, release, sql, synth, tasks.
"""
