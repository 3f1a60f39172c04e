"""Work in progress: the fair queue, calls that last, cancelling, long jobs in child processes.

Features import from here.
"""
