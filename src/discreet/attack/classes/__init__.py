"""Attacks on k-anonymous classes: homogeneity and intersection.

Found through the registry of attacks.

Imported by: attack.
"""
