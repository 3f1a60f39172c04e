"""Proposals for declarations, inferred from the data, for the owner's eyes only.

Commands and the server's review import from here; nothing it returns is private.
"""
