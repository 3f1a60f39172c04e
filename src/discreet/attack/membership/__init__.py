"""Membership: whether a person's record is among those behind a release.

Reached through the registry of attacks.
"""
