"""Exact computation: engines that run the SQL we generate. Knows SQL text, not privacy.

Imported by: many rooms.
"""
