"""Where the rows are, and what their owner declared about them.

Imported by: many rooms.
"""
