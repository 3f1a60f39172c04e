"""Linkage: records without names joined to a list with names.

Reached through the registry of attacks.
"""
