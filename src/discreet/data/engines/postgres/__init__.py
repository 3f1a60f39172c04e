"""PostgreSQL: locked-down sessions, one transaction a question, stored copies.

Opened by `engine.connect`; its driver is an extra.

Imported by: data/engines.
"""
