"""The kernel: every private number leaves through here, bounded by integers that stand in the SQL.

It reads the final SQL anew, derives from it and from the catalog how far one unit can move each number, prices the
noise by that, and only then lets an engine run. It believes nothing that a planner says
(docs/notes/0038-kernel.md).

Imported by: anonymize, ask, curator, measure, tasks, work.
"""
