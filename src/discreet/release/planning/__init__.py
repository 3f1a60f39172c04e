"""Limits on planning time and memory, in a child process that can be killed.

Imported by: api.
"""
