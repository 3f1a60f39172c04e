"""Generalisation hierarchies: levels of a column, made or read, tied to its values.

Imported by: anonymize, anonymize/costs, anonymize/privacy_models, anonymize/search, attack, server.
"""
