"""Vocabulary: frozen values without I/O, chance or SQL.

Imported by: many rooms.
"""
