"""Canonical relations: every cell in its declared domain, every row told whose it is.

Engines are handed what is written here; kernel/, sql/ and synth/ import from here.
"""
