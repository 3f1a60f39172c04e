"""The privacy criteria of classes, and what they measure of a sensitive column.

Only anonymize/ imports from here.
"""
