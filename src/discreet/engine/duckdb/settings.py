"""How every DuckDB of ours is opened: alone with what it is given, planning each statement as it is written."""

from __future__ import annotations

CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "disabled_optimizers": "statistics_propagation,late_materialization",
}
"""It fetches no extension and sees none of Python's variables.

Guarantee: the step that rewrites expressions by what statistics say of the rows (that no row has an x, or
    all the same) does not run. DuckDB 2.0.0 fails on `CASE WHEN x IS NOT NULL THEN COALESCE(x, '') END = 'a'`, hence on
    SPLIT_PART, where no row has an x: an error that depends on one person. (docs/notes/0077-planned-as-written.md)

Nor does the step that turns the first rows of a file into a join with the numbers of these rows and a sort: it
takes ten times as long as reading them, and longer than counting all rows by their values.
"""
