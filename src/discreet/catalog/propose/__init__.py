"""Proposals for declarations, inferred from the data, for the owner's eyes only.

Nothing it returns is private.

Imported by: anonymize, api, server, tasks.
"""
