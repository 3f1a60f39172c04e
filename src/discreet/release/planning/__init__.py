"""Planning on paper in a child process that can be killed: what a text costs, it costs there.

The server imports from here.
"""
