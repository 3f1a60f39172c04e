"""Bodies of the HTTP API, made of the fields that a request has.

Nothing here knows who may send one.

Imported by: server/access, server/features.
"""
