"""The relational tree, its domains, stability and mechanisms. Reads no rows.

Imported by: ask/release, ask/sql, lab, measure, work.
"""
