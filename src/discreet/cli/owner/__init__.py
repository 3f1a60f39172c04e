"""Commands of whoever holds the data, beside `init`: the review of what it proposes, schedules, the impact sheet.

Imported by: cli.
"""
