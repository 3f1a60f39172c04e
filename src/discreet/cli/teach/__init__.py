"""Commands for classes: the course.

Only the list of commands names them; heavy imports stand inside.
"""
