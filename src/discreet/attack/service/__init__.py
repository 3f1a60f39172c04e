"""Attacks on whoever answers: by the time that an answer takes, and by spending what others need.

Reached through the registry of attacks.
"""
