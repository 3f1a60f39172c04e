"""Commands of whoever holds the data, beside `init`: the review of what it proposes.

The list of commands imports from here.
"""
