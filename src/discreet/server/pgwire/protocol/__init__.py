"""The PostgreSQL protocol, version 3: messages, types, TLS and SCRAM.

Only pgwire/ imports from here.
"""
