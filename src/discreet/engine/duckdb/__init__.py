"""DuckDB in child processes, and the canonical snapshots that it reads.

Reached through `engine.connect`.
"""
