"""Functions that no two engines compute alike, as straight pieces between whole numbers.

Imported by: plan, sql.
"""
