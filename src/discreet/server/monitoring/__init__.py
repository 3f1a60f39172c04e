"""What an operator watches: health, metrics, budgets that come to their end.

Imported by: server, server/start.
"""
