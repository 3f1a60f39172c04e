"""SQL text to plan, and plan to SQL.

Imported by: ask/release, curator, lab, measure, work.
"""
