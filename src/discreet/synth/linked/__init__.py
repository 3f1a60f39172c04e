"""Several tables that hang together: a tree of tables below people, copied as one.

Imported by: api.
"""
