"""Attacks on whoever answers: by the time that an answer takes, and by spending what others need.

Found through the registry of attacks.

Imported by: attack.
"""
