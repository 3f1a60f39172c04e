"""The commands, one file each, imported only when that command runs.

Only cli/app imports from here.
"""
