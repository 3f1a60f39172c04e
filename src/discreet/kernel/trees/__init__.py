"""The neutral tree of a statement, and its readers: DuckDB's own tree, and sqlglot's.

Imported by: kernel, kernel/derive, learn, publish, release, synth.
"""
