"""Randomizers of bounded numbers: one bit, piecewise constant, both, and the lattice that they answer on.

Imported by: survey/estimate, survey/randomizers, survey/spec.
"""
