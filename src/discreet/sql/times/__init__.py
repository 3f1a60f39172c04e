"""Dates, times of day and moments in SQL, turned into plan expressions over days and seconds.

The planner and the kernel see whole numbers only.

Imported by: sql.
"""
