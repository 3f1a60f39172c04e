"""Commands of whoever holds the data, beside `init`: the review of what it proposes, schedules, the impact sheet.

The list of commands imports from here.
"""
