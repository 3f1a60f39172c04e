"""Bodies of the HTTP API, made of the fields that a request has.

Whatever takes one imports from here; nothing here knows who may send it.
"""
