"""A bound question written as the SQL that an engine runs: blocks, cells, expressions, statements.

Imported by: ask/release, measure, work.
"""
