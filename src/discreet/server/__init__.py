"""The server: one page, an HTTP API and a PostgreSQL endpoint in front of one curator.

Imported by: cli.
"""
