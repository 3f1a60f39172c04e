"""Lower bounds on epsilon of any mechanism, measured from its outputs alone.

The command is `discreet audit`.

Imported by: tasks.
"""
