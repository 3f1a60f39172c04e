"""Commands for classes: the course.

Heavy imports stand inside.

Imported by: cli, cli/owner.
"""
