"""Where the history lies: SQLite and PostgreSQL stores, backup and restore.

Imported by: ledger, ledger/checkpoint, ledger/idempotency.
"""
