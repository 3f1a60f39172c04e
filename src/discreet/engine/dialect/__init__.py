"""The SQL that we generate: functions, names and types, spelled for each engine, and the wall before it runs.

Whatever is spelled or behaves differently on one engine is asked of its `Dialect`.

Imported by: many rooms.
"""
