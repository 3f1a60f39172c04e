"""The commands, one file each, imported only when that command runs.

Imported by: cli.
"""
