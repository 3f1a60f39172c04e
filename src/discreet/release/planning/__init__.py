"""Planning on paper in a child process that can be killed: what a text costs, it costs there.

Imported by: api.
"""
