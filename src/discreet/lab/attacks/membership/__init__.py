"""Membership: whether a person's record is among those behind a release.

Found through the registry of attacks.

Imported by: lab/attacks, lab/attacks/release_risk.
"""
