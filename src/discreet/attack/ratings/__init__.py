"""Ratings: a few known ratings find a whole record (Narayanan and Shmatikov).

Reached through the registry of attacks.
"""
