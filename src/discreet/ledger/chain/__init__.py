"""The hash chain of entries, and its head that is kept outside the store.

Imported by: api, ledger, ledger/checkpoint, ledger/idempotency, ledger/reports, ledger/store, publish.
"""
