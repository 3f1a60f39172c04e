"""The PostgreSQL protocol, version 3: messages, types, TLS and SCRAM.

Imported by: server/pgwire, server/pgwire/catalog, server/pgwire/session.
"""
