"""Commands on a bare file: where its discreet.toml and ledger lie, and what is taken back if nothing was paid.

Imported by: cli, tasks, tasks/learning.
"""
