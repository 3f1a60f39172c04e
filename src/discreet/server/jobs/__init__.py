"""Work in progress: the fair queue, calls that last, cancelling, long jobs in child processes.

Imported by: server, server/features, server/pgwire.
"""
