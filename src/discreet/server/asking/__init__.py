"""How anything is asked over HTTP: bodies made of a request's fields, ids under which it may be repeated, and the price.

Features import from here, and nothing here knows a feature.
"""
