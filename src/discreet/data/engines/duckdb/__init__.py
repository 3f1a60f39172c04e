"""DuckDB in child processes, and the canonical snapshots that it reads.

Opened by `engine.connect`.

Imported by: ask, data/engines, server.
"""
