"""PostgreSQL: locked-down sessions, one transaction a question, stored copies.

Reached through `engine.connect`; its driver is an extra.
"""
