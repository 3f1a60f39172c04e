"""Uniqueness: who of a sample is the only one of their kind among everybody.

Reached through the registry of attacks.
"""
