"""Work in progress: the fair queue, calls that last, cancelling, planning in children.

Features import from here.
"""
