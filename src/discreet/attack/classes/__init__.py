"""Attacks on k-anonymous classes: homogeneity and intersection.

Reached through the registry of attacks.
"""
