"""Several tables that hang together: a tree of tables below people, copied as one.

api/ and cli/ import from here.
"""
