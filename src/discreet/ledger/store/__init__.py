"""Where the history lies: SQLite and PostgreSQL stores, backup and restore.

Only ledger/ imports from here.
"""
