"""Lower bounds on epsilon of any mechanism, measured from its outputs alone.

The command `discreet audit` and tests import from here.
"""
