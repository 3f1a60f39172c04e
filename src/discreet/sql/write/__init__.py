"""A bound question written as the SQL that an engine runs: blocks, cells, expressions, statements.

Release and synth import from here.
"""
