"""Randomizers of bounded numbers: one bit, piecewise constant, both, and the lattice that they answer on.

Imported by the survey's mechanisms.
"""
