"""What was spent, by whom, and what is left.

Only server/app imports from here.
"""
