"""Ratings: a few known ratings find a whole record (Narayanan and Shmatikov).

Found through the registry of attacks.

Imported by: attack.
"""
