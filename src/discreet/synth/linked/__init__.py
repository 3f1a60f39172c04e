"""Multi-table synthesis: linked tables, a tree of them below people, copied as one.

Imported by: api.
"""
