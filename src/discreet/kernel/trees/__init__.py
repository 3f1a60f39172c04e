"""The neutral tree of a statement, and its readers: DuckDB's own tree, and sqlglot's.

Only kernel/ imports from here.
"""
