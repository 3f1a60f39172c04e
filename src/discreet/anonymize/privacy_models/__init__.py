"""The privacy criteria of classes, and what they measure of a sensitive column.

Imported by: anonymize, anonymize/search, api, attack, cli, server, tasks.
"""
