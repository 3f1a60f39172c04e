"""Privacy models of equivalence classes, and what they measure of a sensitive column.

Imported by: anonymize, api, attack, cli, server, tasks.
"""
