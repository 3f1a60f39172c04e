"""Uniqueness: who of a sample is the only one of their kind among everybody.

Found through the registry of attacks.

Imported by: attack.
"""
