"""Child processes of an engine: forked from a template, watched, killed, with folders of their own for what is spilled.

Imported by: engine/duckdb, release, server.
"""
