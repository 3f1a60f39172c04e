"""The PostgreSQL wire endpoint: any PostgreSQL client can ask the curator.

Imported by: server.
"""
